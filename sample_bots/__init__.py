"""Sample bots: one folder a bot, each with its `bot.toml`.

They import grpc, the generated stubs and the standard library only, never `referee` or
`tournament`: they show that the wire contract is enough. `client` is the shared way to the referee,
`cards` what the strategies know about cards.
"""
