# SPDX-License-Identifier: BSD-3-Clause
"""Make the stored captures again: ``PYTHONPATH=tests python -m golden.remake [PLAN…]``.

A capture whose frames are not those that Scapy builds is not stored.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from golden.plans import REBUILT
from support.golden import differences, preview


def main(names: list[str]) -> int:
    """Make the captures of some plans, all of them by default; 1 where one is wrong."""
    wrong = 0
    for name in names or sorted(REBUILT):
        golden = REBUILT[name]
        with tempfile.TemporaryDirectory(prefix="wirerate-golden-") as directory:
            made = Path(directory) / golden.stored.name
            errors = list(differences(preview(golden.plan, made, golden.asked), golden.sent()))
            if errors:
                wrong += 1
                print(f"{name}: not stored", *errors[:5], sep="\n  ")
                continue
            octets = made.read_bytes()
        if golden.stored.exists() and golden.stored.read_bytes() == octets:
            continue
        golden.stored.write_bytes(octets)
        print(f"{name}: stored, {len(octets):,} octets")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
