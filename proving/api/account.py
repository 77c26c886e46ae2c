"""What a caller manages for themselves: API keys, and webhooks that are told of the ends of jobs."""

# ruff: noqa: ARG002 - the framework names the arguments

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from proving.api.pagination import NewestCircuits
from proving.api.permissions import caller
from proving.api.requests import StrictSerializer
from proving.choices import DeliveryState, Scope
from proving.models import ApiKey, Webhook, WebhookDelivery
from proving.services import keys, webhooks


class KeyRequest(StrictSerializer):
    """A key to make."""

    name = serializers.CharField(max_length=128)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=Scope.choices), required=False, min_length=1
    )
    expires_at = serializers.DateTimeField(required=False, allow_null=True, default=None)


class KeyDocument(serializers.Serializer[Any]):
    """An API key, without its text."""

    prefix = serializers.CharField(help_text="the open part of the key, which names it")
    name = serializers.CharField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    created_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True)
    last_used_at = serializers.DateTimeField(allow_null=True, help_text="to the minute")
    revoked_at = serializers.DateTimeField(allow_null=True)


class NewKeyDocument(KeyDocument):
    """A key that was just made."""

    key = serializers.CharField(help_text="the key itself, shown this once")


class KeysView(GenericAPIView[ApiKey]):
    """The caller's API keys."""

    required_scope = Scope.ADMIN
    pagination_class = NewestCircuits
    serializer_class = KeyDocument

    def get_queryset(self) -> QuerySet[ApiKey]:
        return ApiKey.objects.filter(owner=caller(self.request))

    @extend_schema(operation_id="listKeys", responses=KeyDocument(many=True))
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(operation_id="createKey", request=KeyRequest, responses={201: NewKeyDocument})
    def post(self, request: Request) -> Response:
        form = KeyRequest(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        scopes = given.get("scopes") or (Scope.READ, Scope.SUBMIT)
        keys.check_giver(caller(request), scopes)
        made, plain = keys.create_key(caller(request), given["name"], scopes, given["expires_at"])
        document = {**KeyDocument(made).data, "key": plain}
        return Response(document, status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


class KeyRevokeView(APIView):
    """The end of a key."""

    required_scope = Scope.ADMIN

    @extend_schema(operation_id="revokeKey", request=None, responses=KeyDocument)
    def post(self, request: Request, prefix: str) -> Response:
        found = keys.find_by_prefix(caller(request), prefix)
        keys.revoke_key(found)
        found.refresh_from_db()
        return Response(KeyDocument(found).data)


class WebhookRequest(StrictSerializer):
    """An address to be told of the ends of jobs."""

    url = serializers.CharField(max_length=2000)


class WebhookDocument(serializers.Serializer[Any]):
    """A webhook, without its secret."""

    id = serializers.CharField()
    url = serializers.CharField()
    active = serializers.BooleanField(help_text="switched off by an answer of 410")
    created_at = serializers.DateTimeField()


class WebhookSecretDocument(WebhookDocument):
    """A webhook with its secret."""

    secret = serializers.CharField(help_text="verify signatures with it, after the Standard Webhooks rules")


class DeliveryDocument(serializers.Serializer[Any]):
    """A message to a webhook and how sending it went."""

    id = serializers.SerializerMethodField(help_text="the header webhook-id")
    event = serializers.CharField()
    job = serializers.CharField(source="job.name", allow_null=True)
    state = serializers.ChoiceField(choices=DeliveryState.choices)
    attempts = serializers.IntegerField()
    next_at = serializers.DateTimeField()
    last_status = serializers.IntegerField(allow_null=True)
    last_error = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)

    def get_id(self, row: WebhookDelivery) -> str:
        return f"msg_{row.pk}"


class WebhooksView(GenericAPIView[Webhook]):
    """The caller's webhooks."""

    required_scope = Scope.ADMIN
    pagination_class = NewestCircuits
    serializer_class = WebhookDocument

    def get_queryset(self) -> QuerySet[Webhook]:
        return Webhook.objects.filter(owner=caller(self.request))

    @extend_schema(operation_id="listWebhooks", responses=WebhookDocument(many=True))
    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.get_queryset())
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    @extend_schema(
        operation_id="createWebhook", request=WebhookRequest, responses={201: WebhookSecretDocument}
    )
    def post(self, request: Request) -> Response:
        form = WebhookRequest(data=request.data)
        form.is_valid(raise_exception=True)
        made = webhooks.create_webhook(caller(request), form.validated_data["url"])
        document = {**WebhookDocument(made).data, "secret": webhooks.secret_of(made)}
        return Response(document, status.HTTP_201_CREATED, headers={"Cache-Control": "no-store"})


class WebhookView(APIView):
    """One webhook."""

    required_scope = Scope.ADMIN

    @extend_schema(operation_id="getWebhook", responses=WebhookDocument)
    def get(self, request: Request, webhook: str) -> Response:
        return Response(WebhookDocument(webhooks.find_webhook(caller(request), webhook)).data)

    @extend_schema(operation_id="deleteWebhook", responses={204: None})
    def delete(self, request: Request, webhook: str) -> Response:
        webhooks.find_webhook(caller(request), webhook).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class WebhookRotateView(APIView):
    """A fresh secret; for a day messages are signed with the former one too."""

    required_scope = Scope.ADMIN

    @extend_schema(operation_id="rotateWebhookSecret", request=None, responses=WebhookSecretDocument)
    def post(self, request: Request, webhook: str) -> Response:
        found = webhooks.find_webhook(caller(request), webhook)
        secret = webhooks.rotate_secret(found)
        document = {**WebhookDocument(found).data, "secret": secret}
        return Response(document, headers={"Cache-Control": "no-store"})


class DeliveriesView(GenericAPIView[WebhookDelivery]):
    """The messages to a webhook."""

    required_scope = Scope.ADMIN
    pagination_class = NewestCircuits
    serializer_class = DeliveryDocument

    @extend_schema(operation_id="listDeliveries", responses=DeliveryDocument(many=True))
    def get(self, request: Request, webhook: str) -> Response:
        found = webhooks.find_webhook(caller(request), webhook)
        page = self.paginate_queryset(webhooks.deliveries_of(found))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
