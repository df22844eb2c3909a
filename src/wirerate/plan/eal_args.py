# SPDX-License-Identifier: BSD-3-Clause
"""The EAL part of a command line: ``wirerate perf -l 1,2-9 -a 03:00.0 -- …``.

Some of EAL's options are wirerate's own business and are taken out: lcores (``-l``, ``--lcores``,
``-c``, ``--main-lcore``) and devices (``-a``, ``--vdev``), which become ports in the order given.
What would break the tool is refused with the reason. The rest, known here or not, is passed to the
engine's EAL as it stands. Follows DPDK 22.11 lib/eal/common/eal_common_options.c. Called by the
command line and by sessions.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.lcore_map import LCORE_MAX, parse_number_list
from wirerate.plan.location import Location, LocationKind, parse_location

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_SHORT_WITH_VALUE = frozenset("abcdlmnrsSw")
_SHORT_FLAGS = frozenset("hv")
_WORDS_WITH_VALUE = """
    allow base-virtaddr block file-prefix force-max-simd-bitwidth huge-dir iova-mode lcores
    log-level main-lcore master-lcore mbuf-pool-ops-name pci-whitelist pci-blacklist proc-type
    socket-limit socket-mem syslog trace trace-bufsz trace-dir trace-mode vdev vfio-intr
    vfio-vf-token
"""
_FLAG_WORDS = """
    create-uio-dev help huge-unlink in-memory legacy-mem match-allocations no-hpet no-huge no-pci
    no-shconf no-telemetry single-file-segments telemetry version vmware-tsc-map
