"""The interpreter itself: how lanes part and meet, wait, talk, touch memory, and what it catches them at."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.support.ptx import Fault, Machine, Report, parse

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
REGISTERS = ".reg .pred %p<9>; .reg .b16 %rs<9>; .reg .b32 %r<99>; .reg .b64 %rd<99>;"
THREAD = "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.s32 %r4, %r2, %r3, %r1;"
SLOT = (
    "ld.param.u64 %rd1, [out]; cvta.to.global.u64 %rd2, %rd1; "
    "mul.wide.u32 %rd3, %r4, 4; add.s64 %rd4, %rd2, %rd3;"
)


def kernel(lines: str, before: str = "") -> str:
    """A kernel `go(out)`: %r4 is the thread's number in the grid, %rd4 the address of its word of out."""
    opening = f"{REGISTERS} {THREAD} {SLOT}"
    return f"{HEAD}{before}\n.visible .entry go(.param .u64 out) {{ {opening}\n{lines}\nret; }}"


def run(
    text: str, threads: int = 64, blocks: int = 1, *, shared_bytes: int = 0, seed: int | None = None
) -> tuple[NDArray[np.uint32], Report]:
    machine = Machine(parse(text), seed)
    out = machine.upload(np.zeros(threads * blocks, np.uint32))
    report = machine.launch("go", blocks, threads, [out], shared_bytes=shared_bytes)
    return np.frombuffer(machine.download(out, 4 * threads * blocks), np.uint32), report


def races(text: str, threads: int = 64, blocks: int = 1) -> int:
    return run(text, threads, blocks)[1].race_count


SHARED = ".shared .align 16 .b8 words[1024];"
OWN_WORD = "mov.u32 %r10, words; shl.b32 %r11, %r1, 2; add.u32 %r12, %r10, %r11;"
OTHER_WORD = "xor.b32 %r13, %r1, 33; shl.b32 %r13, %r13, 2; add.u32 %r14, %r10, %r13;"
NEXT_WORD = "xor.b32 %r13, %r1, 1; shl.b32 %r13, %r13, 2; add.u32 %r14, %r10, %r13;"


def test_lanes_that_part_meet_again_and_loops_end_lane_by_lane() -> None:
    steps = kernel(
        """
        mov.u32 %r5, %r4; mov.u32 %r6, 0;
        $loop:
        setp.le.u32 %p1, %r5, 1; @%p1 bra $done;
        and.b32 %r7, %r5, 1; setp.eq.u32 %p2, %r7, 0; @%p2 bra $even;
        mad.lo.u32 %r5, %r5, 3, 1; bra.uni $next;
        $even: shr.u32 %r5, %r5, 1;
        $next: add.u32 %r6, %r6, 1; bra.uni $loop;
        $done: st.global.u32 [%rd4], %r6;
        """
    )

    def collatz(n: int) -> int:
        count = 0
        while n > 1:
            n = 3 * n + 1 if n % 2 else n // 2
            count += 1
        return count

    out, report = run(steps, 64, 3)
    assert out.tolist() == [collatz(n) for n in range(192)]
    assert report.race_count == 0


def test_a_jump_through_a_table() -> None:
    cases = kernel(
        """
        and.b32 %r5, %r4, 3;
        brx.idx %r5, $table;
        $table: .branchtargets $a, $b, $c, $b;
        $a: mov.u32 %r6, 100; bra.uni $end;
        $b: mov.u32 %r6, 200; bra.uni $end;
        $c: mov.u32 %r6, 300;
        $end: st.global.u32 [%rd4], %r6;
        """
    )
    assert run(cases)[0].tolist() == [100, 200, 300, 200] * 16


CALL = """
.func (.param .b64 result) scale(.param .align 8 .b8 pair[16], .param .b32 factor)
{
    .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>;
    ld.param.v2.b64 {%rd1, %rd2}, [pair]; ld.param.u32 %r1, [factor];
    setp.gt.u32 %p1, %r1, 40; @%p1 bra $big;
    cvt.u64.u32 %rd3, %r1; mad.lo.s64 %rd4, %rd1, %rd3, %rd2; st.param.b64 [result+0], %rd4; ret;
    $big: mov.u64 %rd5, 7; st.param.b64 [result+0], %rd5; ret;
}
"""
CALL_TWICE = """
{ .param .align 8 .b8 p0[16]; .param .b32 p1; .param .b64 back;
  mov.u64 %rd10, 3; mov.u64 %rd11, 0x500000000;
  st.param.b64 [p0+0], %rd10; st.param.v2.b32 [p0+8], {%r30, %r31};
  st.param.b32 [p1+0], %r4; call.uni (back), scale, (p0, p1); ld.param.b64 %rd12, [back+0]; }
{ .param .align 8 .b8 p0[16]; .param .b32 p1; .param .b64 back;
  st.param.b64 [p0+0], %rd12; st.param.b64 [p0+8], %rd10; mov.u32 %r32, 2; st.param.b32 [p1+0], %r32;
  call.uni (back), scale, (p0, p1); ld.param.b64 %rd13, [back+0]; }
cvt.u32.u64 %r33, %rd13; shr.u64 %rd14, %rd13, 32; cvt.u32.u64 %r34, %rd14; xor.b32 %r33, %r33, %r34;
st.global.u32 [%rd4], %r33;
"""


