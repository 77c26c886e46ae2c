"""A tally that follows each move agrees with a count of the records, whatever the moves are."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from proving.tracker.records import Assignment, PartitionRecord, Phase
from proving.tracker.tally import Counts, moved, summed, tally

HELD = {Phase.SYNTHESIZING, Phase.GPU}


@st.composite
def records(draw: st.DrawFn, index: int) -> PartitionRecord:
    phase = draw(st.sampled_from(Phase))
    holder = Assignment("gpu0@host", "job", index, 1, 1) if phase in HELD else None
    host, device = draw(st.sampled_from([None, "a", "b"])), draw(st.sampled_from([None, "a/cuda:0"]))
    held, device_bytes = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    return PartitionRecord(
        "job",
        index,
        3,
        phase,
        assignment=holder,
        host=host,
        held_bytes=held if host else 0,
        device=device,
        device_bytes=device_bytes if device else 0,
    )


@given(st.data())
def test_moves_add_up(data):
    now = [data.draw(records(index)) for index in range(4)]
    counted = Counter(tally(now))
    for _ in range(data.draw(st.integers(0, 6))):
        index = data.draw(st.integers(0, 3))
        after = data.draw(records(index))
        counted.update(moved(now[index], after))
        now[index] = after
    assert {name: count for name, count in counted.items() if count} == tally(now)


@given(st.data())
def test_what_follows_from_a_tally(data):
    given_ = [data.draw(records(index)) for index in range(5)]
    counts = Counts(tally(given_))
    assert counts.total == 5
    assert counts.phases == {str(p): n for p in Phase if (n := sum(r.phase is p for r in given_))}
    places = counts.places
    for place in ("a", "b"):
        assert places.get(place, 0) == sum(r.held_bytes for r in given_ if r.host == place)
    assert places.get("a/cuda:0", 0) == sum(r.device_bytes for r in given_ if r.device)
    assert summed([counts, counts, Counts(gpu=1)]) == Counter(counts) + Counter(counts) + Counter(gpu=1)
