# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark document describes: many trials, and what they come to together."""