def test_a_function_that_is_called_takes_and_returns_structures() -> None:
    out, _ = run(kernel("mov.u32 %r30, 9; mov.u32 %r31, 5;" + CALL_TWICE, CALL))

    def scale(a: int, b: int, factor: int) -> int:
        return 7 if factor > 40 else a * factor + b

    wanted = [scale(scale(3, 9 + (5 << 32), n), 3, 2) for n in range(64)]
    assert out.tolist() == [(value & 0xFFFFFFFF) ^ (value >> 32) for value in wanted]


def test_a_function_that_calls_itself_is_refused() -> None:
    recursive = ".func again() { call.uni again; ret; }"
    with pytest.raises(Fault, match="calls itself"):
        run(kernel("call.uni again;", recursive))


def test_generic_addresses_lead_into_every_state_space() -> None:
    text = kernel(
        """
        .local .align 8 .b8 own[16];
        mov.u64 %rd10, own; cvta.local.u64 %rd11, %rd10; cvta.to.local.u64 %rd12, %rd11;
        st.local.u32 [%rd12+4], %r4;
        mov.u64 %rd13, words; cvta.shared.u64 %rd14, %rd13;
        shl.b32 %r11, %r1, 2; cvt.u64.u32 %rd15, %r11; add.s64 %rd16, %rd14, %rd15;
        add.u32 %r12, %r4, 1000; st.u32 [%rd16], %r12;
        and.b32 %r13, %r4, 1; setp.eq.u32 %p1, %r13, 0;
        add.s64 %rd17, %rd11, 4; selp.b64 %rd18, %rd17, %rd16, %p1;
        ld.u32 %r14, [%rd18];
        mov.u64 %rd19, table; ld.const.u32 %r15, [%rd19+8]; ld.const.u32 %r16, [table+4];
        add.u32 %r14, %r14, %r15; add.u32 %r14, %r14, %r16; st.u32 [%rd4], %r14;
        """,
        SHARED + "\n.const .align 4 .u32 table[3] = {10, 20, 30};",
    )
    assert run(text, 32, 2)[0].tolist() == [n + 50 + 1000 * (n % 2) for n in range(64)]


def test_an_address_of_another_space_is_caught() -> None:
    with pytest.raises(Fault, match="another state space"):
        run(
            kernel(
                "mov.u64 %rd10, words; cvta.shared.u64 %rd11, %rd10; cvta.to.local.u64 %rd12, %rd11;", SHARED
            )
        )


def exchange(first: str, second: str) -> str:
    """Every thread writes its word, reads another's and writes again; two statements in between."""
    return kernel(
        f"""
        {OWN_WORD} {OTHER_WORD}
        st.shared.u32 [%r12], %r4; {first}
        ld.shared.u32 %r15, [%r14]; {second}
        st.shared.u32 [%r12], %r15; st.global.u32 [%rd4], %r15;
        """,
        SHARED,
    )


def test_barriers_order_what_threads_of_a_block_do() -> None:
    out, report = run(exchange("bar.sync 0;", "barrier.sync 0;"), 64, 4)
    assert out.tolist() == [n ^ 33 for n in range(256)]
    assert report.race_count == 0


@pytest.mark.parametrize("barriers", [("bar.sync 0;", ""), ("bar.warp.sync -1;", "bar.sync 0;")])
def test_a_missing_barrier_is_a_race(barriers: tuple[str, str]) -> None:
    assert races(exchange(*barriers)) > 0


def test_a_missing_barrier_shows_in_what_is_not_written_yet() -> None:
    late = "setp.gt.u32 %p1, %r1, 31; @%p1 bra $late; bra.uni $read; $late:"
    text = exchange("$read:", "").replace("st.shared.u32 [%r12], %r4;", f"{late} st.shared.u32 [%r12], %r4;")
    with pytest.raises(Fault, match="shared memory is read before it is written"):
        run(text)


def test_a_barrier_of_the_warp_orders_its_own_lanes_only() -> None:
    within = kernel(
        f"{OWN_WORD} {NEXT_WORD} st.shared.u32 [%r12], %r4; bar.warp.sync -1; ld.shared.u32 %r15, [%r14];",
        SHARED,
    )
    across = within.replace("%r1, 1;", "%r1, 32;")
    assert races(within) == 0
    assert races(within.replace("bar.warp.sync -1;", "")) > 0
    assert races(across) > 0


