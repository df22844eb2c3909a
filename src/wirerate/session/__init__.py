# SPDX-License-Identifier: BSD-3-Clause
"""What measures: a session prepares a plan, holds its engine and runs trials; forwarders likewise.

The command line and scripts use the same classes. Nothing here prints, handles signals or exits.
"""
