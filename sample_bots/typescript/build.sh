#!/bin/sh
# Fetches the packages, generates types from the schema, and compiles the bot into dist/.
set -eu
proto="${RUMMY_PROTO:-../../proto}"
[ -d "$proto/rummy" ] || {
    echo "build.sh: $proto/rummy is not there: RUMMY_PROTO must name the folder proto/ of Rummy Referee" >&2
    exit 1
}
folder=rummy/referee/v1

# What is for checks only stays out: a bot is kept as it was built.
npm ci --silent --omit=dev --ignore-scripts

# The schema is read when the bot starts, so it stands beside the compiled code.
mkdir -p "dist/proto/$folder"
cp "$proto/$folder/play.proto" "$proto/$folder/rummy.proto" "dist/proto/$folder/"

# These options and those of src/client/schema.ts must agree.
npx --no-install proto-loader-gen-types \
    --longs=String --defaults --oneofs --grpcLib=@grpc/grpc-js \
    --importFileExtension=.js --inputTemplate=I%s --outputTemplate=%s \
    --includeDirs dist/proto --outDir=src/generated "$folder/play.proto" >dist/generated.txt
npx --no-install tsc
