#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write docs/python-reference.md from the docstrings of what `wirerate` exports.

`make check` compares it (--check). A script rather than a documentation generator: those make sites
of HTML, and this is one Markdown page among others, read in the repository.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
import sys
import typing
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "src"))  # the source, installed or not

import wirerate  # noqa: E402 -- see above

PAGE = ROOT / "docs" / "python-reference.md"
HEAD = """\
# Python reference

Every name of the package `wirerate`, from its docstrings ([tutorial](python.md)); made by
`tools/api_reference.py`.
Attributes and methods that are not listed may change with a release.

A `Time` is a number of seconds, or text with a unit: `5`, `0.5`, `"500ms"`, `"2m"`.

"""
FOR_COMMANDS = {
    *("discard", "drop", "end_engine", "environment", "listen", "prepare", "ready", "search"),
    *("uncounted_trial", "watch", "whole"),
}
"""Used by the command line; scripts have no need of them."""
_ATTRIBUTE = re.compile(r"    (\w+): (.*)")


def main() -> int:
    """Write the page; with --check return 1 where it is not as it should be."""
    page = "".join(_page())
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != page:
            print(f"{PAGE.relative_to(ROOT)} is not up to date: run tools/api_reference.py")
            return 1
        return 0
    PAGE.write_text(page)
    return 0


def _page() -> Iterator[str]:
    yield HEAD
    for name in wirerate.__all__:
        if name == "__version__":
            yield "## `__version__`\n\nThe version of the package, as text.\n\n"
            continue
        thing = getattr(wirerate, name)
        yield f"## `{name}`\n\n"
        if inspect.isclass(thing):
            yield from _class(thing)
        else:
            yield f"```python\n{name}{_signature(thing)}\n```\n\n{_text(thing)}"


def _class(thing: Any) -> Iterator[str]:
    if issubclass(thing, BaseException):
        yield f"An exception, of the kind `{thing.__base__.__name__}`. {_text(thing)}"
        return
    if thing is wirerate.Session:
        yield f"```python\n{thing.__name__}{_signature(thing.__init__)}\n```\n\n"
    yield _text(thing)
    if typing.is_typeddict(thing):
        return
    if dataclasses.is_dataclass(thing) and "Attributes:" not in (thing.__doc__ or ""):
        yield "".join(f"- `{field.name}: {field.type}`\n" for field in dataclasses.fields(thing))
        yield "\n"
    for name, member in _members(thing):
        yield _member(name, member)


def _members(thing: Any) -> Iterator[tuple[str, Any]]:
    """Public properties and methods, in the order of the source, those of bases at the end."""
    seen: set[str] = set()
    for base in thing.__mro__:
        if not base.__module__.startswith("wirerate"):
            continue
        for name, member in vars(base).items():
            if name.startswith("_") or name in seen | FOR_COMMANDS or not _is_shown(member):
                continue
            seen.add(name)
            yield name, member


def _is_shown(member: Any) -> bool:
    shown = isinstance(member, (property, cached_property)) or inspect.isfunction(member)
    return shown and bool(inspect.getdoc(member))


def _member(name: str, member: Any) -> str:
    if isinstance(member, (property, cached_property)):
        function: Any = member.fget if isinstance(member, property) else member.func
        kind = inspect.signature(function).return_annotation
        return f"### `{name}: {kind}`\n\n{_text(member)}"
    return f"### `{name}{_signature(member)}`\n\n{_text(member)}"


def _signature(function: Any) -> str:
    """As it is called: without self, and without what only the command line gives."""
    signature = inspect.signature(function)
    shown = [one for name, one in signature.parameters.items() if name not in {"self", "command"}]
    if function.__name__ == "__init__":
        signature = signature.replace(return_annotation=inspect.Signature.empty)
    text = str(signature.replace(parameters=shown))
    return re.sub(r"'([^']*)'", r"\1", text)


def _text(thing: Any) -> str:
    """A docstring in Markdown: attributes are a list."""
    lines = []
    for line in (inspect.getdoc(thing) or "").splitlines():
        found = _ATTRIBUTE.fullmatch(line)
        if line == "Attributes:":
            continue
        lines.append(f"- `{found[1]}`: {found[2]}" if found else re.sub(r"^    +", "  ", line))
    return re.sub(r"``([^`]+)``", r"`\1`", "\n".join(lines)).strip() + "\n\n"


if __name__ == "__main__":
    sys.exit(main())
