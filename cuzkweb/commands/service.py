"""How the client's commands find the service: options, else the environment, else the one that runs here."""

import argparse
import json
import os
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from cuzkweb.client import Client
from cuzkweb.commands.refusals import Refused
from cuzkweb.supervisor.home import read_state


def add_service_arguments(parser: argparse.ArgumentParser) -> None:
    """Where the service is and how to be let in."""
    parser.add_argument("--url", help="address of the service (default: $CUZKWEB_URL, else the one in HOME)")
    parser.add_argument("--key", help="API key (default: $CUZKWEB_API_KEY, else the one kept in HOME)")


def add_json_argument(parser: argparse.ArgumentParser) -> None:
    """Whether the answer is for a program."""
    parser.add_argument("--json", action="store_true", help="print JSON")


def print_json(value: Any) -> None:
    """A value of the client's, or a document, as JSON."""
    print(json.dumps(asdict(value) if is_dataclass(value) else value, indent=1))  # type: ignore[arg-type]


def home_folder() -> Path:
    """HOME of the service on this host: $CUZKWEB_HOME, else ./var."""
    return Path(os.environ.get("CUZKWEB_HOME") or "var").expanduser().resolve()


def open_client(options: argparse.Namespace) -> Client:
    """A client of the service that the options mean. Raises Refused where there is none."""
    home = home_folder()
    address = options.url or os.environ.get("CUZKWEB_URL")
    if not address:
        state = read_state(home)
        if state is None:
            raise Refused(f"no service runs in {home}: start one with `cuzkweb up`, or give --url")
        address = state["web"]
    key = options.key or os.environ.get("CUZKWEB_API_KEY") or kept_key(home)
    if not key:
        raise Refused("no API key: give --key or set CUZKWEB_API_KEY")
    return Client(address, key)


def kept_key(home: Path) -> str | None:
    """The API key that the service made for this user, if it did."""
    try:
        found: str = json.loads((home / "credentials.json").read_text())["api_key"]
    except (FileNotFoundError, PermissionError, json.JSONDecodeError, KeyError):
        return None
    return found
