# SPDX-License-Identifier: BSD-3-Clause
"""Start the engine, talk to it, read its counters, notice its death."""
