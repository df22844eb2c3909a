# SPDX-License-Identifier: BSD-3-Clause
"""A sweep between real ports as far as no engine is needed: who is where, who places flows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from support.rss_document import rss_document
from wirerate.cli.main import build_parser
from wirerate.cli.rss_sweep_args import sweep_settings_of
from wirerate.errors import PlanError
from wirerate.methods.rss_figures import Cell, CellFigures, TrialFigures
from wirerate.methods.rss_load import Generator, flows_of_queues, generator_program
from wirerate.methods.rss_placement import placed_flows, placement_document, placement_of
from wirerate.methods.rss_resume import begin, read_done
from wirerate.methods.rss_settings import places
from wirerate.plan.rss_hash import DEFAULT_KEY, FIELDS
from wirerate.report.rss_html import html
from wirerate.report.rss_setup_text import setup_text
from wirerate.report.rss_sweep_text import progress, tables

NICS = ("03:00.0", "03:00.1")
DUT = ("--dut-here", "04:00.0", "04:00.1")
OWN_KEY = bytes(range(1, 41))
DEVICE = {"rss": {"key": OWN_KEY.hex(), "fields": list(FIELDS), "reta": [1, 0, 3, 2] * 32}}


def settings(*words):
    args = build_parser("rss").parse_args(["rss", *words])
    args.eal_tokens = []
    return sweep_settings_of(args)


def test_ports_belong_to_the_settings(tmp_path):
    asked = settings(*NICS, *DUT)
    assert asked.queues == (1, 2, 4)
    assert not asked.foreign
    document = asked.document()
    assert document["locations"] == ["0000:03:00.0", "0000:03:00.1"]
    assert document["dut_locations"] == ["0000:04:00.0", "0000:04:00.1"]
    assert document["link"] is None
    begin(tmp_path / "cells", document, {})
    with pytest.raises(PlanError, match="another dut_locations"):
        read_done(
            tmp_path / "cells", settings(*NICS, "--dut-here", "04:00.1", "04:00.0").document()
        )


def test_elsewhere_queues_and_work_are_labels():
    asked = settings(*NICS, "-q", "4", "--work", "100")
    assert (asked.foreign, asked.queues, asked.works, asked.baseline) == (True, (4,), (100,), False)
    asked = settings("03:00.0", "-q", "4")
    assert (asked.works, asked.baseline) == ((), True)
    asked = settings(*NICS, "-q", "1", "--dst-mac", "02:00:00:00:00:AB")
    assert asked.dst_mac == asked.document()["dst_mac"] == "02:00:00:00:00:ab"
    where = places(4, (0, 1), foreign=True)
    assert (where.generator, where.forwarder, where.shared) == (0, (), False)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--dut-here", "ring:a"), "--dut-here: says where to forward; give TX and RX"),
        ((*NICS, "-q", "1,2"), "-q: without --dut-here"),
        (NICS, "-q: without --dut-here"),
        ((*NICS, "-q", "1", "--work", "1,2"), "--work: without --dut-here"),
        ((*NICS, "ring:c", "-q", "1"), "3 locations"),
        ((*NICS, "--dut-here", "ring:c"), "2 of the generator, but 1 of --dut-here"),
        ((*NICS, "--dut-here", "ring:c", "03:00.0,a=b"), "'0000:03:00.0' is given 2 times"),
        (("ring:a", "ring:a", "-q", "1"), "given 2 times"),
        ((*NICS, *DUT, "--link", "memif"), "--link"),
        ((*NICS, *DUT, "--reta", "0"), "--reta: belongs to --check"),
        (("eth0", "-q", "1"), "has no kind"),
        ((*NICS, "-q", "1", "--dst-mac", "here"), "six octets in hex"),
        ((*NICS, *DUT, "--dst-mac", "02:00:00:00:00:01"), "--dst-mac: is of a forwarder elsewhere"),
    ],
)
def test_bad_input(words, why):
    with pytest.raises(PlanError) as caught:
        settings(*words)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_device_with_rss_places_flows():
    asked = settings(*NICS, *DUT, "--spread", "skewed:0.5", "--flows", "64")
    placement = placement_of(asked, 4, DEVICE)
    assert (placement.by, placement.sender_rss) == ("device", None)
    flows = placed_flows(asked, placement)
    assert [len(share) for share in flows_of_queues(flows, placement.sender_rss, 4)] == [64]
    trial = TrialFigures(4.0, 4.0, 0.0, (2.0, 1.0, 1.0, 0), (), 0, 0, 0.5, 0, 0, 0, valid=True)
    lossy = replace(trial, per_queue_fps=(1.0, 1.0, 1.0, 1.0), loss_ratio=0.5)
    cells = [
        CellFigures(Cell(4, work, 64), shared_cores=False, trials=(one,))
        for work, one in ((100, lossy), (200, trial))
    ]
    placed = placement_document(asked, [placement_of(asked, 1, DEVICE), placement], cells)
    assert (placed["placed_by"], placed["key"]) == ("device", OWN_KEY.hex())
    assert placed["reta"] == [1, 0, 3, 2] * 32
    one, four = placed["per_queue_flows"]
    assert (one["flows"], one["observed"]) == ([64], None)
    assert four["flows"][0] == 32
    assert sum(four["flows"]) == 64
    assert four["observed"] == [0.5, 0.25, 0.25, 0], "of the cell that lost least"


def test_another_key_than_the_devices_is_refused():
    with pytest.raises(PlanError, match="spreads flows by its own key, 0102"):
        placement_of(settings(*NICS, *DUT, "--key", "symmetric"), 4, DEVICE)
    own = settings(*NICS, *DUT, "--key", OWN_KEY.hex())
    assert placement_of(own, 4, DEVICE).by == "device"


@pytest.mark.parametrize(
    ("words", "receiver", "by"),
    [
        (("memif:./a", "memif:./b", "--dut-here", "memif:./c", "memif:./d"), True, "generator"),
        (("virtio-user:./a", "--dut-here", "vhost:./a"), True, "generator"),
        (("memif:./a", "-q", "2"), False, "generator"),
        (("03:00.0", "-q", "2"), False, "device"),
    ],
)
def test_without_rss_that_is_known(words, receiver, by):
    asked = settings(*words)
    placement = placement_of(asked, 2, {"rss": None} if receiver else None)
    assert placement.by == by
    if by == "generator":
        assert placement.sender_rss is not None
        assert placement.sender_rss.key == DEFAULT_KEY
    else:
        (load,) = placement_document(asked, [placement], [])["per_queue_flows"]
        assert load["flows"] is None
        with pytest.raises(PlanError, match="does not say how it spreads flows"):
            placed_flows(settings(*words, "--spread", "even"), placement)


def test_nobody_can_place_flows():
    asked = settings("af_packet:x", "--dut-here", "af_packet:y")
    assert placement_of(asked, 1, {"rss": None}).by == "generator"
    with pytest.raises(PlanError, match="af_packet:y has no RSS") as caught:
        placement_of(asked, 2, {"rss": None})
    assert str(caught.value).startswith("-q 2: ")


def test_whom_frames_are_for():
    asked = settings(*NICS, "-q", "1", "--flows", "4")
    shares = [placed_flows(asked, placement_of(asked, 1, None))]
    generator = Generator(0, 1, 0, 1, dst_mac="02:00:00:00:00:ab")
    program = generator_program(generator, shares, asked.kind, 64, None)
    assert program["streams"][0]["template"].startswith("0200000000ab")
    assert [task["port"] for task in program["workers"][0]["tasks"]] == ["p1", "p0"]


def test_what_is_said_before():
    asked = settings(*NICS, "-q", "4", "--work", "100", "--sizes", "64")
    text = setup_text(asked, [placement_of(asked, 4, None)], 1, 0)
    assert "Generator: sends on 0000:03:00.0, receives on 0000:03:00.1" in text
    assert "Forwarder: elsewhere, work per frame 100 cycles; its CPU is not known" in text
    assert "by the forwarder's device, which is not known" in text
    asked = settings(*NICS, *DUT, "-q", "4")
    text = setup_text(asked, [placement_of(asked, 4, DEVICE)], 1, 0)
    assert "Forwarder: here, receives on 0000:04:00.0, sends on 0000:04:00.1" in text
    assert "with its own key and table" in text


def test_tables_of_a_forwarder_elsewhere():
    document = rss_document()
    cells = [one | {"cycles_per_frame": None} for one in document["cells"] if one["work"] is None]
    cells = [one for one in cells if one["queues"] == 4]
    document |= {"cells": cells, "fits": []}
    document["settings"] |= {"locations": ["0000:03:00.0"], "dut_locations": []}
    nothing = dict.fromkeys(("flows", "max_over_mean", "jain", "observed"))
    document["rss"] |= {"key": None, "per_queue_flows": [{"queues": 4} | nothing]}
    text = tables(document)
    assert "Forwarder: elsewhere, queues and work as the user says" in text
    assert "WORK not told" in text
    said = progress(cells[0], 1, 5, "3 s", elsewhere=True)
    assert said.startswith("[1/5] 4Q, work not told, 64 octets: ")
    assert "\n4Q   " in text
    assert "BaseLine" not in text
    assert "lcores)" not in text
    assert "4Q: flows of each queue are not known" in text
    page = html(document | {"verdict": {"valid": True, "reasons": [], "notes": []}})
    assert "Forwarder: elsewhere; its CPU is not known" in page