"""
_LONG_WITH_VALUE = frozenset(_WORDS_WITH_VALUE.split())
_LONG_FLAGS = frozenset(_FLAG_WORDS.split())
_LONG = _LONG_WITH_VALUE | _LONG_FLAGS
_SHORT_FOR = {
    "l": "lcores",
    "a": "allow",
    "w": "pci-whitelist",
    "b": "block",
    "h": "help",
}

_RENAMED = {
    "master-lcore": "--master-lcore became --main-lcore in DPDK 20.11",
    "pci-whitelist": "-w became -a (--allow) in DPDK 20.11",
    "pci-blacklist": "--pci-blacklist became -b (--block) in DPDK 20.11",
}


@dataclass(frozen=True)
class EalRequest:
    """What the EAL part asks for.

    ``lcores`` [lcore ids, ascending] and ``main_lcore`` are None when not given; a main lcore that
    was not named is the lowest of the lcores, as in EAL. ``locations`` are ``-a`` and ``--vdev`` in
    order. ``passthrough`` goes to EAL verbatim.
    """

    lcores: tuple[int, ...] | None = None
    main_lcore: int | None = None
    locations: tuple[Location, ...] = ()
    passthrough: tuple[str, ...] = ()


@dataclass
class _Draft:
    """The request while its options are read."""

    lcores: tuple[int, ...] | None = None
    main_lcore: int | None = None
    locations: list[Location] = field(default_factory=list)
    passthrough: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Option:
    """One option.

    ``name`` is the long one without dashes, or ``-c`` where there is none; ``value`` is None for a
    flag; ``tokens`` are as written.
    """

    name: str
    value: str | None
    tokens: tuple[str, ...]


def looks_like_eal(token: str) -> bool:
    """Tell whether a token is an option of EAL: for the hint that such options go before ``--``."""
    name = token.partition("=")[0]
    return (
        name.removeprefix("--") in _LONG
        if name.startswith("--")
        else name[1:2] in _SHORT_WITH_VALUE
    )


def parse_eal_args(tokens: list[str]) -> EalRequest:
    """Read what stands before ``--``. Raises PlanError."""
    draft = _Draft()
    rest = list(tokens)
    while rest:
        option = _take_option(rest)
        _apply(draft, option)
    return _finish(draft)


def unknown_options(passthrough: Sequence[str]) -> list[str]:
    """The options among those passed to EAL that are not known here, as written."""
    rest = list(passthrough)
    unknown = []
    while rest:
        option = _take_option(rest)
        letter = option.tokens[0][1:2]
        if option.name not in _LONG and letter not in _SHORT_WITH_VALUE | _SHORT_FLAGS:
            unknown.append(_written(option))
    return unknown


def _take_option(rest: list[str]) -> _Option:
    token = rest.pop(0)
    if not token.startswith("-") or len(token) == 1:
        raise PlanError(
            f"{token!r} stands before '--', where only EAL options go; put locations and "
            "wirerate's options after it",
        )
    if token.startswith("--"):
        written, equals, value = token[2:].partition("=")
        name = _full_name(written)
        known, is_flag, attached = name in _LONG, name in _LONG_FLAGS, bool(equals)
    else:
        letter, value = token[1], token[2:]
        name = _SHORT_FOR.get(letter, f"-{letter}")
        known, is_flag, attached = (
            letter in _SHORT_WITH_VALUE,
            letter in _SHORT_FLAGS,
            bool(value),
        )
    if attached:
        return _Option(name, value, (token,))
    if is_flag or (not known and (not rest or rest[0].startswith("-"))):
        return _Option(name, None, (token,))
    if not rest:
        raise PlanError(f"EAL option {token}: its value is missing")
    value = rest.pop(0)
    return _Option(name, value, (token, value))


def _full_name(written: str) -> str:
    """Complete an abbreviation as getopt_long does: ``--main`` is ``--main-lcore``."""
    if written in _LONG:
        return written
    matches = [name for name in _LONG if name.startswith(written)] if written else []
    return matches[0] if len(matches) == 1 else written


def _apply(draft: _Draft, option: _Option) -> None:
    _refuse(option)
    value = option.value or ""
    if option.name in {"lcores", "-c"}:
        if draft.lcores is not None:
            raise PlanError(
                f"EAL option {_written(option)}: lcores were given before; use one of -l, "
                "--lcores, -c once"
            )
        draft.lcores = (
            _coremask(value) if option.name == "-c" else _corelist(option.tokens[0], value)
        )
    elif option.name == "main-lcore":
        draft.main_lcore = _lcore(value)
    elif option.name == "allow":
        draft.locations.append(_allowed(value))
    elif option.name == "vdev":
        draft.locations.append(parse_location(f"vdev:{value}"))
    else:
        draft.passthrough.extend(option.tokens)


def _refuse(option: _Option) -> None:
    written = _written(option)
    if option.name in _RENAMED:
        raise PlanError(f"EAL option {written}: {_RENAMED[option.name]}")
    if option.name == "proc-type" and option.value != "primary":
        raise PlanError(
            f"EAL option {written}: the engine configures the ports, so it must be the primary "
            "process; "
            "leave the option out, and stop the other process or give it other devices",
        )
    if option.name == "help":
        raise PlanError(
            f"EAL option {written}: would print EAL's help instead of measuring; see 'wirerate "
            "perf --help'",
        )
    if option.name == "-m" and not (option.value or "").isdecimal():
        raise PlanError(
            f"EAL option {written}: before '--', -m is EAL's memory in MB; put lcore maps after "
            "'--'"
        )


def _finish(draft: _Draft) -> EalRequest:
    main_lcore = draft.main_lcore
    if draft.lcores is not None:
        main_lcore = draft.lcores[0] if main_lcore is None else main_lcore
        if main_lcore not in draft.lcores:
            raise PlanError(
                f"EAL option --main-lcore {main_lcore}: not one of the lcores given; add it to -l"
            )
    flags = {
        _full_name(token.removeprefix("--"))
        for token in draft.passthrough
        if token.startswith("--")
    }
    pci = next((location for location in draft.locations if location.needs_pci), None)
    if pci is not None and "no-pci" in flags:
        raise PlanError(
            f"EAL option --no-pci: forbids the PCI device {pci} that -a asks for; leave one of "
            "them out"
        )
    return EalRequest(draft.lcores, main_lcore, tuple(draft.locations), tuple(draft.passthrough))


def _written(option: _Option) -> str:
    return " ".join(option.tokens)


def _allowed(value: str) -> Location:
    try:
        location = parse_location(value)
    except PlanError:
        location = None
    if location is None or location.kind is not LocationKind.PCI:
        raise PlanError(
            f"EAL option -a {value}: not a PCI address; write -a 0000:03:00.0[,devargs], "
            "and give other locations after '--'",
        )
    return location


def _lcore(value: str) -> int:
    if re.fullmatch(r"[0-9]{1,5}", value) is None or int(value) > LCORE_MAX:
        raise PlanError(
            f"EAL option --main-lcore {value}: not an lcore; give one number, 0 to {LCORE_MAX}"
        )
    return int(value)


def _coremask(value: str) -> tuple[int, ...]:
    digits = value.strip().lower().removeprefix("0x")
    if re.fullmatch(r"[0-9a-f]+", digits) is None or int(digits, 16) == 0:
        raise PlanError(
            f"EAL option -c {value}: not a mask of lcores; write it in hex, or use -l 0-3"
        )
    mask = int(digits, 16)
    if mask.bit_length() > LCORE_MAX + 1:
        raise PlanError(
            f"EAL option -c {value}: lcores above {LCORE_MAX}; use fewer digits, or -l 0-3"
        )
    return tuple(lcore for lcore in range(mask.bit_length()) if mask >> lcore & 1)


def _corelist(option: str, value: str) -> tuple[int, ...]:
    if "@" in value:
        raise PlanError(
            f"EAL option {option} {value}: lcores mapped to other CPUs (@) are not supported; here "
            "lcore N is CPU N, "
            "name the CPUs themselves",
        )
    text = re.sub(r"[()\s]", "", value)
    try:
        lcores = parse_number_list(text, separators=",")
    except ValueError as error:
        raise PlanError(f"EAL option {option} {value}: {error}; write -l 1,2-9,14-21") from error
    return tuple(sorted(set(lcores)))


def allowed_lcores(eal: EalRequest, usable: Collection[int] | None = None) -> tuple[int, ...]:
    """The lcores that maps may use: EAL's, else all that are ``usable``, the CPUs of this process.

    Raises PlanError where EAL's ``-l`` names another one.
    """
    there = sorted(os.sched_getaffinity(0) if usable is None else usable)
    lcores = tuple(there) if eal.lcores is None else eal.lcores
    absent = sorted(set(lcores) - set(there))
    if absent:
        raise PlanError(
            f"EAL lcore {absent[0]}: this process may not use CPU {absent[0]}, only "
            f"{', '.join(str(cpu) for cpu in there)}; correct -l (or --lcores, -c)"
        )
    return lcores
