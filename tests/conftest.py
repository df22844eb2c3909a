# SPDX-License-Identifier: BSD-3-Clause
"""What all tests need of the process that runs them."""

from __future__ import annotations

import signal

# Shells without job control start what runs in the background with SIGINT ignored, and programs
# inherit that: tests of Ctrl-C would wait for good.
signal.signal(signal.SIGINT, signal.default_int_handler)
