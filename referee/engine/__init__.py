"""The rules of Rummy as pure functions: state in, facts out (docs/rules.md, docs/engine.md).

May import nothing but the pure parts of the standard library: no time, random, asyncio, logging,
os, grpc or protobuf. Chance and time are arguments; one path (`legal_actions`, `violation`,
`apply`, `observe`, `score`) serves matches, benches, vectors and training alike.
"""
