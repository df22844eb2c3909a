# SPDX-License-Identifier: BSD-3-Clause
"""The frequency of this machine's TSC, at which an emulated guest's counts, too.

QEMU's TCG gives guests the host's own counter. A guest's kernel finds its frequency by timers that
QEMU emulates, which on a host with other work went wrong by a factor of 4.5, and with it all times
and rates in the guest. So the kernel is given the frequency.
"""

from __future__ import annotations

import ctypes
import mmap
import time

_RDTSC = bytes.fromhex("0f31 48c1e220 4809d0 c3")
"""rdtsc; shl rdx, 32; or rax, rdx; ret."""
_TRIES = 50
"""Of these readings the one that took the least time counts: it was not interrupted."""
_APART_S = 0.2


def tsc_khz() -> int:
    """The frequency [kHz], by CLOCK_MONOTONIC_RAW, to some 10 ppm; 0 where it cannot be read."""
    try:
        with mmap.mmap(
            -1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
        ) as page:
            page.write(_RDTSC)
            return _measured(page)
    except OSError:
        return 0


def _measured(page: mmap.mmap) -> int:
    place = ctypes.c_char.from_buffer(page)
    try:
        read = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(place))
        first_ns, first = _both(read)
        time.sleep(_APART_S)
        second_ns, second = _both(read)
    finally:
        del place  # the page cannot be closed while it is in use
    return round((second - first) * 1e6 / (second_ns - first_ns))


def _both(read: ctypes._FuncPointer) -> tuple[int, int]:
    """Time [ns] and TSC of one moment."""
    tries = []
    for _ in range(_TRIES):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        count = int(read())
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        tries.append((after - before, (before + after) // 2, count))
    _, at_ns, count = min(tries)
    return at_ns, count
