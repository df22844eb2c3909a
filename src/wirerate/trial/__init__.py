# SPDX-License-Identifier: BSD-3-Clause
"""One trial: run it, count, and say whether the count can be believed."""
