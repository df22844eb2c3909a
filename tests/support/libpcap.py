# SPDX-License-Identifier: BSD-3-Clause
"""Libpcap's filters, as the library itself judges them: expressions are tried on frames."""

from __future__ import annotations

import ctypes
import ctypes.util
from functools import cache
from typing import Any

import pytest

_ETHERNET = 1
_SNAPLEN = 65535
_NETMASK_UNKNOWN = 0xFFFFFFFF


class _Program(ctypes.Structure):
    """struct bpf_program of pcap/bpf.h."""

    _fields_ = [("bf_len", ctypes.c_uint), ("bf_insns", ctypes.c_void_p)]


@cache
def _library() -> Any:
    name = ctypes.util.find_library("pcap")
    if name is None:
        pytest.skip("libpcap is not installed")
    library = ctypes.CDLL(name)
    library.pcap_open_dead.restype = ctypes.c_void_p
    library.pcap_geterr.restype = ctypes.c_char_p
    library.bpf_filter.restype = ctypes.c_uint
    return library


def offline_filter(expression: str, frame: bytes) -> bool:
    """Whether a frame passes; fails the test where libpcap does not take the expression."""
    library = _library()
    handle = ctypes.c_void_p(library.pcap_open_dead(_ETHERNET, _SNAPLEN))
    program = _Program()
    try:
        made = library.pcap_compile(
            handle, ctypes.byref(program), expression.encode(), 1, _NETMASK_UNKNOWN
        )
        assert made == 0, f"{expression}: {library.pcap_geterr(handle).decode()}"
        size = len(frame)
        passed = library.bpf_filter(ctypes.c_void_p(program.bf_insns), frame, size, size)
        library.pcap_freecode(ctypes.byref(program))
        return bool(passed)
    finally:
        library.pcap_close(handle)
