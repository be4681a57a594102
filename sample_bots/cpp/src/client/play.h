// The way from a bot to the referee: one stream, any number of matches over it.
#pragma once

#include "client/bot.h"

namespace client {

// Plays with the address and the token of the environment and returns the exit code: 0 the referee
// has ended the stream, 1 it refused or could not be reached, 2 the environment is not right.
// SIGTERM and SIGINT end the process at once with 0.
int Run(Bot& bot);

}  // namespace client
