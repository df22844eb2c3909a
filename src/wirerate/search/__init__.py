# SPDX-License-Identifier: BSD-3-Clause
"""Searches for a rate: pure, they take whatever measures one."""
