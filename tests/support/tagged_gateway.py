# SPDX-License-Identifier: BSD-3-Clause
"""A gateway behind a VLAN tag, as a program: for kernels without VLAN interfaces.

``python tagged_gateway.py INTERFACE VLAN ADDRESS MAC`` answers ARP requests for ADDRESS that have
the tag, and prints ``ready``. Asked on standard input, it prints how many IPv4 frames with the tag
came for MAC, and ends.
"""

from __future__ import annotations

import select
import socket
import struct
import sys

ETH_P_ALL = 3
SOL_PACKET = 263
SO_RCVBUFFORCE = 33
PACKET_AUXDATA = 8
TP_STATUS_VLAN_VALID = 1 << 4
AUXDATA = struct.Struct("=IIIHHHH")
"""struct tpacket_auxdata of linux/if_packet.h."""


def tag_of(ancillary: list[tuple[int, int, bytes]]) -> int | None:
    """The kernel takes tags off frames and tells them beside."""
    for level, kind, data in ancillary:
        if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
            status, *_, tci, _ = AUXDATA.unpack_from(data)
            return tci & 0xFFF if status & TP_STATUS_VLAN_VALID else None
    return None


def main() -> None:
    interface, vlan, address, text = sys.argv[1:]
    mac, own = bytes.fromhex(text.replace(":", "")), socket.inet_aton(address)
    port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    port.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)  # for as long as others run
    port.bind((interface, 0))
    port.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    print("ready", flush=True)
    came = 0
    while True:
        ready, _, _ = select.select([port, sys.stdin], [], [])
        if port not in ready:
            print(came, flush=True)
            return
        frame, ancillary, _, _ = port.recvmsg(2048, 256)
        if tag_of(ancillary) != int(vlan):
            continue
        kind, body = frame[12:14], frame[14:]
        if kind == b"\x08\x06" and body[6:8] == b"\0\1" and body[24:28] == own:
            reply = body[:6] + b"\0\2" + mac + own + body[8:18]
            head = frame[6:12] + mac + struct.pack("!HH", 0x8100, int(vlan))
            port.send((head + kind + reply).ljust(64, b"\0"))
        came += kind == b"\x08\x00" and frame[:6] == mac


if __name__ == "__main__":
    main()
