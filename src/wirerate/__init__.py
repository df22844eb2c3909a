# SPDX-License-Identifier: BSD-3-Clause
"""wirerate: what a wire, a NIC, a kernel path or a network function can really do.

The Python API; docs/python.md leads through it, docs/python-reference.md has every name. A name is
imported when it is used.
"""

TYPE_CHECKING = False  # of typing, which takes time to import
if TYPE_CHECKING:
    from wirerate.errors import EngineDiedError as EngineDiedError
    from wirerate.errors import EngineError as EngineError
    from wirerate.errors import EngineRefusedError as EngineRefusedError
    from wirerate.errors import EngineStartError as EngineStartError
    from wirerate.errors import HostSetupError as HostSetupError
    from wirerate.errors import PeerError as PeerError
    from wirerate.errors import PlanError as PlanError
    from wirerate.errors import SessionError as SessionError
    from wirerate.errors import WirerateError as WirerateError
    from wirerate.plan.model import Plan as Plan
    from wirerate.session.forward import ForwardOptions as ForwardOptions
    from wirerate.session.forward import forward as forward
    from wirerate.session.forward import reflect as reflect
    from wirerate.session.forward_result import ForwarderResult as ForwarderResult
    from wirerate.session.forwarder import Forwarder as Forwarder
    from wirerate.session.live import LiveFlow as LiveFlow
    from wirerate.session.live import LivePort as LivePort
    from wirerate.session.live import Snapshot as Snapshot
    from wirerate.session.options import MachineOptions as MachineOptions
    from wirerate.session.options import SessionOptions as SessionOptions
    from wirerate.session.plans import load_plan as load_plan
    from wirerate.session.result import FlowResult as FlowResult
    from wirerate.session.result import PortResult as PortResult
    from wirerate.session.result import Result as Result
    from wirerate.session.running import RunningTrial as RunningTrial
    from wirerate.session.session import Session as Session
    from wirerate.trial.received import Jitter as Jitter
    from wirerate.trial.received import Latency as Latency

    __version__: str

_PLACES = {
    "wirerate.session.session": ("Session",),
    "wirerate.session.options": ("SessionOptions", "MachineOptions"),
    "wirerate.session.plans": ("load_plan",),
    "wirerate.plan.model": ("Plan",),
    "wirerate.session.running": ("RunningTrial",),
    "wirerate.session.live": ("Snapshot", "LiveFlow", "LivePort"),
    "wirerate.session.result": ("Result", "FlowResult", "PortResult"),
    "wirerate.trial.received": ("Latency", "Jitter"),
    "wirerate.session.forward": ("forward", "reflect", "ForwardOptions"),
    "wirerate.session.forwarder": ("Forwarder",),
    "wirerate.session.forward_result": ("ForwarderResult",),
    "wirerate.errors": (
        *("WirerateError", "PlanError", "HostSetupError", "PeerError", "SessionError"),
        *("EngineError", "EngineStartError", "EngineDiedError", "EngineRefusedError"),
    ),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}

__all__ = ["__version__", *_MODULES]  # noqa: PLE0604 -- all of them are text


def __getattr__(name: str) -> object:
    """Import what is asked for. ``__version__`` takes as long as all else at a start."""
    if name in _MODULES:
        from importlib import import_module  # noqa: PLC0415 -- nothing is imported before that

        return getattr(import_module(_MODULES[name]), name)
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415

    try:
        return version("wirerate")
    except PackageNotFoundError:  # imported from a source tree that was never installed
        return "0+uninstalled"


def __dir__() -> list[str]:
    return sorted(__all__)
