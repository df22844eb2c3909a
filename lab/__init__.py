# SPDX-License-Identifier: BSD-3-Clause
"""The emulated-NIC lab: wirerate on the drivers of real NICs, in a QEMU guest. See docs/lab.md."""
