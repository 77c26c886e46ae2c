"""Large files in pieces, after the tus protocol 1.0 (core, creation, checksum, expiration, termination).

tus, and not the IETF's draft of resumable uploads: its clients exist in every language, it needs no interim
responses, which ASGI servers do not send, and its text does not change any more.
"""

# ruff: noqa: ARG002 - the framework names the arguments

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from django.conf import settings
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.http import http_date
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, ParseError, UnsupportedMediaType
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from proving.api.pagination import NewestCircuits
from proving.api.permissions import caller
from proving.api.requests import QuerySerializer
from proving.choices import Scope
from proving.models import ResumableUpload
from proving.services import uploads
from proving.services.errors import invalid

VERSION = "1.0.0"
EXTENSIONS = "creation,checksum,expiration,termination"
PIECE = "application/offset+octet-stream"
CHUNK = 1 << 18
SHA256_HEX = re.compile(r"[0-9a-f]{64}")
NUMBER = re.compile(r"\d{1,18}")


def header(name: str, text: str, *, required: bool = True) -> OpenApiParameter:
    """A header of the protocol in the description."""
    return OpenApiParameter(name, str, OpenApiParameter.HEADER, required=required, description=text)


TUS = header("Tus-Resumable", f"{VERSION}, the version of the protocol")


class UnknownVersion(APIException):
    """The sender speaks another version of the protocol, or does not say which."""

    status_code = status.HTTP_412_PRECONDITION_FAILED
    default_code = "tus_version"
    default_detail = f"the header Tus-Resumable wants the version {VERSION} of the protocol"


class UploadDocument(serializers.Serializer[Any]):
    """An upload as it stands; it is named by its id when a circuit is registered."""

    id = serializers.CharField()
    name = serializers.CharField(allow_blank=True)
    size = serializers.IntegerField()
    offset = serializers.SerializerMethodField(help_text="how many bytes are here")
    complete = serializers.SerializerMethodField()
    sha256 = serializers.CharField(allow_blank=True, help_text="of the file, once all of it is here")
    expected = serializers.CharField(allow_blank=True, help_text="the SHA-256 that was announced")
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(help_text="each piece puts it off")
    links = serializers.SerializerMethodField()

    def get_offset(self, upload: ResumableUpload) -> int:
        return uploads.offset_of(upload)

    def get_complete(self, upload: ResumableUpload) -> bool:
        return uploads.offset_of(upload) == upload.size

    def get_links(self, upload: ResumableUpload) -> dict[str, str]:
        return {"self": reverse("upload", args=[upload.pk])}


class UploadFilter(QuerySerializer):
    """What narrows a list of uploads."""

    sha256 = serializers.RegexField(
        f"^({SHA256_HEX.pattern})?$", required=False, help_text="the SHA-256 that was announced; empty: any"
    )


class TusView(APIView):
    """What all answers of the protocol have in common."""

    required_scope = Scope.SUBMIT

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        spoken = request.method in {"POST", "HEAD", "PATCH", "DELETE"}
        if spoken and request.headers.get("Tus-Resumable") != VERSION:
            raise UnknownVersion

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        answer = super().finalize_response(request, response, *args, **kwargs)
        answer["Tus-Resumable"] = VERSION
        if answer.status_code == UnknownVersion.status_code:
            answer["Tus-Version"] = VERSION
        return answer

    def options(self, request: Any, *args: Any, **kwargs: Any) -> Response:
        """What the service can do."""
        able = {
            "Tus-Version": VERSION,
            "Tus-Extension": EXTENSIONS,
            "Tus-Max-Size": str(settings.CUZKWEB_MAX_UPLOAD_BYTES),
            "Tus-Checksum-Algorithm": "sha256",
        }
        return Response(status=status.HTTP_204_NO_CONTENT, headers=able)


