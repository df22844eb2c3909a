# SPDX-License-Identifier: BSD-3-Clause
"""`wirerate kernel-path` without its command line: settings as JSON, or `--cleanup`.

Prints the document, or what was removed; says on standard error what it measures.
"""

from __future__ import annotations

import json
import os
import sys

from wirerate.cli.engine_session import stopping
from wirerate.errors import WirerateError
from wirerate.methods.kernel_leftovers import find_leftovers, remove_leftovers
from wirerate.methods.kernel_path import KernelPath
from wirerate.plan.kernel_path_settings import Group, KernelPathSettings


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main(words: list[str]) -> int:
    """Do what the words say; the exit code."""
    if words == ["--cleanup"]:
        print("\n".join(remove_leftovers(find_leftovers())))
        return 0
    asked = json.loads(words[0])
    asked["groups"] = tuple(map(Group, asked["groups"]))
    settings = KernelPathSettings(lcores=tuple(sorted(os.sched_getaffinity(0))), **asked)
    path = KernelPath(settings, _say)
    try:
        with stopping(path):
            print(json.dumps(path.run()))
    except WirerateError as error:
        _say(f"wirerate: error: {error}")
        return int(error.exit_code)
    return 130 if path.stopped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
