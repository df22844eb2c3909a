# SPDX-License-Identifier: BSD-3-Clause
"""Where a preview goes: what the system says of the file comes out in words."""

from pathlib import Path

import pytest

from wirerate.cli.preview import _files_named, _output
from wirerate.errors import HostSetupError


def test_a_place_that_this_user_may_not_look_into(monkeypatch):
    def closed(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "exists", closed)
    says = r"^-o 'x\.pcap': Permission denied \(.*/x\.pcap\); choose another place"
    with pytest.raises(HostSetupError, match=says), _output("x.pcap", ["left"]):
        pass


def test_a_reader_that_went_away_is_no_fault_of_the_file():
    with pytest.raises(BrokenPipeError), _files_named("-"):
        raise BrokenPipeError
