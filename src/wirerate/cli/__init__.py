# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one thin module per command."""
