"""How many connections a process may hold."""

import resource


def allow_many_descriptors() -> None:
    """Raise the soft limit on open files to the hard one: each session takes a descriptor."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError):
            return  # Some systems name a limit that they do not grant.
