# SPDX-License-Identifier: BSD-3-Clause
"""Can this process open a port, and does the host have it? Asked before the engine is started.

Drivers answer these questions with an errno that explains nothing; here they get words.
"""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

from wirerate.errors import HostSetupError, PlanError
from wirerate.host.capture_files import written_files
from wirerate.host.iommu import group_user, probe_group
from wirerate.host.nics import Nic
from wirerate.host.tree import link_name, read_text
from wirerate.plan.location import Location, LocationKind

ROOT = Path("/")
_IN_USE = "an interface {} is there already; take another name, or remove it (ip link del {})"
_CAPABILITIES = {
    LocationKind.TAP: {"CAP_NET_ADMIN": 12},
    LocationKind.KNI: {"CAP_NET_ADMIN": 12},
    LocationKind.AF_PACKET: {"CAP_NET_RAW": 13},
    LocationKind.AF_XDP: {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_SYS_ADMIN": 21},
}
_ABSTRACT = "socket-abstract=yes"
_SOCKETS = {LocationKind.MEMIF, LocationKind.VHOST}


def check_port(title: str, location: Location, queues: int, root: Path = ROOT) -> None:
    """Raise HostSetupError or PlanError, with the cure, when the port cannot be opened for sure.

    ``title`` is what messages call the port.
    """
    _check_capabilities(title, location, root)
    if location.kind in _SOCKETS | {LocationKind.PCAP, LocationKind.VIRTIO_USER}:
        _check_name(title, location)
    if location.kind in _SOCKETS and _ABSTRACT not in location.devargs:
        _check_directory(title, location)
    if location.kind is LocationKind.MEMIF and _ABSTRACT not in location.devargs:
        _remove_stale(Path(location.value), root)
    if location.listens_at:
        _check_free(title, location, Path(location.listens_at), root)
    if location.kind is LocationKind.PCI:
        _check_vfio(title, location, root)
    _check_kernel_device(title, location, root)
    for file in written_files(location):
        _check_written(title, location, file)
    if location.kind is LocationKind.AF_XDP:
        _check_queues(title, location, queues, root)


def _check_kernel_device(title: str, location: Location, root: Path) -> None:
    """What the kernel must have before an interface can be made in it, and must not have yet."""
    if location.kernel_device is None:
        return
    device, module = location.kernel_device
    path = root / device.lstrip("/")
    if not path.exists():
        more = " (of DPDK up to 23.07)" if location.kind is LocationKind.KNI else ""
        raise HostSetupError(
            f"{title}: {location}: no {device}: modprobe {module}{more}, if this kernel has it"
        )
    if not os.access(path, os.R_OK | os.W_OK):
        raise HostSetupError(
            f"{title}: {location}: this user may not open {device}; run as root, or give it to "
            "this user"
        )
    if location.interface in {name for _, name in socket.if_nameindex()}:
        name = location.interface
        raise HostSetupError(f"{title}: {location}: {_IN_USE.format(name, name)}")


def _check_name(title: str, location: Location) -> None:
    """Refuse file names that DPDK's devargs, ``key=value,key=value``, cannot hold."""
    if "=" in location.value:
        raise PlanError(
            f"{title}: {location}: DPDK takes no file name with a = in it; choose another name"
        )
    is_file = _ABSTRACT not in location.devargs
    if location.kind is LocationKind.MEMIF and is_file and "/" not in location.value:
        raise PlanError(
            f"{title}: {location}: DPDK takes a memif socket only with its directory; write "
            f"memif:./{location.value}"
        )


def _check_vfio(title: str, location: Location, root: Path) -> None:
    """A device on vfio-pci whose group DPDK cannot open is one that it does not find."""
    if link_name(root / "sys/bus/pci/devices" / location.value / "driver") != "vfio-pci":
        return
    for finding in probe_group(root, Nic(location.value, driver="vfio-pci")):
        if finding.level == "error":
            raise HostSetupError(f"{title}: {finding.text}; {finding.fix}")
    user = group_user(root, location.value)
    if user is not None:
        raise HostSetupError(
            f"{title}: {location.value} (or a device of its IOMMU group) is in use by {user}; end "
            "that first, or use another port"
        )


def _effective(root: Path) -> int:
    """The effective capabilities of this process as a bit mask (capabilities(7))."""
    for line in (read_text(root / "proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return -1  # not to be known: let the driver find out


def _check_capabilities(title: str, location: Location, root: Path) -> None:
    needed = _CAPABILITIES.get(location.kind, {})
    mask = _effective(root)
    missing = [name for name, bit in needed.items() if not mask >> bit & 1]
    if missing:
        raise HostSetupError(
            f"{title}: {location} needs {', '.join(missing)}, which this user lacks; "
            "run as root, or see wirerate doctor",
        )


def _check_directory(title: str, location: Location) -> None:
    place = Path(location.value)
    _check_is_there(title, location, place.parent)
    if not place.exists() and not os.access(place.parent, os.W_OK):
        raise HostSetupError(
            f"{title}: {location}: this user may not make a socket in {place.parent}; "
            "choose another place",
        )


def _remove_stale(path: Path, root: Path) -> None:
    """Take away the socket of an end that was killed; DPDK would not listen where one is.

    Nobody is connected to: an end that is there takes the first who comes for its peer.
    """
    try:
        if stat.S_ISSOCK(path.stat().st_mode) and not _is_listened_to(path, root):
            path.unlink()
    except OSError:
        return  # not there, or not ours: the driver has the words


def _check_free(title: str, location: Location, path: Path, root: Path) -> None:
    """Whoever listens makes its socket anew: drivers remove what is there, also when they fail.

    A socket that is left of an end that was killed is removed here; nothing else ever is.
    """
    _remove_stale(path, root)
    try:
        mode = path.lstat().st_mode
    except OSError:
        return  # not there, or not ours to look at: the driver has the words
    if not stat.S_ISSOCK(mode):
        raise HostSetupError(
            f"{title}: {location}: {path} is there already and is no socket; choose another path, "
            "or remove it"
        )
    raise HostSetupError(
        f"{title}: {location}: another program listens at {path}; end it, or choose another path"
    )


def _is_listened_to(path: Path, root: Path) -> bool:
    """Whether /proc/net/unix of any process's network namespace lists a listener of that name.

    Its directory is not compared: whoever listens may have given it in another way.
    """
    tables: dict[int, Path] = {}
    for process in (root / "proc").glob("[0-9]*"):
        try:
            tables.setdefault((process / "ns/net").stat().st_ino, process / "net/unix")
        except OSError:
            continue  # it has ended, or is not ours to look into
    for table in (root / "proc/net/unix", *tables.values()):
        for line in (read_text(table) or "").splitlines():
            # Num RefCount Protocol Flags Type St Inode Path; 00010000 (SO_ACCEPTCON) = a listener
            words = line.split(maxsplit=7)
            listens = len(words) == 8 and words[3] == "00010000"
            if listens and words[7].rpartition("/")[2] == path.name:
                return True
    return False


def _check_is_there(title: str, location: Location, directory: Path) -> None:
    """The directory is one, and files in it can be looked for."""
    try:
        there = stat.S_ISDIR(directory.stat().st_mode)
    except PermissionError as error:
        raise HostSetupError(
            f"{title}: {location}: this user may not look for {directory}; choose another place"
        ) from error
    except OSError:
        there = False
    if not there:
        raise HostSetupError(
            f"{title}: {location}: there is no directory {directory}; make it first"
        )
    if not os.access(directory, os.X_OK):
        raise HostSetupError(
            f"{title}: {location}: this user may not look into {directory}; choose another place"
        )


def _check_written(title: str, location: Location, name: str) -> None:
    """A capture file is made, or emptied, as its port is opened."""
    file = Path(os.path.realpath(name))
    _check_is_there(title, location, file.parent)
    if file.is_dir():
        raise HostSetupError(
            f"{title}: {location}: {name} is a directory; choose another name for the file"
        )
    place, mode = (file, os.W_OK) if file.exists() else (file.parent, os.W_OK | os.X_OK)
    if not os.access(place, mode):
        raise HostSetupError(
            f"{title}: {location}: this user may not write {place}; choose another place"
        )


def _check_queues(title: str, location: Location, queues: int, root: Path) -> None:
    directory = root / "sys/class/net" / location.value / "queues"
    there = len(list(directory.glob("rx-*")))
    if 0 < there < queues:
        raise PlanError(
            f"{title}: {queues} queues asked, interface {location.value} has {there}; use "
            f"fewer lcores in its map, or ethtool -L {location.value} combined {queues}",
        )