def test_threads_that_have_left_do_not_hold_a_barrier_up() -> None:
    text = kernel(
        f"{OWN_WORD} {OTHER_WORD} setp.gt.u32 %p1, %r1, 63; @%p1 exit; "
        "st.shared.u32 [%r12], %r4; bar.sync 0; "
        "ld.shared.u32 %r15, [%r14]; st.global.u32 [%rd4], %r15;",
        SHARED,
    )
    assert run(text, 96)[0].tolist() == [n ^ 33 for n in range(64)] + [0] * 32


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            "setp.gt.u32 %p1, %r1, 9; @%p1 bra $b; bar.sync 0; bra.uni $e; $b: bar.sync 0; $e:",
            "different barriers",
        ),
        (
            "setp.gt.u32 %p1, %r1, 9; @%p1 bra $b; bar.warp.sync 0x3ff; bar.warp.sync -1; $b: bar.sync 0;",
            "wait for ever",
        ),
        ("bar.warp.sync 1;", "not in its own mask"),
    ],
)
def test_waiting_for_nobody_is_caught(lines: str, reason: str) -> None:
    with pytest.raises(Fault, match=reason):
        run(kernel(lines), 32)


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("ld.global.u32 %r9, [%rd4+252];", "is in no buffer"),
        ("ld.global.u32 %r9, [%rd2+-4];", "is in no buffer"),
        ("st.global.u64 [%rd4], %rd4;", "unaligned global"),
        ("ld.global.v4.u32 {%r9, %r10, %r11, %r12}, [%rd4];", "unaligned global"),
        (f"{OWN_WORD} st.shared.u32 [%r12+900], %r4;", "shared address .* out of bounds"),
        (f"{OWN_WORD} ld.shared.u32 %r15, [%r12];", "shared memory is read before it is written"),
        (
            ".local .align 4 .b8 own[8]; mov.u64 %rd9, own; st.local.u32 [%rd9+8], %r4;",
            "local address .* out of bounds",
        ),
        ("ld.const.u32 %r9, [table+12];", "const address .* out of bounds"),
    ],
)
def test_a_bad_access_is_caught(lines: str, reason: str) -> None:
    with pytest.raises(Fault, match=reason):
        run(kernel(lines, SHARED + "\n.const .align 4 .u32 table[3] = {10, 20, 30};"))


def test_a_buffer_that_nobody_wrote_is_not_read() -> None:
    machine = Machine(parse(kernel("ld.global.u32 %r9, [%rd4];")))
    with pytest.raises(Fault, match="global memory is read before"):
        machine.launch("go", 1, 32, [machine.reserve(128)])


def test_blocks_race_in_global_memory_with_a_barrier_or_without() -> None:
    def swap(distance: int) -> str:
        other = f"xor.b32 %r5, %r4, {distance}; mul.wide.u32 %rd5, %r5, 4; add.s64 %rd6, %rd2, %rd5;"
        return kernel(f"{other} st.global.u32 [%rd4], %r4; bar.sync 0; ld.global.u32 %r9, [%rd6];")

    assert races(swap(1), 32, 4) == 0
    assert races(swap(64), 32, 4) > 0
    assert races(kernel("st.global.u32 [%rd2], %r4;"), 32, 1) > 0
    assert races(kernel("ld.global.nc.u32 %r9, [%rd4]; st.global.u32 [%rd4], %r9;"), 32, 1) == 0
    assert races(kernel("st.global.u32 [%rd4], %r4; ld.global.nc.u32 %r9, [%rd4];"), 32, 1) > 0


def test_bytes_side_by_side_are_not_a_race() -> None:
    text = kernel(
        "cvt.u64.u32 %rd5, %r4; add.s64 %rd6, %rd2, %rd5; cvt.u16.u32 %rs1, %r4; st.global.u8 [%rd6], %rs1;"
    )
    out, report = run(text, 64)
    assert report.race_count == 0
    assert out.tobytes()[:64] == bytes(range(64))


