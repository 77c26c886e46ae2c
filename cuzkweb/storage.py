"""The storage that all hosts share, as Django's setting for it, read from one address."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from cuzkweb.environment import VariableError

OPTIONS = frozenset({"endpoint_url", "region_name", "encryption"})
CONNECT_SECONDS, READ_SECONDS = 5, 30
TRIES = 4
IN_MEMORY_BYTES = 8 << 20
"""What is read of an object before the rest of it goes to a file."""


def storage_from_url(url: str, *, name: str = "CUZKWEB_STORAGE_URL") -> dict[str, Any]:
    """Django's setting for `s3://bucket/prefix?endpoint_url=...&region_name=...&encryption=AES256`.

    `file:///folder` is a folder that every host has mounted. Who may enter is not in the address: an S3
    client reads AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or asks the machine that it runs on.
    """
    parts = urlsplit(url)
    if parts.scheme == "file" and not parts.netloc and len(parts.path) > 1:
        return _folder(Path(unquote(parts.path)))
    if parts.scheme != "s3" or not parts.hostname or parts.username or parts.password:
        raise VariableError(
            name, "wants s3://bucket/prefix?endpoint_url=... without a key, or file:///folder"
        )
    query = dict(parse_qsl(parts.query))
    if unknown := sorted(set(query) - OPTIONS):
        raise VariableError(name, f"knows no option {unknown[0]}: there are {', '.join(sorted(OPTIONS))}")
    return _s3(parts.netloc, unquote(parts.path).strip("/"), query)


def _folder(path: Path) -> dict[str, Any]:
    modes = {"file_permissions_mode": 0o600, "directory_permissions_mode": 0o700}
    return {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": str(path), "allow_overwrite": True, **modes},
    }


def _s3(bucket: str, prefix: str, query: dict[str, str]) -> dict[str, Any]:
    from botocore.config import Config  # noqa: PLC0415 - an extra

    client: Any = Config(  # type: ignore[no-untyped-call]
        connect_timeout=CONNECT_SECONDS,
        read_timeout=READ_SECONDS,
        retries={"mode": "standard", "total_max_attempts": TRIES},
        s3={"addressing_style": "path" if "endpoint_url" in query else "auto"},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        tcp_keepalive=True,
    )
    parameters = {"ServerSideEncryption": query["encryption"]} if "encryption" in query else {}
    return {
        "BACKEND": "storages.backends.s3.S3Storage",
        "OPTIONS": {
            "bucket_name": bucket,
            "location": prefix,
            "endpoint_url": query.get("endpoint_url"),
            "region_name": query.get("region_name"),
            "object_parameters": parameters,
            "client_config": client,
            "default_acl": None,
            "file_overwrite": True,
            "max_memory_size": IN_MEMORY_BYTES,
        },
    }
