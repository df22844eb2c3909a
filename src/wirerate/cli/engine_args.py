# SPDX-License-Identifier: BSD-3-Clause
"""The option that chooses how frames are handed to devices, and what follows from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.plan.run_settings import CPU_SAVER_DEFAULT_NS, ENGINE_LOOP, ENGINE_NORMAL

if TYPE_CHECKING:
    import argparse


def add_engine(group: argparse._ArgumentGroup) -> None:
    """Add it to a command's parser."""
    group.add_argument(
        "--engine",
        choices=(ENGINE_NORMAL, ENGINE_LOOP),
        default=ENGINE_NORMAL,
        help="descriptor-loop: fill the device's Tx ring once and only move its tail, which takes "
        "next to no CPU; for frames that never change, on some drivers (docs/descriptor-loop.md)",
    )


def loop_sleep_ns(args: argparse.Namespace) -> int:
    """How long lcores sleep unless --cpu-saver says so: a ring that loops lasts for some time."""
    return CPU_SAVER_DEFAULT_NS if getattr(args, "engine", None) == ENGINE_LOOP else 0


def engine_words(args: argparse.Namespace) -> list[str]:
    """The option as words of a command line, none for the default."""
    chosen = getattr(args, "engine", ENGINE_NORMAL)
    return [] if chosen == ENGINE_NORMAL else ["--engine", chosen]
