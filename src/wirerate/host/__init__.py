# SPDX-License-Identifier: BSD-3-Clause
"""What the host offers a measurement: read-only probes over /proc and /sys, and their findings."""
