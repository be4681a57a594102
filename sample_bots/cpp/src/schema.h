// The messages that the build generates. What calls the referee is in play.grpc.pb.h beside them.
#pragma once

#include "rummy/referee/v1/play.pb.h"
#include "rummy/referee/v1/rummy.pb.h"

namespace pb = rummy::referee::v1;
