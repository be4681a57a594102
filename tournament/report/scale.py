"""A scale for drawing: where a value lies between two ends, and round numbers to mark."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

_TICKS = 5
"""About as many steps between marks."""
_ROOM = 0.06
"""Room at both ends, as a share of what is drawn."""
_STEPS = (1, 2, 5, 10)


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high`, which differ."""

    low: float
    high: float

    @classmethod
    def over(cls, values: Sequence[float]) -> "Scale":
        """Return a scale on which all values lie, and lie inside; any scale if there are none."""
        low, high = min(values, default=0.0), max(values, default=1.0)
        room = (high - low) * _ROOM or 1.0
        return cls(low - room, high + room)

    def percent(self, value: float) -> float:
        """Return where the value lies, 0 at the low end and 100 at the high one."""
        return round(100 * (value - self.low) / (self.high - self.low), 2)

    @property
    def ticks(self) -> list[float]:
        """Round numbers within the scale, in equal steps."""
        rough = (self.high - self.low) / _TICKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in _STEPS if factor * power >= rough)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [number * step for number in range(first, last + 1)]
