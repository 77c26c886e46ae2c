"""docs/states.md, drawn from the transition table. `python -m proving.tracker.diagram > docs/states.md`."""

import re
import sys
from collections.abc import Sequence
from itertools import groupby

from proving.tracker.rules import Rule
from proving.tracker.transitions import JOB_TABLE, PARTITION_TABLE, WORKER_TABLE

_HEAD = """# States

Drawn from the transition table in `proving/tracker/transitions.py`, which the store runs and the tests check.
Do not edit this page: `python -m proving.tracker.diagram > docs/states.md` writes it anew, and a test fails
when the two differ.

Every change of live state is one row of these tables. A row applies when its condition holds and none of its
guards refuses; a call that no row fits, or that a guard refuses, changes nothing and is answered with the
reason. Terminal states have no way out.
"""

_PARTITION = """A partition waits in `pending`, `synth_done` and, until a finalizer has claimed it, in
`finalizing`. `lose` is the reaper's word for a worker whose lease ran out. Whatever takes a partition back to
waiting raises its attempt, so that whoever held it before is refused."""

_JOB = """`settle` follows every move of a partition. A job that is told to stop is `cancelling` until nobody
works on any of its partitions."""

_WORKER = """A slot's state is read off its record, never stored: it is busy exactly while it holds an
assignment."""

_MACHINES = (
    ("Partition", PARTITION_TABLE, "pending", _PARTITION),
    ("Job", JOB_TABLE, "running", _JOB),
    ("Worker", WORKER_TABLE, "absent", _WORKER),
)


def render() -> str:
    """The whole page."""
    sections = [_HEAD]
    for name, table, start, text in _MACHINES:
        sections.append(f"## {name}\n\n{text}\n\n{_chart(table, start)}\n\n{_rows(table)}\n")
    return "\n".join(sections)


def event_name(event: type) -> str:
    """`HandOff` is `hand_off`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event.__name__).lower()


def _chart(table: Sequence[Rule], start: str) -> str:
    arrows = sorted({(str(rule.state), str(rule.target), event_name(rule.event)) for rule in table})
    lines = ["```mermaid", "stateDiagram-v2", f"    [*] --> {start}"]
    for (state, target), group in groupby(arrows, key=lambda arrow: arrow[:2]):
        lines.append(f"    {state} --> {target}: {', '.join(event for _, _, event in group)}")
    ends = sorted({str(rule.target) for rule in table} - {str(rule.state) for rule in table})
    lines += [f"    {end} --> [*]" for end in ends]
    return "\n".join([*lines, "```"])


def _rows(table: Sequence[Rule]) -> str:
    lines = ["| state | event | when | guards | new state |", "| --- | --- | --- | --- | --- |"]
    for rule in table:
        when = rule.when.text if rule.when else ""
        guards = "; ".join(guard.text for guard in rule.guards)
        lines.append(f"| {rule.state} | {event_name(rule.event)} | {when} | {guards} | {rule.target} |")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.stdout.write(render())
