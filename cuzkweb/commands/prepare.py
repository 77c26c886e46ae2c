"""cuzkweb prepare: multiples of the points of a proving key, in a file beside it that `prove` maps."""

import argparse
from pathlib import Path

from cuzkweb.commands.options import add_threads
from cuzkweb.commands.refusals import Refused

MEBIBYTE = 1 << 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's flags."""
    parser.add_argument("--zkey", type=Path, required=True, metavar="K", help="proving key (.zkey)")
    parser.add_argument(
        "--multiples",
        type=int,
        choices=(2, 4, 8, 16),
        default=4,
        help="rows of multiples: the file is about so many times the key, and proofs a little faster with "
        "each (default: 4)",
    )
    add_threads(parser)


def run(options: argparse.Namespace) -> int:
    """Write the file beside the key and say what it costs."""
    from proving.formats.prepared import path_beside, plan_tables, write_prepared
    from proving.formats.zkey import read_zkey, validate_points

    key = read_zkey(options.zkey)
    tables = plan_tables(key, options.multiples)
    if tables is None:
        raise Refused("this machine's engine has no use for a prepared key: it needs AVX2")
    validate_points(key, options.threads, options.zkey)
    path = path_beside(options.zkey)
    size = write_prepared(path, key, options.zkey, tables, options.threads)
    key_size = options.zkey.stat().st_size
    print(
        f"{path}: {size / MEBIBYTE:.0f} MiB beside a key of {key_size / MEBIBYTE:.0f} MiB; "
        "`prove` maps it and uses it while the key stays as it is"
    )
    return 0
