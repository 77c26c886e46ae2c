"""Compiling device code without a GPU, and keeping what was compiled."""

import subprocess
import sys
from pathlib import Path

import pytest

from kernels import nvrtc
from kernels.cubins import CubinCache, default_folder
from kernels.nvrtc import CompileFailed, NvrtcUnavailable, Program

COPY = (
    'extern "C" __global__ void copy(int* to, const int* from) { to[threadIdx.x] = from[threadIdx.x] + N; }'
)
PROGRAM = Program(
    "copy.cu", '#include "number.hpp"\n' + COPY, {"number.hpp": "#define N 7"}, ("--std=c++17",)
)


def test_a_cubin_is_an_elf_file_and_ptx_is_text() -> None:
    assert nvrtc.compile_program(PROGRAM, "sm_90").image.startswith(b"\x7fELF")
    text = nvrtc.compile_program(PROGRAM, "compute_80").image.decode()
    assert ".visible .entry copy(" in text
    assert not text.endswith("\0")


def test_what_the_compiler_refuses_is_told_in_its_own_words() -> None:
    with pytest.raises(CompileFailed, match=r'copy\.cu\(2\): error: identifier "N" is undefined'):
        nvrtc.compile_program(Program("copy.cu", "\n" + COPY, {}), "sm_90")
    with pytest.raises(CompileFailed, match="--no-such-option"):
        nvrtc.compile_program(Program("copy.cu", COPY, {}, ("--no-such-option",)), "sm_90")


@pytest.mark.parametrize("target", ["", "sm_", "90", "sm_90; rm", "SM_90"])
def test_a_target_that_is_none_is_refused(target: str) -> None:
    with pytest.raises(ValueError, match="a target is called"):
        nvrtc.compile_program(PROGRAM, target)


def test_a_programs_headers_are_found_beside_who_includes_them_and_from_the_root(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "main.cu").write_text(
        '#include "near.hpp"\n  #  include "far.hpp"\n#include <absent>'
    )
    (tmp_path / "deep" / "near.hpp").write_text('#include "deep/nearer.hpp"')
    (tmp_path / "deep" / "nearer.hpp").write_text('#include "near.hpp"')
    (tmp_path / "far.hpp").write_text("far")
    program = nvrtc.read_program("deep/main.cu", ("-D1",), tmp_path)
    assert program.headers == {
        "deep/nearer.hpp": '#include "near.hpp"',
        "far.hpp": "far",
        "near.hpp": '#include "deep/nearer.hpp"',
    }
    assert program.options == ("-D1",)
    (tmp_path / "far.hpp").unlink()
    with pytest.raises(FileNotFoundError, match=r'main\.cu: #include "far\.hpp"'):
        nvrtc.read_program("deep/main.cu", (), tmp_path)


def test_one_spelling_for_two_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "main.cu").write_text('#include "same.hpp"\n#include "deep/other.hpp"')
    (tmp_path / "same.hpp").write_text("")
    (tmp_path / "deep" / "other.hpp").write_text('#include "same.hpp"')
    (tmp_path / "deep" / "same.hpp").write_text("")
    with pytest.raises(ValueError, match="means both"):
        nvrtc.read_program("main.cu", (), tmp_path)


def test_everything_in_a_program_counts_for_its_digest() -> None:
    variants = [
        PROGRAM,
        Program("other.cu", PROGRAM.text, PROGRAM.headers, PROGRAM.options),
        Program("copy.cu", PROGRAM.text + " ", PROGRAM.headers, PROGRAM.options),
        Program("copy.cu", PROGRAM.text, {"number.hpp": "#define N 8"}, PROGRAM.options),
        Program("copy.cu", PROGRAM.text, {"numbers.hpp": "#define N 7"}, PROGRAM.options),
        Program("copy.cu", PROGRAM.text, {}, ("--std=c++17", "number.hpp", "#define N 7")),
        Program("copy.cu", PROGRAM.text, PROGRAM.headers, ("--std=c++17", "-g")),
    ]
    assert len({program.digest() for program in variants}) == len(variants)
    same = Program("copy.cu", PROGRAM.text, dict(PROGRAM.headers), ("--std=c++17",))
    assert same.digest() == PROGRAM.digest()


@pytest.fixture
def compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[CubinCache, list[str]]:
    """A cache that is empty, and a list that grows by a target when the compiler is asked."""
    asked: list[str] = []
    compile_program = nvrtc.compile_program

    def counted(program: Program, target: str) -> nvrtc.Compiled:
        asked.append(target)
        return compile_program(program, target)

    monkeypatch.setattr(nvrtc, "compile_program", counted)
    return CubinCache(tmp_path / "not" / "there" / "yet"), asked


def test_a_program_is_compiled_once_for_an_architecture(
    compiled_once: tuple[CubinCache, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    cache, asked = compiled_once
    first = cache.compile(PROGRAM, "sm_90")
    assert CubinCache(cache.folder).compile(PROGRAM, "sm_90") == first
    assert asked == ["sm_90"]
    cache.compile(PROGRAM, "compute_90")
    monkeypatch.setattr(nvrtc, "version", lambda: "99.1")
    cache.compile(PROGRAM, "sm_90")
    assert asked == ["sm_90", "compute_90", "sm_90"]
    assert len(list(cache.folder.iterdir())) == 3


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "folder"])
def test_an_entry_that_is_damaged_is_made_again(
    damage: str, compiled_once: tuple[CubinCache, list[str]], caplog: pytest.LogCaptureFixture
) -> None:
    cache, asked = compiled_once
    first = cache.compile(PROGRAM, "sm_90")
    path = cache.path(PROGRAM, "sm_90")
    data = bytearray(path.read_bytes())
    if damage == "flip":
        data[-100] ^= 1
        path.write_bytes(data)
    elif damage == "folder":
        path.unlink()
        path.mkdir()
    else:
        path.write_bytes(data[:-1] if damage == "cut" else b"")
    assert cache.compile(PROGRAM, "sm_90").image == first.image
    assert asked == ["sm_90"] * 2
    assert "damaged" in caplog.text or damage == "folder"
    if damage != "folder":
        cache.compile(PROGRAM, "sm_90")
        assert asked == ["sm_90"] * 2


def test_a_cache_that_cannot_be_written_only_warns(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    cache = CubinCache(tmp_path / "file" / "folder")
    assert cache.compile(PROGRAM, "sm_90").image.startswith(b"\x7fELF")
    assert "not kept" in caplog.text


def test_nothing_half_written_stays_when_writing_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise OSError("no room")

    monkeypatch.setattr(Path, "replace", refuse)
    CubinCache(tmp_path).compile(PROGRAM, "sm_90")
    assert list(tmp_path.iterdir()) == []


def test_the_cache_is_where_caches_of_the_user_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "cuzkweb" / "cubins"
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "cuzkweb" / "cubins"


def test_without_nvrtc_the_modules_can_be_imported_and_say_what_is_missing() -> None:
    script = """
import kernels.cubins, kernels.nvrtc as nvrtc
nvrtc._places = lambda: iter(["/no/such/libnvrtc.so.13"])
try:
    nvrtc.version()
except nvrtc.NvrtcUnavailable as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "libnvrtc cannot be opened: /no/such/libnvrtc.so.13" in done.stdout


def test_nowhere_to_look_is_said_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(nvrtc, "_places", lambda: iter(()))
    with pytest.raises(NvrtcUnavailable, match="in no wheel, toolkit or library path"):
        nvrtc._library.__wrapped__()
