"""What the tests of the whole service share."""

from collections.abc import Iterator

import pytest

from tests.support.stack import Stack, running_stack


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """One service for all tests of a module."""
    with running_stack(tmp_path_factory.mktemp("home")) as running:
        yield running
