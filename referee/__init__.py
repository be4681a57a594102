"""The referee: the rules of Rummy (engine), one match (match), and the gRPC service (service).

May import: the standard library and the core dependencies; inside, engine ← match ← service ← cli.
Never imports `tournament` or `sample_bots`.
"""

__version__ = "0.1.0"
