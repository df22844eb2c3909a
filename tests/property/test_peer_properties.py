# SPDX-License-Identifier: BSD-3-Clause
"""An account of a trial always adds up, whatever both ends have counted."""

from dataclasses import astuple, replace

from hypothesis import given
from hypothesis import strategies as st

from wirerate.trial.peer import OwnCounts, PeerCounts, PeerLook, peer_result

FRAMES = st.integers(min_value=0, max_value=1 << 40)
FEW = st.integers(min_value=0, max_value=50)
NUMBERS = st.one_of(FEW, FRAMES)
COUNTS = st.builds(PeerCounts, *[NUMBERS] * len(astuple(PeerCounts())))
OWN = st.builds(OwnCounts, NUMBERS, NUMBERS, st.one_of(st.none(), NUMBERS))


def looks(before, after, target):
    """Two looks at a peer that forwards to ``target``."""
    first = PeerLook("then", ((0, target, 1),), before, resets=0, lcores=1)
    return first, replace(first, counts=after)


@given(before=COUNTS, after=COUNTS, own=OWN, target=st.sampled_from([None, 0]))
def test_parts_add_up_to_what_is_missing(before, after, own, target):
    first, last = looks(before, after, target)
    result = peer_result("here:1", first, last, own)
    found = result.account
    if found is None:
        assert "backwards" in str(result.gap)
        return
    assert found.missing == found.lost.total - found.gained.total
    assert min(astuple(found.lost)) >= 0
    assert min(astuple(found.gained)) >= 0
    for place in ("between", "forwarding", "back"):
        assert min(getattr(found.lost, place), getattr(found.gained, place)) == 0, place


@st.composite
def journeys(draw):
    """A trial in which every frame's fate is known: the place where each was lost."""
    places = {name: draw(FEW) for name in ("unsent", "between", "not_taken", "overflowed", "back")}
    places |= {name: draw(FEW) for name in ("missed", "no_mbuf", "socket_drops", "dropped", "held")}
    places |= {"came": draw(FRAMES), "duplicated": draw(FEW)}
    return places


@given(start=COUNTS, fate=journeys())
def test_each_loss_is_found_where_it_was(start, fate):
    returned = fate["came"] + fate["back"]
    kept = sum(fate[name] for name in ("not_taken", "overflowed", "dropped", "held"))
    received = returned + kept - fate["duplicated"]
    if received < 0:
        return
    queues = sum(fate[name] for name in ("missed", "no_mbuf", "socket_drops"))
    own = OwnCounts(fate["unsent"], received + queues + fate["between"], fate["came"])
    grown = {name: fate[name] for name in fate if name in PeerCounts.__dataclass_fields__}
    grown |= {"received": received, "returned": returned}
    after = PeerCounts(**{name: value + grown.get(name, 0) for name, value in vars(start).items()})
    first, last = looks(start, after, 0)
    found = peer_result("here:1", first, last, own).account
    assert found is not None
    assert found.notes == ()
    assert found.lost.unsent == fate["unsent"]
    assert found.lost.between == fate["between"]
    assert found.lost.queues == queues
    assert found.lost.forwarding == fate["not_taken"] + fate["overflowed"]
    assert found.lost.asked == fate["dropped"] + fate["held"]
    assert found.gained.asked == fate["duplicated"]
    assert found.lost.back == fate["back"]
    assert found.gained.total == fate["duplicated"]
