"""One match, from the first deal to the outcome: clock, judgement, forced actions, record.

May import `referee.engine` and the standard library. Never imports grpc, protobuf or asyncio: the
service drives it and hands in time, chance and connections.
"""
