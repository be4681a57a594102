#!/bin/sh
# Generates the messages from the schema and builds the bot as bin/greedy-go.
set -eu
proto="${RUMMY_PROTO:-../../proto}"
[ -d "$proto/rummy" ] || {
    echo "build.sh: $proto/rummy is not there: RUMMY_PROTO must name the folder proto/ of Rummy Referee" >&2
    exit 1
}

mkdir -p bin/tools rummypb
# The generators are dependencies of go.mod, so their versions are pinned there.
go build -o bin/tools/ tool

package=greedy-go/rummypb
schema="rummy/referee/v1/play.proto rummy/referee/v1/rummy.proto"
options="module=$package"
for file in $schema; do
    options="$options,M$file=$package"
done
# shellcheck disable=SC2086 # the names are words
protoc -I "$proto" \
    --plugin=bin/tools/protoc-gen-go --go_out=rummypb --go_opt="$options" \
    --plugin=bin/tools/protoc-gen-go-grpc --go-grpc_out=rummypb --go-grpc_opt="$options" \
    $schema

go build -trimpath -o bin/greedy-go .
