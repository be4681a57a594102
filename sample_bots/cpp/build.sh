#!/bin/sh
# Generates the messages from the schema and builds the bot as build/greedy-cpp.
set -eu
cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DBUILD_TESTING=OFF
cmake --build build
