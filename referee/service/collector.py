"""The garbage collector of a process that serves."""

import gc
from typing import Final

_THRESHOLDS: Final = (20_000, 50, 100)


def settle_collector() -> None:
    """Have what is loaded by now never looked at again, and the rest looked at less often.

    Nearly all that a decision makes goes by its reference count. By default the collector runs
    every few decisions, and now and then over all modules: a twentieth of the server's time. Call
    it once, when everything is imported. It concerns the whole process.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