class UploadsView(TusView, GenericAPIView[ResumableUpload]):
    """The caller's uploads that have not expired."""

    pagination_class = NewestCircuits
    serializer_class = UploadDocument

    def get_queryset(self) -> QuerySet[ResumableUpload]:
        query = UploadFilter(data=self.request.query_params)
        query.is_valid(raise_exception=True)
        found = uploads.uploads_of(caller(self.request))
        wanted = query.validated_data.get("sha256")
        return found.filter(expected=wanted) if wanted else found

    @extend_schema(operation_id="listUploads", parameters=[UploadFilter], responses=UploadDocument(many=True))
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        operation_id="createUpload",
        parameters=[
            TUS,
            header("Upload-Length", "the size of the file in bytes"),
            header(
                "Upload-Metadata",
                "filename and sha256 (hex), each followed by its value in base64, with commas between them",
                required=False,
            ),
        ],
        request=None,
        responses={201: UploadDocument},
    )
    def post(self, request: Request) -> Response:
        told = metadata(request.headers.get("Upload-Metadata", ""))
        expected = told.get("sha256", "")
        if expected and not SHA256_HEX.fullmatch(expected):
            raise invalid(
                "/Upload-Metadata", "bad_sha256", "sha256 wants 64 hexadecimal digits in lower case"
            )
        size = number(request, "Upload-Length")
        made = uploads.create_upload(caller(request), size, told.get("filename", "")[:255], expected)
        place = {"Location": request.build_absolute_uri(reverse("upload", args=[made.pk]))}
        return Response(UploadDocument(made).data, status.HTTP_201_CREATED, headers=place | standing(made))


class UploadView(TusView):
    """One upload."""

    @extend_schema(operation_id="getUpload", responses=UploadDocument)
    def get(self, request: Request, upload: str) -> Response:
        found = uploads.find_upload(caller(request), upload)
        return Response(UploadDocument(found).data, headers={"Cache-Control": "no-store"})

    def head(self, request: Request, upload: str) -> Response:
        """Where the upload goes on."""
        found = uploads.find_upload(caller(request), upload)
        told = {"Upload-Length": str(found.size), "Cache-Control": "no-store"}
        return Response(headers=standing(found) | told)

    @extend_schema(
        operation_id="appendToUpload",
        parameters=[
            TUS,
            header("Upload-Offset", "where the piece begins: where the upload ends so far"),
            header("Upload-Checksum", "sha256 and the piece's digest in base64", required=False),
        ],
        request={PIECE: OpenApiTypes.BINARY},
        responses={204: None},
    )
    def patch(self, request: Request, upload: str) -> Response:
        if request.content_type != PIECE:
            raise UnsupportedMediaType(request.content_type or "", f"a piece of an upload is {PIECE}")
        found = uploads.find_upload(caller(request), upload)
        offset, checksum = number(request, "Upload-Offset"), checksum_of(request)
        uploads.append(found, offset, body_of(request), checksum)
        found.refresh_from_db()
        return Response(status=status.HTTP_204_NO_CONTENT, headers=standing(found))

    @extend_schema(operation_id="deleteUpload", parameters=[TUS], responses={204: None})
    def delete(self, request: Request, upload: str) -> Response:
        uploads.remove_upload(uploads.find_upload(caller(request), upload))
        return Response(status=status.HTTP_204_NO_CONTENT)


def standing(upload: ResumableUpload) -> dict[str, str]:
    """Where an upload stands, in the protocol's headers."""
    return {
        "Upload-Offset": str(uploads.offset_of(upload)),
        "Upload-Expires": http_date(upload.expires_at.timestamp()),
    }


def body_of(request: Request) -> Iterator[bytes]:
    """The body as it arrives; it ends early where its sender has gone."""
    raw = request._request  # noqa: SLF001 - no parser stands between an upload and its file
    return iter(lambda: raw.read(CHUNK), b"")


def number(request: Request, name: str) -> int:
    """A header that is a number of bytes."""
    told = request.headers.get(name, "")
    if not NUMBER.fullmatch(told):
        raise ParseError(f"the header {name} wants a number of bytes", "bad_header")
    return int(told)


def metadata(told: str) -> dict[str, str]:
    """The header Upload-Metadata: names, each with a text in base64."""
    found = {}
    for pair in filter(None, (item.strip() for item in told.split(","))):
        name, _, value = pair.partition(" ")
        try:
            found[name] = base64.b64decode(value, validate=True).decode().replace("\0", "")
        except (binascii.Error, UnicodeDecodeError):
            raise ParseError("Upload-Metadata wants texts in base64", "bad_header") from None
    return found


def checksum_of(request: Request) -> uploads.Checksum | None:
    """The header Upload-Checksum: an algorithm and a digest in base64."""
    told = request.headers.get("Upload-Checksum")
    if told is None:
        return None
    algorithm, _, value = told.partition(" ")
    try:
        digest = base64.b64decode(value, validate=True)
    except binascii.Error:
        digest = b""
    if algorithm != "sha256" or len(digest) != 32:
        raise ParseError("Upload-Checksum wants sha256 and a digest in base64", "bad_header")
    return uploads.Checksum(digest)
