#!/bin/sh
# Lays and lays off what it can, and else plays the first legal action: with nothing but buf and jq.
#
# RUMMY_REFEREE and RUMMY_TOKEN are as for every bot; RUMMY_PROTO is the folder with the schema.
# It ends when the referee is done with it, or with the exit code of a call that failed.
set -eu

: "${RUMMY_REFEREE:?must be the address of the referee}" "${RUMMY_TOKEN:?must be the token}"

# The token goes into a file that its owner alone can read: everybody can read a command line.
umask 077
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
printf 'authorization: Bearer %s\n' "$RUMMY_TOKEN" >"$work/headers"

# Compiled once: each call reads the schema again.
buf build "${RUMMY_PROTO:-$(dirname "$0")/../../proto}" --output "$work/schema.binpb"

# call METHOD: sends the JSON on standard input, prints the answer as JSON.
call() {
    path=rummy.referee.v1.PollService/$1
    set -- --schema "$work/schema.binpb" --protocol grpc --header "@$work/headers" --data @-
    case $RUMMY_REFEREE in
    unix:*) buf curl "$@" --unix-socket "${RUMMY_REFEREE#unix:}" "http://localhost/$path" ;;
    *) buf curl "$@" "http://$RUMMY_REFEREE/$path" ;;
    esac
}

# From an answer to NextDecision: one request for Choose a line, for each decision in it.
choices='
.sessionId as $session
| .messages[]?.update
| select(.decision)
| (.decision.legalActions | map(.type | test("_(MELD|LAY_OFF)$")) | index(true) // 0) as $index
| {sessionId: $session,
   choice: {matchId, decisionId: .decision.decisionId, legalActionIndex: $index}}
'

printf '{"hello": {"bot": "shell", "version": "1.0.0"}}' >"$work/request"
while :; do
    call NextDecision <"$work/request" >"$work/answer"
    jq --compact-output "$choices" "$work/answer" >"$work/choices"
    while read -r choice; do
        printf '%s' "$choice" | call Choose >"$work/chosen"
    done <"$work/choices"
    jq --raw-output '.messages[]?.matchEnded | select(.)
        | "match \(.matchId): \(.text), places \(.results | map(.place))"' "$work/answer" >&2
    if jq --exit-status '.isOver' "$work/answer" >"$work/over"; then
        break
    fi
    # All of the answer has been read: what comes next is new. `taken` also says `ready`.
    jq '{sessionId, taken: .number}' "$work/answer" >"$work/request"
done
