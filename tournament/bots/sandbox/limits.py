"""How much one bot, or one build, may use up."""

from dataclasses import dataclass

MEMORY_MB = 512
"""What a bot has unless its bot.toml says otherwise."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Sizes are in MiB. What holds for a tree of processes, and what for each, is up to the tier.

    `cpu_weight` is relative: 100 is anybody's share. `tcp` asks for a loopback address of the
    referee, for clients that can't dial a unix socket.
    """

    memory_mb: int = MEMORY_MB
    processes: int = 64
    """Threads count as processes."""
    open_files: int = 256
    file_mb: int = 32
    """Of one file that is written."""
    disk_mb: int = 64
    """Of /tmp with the home folder in it; /dev/shm has as much again."""
    cpu_weight: int = 100
    tcp: bool = False


BUILD = Limits(
    memory_mb=4096, processes=1024, open_files=4096, file_mb=2048, disk_mb=2048, cpu_weight=50
)
"""What a build may use: compilers and package managers need more than a bot that plays."""
