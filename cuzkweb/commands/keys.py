"""`cuzkweb keys`: list, make and revoke API keys."""

import argparse
import json
from datetime import UTC, datetime, timedelta
from typing import Any

from cuzkweb.commands.service import add_service_arguments, open_client

SCOPES = ("read", "submit", "admin", "watch")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--create", metavar="NAME", help="make a key and print it, this once")
    what.add_argument("--revoke", metavar="PREFIX", help="stop the key with this open part at once")
    parser.add_argument(
        "--scope", action="append", choices=SCOPES, help="what the new key may do (default: read and submit)"
    )
    parser.add_argument("--days", type=int, help="days until the new key expires (default: never)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    add_service_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Make, revoke or list. The key that asks needs the scope admin."""
    with open_client(options) as client:
        if options.create:
            ends = datetime.now(UTC) + timedelta(days=options.days) if options.days is not None else None
            made = client.create_key(options.create, options.scope, ends.isoformat() if ends else None)
            print(json.dumps(made, indent=1) if options.json else made["key"])
            return 0
        rows = [client.revoke_key(options.revoke)] if options.revoke else list(client.keys())
    print(json.dumps(rows, indent=1) if options.json else "\n".join(describe(row) for row in rows))
    return 0


def describe(row: dict[str, Any]) -> str:
    """One line about a key."""
    state = "revoked" if row["revoked_at"] else f"until {row['expires_at']}" if row["expires_at"] else "good"
    used = f"used {row['last_used_at']}" if row["last_used_at"] else "never used"
    return f"{row['prefix']}  {row['name']}  {','.join(row['scopes'])}  {state}, {used}"
