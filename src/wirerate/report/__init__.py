# SPDX-License-Identifier: BSD-3-Clause
"""What people and programs see of a result."""
