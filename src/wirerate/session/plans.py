# SPDX-License-Identifier: BSD-3-Clause
"""Plans that scripts give: a file, a document in the plan language, or a Plan."""

from __future__ import annotations

import os
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from wirerate.errors import PlanError, SessionError
from wirerate.plan.decode import decode_plan
from wirerate.plan.document import load_document
from wirerate.plan.model import Plan

if TYPE_CHECKING:
    from collections.abc import Iterator

PlanSource: TypeAlias = "str | os.PathLike[str] | Mapping[str, Any] | Plan"
"""A plan: the path of a YAML or JSON file, its content as a dict, or what `load_plan` returned."""


def load_plan(source: PlanSource) -> Plan:
    """Read and check a plan, docs/run.md; capture files of a dict are sought from here.

    Raises PlanError with the place in the plan.
    """
    if isinstance(source, Plan):
        return source
    if isinstance(source, Mapping):
        return decode_plan(deepcopy(dict(source)), base=Path.cwd())
    if not isinstance(source, (str, os.PathLike)):
        raise PlanError(
            f"plan: it is a {type(source).__name__}; give the path of a file, a dict in the plan "
            "language, or a Plan"
        )
    path = Path(source)
    return decode_plan(load_document(path), base=path.absolute().parent)


class Unchanged:
    """Notices when a script changes the dict that its session was made of."""

    def __init__(self, source: PlanSource) -> None:
        self._source = source
        self._copy = deepcopy(source) if isinstance(source, Mapping) else None

    def check(self) -> None:
        """Raise SessionError where it is not as it was."""
        if self._copy is None or self._copy == self._source:
            return
        place = next(_differences(self._copy, self._source, ""), "something")
        raise SessionError(
            f"the plan was changed after its session began: {place}; make another session of it"
        )


def _differences(before: Any, now: Any, path: str) -> Iterator[str]:
    """Places in which two documents differ, with what was there and is there."""
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for key in (*before, *(key for key in now if key not in before)):
            if key not in before or key not in now:
                yield f"{_join(path, key)} was {'added' if key in now else 'removed'}"
            else:
                yield from _differences(before[key], now[key], _join(path, key))
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for index, (old, new) in enumerate(zip(before, now, strict=True)):
            yield from _differences(old, new, f"{path}[{index}]")
    elif isinstance(before, list) and isinstance(now, list):
        yield f"{path} had {len(before)} entries and has {len(now)}"
    elif before != now:
        yield f"{path} was {before!r} and is {now!r}"


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)
