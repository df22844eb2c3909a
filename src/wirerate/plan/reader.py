# SPDX-License-Identifier: BSD-3-Clause
"""Read a plan's objects strictly: every value has a place, a type and a range, or is an error.

A `Reader` is one object of the document at its path. Whoever has read all keys that it knows calls
`done`, which refuses the others. Errors are PlanErrors ``flows[2].rate.pps: …``. Pure.
"""

from __future__ import annotations

import difflib
import math
import re
import reprlib
from typing import TYPE_CHECKING, Any, NoReturn

from wirerate.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

EXTENSION = "x-wirerate"
"""Key of what OTG cannot say (docs/design/0003-plans.md)."""

NAME_LETTERS_MAX = 256
"""Longest name of a port or flow [letters]."""

_WHOLE = re.compile(r"[+-]?[0-9]{1,64}")
_KEY = re.compile(r"[A-Za-z0-9_.-]{1,60}")
_SHOWN_OCTETS = 60
_BRIEF = reprlib.Repr()
_BRIEF.maxlevel = 3
_BRIEF.maxstring = _SHOWN_OCTETS


class _Required:
    """No default: the key must be there."""


REQUIRED = _Required()


def shown(value: Any) -> str:
    """The value as the user wrote it, shortened."""
    try:
        text = _BRIEF.repr(value)
    except ValueError:  # an integer of thousands of digits
        text = "a number too large to show"
    return text if len(text) <= _SHOWN_OCTETS else text[: _SHOWN_OCTETS - 1] + "…"


