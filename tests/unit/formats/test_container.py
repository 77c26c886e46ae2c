"""The container of zkey, wtns and r1cs files."""

import struct

import pytest

from proving.formats.container import encode_container, open_container
from proving.formats.errors import FormatError

NAMES = {1: "header", 2: "values"}


def written(tmp_path, content: bytes):
    path = tmp_path / "some.file"
    path.write_bytes(content)
    return path


def container(*sections: tuple[int, bytes], magic: bytes = b"test", version: int = 1) -> bytes:
    return b"".join(encode_container(magic, version, [(number, [body]) for number, body in sections]))


def opened(tmp_path, content: bytes):
    return open_container(written(tmp_path, content), b"test", (1, 2), NAMES)


def refusal(tmp_path, content: bytes) -> FormatError:
    with pytest.raises(FormatError) as caught:
        opened(tmp_path, content)
    assert caught.value.file == str(tmp_path / "some.file")
    return caught.value


def test_layout_is_magic_version_count_then_sized_sections():
    assert container((7, b"ab")) == b"test" + struct.pack("<IIIQ", 1, 1, 7, 2) + b"ab"


def test_sections_come_in_any_order_and_unknown_ones_are_skipped(tmp_path):
    found = opened(tmp_path, container((99, b"?"), (2, b"two"), (99, b"!"), (1, b"one")))
    assert found.section(1).body.tobytes() == b"one"
    assert found.section(2).body.tobytes() == b"two"


def test_missing_section_is_named(tmp_path):
    with pytest.raises(FormatError, match=r"section 2 \(values\) is missing"):
        opened(tmp_path, container((1, b"one"))).section(2)


def test_known_section_may_not_come_twice(tmp_path):
    error = refusal(tmp_path, container((1, b""), (2, b""), (1, b"")))
    assert error.reason == "section 1 (header) appears twice"


@pytest.mark.parametrize("length", range(len(container((1, b"one"), (2, b"two")))))
def test_every_cut_is_refused(tmp_path, length):
    error = refusal(tmp_path, container((1, b"one"), (2, b"two"))[:length])
    assert "end" in error.reason or "empty" in error.reason or "not a test file" in error.reason


def test_cut_body_names_its_section(tmp_path):
    error = refusal(tmp_path, container((1, b"one"), (2, b"two"))[:-1])
    assert error.place == "section 2 (values)"
    assert error.reason == "says 3 bytes, but the file ends after 2 of them"


def test_bytes_after_the_last_section_are_refused(tmp_path):
    assert refusal(tmp_path, container((1, b"one")) + b"x").reason == "1 bytes after the last section"


@pytest.mark.parametrize(
    ("magic", "named"), [(b"zkey", "a zkey file"), (b"wtns", "a wtns file"), (b"r1cs", "an r1cs file")]
)
def test_another_kind_of_file_is_named(tmp_path, magic, named):
    assert named in refusal(tmp_path, container((1, b""), magic=magic)).reason


def test_unknown_version_is_refused(tmp_path):
    assert refusal(tmp_path, container(version=3)).reason == "version 3 of test is not known"


def test_count_of_sections_is_held_against_the_file(tmp_path):
    error = refusal(tmp_path, b"test" + struct.pack("<II", 1, 2**32 - 1))
    assert error.reason == "the file ends before section 1 of 4294967295"


def test_absurd_size_of_a_section_is_refused(tmp_path):
    error = refusal(tmp_path, b"test" + struct.pack("<IIIQ", 1, 1, 1, 2**64 - 1))
    assert error.place == "section 1 (header)"


def test_no_file_is_an_oserror(tmp_path):
    with pytest.raises(FileNotFoundError):
        open_container(tmp_path / "nothing", b"test", (1,), NAMES)
