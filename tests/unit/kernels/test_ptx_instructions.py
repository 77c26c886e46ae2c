"""The interpreter itself, instruction by instruction, against Python integers."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from tests.support.ptx import Fault, Machine, parse

M32, M64 = (1 << 32) - 1, (1 << 64) - 1
EDGES = [0, 1, 2, 7, 31, 32, 33, 63, 64, 255, 1 << 15, 1 << 16, (1 << 31) - 1, 1 << 31, M32 - 1, M32]
WIDE_EDGES = [*EDGES, 1 << 32, (1 << 63) - 1, 1 << 63, M64 - 1, M64]

Model = Callable[[int, int, int], int]


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


def triples(bits: int) -> list[tuple[int, int, int]]:
    random = Random(bits)
    edges = EDGES if bits == 32 else WIDE_EDGES
    pairs = [(a, b, random.choice(edges)) for a in edges for b in edges]
    return pairs + [tuple(random.randrange(1 << bits) for _ in range(3)) for _ in range(40)]


def run(lines: str, inputs: list[tuple[int, int, int]]) -> list[int]:
    """The value of %rd10 for each triple of inputs in %rd1..3 (and their low halves in %r1..3)."""
    module = parse(
        f"""
        .version 8.0
        .target sm_80
        .address_size 64
        .visible .entry apply(.param .u64 source, .param .u64 target, .param .u32 n)
        {{
            .reg .pred %p<8>; .reg .b16 %rs<8>; .reg .b32 %r<40>; .reg .b64 %rd<40>;
            ld.param.u64 %rd20, [source]; ld.param.u64 %rd21, [target]; ld.param.u32 %r20, [n];
            mov.u32 %r21, %ctaid.x; mov.u32 %r22, %ntid.x; mov.u32 %r23, %tid.x;
            mad.lo.s32 %r24, %r21, %r22, %r23;
            setp.ge.u32 %p7, %r24, %r20;
            @%p7 bra $end;
            cvta.to.global.u64 %rd22, %rd20; cvta.to.global.u64 %rd23, %rd21;
            mul.wide.u32 %rd24, %r24, 24; add.s64 %rd25, %rd22, %rd24;
            ld.global.u64 %rd1, [%rd25]; ld.global.u64 %rd2, [%rd25+8]; ld.global.u64 %rd3, [%rd25+16];
            cvt.u32.u64 %r1, %rd1; cvt.u32.u64 %r2, %rd2; cvt.u32.u64 %r3, %rd3;
            mov.u64 %rd10, 0; mov.u32 %r10, 0; mov.u32 %r11, 0;
            {lines}
            mul.wide.u32 %rd26, %r24, 8; add.s64 %rd27, %rd23, %rd26;
            st.global.u64 [%rd27], %rd10;
        $end:
            ret;
        }}
        """
    )
    machine = Machine(module)
    source = machine.upload(np.array(inputs, np.uint64))
    target = machine.reserve(8 * len(inputs))
    report = machine.launch("apply", -(-len(inputs) // 64), 64, [source, target, len(inputs)])
    assert report.race_count == 0
    return np.frombuffer(machine.download(target, 8 * len(inputs)), np.uint64).tolist()


NARROW = "cvt.u64.u32 %rd10, %r10;"
PAIR = "mov.b64 %rd10, {%r10, %r11};"
CHOICE = "selp.b64 %rd10, 1, 0, %p1;"


def bytes_permuted(a: int, b: int, selector: int) -> int:
    source = (a | b << 32).to_bytes(8, "little")
    result = 0
    for place in range(4):
        choice = selector >> 4 * place & 15
        byte = source[choice & 7]
        result |= (0xFF if byte >> 7 else 0) << 8 * place if choice & 8 else byte << 8 * place
    return result


def field(value: int, start: int, length: int, bits: int) -> int:
    return value >> (start & 255) & ((1 << (length & 255)) - 1)


def truncated(a: int, b: int) -> int:
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


NARROW_CASES: list[tuple[str, Model]] = [
    ("add.s32 %r10, %r1, %r2;", lambda a, b, c: a + b),
    ("add.u32 %r10, %r1, -5;", lambda a, b, c: a - 5),
    ("sub.s32 %r10, %r1, %r2;", lambda a, b, c: a - b),
    ("mul.lo.s32 %r10, %r1, %r2;", lambda a, b, c: a * b),
    ("mul.hi.u32 %r10, %r1, %r2;", lambda a, b, c: a * b >> 32),
    ("mul.hi.s32 %r10, %r1, %r2;", lambda a, b, c: signed(a, 32) * signed(b, 32) >> 32),
    ("mad.lo.u32 %r10, %r1, %r2, %r3;", lambda a, b, c: a * b + c),
    ("mad.hi.u32 %r10, %r1, %r2, %r3;", lambda a, b, c: (a * b >> 32) + c),
    ("and.b32 %r10, %r1, %r2;", lambda a, b, c: a & b),
    ("or.b32 %r10, %r1, 0x80000001;", lambda a, b, c: a | 0x80000001),
    ("xor.b32 %r10, %r1, %r2;", lambda a, b, c: a ^ b),
    ("not.b32 %r10, %r1;", lambda a, b, c: ~a),
    ("neg.s32 %r10, %r1;", lambda a, b, c: -a),
    ("abs.s32 %r10, %r1;", lambda a, b, c: abs(signed(a, 32))),
    ("shl.b32 %r10, %r1, 7;", lambda a, b, c: a << 7),
    ("shl.b32 %r10, %r1, %r2;", lambda a, b, c: a << b if b < 32 else 0),
    ("shr.u32 %r10, %r1, %r2;", lambda a, b, c: a >> min(b, 32)),
    ("shr.s32 %r10, %r1, 31;", lambda a, b, c: signed(a, 32) >> 31),
    ("shr.s32 %r10, %r1, %r2;", lambda a, b, c: signed(a, 32) >> min(b, 31)),
    ("shf.l.wrap.b32 %r10, %r1, %r2, %r3;", lambda a, b, c: (b << 32 | a) << (c & 31) >> 32),
    ("shf.r.wrap.b32 %r10, %r1, %r2, %r3;", lambda a, b, c: (b << 32 | a) >> (c & 31)),
    ("shf.l.clamp.b32 %r10, %r1, %r2, %r3;", lambda a, b, c: (b << 32 | a) << min(c, 32) >> 32),
    ("shf.r.clamp.b32 %r10, %r1, %r2, %r3;", lambda a, b, c: (b << 32 | a) >> min(c, 32)),
    ("bfe.u32 %r10, %r1, %r2, %r3;", lambda a, b, c: field(a, b, c, 32)),
    ("bfe.s32 %r10, %r1, 5, 9;", lambda a, b, c: signed(field(a, 5, 9, 32), 9)),
    ("bfi.b32 %r10, %r1, %r2, 12, 5;", lambda a, b, c: b & ~(31 << 12) | (a & 31) << 12),
    ("popc.b32 %r10, %r1;", lambda a, b, c: a.bit_count()),
    ("clz.b32 %r10, %r1;", lambda a, b, c: 32 - a.bit_length()),
    ("brev.b32 %r10, %r1;", lambda a, b, c: int(f"{a:032b}"[::-1], 2)),
    ("bfind.u32 %r10, %r1;", lambda a, b, c: a.bit_length() - 1),
    ("bfind.s32 %r10, %r1;", lambda a, b, c: (a ^ (M32 if a >> 31 else 0)).bit_length() - 1),
    ("bfind.shiftamt.u32 %r10, %r1;", lambda a, b, c: 32 - a.bit_length() if a else M32),
    ("prmt.b32 %r10, %r1, %r2, %r3;", bytes_permuted),
    ("prmt.b32 %r10, %r1, %r2, 0x5410;", lambda a, b, c: a & 0xFFFF | (b & 0xFFFF) << 16),
    ("lop3.b32 %r10, %r1, %r2, %r3, 0x96;", lambda a, b, c: a ^ b ^ c),
    ("lop3.b32 %r10, %r1, %r2, %r3, 0xCA;", lambda a, b, c: a & b | ~a & c),
    ("min.u32 %r10, %r1, %r2;", lambda a, b, c: min(a, b)),
    ("max.s32 %r10, %r1, %r2;", lambda a, b, c: max(signed(a, 32), signed(b, 32))),
    ("or.b32 %r4, %r2, 1; div.u32 %r10, %r1, %r4;", lambda a, b, c: a // (b | 1)),
    ("or.b32 %r4, %r2, 1; rem.u32 %r10, %r1, %r4;", lambda a, b, c: a % (b | 1)),
    (
        "or.b32 %r4, %r2, 1; div.s32 %r10, %r1, %r4;",
        lambda a, b, c: truncated(signed(a, 32), signed(b | 1, 32)),
    ),
    (
        "or.b32 %r4, %r2, 1; rem.s32 %r10, %r1, %r4;",
        lambda a, b, c: signed(a, 32) - signed(b | 1, 32) * truncated(signed(a, 32), signed(b | 1, 32)),
    ),
    (
        "setp.lt.s32 %p1, %r1, %r2; selp.b32 %r10, %r1, %r2, %p1;",
        lambda a, b, c: min(a, b, key=lambda v: signed(v, 32)),
    ),
    ("cvt.s32.s8 %r10, %r1;", lambda a, b, c: signed(a & 255, 8)),
    ("cvt.u32.u16 %r10, %r1;", lambda a, b, c: a & 0xFFFF),
    ("cvt.u16.u32 %rs1, %r1; mul.wide.u16 %r10, %rs1, 3;", lambda a, b, c: (a & 0xFFFF) * 3),
    ("cvt.s8.s32 %r10, %r1;", lambda a, b, c: signed(a & 255, 8)),
    ("{ .reg .b32 t; mul.lo.u32 t, %r1, 3; add.u32 %r10, t, 1; }", lambda a, b, c: 3 * a + 1),
    ("mov.b64 {%r4, %r5}, %rd1; xor.b32 %r10, %r4, %r5;", lambda a, b, c: a),
    ("setp.gt.u32 %p1, %r1, %r2; @%p1 mov.u32 %r10, 9;", lambda a, b, c: 9 if a > b else 0),
    ("setp.gt.u32 %p1, %r1, %r2; @!%p1 add.u32 %r10, %r10, 4;", lambda a, b, c: 0 if a > b else 4),
]

WIDE_CASES: list[tuple[str, Model]] = [
    ("add.s64 %rd10, %rd1, %rd2;", lambda a, b, c: a + b),
    ("sub.s64 %rd10, %rd1, -3;", lambda a, b, c: a + 3),
    ("mul.lo.s64 %rd10, %rd1, %rd2;", lambda a, b, c: a * b),
    ("mul.hi.u64 %rd10, %rd1, %rd2;", lambda a, b, c: a * b >> 64),
    ("mul.hi.s64 %rd10, %rd1, %rd2;", lambda a, b, c: signed(a, 64) * signed(b, 64) >> 64),
    ("mad.lo.s64 %rd10, %rd1, %rd2, %rd3;", lambda a, b, c: a * b + c),
    ("mul.wide.u32 %rd10, %r1, %r2;", lambda a, b, c: (a & M32) * (b & M32)),
    ("mul.wide.s32 %rd10, %r1, %r2;", lambda a, b, c: signed(a & M32, 32) * signed(b & M32, 32)),
    ("mad.wide.u32 %rd10, %r1, %r2, %rd3;", lambda a, b, c: (a & M32) * (b & M32) + c),
    ("shl.b64 %rd10, %rd1, %r2;", lambda a, b, c: a << (b & M32) if b & M32 < 64 else 0),
    ("shr.u64 %rd10, %rd1, %r2;", lambda a, b, c: a >> min(b & M32, 64)),
    ("shr.s64 %rd10, %rd1, %r2;", lambda a, b, c: signed(a, 64) >> min(b & M32, 63)),
    ("bfe.u64 %rd10, %rd1, %r2, %r3;", lambda a, b, c: field(a, b, c, 64)),
    ("popc.b64 %r10, %rd1; cvt.u64.u32 %rd10, %r10;", lambda a, b, c: a.bit_count()),
    ("clz.b64 %r10, %rd1; cvt.u64.u32 %rd10, %r10;", lambda a, b, c: 64 - a.bit_length()),
    ("brev.b64 %rd10, %rd1;", lambda a, b, c: int(f"{a:064b}"[::-1], 2)),
    ("min.s64 %rd10, %rd1, %rd2;", lambda a, b, c: min(signed(a, 64), signed(b, 64))),
    ("cvt.s64.s32 %rd10, %r1;", lambda a, b, c: signed(a & M32, 32)),
    ("cvt.u64.u32 %rd10, %r1;", lambda a, b, c: a & M32),
    ("cvt.u64.u16 %rd10, %r1;", lambda a, b, c: a & 0xFFFF),
    ("or.b64 %rd4, %rd2, 1; div.u64 %rd10, %rd1, %rd4;", lambda a, b, c: a // (b | 1)),
    ("or.b64 %rd4, %rd2, 1; rem.u64 %rd10, %rd1, %rd4;", lambda a, b, c: a % (b | 1)),
    ("add.cc.u64 %rd4, %rd1, %rd2; addc.u64 %rd10, %rd3, 0;", lambda a, b, c: c + (a + b >> 64)),
    ("sub.cc.u64 %rd4, %rd1, %rd2; subc.u64 %rd10, %rd3, 0;", lambda a, b, c: c - (a < b)),
    (
        "add.cc.u64 %rd4, %rd1, %rd2; addc.cc.u64 %rd5, %rd3, %rd1; addc.u64 %rd10, 0, 0;",
        lambda a, b, c: c + a + (a + b >> 64) >> 64,
    ),
    (
        "sub.cc.u64 %rd4, %rd1, %rd2; subc.cc.u64 %rd5, %rd3, %rd1; subc.u64 %rd10, 0, 0;",
        lambda a, b, c: -(c < a + (a < b)),
    ),
    (
        f"add.cc.u32 %r10, %r1, %r2; addc.u32 %r11, %r3, 7; {PAIR}",
        lambda a, b, c: (a & M32) + (b & M32) + ((c + 7 & M32) << 32),
    ),
    (
        f"sub.cc.u32 %r10, %r1, %r2; subc.u32 %r11, 0, 0; {PAIR}",
        lambda a, b, c: (a - b & M32) | (M32 << 32 if a & M32 < b & M32 else 0),
    ),
    (
        f"mad.lo.cc.u32 %r10, %r1, %r2, %r3; madc.hi.u32 %r11, %r1, %r2, %r1; {PAIR}",
        lambda a, b, c: (a & M32) * (b & M32) + (c & M32) + ((a & M32) << 32),
    ),
    (
        "mad.lo.cc.u32 %r10, %r1, %r2, %r3; madc.hi.cc.u32 %r11, %r1, %r2, %r1; addc.u32 %r10, 0, 0;"
        + NARROW,
        lambda a, b, c: (a & M32) * (b & M32) + (c & M32) + ((a & M32) << 32) >> 64,
    ),
    (f"setp.le.u64 %p1, %rd1, %rd2; {CHOICE}", lambda a, b, c: a <= b),
    (f"setp.ge.s64 %p1, %rd1, %rd2; {CHOICE}", lambda a, b, c: signed(a, 64) >= signed(b, 64)),
    (
        f"setp.ne.s64 %p2, %rd1, %rd3; setp.lt.and.u64 %p1, %rd1, %rd2, %p2; {CHOICE}",
        lambda a, b, c: a < b and a != c,
    ),
    (f"setp.lt.u64 %p2|%p1, %rd1, %rd2; {CHOICE}", lambda a, b, c: a >= b),
    (
        f"setp.lt.u64 %p2, %rd1, %rd2; setp.eq.u64 %p3, %rd1, %rd3; xor.pred %p1, %p2, %p3; {CHOICE}",
        lambda a, b, c: (a < b) != (a == c),
    ),
    (f"setp.lt.u64 %p2, %rd1, %rd2; not.pred %p1, %p2; {CHOICE}", lambda a, b, c: a >= b),
]


@pytest.mark.parametrize(
    ("lines", "model"), NARROW_CASES, ids=lambda case: case if isinstance(case, str) else ""
)
def test_an_instruction_on_32_bits(lines: str, model: Model) -> None:
    inputs = triples(32)
    wanted = [model(*each) & M32 for each in inputs]
    assert run(lines + NARROW, inputs) == wanted


@pytest.mark.parametrize(
    ("lines", "model"), WIDE_CASES, ids=lambda case: case if isinstance(case, str) else ""
)
def test_an_instruction_on_64_bits(lines: str, model: Model) -> None:
    inputs = triples(64)
    wanted = [model(*each) & M64 for each in inputs]
    assert run(lines, inputs) == wanted


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ("addc.u32 %r10, %r1, 0;", "a carry is taken"),
        ("sub.u32 %r4, %r1, %r1; div.u32 %r10, %r1, %r4;", "division by zero"),
        ("add.u32 %r10, %r30, 1;", "read before it is written"),
        ("sqrt.rn.f32 %r10, %r1;", "not known"),
        ("trap;", "gave up"),
    ],
)
def test_what_no_program_may_do_is_a_fault(lines: str, reason: str) -> None:
    with pytest.raises(Fault, match=reason):
        run(lines, [(1, 2, 3)])
