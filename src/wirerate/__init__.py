# SPDX-License-Identifier: BSD-3-Clause
"""wirerate: what a wire, a NIC, a kernel path or a network function can really do."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("wirerate")
except PackageNotFoundError:  # imported from a source tree that was never installed
    __version__ = "0+uninstalled"
