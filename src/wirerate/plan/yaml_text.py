# SPDX-License-Identifier: BSD-3-Clause
"""YAML text to values and back: the core schema of YAML 1.2, strictly, safe against any text.

Scalars are those of YAML 1.2.2 section 10.3.2, so that ``no`` and ``10:11:22:33:44:55`` are text,
which PyYAML's own loaders (YAML 1.1) take for a boolean and a number. Infinity and not-a-number
stay text as well, since no plan has a use for them. Values are built from the parser's events, not
by recursion: neither nesting nor aliases can exhaust anything. Called by `wirerate.plan.document`;
pure.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

DEPTH_MAX = 64
"""Most objects and lists within each other; OTG's deepest places are below 20."""

NODES_MAX = 4_000_000
"""Most values of a document with all aliases written out: 1,000 flows of a few lines have 10^5."""

DIGITS_MAX = 64
"""Most digits of an integer; no field is wider than 128 bits, which are 39 digits."""

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BASE_DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)

_TEXT_TAGS = ("!", "tag:yaml.org,2002:str")
_NUMBER_START = frozenset("+-.0123456789")
_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_INTEGER = re.compile(r"[-+]?[0-9]+|0x[0-9a-fA-F]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


class TextError(Exception):
    """What is wrong with a text; ``line`` and ``column`` count from 1, 0 where unknown."""

    def __init__(self, text: str, line: int = 0, column: int = 0) -> None:
        super().__init__(text)
        self.line = line
        self.column = column


@dataclass
class _Open:
    """An object or list that has not ended: ``key`` waits for its value."""

    value: dict[str, Any] | list[Any]
    anchor: str | None
    nodes_before: int
    key: str | None = None


def load_yaml(text: str) -> Any:
    """Return the one document of a text; None where there is none. Raises TextError."""
    try:
        return _Builder().build(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        raise _at(error.problem_mark, _problem(text, error)) from error
    except yaml.YAMLError as error:
        raise TextError(f"not YAML: {str(error).splitlines()[0]}") from error


def dump_yaml(document: Any) -> str:
    """Write block-style YAML that `load_yaml` reads back equal, keys in their order."""
    return str(
        yaml.dump(
            document,
            Dumper=_Dumper,
            sort_keys=False,
            default_flow_style=False,
            allow_unicode=True,
            width=1 << 20,
        )
    )


def _problem(text: str, error: yaml.MarkedYAMLError) -> str:
    """What is wrong, in the parser's words but for tabs, where these help nobody."""
    problem, mark = error.problem or error.context or "not YAML", error.problem_mark
    lines = text.split("\n")
    at = lines[mark.line][mark.column :] if mark is not None and mark.line < len(lines) else ""
    if at.startswith("\t") or "tab character" in problem:
        return "a tab; YAML is indented with spaces only"
    return problem


class _Builder:
    """Builds the document from events."""

    def __init__(self) -> None:
        self._open: list[_Open] = []
        self._anchors: dict[str, tuple[Any, int]] = {}
        self._nodes = 0
        self._documents = 0
        self._root: Any = None

    def build(self, events: Iterator[Any]) -> Any:
        """Consume all events."""
        for event in events:
            kind = type(event)
            if kind is yaml.ScalarEvent:
                self._scalar(event)
            elif kind is yaml.MappingStartEvent:
                self._start(event, {})
            elif kind is yaml.SequenceStartEvent:
                self._start(event, [])
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                self._end(event)
            elif kind is yaml.AliasEvent:
                self._alias(event)
            elif kind is yaml.DocumentStartEvent:
                self._document(event)
        return self._root

    def _document(self, event: Any) -> None:
        self._documents += 1
        if self._documents > 1:
            raise _at(event.start_mark, "a second document begins; a plan is one")

    def _scalar(self, event: Any) -> None:
        opened = self._open[-1] if self._open else None
        is_key = opened is not None and opened.key is None and isinstance(opened.value, dict)
        tag = event.tag
        if tag is None and event.implicit[0]:
            value = _plain(event)
        elif tag is None or tag in _TEXT_TAGS:
            value = event.value
        else:
            raise _at(event.start_mark, f"tag {tag[:40]!r} means nothing here; leave it out")
        if event.anchor is not None:
            self._anchors[event.anchor] = (value, 1)
        self._put(event, value, is_key=is_key)

    def _start(self, event: Any, value: dict[str, Any] | list[Any]) -> None:
        if event.tag is not None:
            raise _at(event.start_mark, f"tag {event.tag[:40]!r} means nothing here; leave it out")
        if len(self._open) >= DEPTH_MAX:
            raise _at(event.start_mark, f"nested more than {DEPTH_MAX} deep")
        if event.anchor is not None:
            self._anchors.pop(event.anchor, None)
        nodes_before = self._nodes
        self._put(event, value, is_key=False)
        self._open.append(_Open(value, event.anchor, nodes_before))

    def _end(self, _event: Any) -> None:
        ended = self._open.pop()
        if ended.anchor is not None:
            self._anchors[ended.anchor] = (ended.value, self._nodes - ended.nodes_before)

    def _alias(self, event: Any) -> None:
        if event.anchor not in self._anchors:
            raise _at(
                event.start_mark,
                f"alias *{event.anchor[:40]} has no finished anchor &{event.anchor[:40]} before it",
            )
        value, nodes = self._anchors[event.anchor]
        opened = self._open[-1]
        self._put(
            event, value, is_key=opened.key is None and isinstance(opened.value, dict), nodes=nodes
        )

    def _put(self, event: Any, value: Any, *, is_key: bool, nodes: int = 1) -> None:
        """Hang a value into what is open, or keep it as the key of the next one."""
        self._nodes += nodes
        if self._nodes > NODES_MAX:
            raise _at(
                event.start_mark, f"more than {NODES_MAX:,} values, those behind aliases included"
            )
        if not self._open:
            self._root = value
            return
        opened = self._open[-1]
        if isinstance(opened.value, list):
            opened.value.append(value)
        elif is_key:
            self._key(event, opened, value)
        elif opened.key is None:
            raise _at(event.start_mark, "a key is an object or a list; keys are text")
        else:
            opened.value[opened.key] = value
            opened.key = None

    @staticmethod
    def _key(event: Any, opened: _Open, value: Any) -> None:
        if not isinstance(value, str):
            raise _at(event.start_mark, f"key {value!r:.40} is not text; put it in quotes")
        if value in opened.value:
            raise _at(event.start_mark, duplicate_key(value))
        opened.key = value


def duplicate_key(key: str) -> str:
    """Return what is wrong with a key that is there already."""
    return f"key {key[:40]!r} is there twice; keep one of them"


def integer_of(text: str) -> int:
    """Read an integer of the core schema. Raises TextError beyond DIGITS_MAX digits."""
    if len(text) > DIGITS_MAX:
        raise TextError(f"a number has {len(text)} characters; at most {DIGITS_MAX} are understood")
    return int(text, 0) if text.startswith(("0x", "0o")) else int(text)


def float_of(text: str) -> float:
    """Read a float. Raises TextError where it is beyond what a float holds."""
    value = float(text)
    if not math.isfinite(value):
        raise TextError(f"number {text[:40]} is too large")
    return value


def _plain(event: Any) -> Any:
    """Resolve a scalar without quotes and tag by the core schema."""
    text = event.value
    if text[:1] not in _NUMBER_START:
        return _WORDS.get(text, text)
    try:
        if _INTEGER.fullmatch(text):
            return integer_of(text)
        if _FLOAT.fullmatch(text):
            return float_of(text)
    except TextError as error:
        raise _at(event.start_mark, str(error)) from error
    return _WORDS.get(text, text)


def _at(mark: Any, text: str) -> TextError:
    return TextError(text, mark.line + 1, mark.column + 1) if mark is not None else TextError(text)


class _Dumper(_BASE_DUMPER):  # type: ignore[misc] # one of two classes, by what PyYAML was built with
    """PyYAML's, writing shared values out and quoting what YAML 1.1 or 1.2 would misread."""

    def ignore_aliases(self, _data: Any) -> bool:
        """Write every value out: plans are read by people."""
        return True


def _represent_text(dumper: Any, text: str) -> Any:
    plain = text.isprintable() and "\ufeff" not in text
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=None if plain else '"')


_Dumper.add_representer(str, _represent_text)
for _tag, _pattern in (("int", _INTEGER), ("float", _FLOAT)):
    _Dumper.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}",
        re.compile(rf"(?:{_pattern.pattern})\Z"),
        sorted(_NUMBER_START),
    )
