# SPDX-License-Identifier: BSD-3-Clause
"""PAUSE frames (IEEE 802.3 annex 31B): a sender that obeys them waits instead of losing frames.

Ports are opened with flow control switched off; here is said where the driver refused that, and
where PAUSE frames arrived.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wirerate.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wirerate.trial.snapshot import Device

_ON = {
    "rx": "PAUSE frames that arrive slow its sending and hide loss",
    "tx": "it sends PAUSE frames when its queues fill up, which slows its link partner and hides "
    "loss",
    "full": "PAUSE frames slow its sending and that of its link partner, and hide loss",
}


def flow_control_notes(
    titles: Mapping[str, str], infos: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """The ports whose flow control could not be switched off, and what to do.

    ``titles`` and ``infos`` (PORT_INFOs): by the engine's names of the ports.
    """
    return tuple(
        f"{title}: flow control ({mode}) could not be switched off ({infos[name]['driver']}): "
        f"{_ON[mode]}; switch it off at the link partner"
        for name, title in titles.items()
        if (mode := infos[name].get("flow_control")) in _ON
    )


def pause_notes(device: Device) -> Iterator[str]:
    """PAUSE frames received: whether they slowed the sender is the device's flow control's."""
    if device.pause_frames > 0:
        count = format_count(device.pause_frames)
        yield (
            f"{count} PAUSE frame{'s' * (device.pause_frames != 1)} arrived: the link partner "
            "asked this port to slow down; a sender that obeys hides loss: switch flow control "
            "off at the link partner"
        )
