"""The command line. A command's module is imported when it is called, so that each starts fast.

Exit codes: 0 done or valid, 1 refused or invalid (one line on standard error says why), 2 usage.
"""

import argparse
import importlib
import os
import sys
from collections.abc import Sequence
from types import ModuleType

from cuzkweb.commands.table import available

DONE, REFUSED, INTERRUPTED = 0, 1, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; expected failures become one line, a closed pipe and Ctrl-C a quiet end."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        try:
            return dispatch(words)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return REFUSED
    except Exception as error:
        if "--traceback" in words:
            raise
        print(f"cuzkweb: {describe(error)}", file=sys.stderr)
        return REFUSED


def dispatch(words: list[str]) -> int:
    """Import the command that the words name, parse them and run it; its exit code."""
    commands = available()
    chosen = next((word for word in words if not word.startswith("-")), None)
    module = importlib.import_module(f"cuzkweb.commands.{chosen}") if chosen in commands else None
    parser = build_parser(commands, chosen, module)
    options = parser.parse_args(words)
    if module is None:
        parser.print_help()
        return DONE
    return int(module.run(options))


def build_parser(
    commands: dict[str, str], chosen: str | None = None, module: ModuleType | None = None
) -> argparse.ArgumentParser:
    """The parser of all commands; only the chosen one's arguments are filled in."""
    parser = argparse.ArgumentParser(
        prog="cuzkweb", description="A Groth16 proving backend.", allow_abbrev=False
    )
    parser.add_argument("--version", action=PrintVersion, nargs=0, help="print the version and leave")
    parser.add_argument("--traceback", action="store_true", help="show where in the program a fault arose")
    chooser = parser.add_subparsers(metavar="COMMAND", title="commands")
    for name, text in commands.items():
        command = chooser.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}.", allow_abbrev=False
        )
        if name == chosen and module is not None:
            module.add_arguments(command)
    return parser


class PrintVersion(argparse.Action):
    """--version: looks the version up only when asked."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        _namespace: argparse.Namespace,
        _values: object,
        _option: str | None = None,
    ) -> None:
        """Print the installed version and exit."""
        from importlib.metadata import version

        print(f"cuzkweb {version('cuzkweb')}")
        parser.exit()


def describe(error: Exception) -> str:
    """One line for any failure; a fault of the program's own says how to see more of it."""
    from cuzkweb.commands.refusals import one_line, reason

    text = reason(error)
    if text is not None:
        return text
    return f"unexpected {type(error).__name__}: {one_line(str(error))} (cuzkweb --traceback ... shows where)"


if __name__ == "__main__":
    sys.exit(main())
