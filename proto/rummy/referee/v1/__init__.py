"""Generated code of the wire contract."""
