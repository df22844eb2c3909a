# SPDX-License-Identifier: BSD-3-Clause
"""`make chaos`: random trials with faults, each judged by a witness. docs/chaos.md."""

from __future__ import annotations

import argparse
import json
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chaos.judge import COLUMNS, Judgement, judge
from chaos.space import Space, missing
from chaos.trials import FAULTS, draw

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

KEPT = Path("build") / "chaos"


def trials(seeds: Sequence[int], fault: str | None) -> Iterator[tuple[int, Judgement]]:
    """Run and judge the trials of these seeds; what is not good is kept as a file."""
    space = Space()
    try:
        for seed in seeds:
            outcome = space.run(seed, fault)
            found = judge(draw(seed, fault), outcome)
            if not found.good:
                _keep(seed, outcome, found)
            yield seed, found
    finally:
        space.close()


def _keep(seed: int, outcome: dict[str, Any], found: Judgement) -> None:
    KEPT.mkdir(parents=True, exist_ok=True)
    kept = {"column": found.column, "why": found.why, **outcome}
    (KEPT / f"{seed}.json").write_text(json.dumps(kept, indent=1) + "\n")


def table(found: Counter[tuple[str, str]]) -> str:
    """Faults against columns, and their sum."""
    faults = [fault for fault in FAULTS if any(key[0] == fault for key in found)]
    lines = [f"{'fault':18}" + "".join(f"{name:>22}" for name in COLUMNS)]
    lines += [
        f"{fault:18}" + "".join(f"{found[fault, name]:22,}" for name in COLUMNS) for fault in faults
    ]
    sums = [sum(count for (_, name), count in found.items() if name == own) for own in COLUMNS]
    return "\n".join([*lines, f"{'all':18}" + "".join(f"{one:22,}" for one in sums)])


def main() -> int:
    """Exit code 1: a result was wrong, misnamed its cause, or was not there."""
    parser = argparse.ArgumentParser(prog="chaos", description=__doc__)
    parser.add_argument("--trials", type=int, default=100, help="how many (default: 100)")
    parser.add_argument("--seed", type=int, help="of the first; the next ones count up")
    parser.add_argument("--fault", choices=FAULTS, help="this fault only")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    why = missing()
    if why is not None:
        print(f"chaos: skipped: {why}")
        return 0
    first = random.SystemRandom().randrange(10**9) if args.seed is None else args.seed
    only = "" if args.fault is None else f" FAULT='{args.fault}'"
    print(f"chaos: {args.trials:,} trials, SEED={first}{only}", flush=True)
    found: Counter[tuple[str, str]] = Counter()
    began = time.monotonic()
    try:
        for seed, one in trials(range(first, first + args.trials), args.fault):
            trial = draw(seed, args.fault)
            found[trial.fault, one.column] += 1
            if not one.good:
                print(f"SEED={seed} {trial.title}: {one.column}: {'; '.join(one.why)}", flush=True)
    except KeyboardInterrupt:
        print("interrupted")
    print(table(found))
    print(f"{sum(found.values()):,} trials in {time.monotonic() - began:.0f} s, SEED={first}{only}")
    return int(any(name not in {COLUMNS[0], COLUMNS[2]} for _, name in found))


if __name__ == "__main__":
    sys.exit(main())
