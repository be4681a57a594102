"""The gRPC service: streams, sessions, bytes, logs. The only place with protobuf and grpc.

May import `referee.match`, `referee.engine` and the core dependencies. Never decides anything about
play or fault: that is in `referee.engine` and `referee.match.policy`.
"""
