#!/bin/sh
# Checks what build.sh has built: sh check.sh tests|format|lint
set -eu
case "$1" in
tests)
    cmake -S . -B build -DBUILD_TESTING=ON
    cmake --build build
    ctest --test-dir build --output-on-failure
    ;;
format)
    find src tests -name '*.h' -o -name '*.cpp' | xargs clang-format --dry-run --Werror
    ;;
lint)
    find src -name '*.cpp' | xargs clang-tidy --quiet -p build
    ;;
*)
    echo "check.sh: $1: known are tests, format, lint" >&2
    exit 2
    ;;
esac
