# SPDX-License-Identifier: BSD-3-Clause
"""A plan's text: files and standard input to one object, and back.

YAML 1.2 (core schema) or JSON, told by the content: what starts with ``{`` or ``[`` and is JSON is
JSON, and what begins as only JSON is written is meant to be.
Duplicate keys, infinite numbers and texts made to exhaust the reader are refused. Whatever is wrong
is a PlanError of one line with the file, line and column. Called by the commands.
"""

from __future__ import annotations

import json
import os
import re
import stat
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from wirerate.errors import PlanError
from wirerate.plan.yaml_text import (
    DEPTH_MAX,
    TextError,
    dump_yaml,
    duplicate_key,
    float_of,
    integer_of,
    load_yaml,
)

if TYPE_CHECKING:
    from pathlib import Path

FILE_OCTETS_MAX = 64 << 20
"""Largest plan that is read [octets]."""

_JSON_START = re.compile(r'\s*(?:[{\[]\s*)+["}\]]')
"""A key in quotes comes first, or nothing at all. Nobody writes YAML in braces like that."""
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]', re.DOTALL)


def load_document(path: Path) -> dict[str, Any]:
    """Read the plan at a path, ``-`` for standard input. Raises PlanError."""
    is_stdin = str(path) == "-"
    name = "the plan on standard input" if is_stdin else f"plan {str(path)!r}"
    try:
        data = sys.stdin.buffer.read(FILE_OCTETS_MAX + 1) if is_stdin else _read_file(path, name)
    except OSError as error:
        raise PlanError(f"{name}: cannot be read: {error.strerror or error}") from error
    except ValueError as error:  # a NUL in the path, standard input closed
        raise PlanError(f"{name}: cannot be read: {error}") from error
    if len(data) > FILE_OCTETS_MAX:
        raise PlanError(f"{name}: more than {FILE_OCTETS_MAX >> 20} MiB; divide it into several")
    try:
        return parse_document(data)
    except TextError as error:
        place = f" line {error.line} column {error.column}" if error.line else ""
        raise PlanError(f"{name}{place}: {error}") from error


def parse_document(data: bytes) -> dict[str, Any]:
    """Read a plan's octets. Raises TextError."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TextError(
            f"not text in UTF-8: octet 0x{data[error.start]:02x} at offset {error.start}"
        ) from error
    if not text.strip():
        raise TextError("it is empty; a plan has at least ports and flows")
    document = _parse_text(text)
    if not isinstance(document, dict):
        what = {list: "a list", type(None): "nothing"}.get(type(document), "a single value")
        raise TextError(f"it holds {what}, not an object with keys such as ports and flows")
    return document


def dump_document(document: dict[str, Any]) -> str:
    """Write a plan as YAML in block style, keys in their order; `load_document` reads it back."""
    return dump_yaml(document)


def _read_file(path: Path, name: str) -> bytes:
    """Read a regular file up to one octet beyond the limit; never wait for a FIFO's writer."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise PlanError(f"{name}: it is a directory; name a file in it")
        raise PlanError(f"{name}: it is not a regular file; to read from a pipe, name the plan -")
    with open(descriptor, "rb") as file:  # noqa: PTH123 -- a descriptor
        return file.read(FILE_OCTETS_MAX + 1)


def _parse_text(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return load_yaml(text)
    try:
        return _parse_json(text)
    except json.JSONDecodeError as error:
        if _JSON_START.match(text):
            raise TextError(f"not JSON: {_problem(error)}", error.lineno, error.colno) from error
    return load_yaml(text)  # it has objects in braces and lists in brackets, too


def _parse_json(text: str) -> Any:
    try:
        document = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_int=integer_of,
            parse_float=float_of,
            parse_constant=_refuse_constant,
        )
    except _DuplicateKeyError as error:
        raise _second_key(text) from error
    except RecursionError as error:
        raise TextError(f"nested more than {DEPTH_MAX} deep") from error
    _check_depth(document)
    if _HALF_PAIR.search(text):
        try:
            json.dumps(document, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise TextError(r"half of a surrogate pair (\ud800…\udfff) is not text") from error
    return document


def _problem(error: json.JSONDecodeError) -> str:
    """What is wrong, in the parser's words where these tell enough."""
    if error.pos >= len(error.doc.rstrip()):
        return f"the text ends too early: {error.msg}"
    if error.doc[error.pos] in "]}" and error.doc[: error.pos].rstrip().endswith(","):
        return f"nothing between the comma and {error.doc[error.pos]}; leave the comma out"
    return error.msg.removesuffix(" starting at")


class _DuplicateKeyError(Exception):
    """A key is in an object twice."""


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise _DuplicateKeyError
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise TextError(f"{name} is no number of JSON")


def _check_depth(document: Any) -> None:
    """Refuse what is nested too deep; level by level, so without recursion."""
    level = [document]
    for _ in range(DEPTH_MAX):
        level = [
            child
            for value in level
            for child in (value.values() if isinstance(value, dict) else value)
            if isinstance(child, (dict, list))
        ]
        if not level:
            return
    raise TextError(f"nested more than {DEPTH_MAX} deep")


def _second_key(text: str) -> TextError:
    """Find the first key that is there a second time; up to there text is valid JSON."""
    keys: list[set[str] | None] = []
    before = None
    for token in _JSON_TOKEN.finditer(text):
        known = keys[-1] if keys else None
        if token[0] == ":" and before is not None and known is not None:
            key = json.loads(before[0])
            if key in known:
                start = before.start()
                line, column = text.count("\n", 0, start) + 1, start - text.rfind("\n", 0, start)
                return TextError(duplicate_key(key), line, column)
            known.add(key)
        elif token[0] in "{[":
            keys.append(set() if token[0] == "{" else None)
        elif token[0] in "}]":
            keys.pop()
        before = token
    raise AssertionError
