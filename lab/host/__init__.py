# SPDX-License-Identifier: BSD-3-Clause
"""The host side: packages, kernel, initramfs, boot."""
