# SPDX-License-Identifier: BSD-3-Clause
"""Names of PCI devices from the pci.ids list, where the host has one. Numbers alone do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.host.tree import is_there

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLACES = ("usr/share/misc/pci.ids", "usr/share/hwdata/pci.ids", "usr/share/pci.ids")


def pci_names(root: Path, wanted: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return "Vendor Device" for each known (vendor, device) of `wanted`, four hex digits each."""
    place = next((root / place for place in PLACES if is_there(root / place)), None)
    if place is None:
        return {}
    try:
        with place.open(encoding="utf-8", errors="replace") as lines:
            return _scan(iter(lines), wanted)
    except OSError:
        return {}


def _scan(lines: Iterator[str], wanted: set[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Read the list: vendors start a line, their devices follow behind one tab, subsystems two."""
    vendors = {vendor for vendor, _device in wanted}
    found: dict[tuple[str, str], str] = {}
    vendor, vendor_name = "", ""
    for line in lines:
        number, _, name = line.strip().partition("  ")
        if line.startswith("C "):  # device classes begin: no more vendors
            break
        if line[:1] not in ("\t", "#", "\n"):
            vendor, vendor_name = number, name
        elif (
            vendor in vendors
            and line.startswith("\t")
            and (vendor, number) in wanted
            and line[1] != "\t"
        ):
            found[vendor, number] = f"{vendor_name} {name}"
    return found
