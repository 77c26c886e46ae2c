"""`cuzkweb completion`: what a shell needs to complete these commands and their options."""

import argparse
import importlib

from cuzkweb.commands.table import available

BASH = """\
_cuzkweb() {{
    local word=${{COMP_WORDS[COMP_CWORD]}} words=
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="{commands}"
    else
        case ${{COMP_WORDS[1]}} in
{cases}
        esac
    fi
    COMPREPLY=($(compgen -W "$words" -- "$word"))
}}
complete -o default -F _cuzkweb cuzkweb
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    parser.add_argument("shell", choices=("bash", "zsh"), help='for: eval "$(cuzkweb completion bash)"')


def run(options: argparse.Namespace) -> int:
    """Print the script of a shell."""
    text = bash()
    print(f"autoload -U +X bashcompinit && bashcompinit\n{text}" if options.shell == "zsh" else text, end="")
    return 0


def bash() -> str:
    """The script for bash; zsh reads it too."""
    cases = [f'            {name}) words="{" ".join(options_of(name))}" ;;' for name in available()]
    return BASH.format(commands=" ".join(available()), cases="\n".join(cases))


def options_of(name: str) -> list[str]:
    """The options of one command."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    importlib.import_module(f"cuzkweb.commands.{name}").add_arguments(parser)
    shown = (action for action in parser._actions if action.help != argparse.SUPPRESS)  # noqa: SLF001
    return sorted(word for action in shown for word in action.option_strings if word.startswith("--"))
