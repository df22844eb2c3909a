# SPDX-License-Identifier: BSD-3-Clause
"""The command line: one module per command, imported when it is called."""
