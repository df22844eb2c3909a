# SPDX-License-Identifier: BSD-3-Clause
"""Checks of a job: each is one line of the log, and none stops the job."""

from __future__ import annotations


class Checks:
    """Counts what held and what did not."""

    def __init__(self) -> None:
        """Begin with none."""
        self.made = 0
        self.failures: list[str] = []
        """The lines of those that did not hold."""

    @property
    def failed(self) -> int:
        """How many did not hold."""
        return len(self.failures)

    def that(self, condition: object, text: str, seen: object = "") -> bool:
        """Check that `condition` is true; `seen` is printed beside. Returns whether it is."""
        self.made += 1
        beside = f": {seen}" if seen != "" else ""
        if condition:
            print(f"ok   {text}{beside}")
        else:
            self.failures.append(f"{text}{beside}")
            print(f"FAIL {text}{beside}")
        return bool(condition)

    def equal(self, text: str, seen: object, wanted: object) -> bool:
        """Check that two values are equal."""
        if seen == wanted:
            return self.that(condition=True, text=text, seen=seen)
        return self.that(condition=False, text=text, seen=f"{seen!r}, and not {wanted!r}")

    def between(self, text: str, seen: float, least: float, most: float) -> bool:
        """Check that a number lies within bounds, both allowed."""
        if least <= seen <= most:
            return self.that(condition=True, text=text, seen=f"{seen:,}")
        return self.that(
            condition=False, text=text, seen=f"{seen:,}, and not {least:,} to {most:,}"
        )

    def contains(self, text: str, seen: str, wanted: str) -> bool:
        """Check that `wanted` is in `seen`; all of `seen` is printed where it is not."""
        if wanted in seen:
            return self.that(condition=True, text=text, seen=wanted)
        return self.that(condition=False, text=text, seen=f"no {wanted!r} in\n{seen}")