@pytest.mark.parametrize("seed", [None, 1, 2])
def test_atomics_lose_nothing_in_any_order(seed: int | None) -> None:
    text = kernel(
        """
        and.b32 %r5, %r4, 3; mul.wide.u32 %rd5, %r5, 4; add.s64 %rd6, %rd2, %rd5;
        atom.global.add.u32 %r6, [%rd6], %r4;
        red.global.max.u32 [%rd2+16], %r4; red.global.or.b32 [%rd2+20], %r4; red.global.add.u32 [%rd2+24], 1;
        setp.eq.u32 %p1, %r5, 2; @%p1 red.global.add.u32 [%rd2+28], 1;
        atom.global.cas.b32 %r7, [%rd2+32], 0, 5; atom.global.exch.b32 %r8, [%rd2+36], 77;
        """
    )
    out, report = run(text, 64, 4, seed=seed)
    assert report.race_count == 0
    assert out[:10].tolist() == [*(sum(range(i, 256, 4)) for i in range(4)), 255, 255, 256, 64, 5, 77]
    assert (
        races(
            text.replace(
                "red.global.add.u32 [%rd2+24], 1;",
                "ld.global.u32 %r9, [%rd2+24]; st.global.u32 [%rd2+24], %r9;",
            ),
            64,
        )
        > 0
    )


def warp(lines: str, lanes: Sequence[int] = range(64)) -> list[int]:
    out, _ = run(kernel(f"{lines} st.global.u32 [%rd4], %r9;"))
    return [int(out[lane]) for lane in lanes]


def test_shuffles() -> None:
    assert warp("shfl.sync.down.b32 %r9, %r4, 3, 31, -1;") == [n + 3 if n % 32 < 29 else n for n in range(64)]
    assert warp("shfl.sync.up.b32 %r9, %r4, 5, 0, -1;") == [n - 5 if n % 32 >= 5 else n for n in range(64)]
    assert warp("shfl.sync.bfly.b32 %r9, %r4, 9, 31, -1;") == [n ^ 9 for n in range(64)]
    assert warp("shfl.sync.idx.b32 %r9, %r4, 6, 31, -1;") == [6] * 32 + [38] * 32
    in_eights = "mov.u32 %r8, 0x181f; shfl.sync.idx.b32 %r9, %r4, 2, %r8, -1;"
    assert warp(in_eights) == [n // 8 * 8 + 2 for n in range(64)]
    inside = "shfl.sync.down.b32 %r8|%p1, %r4, 30, 31, -1; selp.u32 %r9, 1, 0, %p1;"
    assert warp(inside) == ([1, 1] + [0] * 30) * 2


def test_a_shuffle_of_lanes_that_come_apart_waits_for_all_that_are_named() -> None:
    text = """
    setp.gt.u32 %p1, %r1, 40; @%p1 bra $far; mov.u32 %r5, 1; bra.uni $on;
    $far: mov.u32 %r5, 2; $on: add.u32 %r5, %r5, %r4;
    shfl.sync.idx.b32 %r9, %r5, 31, 31, -1;
    """
    assert warp(text) == [32] * 32 + [65] * 32


def test_a_shuffle_out_of_a_lane_that_takes_no_part_is_caught() -> None:
    with pytest.raises(Fault, match="takes no part"):
        run(kernel("setp.gt.u32 %p1, %r1, 7; @%p1 bra $e; shfl.sync.down.b32 %r9, %r4, 3, 31, 0xff; $e:"), 32)


def test_votes_and_matches() -> None:
    odd = "and.b32 %r5, %r4, 1; setp.eq.u32 %p1, %r5, 1;"
    assert warp(f"{odd} vote.sync.ballot.b32 %r9, %p1, -1;") == [0xAAAAAAAA] * 64
    assert warp(f"{odd} vote.sync.any.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;") == [1] * 64
    assert warp(f"{odd} vote.sync.all.pred %p2, %p1, -1; selp.u32 %r9, 1, 0, %p2;") == [0] * 64
    by_eight = [sum(1 << lane for lane in range(32) if lane % 8 == n % 8) for n in range(64)]
    assert warp("and.b32 %r5, %r4, 7; match.any.sync.b32 %r9, %r5, -1;") == by_eight
    assert warp("mov.u32 %r9, %lanemask_lt;") == [(1 << n % 32) - 1 for n in range(64)]
    assert warp("activemask.b32 %r9;") == [0xFFFFFFFF] * 64


def test_dynamic_shared_memory_follows_what_is_declared_and_ends() -> None:
    dynamic = SHARED + "\n.extern .shared .align 16 .b8 more[];"
    text = kernel(
        "mov.u32 %r10, more; shl.b32 %r11, %r1, 2; add.u32 %r12, %r10, %r11; st.shared.u32 [%r12], %r4;",
        dynamic,
    )
    run(text, 64, shared_bytes=256)
    with pytest.raises(Fault, match="out of bounds"):
        run(text, 64, shared_bytes=252)


def test_a_kernel_that_is_not_there_and_a_wrong_number_of_arguments_are_refused() -> None:
    machine = Machine(parse(kernel("")))
    with pytest.raises(Fault, match="no kernel"):
        machine.launch("stop", 1, 32, [0])
    with pytest.raises(Fault, match="takes 1 arguments"):
        machine.launch("go", 1, 32, [0, 1])
