"""What the tests of the kernels share: curves, groups, engines."""

from collections.abc import Iterator

import pytest

from kernels import engine
from kernels.curves import CURVES, Curve, Group


@pytest.fixture(params=CURVES, ids=lambda curve: curve.name)
def curve(request: pytest.FixtureRequest) -> Curve:
    return request.param


@pytest.fixture(params=list(Group), ids=lambda group: group.name)
def group(request: pytest.FixtureRequest) -> Group:
    return request.param


@pytest.fixture(params=engine.NAMES)
def engine_name(request: pytest.FixtureRequest) -> Iterator[str]:
    """Every engine in turn; the process goes back to its own afterwards."""
    if request.param not in engine.available():
        pytest.skip(f"this build or CPU has no {request.param} engine")
    before = engine.engine_name()
    engine.use(request.param)
    yield request.param
    engine.use(before)
