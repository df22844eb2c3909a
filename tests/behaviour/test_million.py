# SPDX-License-Identifier: BSD-3-Clause
"""A million distinct 5-tuples: really sent, each once, every checksum right."""

import struct

import pytest

pytestmark = pytest.mark.alone

FRAMES = 1_000_000
PLAN = """\
ports: [{name: p0, location: "pcap:,%s"}]
flows:
- name: million
  tx_rx: {port: {tx_name: p0}}
  packet:
  - ethernet: {src: {value: "02:57:52:00:00:00"}, dst: {value: "02:57:52:01:00:00"}}
  - ipv4:
      src: {increment: {start: 198.18.0.1, step: 0.0.0.1, count: 65536}}
      dst: {increment: {start: 198.19.0.1, step: 0.0.0.1, count: 15625}}
  - udp:
      src_port: {random: {min: 1024, max: 65535, seed: 9, count: 1000000}}
      dst_port: {value: 9}
  rate: {percentage: 100}
  duration: {fixed_packets: {packets: 1000000}}
"""


def packets(path):
    """The IPv4 packets of a pcap file, one after the other, in order."""
    data = path.read_bytes()
    assert data[:4] in {struct.pack("<I", 0xA1B23C4D), struct.pack("<I", 0xA1B2C3D4)}
    at = 24
    while at < len(data):
        captured, length = struct.unpack_from("<II", data, at + 8)
        assert captured == length == 60
        yield data[at + 16 + 14 : at + 16 + length]
        at += 16 + length


def words_sum(octets):
    """The ones' complement sum of 16-bit words, as a remainder: 2^16 is 1 modulo 65,535."""
    return int.from_bytes(octets, "big") % 0xFFFF


@pytest.mark.timeout(120)
def test_a_million_flows(program, tmp_path):
    out, plan = tmp_path / "out.pcap", tmp_path / "plan.yaml"
    plan.write_text(PLAN % out)
    done = program.run("run", str(plan), "--json")
    assert done.code == 0, done.err
    assert done.document["flows"][0]["tx_frames"] == FRAMES
    tuples = set()
    for number, packet in enumerate(packets(out)):
        assert words_sum(packet[:20]) == 0, f"IPv4 checksum of frame {number}"
        pseudo = 17 + 26  # the protocol and the length of UDP, 60 - 14 - 20
        assert packet[26:28] != b"\0\0"
        assert (words_sum(packet[12:46]) + pseudo) % 0xFFFF == 0, f"UDP checksum of frame {number}"
        tuples.add(packet[12:24])
    assert len(tuples) == FRAMES
