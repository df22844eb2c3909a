# SPDX-License-Identifier: BSD-3-Clause
"""What runs inside the guest: stdlib only, and what .venv has."""
