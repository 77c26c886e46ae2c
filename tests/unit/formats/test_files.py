"""Files appear whole or not at all."""

import pytest

from proving.formats.files import write_atomically


def test_pieces_are_joined_and_replace_what_was_there(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    write_atomically(path, [b"new ", memoryview(b"content")])
    assert path.read_bytes() == b"new content"
    assert list(tmp_path.iterdir()) == [path]


def test_failure_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")

    def pieces():
        yield b"new"
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        write_atomically(path, pieces())
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_mode(tmp_path, mode):
    write_atomically(tmp_path / "file", [b""], mode=mode)
    assert (tmp_path / "file").stat().st_mode & 0o777 == mode