class Reader:
    """One object of the plan; ``path`` is its place, empty for the whole plan."""

    def __init__(self, value: Any, path: str = "") -> None:
        self.path = path
        if not isinstance(value, dict):
            raise PlanError(f"{path or 'the plan'}: {shown(value)} is not an object with keys")
        self._value: dict[Any, Any] = value
        self._known: set[str] = set()

    def place(self, key: str) -> str:
        """The path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def fail(self, key: str | None, text: str) -> NoReturn:
        """Raise PlanError at a key, or at the object itself."""
        place = self.path if key is None else self.place(key)
        raise PlanError(f"{place or 'the plan'}: {text}")

    def __contains__(self, key: str) -> bool:
        return self._value.get(key) is not None

    def raw(self, key: str, default: Any = REQUIRED) -> Any:
        """The value as it stands; null counts as absent."""
        self._known.add(key)
        value = self._value.get(key)
        if value is not None:
            return value
        if default is REQUIRED:
            self.fail(key, "it is missing")
        return default

    def integer(
        self, key: str, minimum: int, maximum: int, default: int | _Required | None = REQUIRED
    ) -> Any:
        """An integer in ``minimum…maximum``; decimal strings count (snappi writes those)."""
        value = self.raw(key, default)
        return value if key not in self else to_integer(value, self.place(key), minimum, maximum)

    def integers(self, key: str, minimum: int, maximum: int) -> tuple[int, ...]:
        """A list of integers; empty where absent."""
        return tuple(
            to_integer(value, f"{self.place(key)}[{index}]", minimum, maximum)
            for index, value in enumerate(self.sequence(key))
        )

    def number(
        self, key: str, minimum: float, maximum: float, default: float | _Required | None = REQUIRED
    ) -> Any:
        """A finite number in ``minimum…maximum``."""
        value = self.raw(key, default)
        if key not in self:
            return value
        number = _to_number(value)
        if number is None or not math.isfinite(number):
            self.fail(key, f"{shown(value)} is not a number")
        if not minimum <= number <= maximum:
            self.fail(key, f"{shown(value)} is not between {minimum:g} and {maximum:g}")
        return number

    def text(self, key: str, default: str | _Required | None = REQUIRED) -> Any:
        """A string."""
        value = self.raw(key, default)
        if key in self and not isinstance(value, str):
            self.fail(key, f"{shown(value)} is not a string{_hint_of_quotes(value)}")
        return value

    def unique_name(self, key: str, taken: dict[str, str]) -> str:
        """Read a name and enter it into ``taken`` (name to path), where it must not be yet."""
        name = to_name(self.raw(key), self.place(key))
        if name in taken:
            self.fail(key, f"{taken[name]} has the name {shown(name)} already; give another")
        taken[name] = self.path
        return name

    def boolean(self, key: str, *, default: bool | _Required = REQUIRED) -> Any:
        """True or false."""
        value = self.raw(key, default)
        if key in self and not isinstance(value, bool):
            self.fail(key, f"{shown(value)} is not true or false")
        return value

    def one_of(
        self, key: str, allowed: Collection[str], default: str | _Required | None = REQUIRED
    ) -> Any:
        """One of some words."""
        value = self.text(key, default)
        if key in self and value not in allowed:
            self.fail(key, f"{shown(value)} is not one of {', '.join(allowed)}")
        return value

    def sequence(self, key: str) -> Sequence[Any]:
        """A list; empty where absent."""
        value = self.raw(key, [])
        if not isinstance(value, list):
            self.fail(key, f"{shown(value)} is not a list")
        return value

    def child(self, key: str) -> Reader | None:
        """The object at a key, None where absent."""
        value = self.raw(key, None)
        return None if value is None else Reader(value, self.place(key))

    def branch(self, key: str) -> Reader:
        """The object at a key; where absent an empty one, of which all is default."""
        return self.child(key) or Reader({}, self.place(key))

    def children(self, key: str) -> list[Reader]:
        """The objects of a list; empty where absent."""
        return [
            Reader(value, f"{self.place(key)}[{index}]")
            for index, value in enumerate(self.sequence(key))
        ]

    def choice(self, branches: Collection[str], default: str | None = None) -> str:
        """Which of OTG's branches is meant: ``choice``, or the only one that is there.

        More than one branch, or another than ``choice`` says, is an error. A branch may be chosen
        without being there (all its defaults); its content is read by the caller.
        """
        given = self._value
        there = [key for key in given if key in branches and given[key] is not None]
        said = self.one_of("choice", branches, None)
        self._known.update(branches)
        if len(there) > 1:  # in the order of the model, whatever that of the plan
            there = [name for name in branches if name in there]
        if len(there) > 1:
            self.fail(None, f"{' and '.join(there)} are both there; only one of them can be meant")
        if said is not None and there and there[0] != said:
            self.fail("choice", f"it says {said}, but {there[0]} is there")
        chosen = said or (there[0] if there else default)
        if chosen is None:
            self.fail(None, f"one of {', '.join(branches)} must be there")
        return chosen

    def done(self) -> None:
        """Refuse keys that nobody has asked for."""
        for key in self._value:
            if key in self._known:
                continue
            name = key if isinstance(key, str) and _KEY.fullmatch(key) else shown(key)
            near = difflib.get_close_matches(name, self._known, n=1)
            hint = f"; is it {near[0]}?" if near else f"; known: {', '.join(sorted(self._known))}"
            self.fail(name, f"there is no such key{hint}")

    def off(self, key: str, what: str) -> None:
        """Refuse a switch of OTG's that this tool does not do (yet), where it is on."""
        if self.boolean(key, default=False):
            self.fail(key, f"wirerate does not do {what}; leave it out")

    def unsupported(self, key: str, what: str) -> None:
        """Refuse a key of OTG's that this tool does not do (yet)."""
        if self.raw(key, None) not in (None, [], {}):
            self.fail(key, f"wirerate does not do {what}; leave it out")


def to_integer(value: Any, path: str, minimum: int, maximum: int) -> int:
    """An integer, or a decimal string of one, in a range. Raises PlanError at path."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise PlanError(f"{path}: {shown(value)} is not an integer")
    if not minimum <= value <= maximum:
        raise PlanError(f"{path}: {shown(value)} is not between {minimum} and {maximum}")
    number: int = value
    return number


def to_name(value: Any, path: str) -> str:
    """Read a name: text that can be shown on one line. Raises PlanError at path."""
    if not isinstance(value, str):
        raise PlanError(f"{path}: {shown(value)} is not a string{_hint_of_quotes(value)}")
    if not value.strip() or not value.isprintable() or len(value) > NAME_LETTERS_MAX:
        raise PlanError(
            f"{path}: {shown(value)} is not a name: 1 to {NAME_LETTERS_MAX} printable letters"
        )
    return value


def port_reference(value: Any, path: str, names: Sequence[str]) -> str:
    """Read the name of a port that must be among ``names``. Raises PlanError at path."""
    name = to_name(value, path)
    if name not in names:
        near = difflib.get_close_matches(name, names, n=1)
        hint = f"is it {near[0]}?" if near else f"the ports are {shown(list(names))}"
        raise PlanError(f"{path}: there is no port {shown(name)}; {hint}")
    return name


def _hint_of_quotes(value: Any) -> str:
    return "; put it in quotes" if isinstance(value, (bool, int, float)) else ""


def _to_number(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None
