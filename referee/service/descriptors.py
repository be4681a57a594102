"""How many connections a process may hold."""

import resource


def allow_many_descriptors() -> int:
    """Raise the soft limit on open files to the hard one, and return it.

    Each session takes a descriptor.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (OSError, ValueError):
            return soft  # Some systems name a limit that they do not grant.
    return hard
