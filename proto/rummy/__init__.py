"""Generated code of the wire contract. Never edited by hand: see proto/regenerate.py."""
