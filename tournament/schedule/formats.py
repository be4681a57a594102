"""The names of the formats, and which of them may stand in a tournament file."""

ROUND_ROBIN = "round_robin"
"""Every set of bots meets, or as many balanced tables as are asked for."""

GAUNTLET = "gauntlet"
"""Challengers against all: every set of bots with at least one of them in it meets."""

SWISS = "swiss"
"""Two seats; each round pairs bots of like score."""

SINGLE = "single"
"""One encounter, made by `tournament play`; not for files."""

TEST = "test"
"""Two bots until it is clear who is better, made by `tournament test`; not for files."""

LADDER = "ladder"
"""Encounters without end, made by `tournament ladder` as bots come; not for files."""

FILE_FORMATS = (ROUND_ROBIN, GAUNTLET, SWISS)
FORMATS = (*FILE_FORMATS, SINGLE, TEST, LADDER)
