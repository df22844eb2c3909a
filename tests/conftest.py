# SPDX-License-Identifier: BSD-3-Clause
"""What all tests need of the process that runs them."""

from __future__ import annotations

import signal

# Shells without job control start what runs in the background with SIGINT ignored, nohup with
# SIGHUP, and programs inherit that: tests of these signals would wait for good. A handler is not
# inherited.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)
