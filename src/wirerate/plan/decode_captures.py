# SPDX-License-Identifier: BSD-3-Clause
"""OTG's ``captures`` to Captures, one for each of their ports.

Called by `wirerate.plan.decode`; pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wirerate.errors import PlanError
from wirerate.plan.capture_filter import decode_filters
from wirerate.plan.captures import OCTETS_MAX, OCTETS_MIN, Capture, file_name
from wirerate.plan.reader import port_reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from wirerate.plan.reader import Reader

_PACKET_SIZE_MAX = 65535


def decode_captures(config: Reader, port_names: Sequence[str]) -> tuple[Capture, ...]:
    """All captures of a plan. Raises PlanError."""
    names: dict[str, str] = {}
    captures: list[Capture] = []
    files: dict[str, str] = {}
    for reader in config.children("captures"):
        for capture in _decode_capture(reader, names, port_names):
            other = files.setdefault(str(capture.file), capture.path)
            if other != capture.path:
                raise PlanError(
                    f"{capture.path}.name: its file is {capture.file}, as that of {other}; give "
                    "another name"
                )
            captures.append(capture)
    return tuple(captures)


def _decode_capture(
    reader: Reader, names: dict[str, str], port_names: Sequence[str]
) -> Iterator[Capture]:
    name = reader.unique_name("name", names)
    reader.raw("port_names")
    ports: list[str] = []
    for index, value in enumerate(reader.sequence("port_names")):
        path = f"{reader.place('port_names')}[{index}]"
        port = port_reference(value, path, port_names)
        if port in ports:
            raise PlanError(f"{path}: port {port} is there twice; keep one of them")
        ports.append(port)
    if not ports:
        reader.fail("port_names", "there is none; name a port or more")
    expression = decode_filters(reader.children("filters"))
    overwrite = reader.boolean("overwrite", default=True)
    octets = reader.integer("packet_size", OCTETS_MIN, _PACKET_SIZE_MAX, None)
    kind = reader.one_of("format", ("pcap", "pcapng"), "pcap")
    reader.done()
    for port in ports:
        yield Capture(
            path=reader.path,
            port=port,
            file=file_name(name, port, suffix=kind),
            format=kind,
            filter=expression,
            octets=None if octets is None else min(octets, OCTETS_MAX),
            overwrite=overwrite,
        )
