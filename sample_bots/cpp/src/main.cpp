// Plays the greedy strategy for whatever referee its environment names.
#include <memory>

#include "client/bot.h"
#include "client/play.h"
#include "greedy/greedy.h"

int main() {
  client::Bot bot("greedy-cpp", "1.0.0", [](const pb::MatchStarting& starting) {
    return std::make_unique<greedy::Greedy>(starting);
  });
  return client::Run(bot);
}
