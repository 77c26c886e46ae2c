"""Writes the generated pages of this folder: `python docs/reference/generate.py`.

A test holds them current.
"""

# ruff: noqa: E501, INP001 - the texts of pages; a script, no package

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import yaml

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
READERS = {"text", "boolean", "integer", "seconds", "size", "names", "path"}
FREE = {
    "CUZKWEB_HOST": "this machine's name in the names of workers and queues; default: what the machine calls itself",
    "CUZKWEB_ENGINE": "auto, avx2 or portable: which arithmetic the host device uses; default: auto",
    "CUZKWEB_URL": "for the client's commands: address of the service; default: the one in CUZKWEB_HOME",
    "CUZKWEB_API_KEY": "for the client's commands: API key; default: the one kept in CUZKWEB_HOME",
}


def settings_page() -> str:
    """Every variable that the settings read: its type, its default, where it is read."""
    lines = [
        "# Settings",
        "",
        "All settings are environment variables. An empty one counts as not set. Sizes take units (`512MiB`).",
        "",
        "| variable | type | default |",
        "| --- | --- | --- |",
    ]
    for name, kind, default in sorted(variables()):
        lines.append(f"| `{name}` | {kind} | {default} |")
    lines += ["", "Read outside of the settings:", "", "| variable | what |", "| --- | --- |"]
    lines += [f"| `{name}` | {text} |" for name, text in sorted(FREE.items())]
    return "\n".join(lines) + "\n"


def variables() -> Iterator[tuple[str, str, str]]:
    """Each call of a reader of the environment in the settings, as (name, type, default)."""
    seen: set[str] = set()
    for node in ast.walk(ast.parse((REPOSITORY / "cuzkweb" / "settings.py").read_text())):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        if node.func.attr not in READERS or ast.unparse(node.func.value) != "env" or not node.args:
            continue
        name = ast.literal_eval(node.args[0])
        if name in seen:
            continue
        seen.add(name)
        given = [*node.args[1:], *(word.value for word in node.keywords if word.arg == "default")]
        yield name, node.func.attr, f"`{ast.unparse(given[0])}`" if given else "not set"


def api_page() -> str:
    """Every operation of the API, from its description."""
    described = yaml.safe_load((REPOSITORY / "docs" / "openapi.yaml").read_text())
    lines = [
        "# REST API",
        "",
        "The whole description is [openapi.yaml](../openapi.yaml); a running service shows it at `/api/docs/`.",
        "",
        "* `Authorization: Bearer <key>`. Scopes: `read` for GET and for verifying, `submit` for what changes",
        "  jobs and circuits, `admin` for keys and webhooks.",
        "* Errors are `application/problem+json` with a `code` for programs and `errors[].pointer` into the body.",
        "* A POST with `Idempotency-Key` may be repeated: the same body gets the first answer, another one 422,",
        "  and 409 while the first is at work. A refused request leaves its key free.",
        "* 429 and 503 tell with `Retry-After` when to come again; `queue_full` means that too much waits.",
        "* Streams resume: send the last event's id as `Last-Event-ID`, as browsers do by themselves.",
        "* Webhooks follow the [Standard Webhooks](https://www.standardwebhooks.com) rules: events `job.done`,",
        "  `job.failed`, `job.cancelled`; an answer other than 2xx is tried again for about three days.",
        "",
        "| operation | address | parameters | what |",
        "| --- | --- | --- | --- |",
    ]
    for path, operations in described["paths"].items():
        for method, operation in operations.items():
            asked = [f"`{one['name']}`" for one in operation.get("parameters", ()) if one["in"] != "path"]
            about = operation.get("description", "").strip().split("\n\n")[0].replace("\n", " ")
            row = [operation["operationId"], f"`{method.upper()} {path}`", ", ".join(asked), about]
            lines.append("| " + " | ".join(text.replace("|", "\\|") for text in row) + " |")
    return "\n".join(lines) + "\n"


def metrics_page() -> str:
    """Every metric: its kind and what it tells."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cuzkweb.settings")
    from proving.api.metrics import FAMILIES  # noqa: PLC0415 - needs the settings

    lines = [
        "# Metrics",
        "",
        "`GET /metrics` wants an API key of scope `read` or `watch`. [alerts.yaml](../monitoring/alerts.yaml) holds alert rules",
        "and the piece of configuration that scrapes, [grafana.json](../monitoring/grafana.json) a dashboard.",
        "",
        "| metric | kind | what |",
        "| --- | --- | --- |",
    ]
    lines += [f"| `{name}` | {kind} | {text} |" for name, (kind, text) in FAMILIES.items()]
    return "\n".join(lines) + "\n"


PAGES = {"settings.md": settings_page, "api.md": api_page, "metrics.md": metrics_page}

if __name__ == "__main__":
    for name, page in PAGES.items():
        (HERE / name).write_text(page())
