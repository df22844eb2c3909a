# SPDX-License-Identifier: BSD-3-Clause
"""What the user asked: text and flags in, checked values out. Nothing here touches a device."""
