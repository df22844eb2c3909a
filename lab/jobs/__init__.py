# SPDX-License-Identifier: BSD-3-Clause
"""The jobs: a machine each, and checks that run in it. `make lab` lists them."""
