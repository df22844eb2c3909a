# SPDX-License-Identifier: BSD-3-Clause
"""CPU numbers, which people write and read, and the lcore ids of EAL, which the engine has.

They are the same where EAL has an lcore of that number. A CPU above gets a free id, and nobody sees
it but EAL and the engine: what goes to the engine is translated here, and what comes from it, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from wirerate.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

IDS = 128
"""RTE_MAX_LCORE of distribution builds: how many lcores EAL has, the main lcore among them."""
ALIKE = IDS
"""CPUs below this number are lcores of the same number."""
_OPTION = "--lcores"
_PAIR = re.compile(r"([0-9]+)@([0-9]+)(?![0-9])")
_NAMED = re.compile(r"\blcore ([0-9]+)\b")


@dataclass(frozen=True)
class LcoreIds:
    """The lcore id of each data CPU of one engine: ``of_cpu``."""

    of_cpu: Mapping[int, int]

    @classmethod
    def choose(cls, cpus: Collection[int]) -> LcoreIds:
        """An id for each CPU: its own number, else the smallest free one. Raises PlanError."""
        data = sorted(set(cpus))
        if len(data) >= IDS:
            raise PlanError(
                f"{len(data)} lcores for one engine: DPDK has {IDS}, and one is the main lcore; "
                "name fewer in the lcore maps (-m), or share the ports out between several runs"
            )
        alike = {cpu for cpu in data if cpu < ALIKE}
        free = (number for number in range(IDS) if number not in alike)
        return cls({cpu: cpu if cpu in alike else next(free) for cpu in data})

    @classmethod
    def read(cls, eal_arguments: Sequence[str]) -> LcoreIds:
        """The ids that these arguments of `wirerate.engine.eal` give; none without such."""
        if _OPTION not in eal_arguments:
            return cls({})
        lcores = eal_arguments[eal_arguments.index(_OPTION) + 1]
        return cls({int(cpu): int(lcore) for lcore, cpu in _PAIR.findall(lcores)})

    def arguments(self, main_cpus: Collection[int]) -> list[str]:
        """EAL's arguments; the main lcore has the largest free id and runs on ``main_cpus``."""
        used = set(self.of_cpu.values())
        main = next(number for number in range(IDS - 1, -1, -1) if number not in used)
        pairs = [f"{main}@({','.join(map(str, sorted(main_cpus)))})"]
        pairs += [f"{lcore}@{cpu}" for cpu, lcore in sorted(self.of_cpu.items())]
        return [_OPTION, ",".join(pairs), "--main-lcore", str(main)]

    @property
    def alike(self) -> bool:
        """Each lcore has the number of its CPU."""
        return all(cpu == lcore for cpu, lcore in self.of_cpu.items())

    def cpu(self, lcore: int) -> int:
        """The CPU of an lcore id; the id itself where that is none of these (the main lcore)."""
        return next((cpu for cpu, own in self.of_cpu.items() if own == lcore), lcore)

    def for_engine(self, params: Mapping[str, Any]) -> Mapping[str, Any]:
        """Params of a control method; workers of a program, by their CPUs, become the engine's."""
        if self.alike or "workers" not in params:
            return params
        workers = [worker | {"lcore": self.of_cpu[worker["lcore"]]} for worker in params["workers"]]
        return {**params, "workers": workers}

    def for_people(self, text: str) -> str:
        """What the engine says of an lcore, with the CPU's number."""
        return _NAMED.sub(lambda found: f"lcore {self.cpu(int(found[1]))}", text)

    def labels(self, labels: dict[str, Any]) -> dict[str, Any]:
        """The labels of a block of counters, with the CPU's number."""
        return labels | {"lcore": self.cpu(labels["lcore"])} if "lcore" in labels else labels


NONE = LcoreIds({})
"""Where CPUs and lcores have the same numbers."""
