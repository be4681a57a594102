#!/bin/sh
# Generates the messages from the schema and builds the bot as build/greedy-cpp.
set -eu
proto="${RUMMY_PROTO:-../../proto}"
[ -d "$proto/rummy" ] || {
    echo "build.sh: $proto/rummy is not there: RUMMY_PROTO must name the folder proto/ of Rummy Referee" >&2
    exit 1
}
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
cmake --build build
