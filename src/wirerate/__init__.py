# SPDX-License-Identifier: BSD-3-Clause
"""wirerate: what a wire, a NIC, a kernel path or a network function can really do."""


def __getattr__(name: str) -> str:
    """``__version__``, looked up when somebody asks: that takes as long as all else at a start."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("wirerate")
    except PackageNotFoundError:  # imported from a source tree that was never installed
        return "0+uninstalled"
