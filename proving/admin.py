"""The admin: what staff may see of the service's rows. Machines own most; actions go through services."""

# ruff: noqa: ARG002 - Django names the arguments

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db.models import Model, QuerySet
from django.forms import CheckboxSelectMultiple, ModelForm, MultipleChoiceField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.html import format_html

from proving.choices import Priority, Scope
from proving.models import (
    ApiKey,
    Circuit,
    Job,
    Partition,
    PartitionAttempt,
    Proof,
    ResumableUpload,
    Webhook,
    WebhookDelivery,
    default_scopes,
)
from proving.services import keys
from proving.services.cancel import cancel_job
from proving.services.errors import ServiceError
from proving.services.operate import drain_worker, quarantine_circuit, restore_circuit, send_again
from proving.services.priority import change_priority
from proving.services.retry import retry_job
from proving.services.status import read_snapshot

admin.site.site_header = "cuzkweb"
admin.site.site_title = "cuzkweb"
admin.site.index_title = "Proving"


class MachineOwned:
    """Rows that only services write: shown, never edited."""

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class Operated:
    """Actions on rows, each through a service, told to who asked and kept in the row's history."""

    def run(self, request: HttpRequest, row: Model, done: str, action: Callable[[], object]) -> None:
        """Do one thing to one row. What a service refuses is told; what was done is written down."""
        page = cast("admin.ModelAdmin[Model]", self)
        try:
            action()
        except ServiceError as error:
            page.message_user(request, f"{row}: {error.detail}", messages.ERROR)
        else:
            page.log_change(request, row, done)
            page.message_user(request, f"{row} {done}", messages.SUCCESS)


def link_to(row: Model, text: str = "") -> str:
    """A link to a row's page."""
    meta = row._meta  # noqa: SLF001 - Django's own name for it
    address = reverse(f"admin:{meta.app_label}_{meta.model_name}_change", args=[row.pk])
    return format_html('<a href="{}">{}</a>', address, text or str(row))


@admin.register(Circuit)
class CircuitAdmin(Operated, MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
    """Registered circuits."""

    list_display = (
        "name",
        "owner",
        "proof_kind",
        "curve",
        "state",
        "public_count",
        "domain_size",
        "contributions",
        "insecure",
        "created_at",
    )
    list_filter = ("state", "proof_kind", "curve", "insecure")
    search_fields = ("id", "name", "owner__username")
    list_select_related = ("owner",)
    actions = ("quarantine", "restore")

    @admin.action(description="Quarantine: take no more jobs", permissions=["operate"])
    def quarantine(self, request: HttpRequest, circuits: QuerySet[Circuit]) -> None:
        for row in circuits:
            self.run(request, row, "was quarantined", partial(quarantine_circuit, row))

    @admin.action(description="Restore: take jobs again", permissions=["operate"])
    def restore(self, request: HttpRequest, circuits: QuerySet[Circuit]) -> None:
        for row in circuits:
            self.run(request, row, "was restored", partial(restore_circuit, row))

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Who is trusted to change circuits."""
        return request.user.has_perm("proving.change_circuit")


class PartitionInline(MachineOwned, admin.TabularInline):  # type: ignore[type-arg]
    """The partitions of a job."""

    model = Partition
    extra = 0
    show_change_link = True
    fields = ("index", "state", "attempt", "worker", "device", "error_code", "error_detail")


@admin.register(Job)
class JobAdmin(Operated, MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
    """Jobs, with the two things that a person may ask for."""

    list_display = (
        "id",
        "owner",
        "circuit",
        "state",
        "priority",
        "partition_count",
        "label",
        "submitted_at",
        "finished_at",
    )
    list_filter = ("state", "priority", "proof_kind", "circuit")
    search_fields = ("id", "name", "label", "owner__username")
    date_hierarchy = "submitted_at"
    list_select_related = ("owner", "circuit")
    exclude = ("request_digest",)
    inlines = (PartitionInline,)
    actions = ("cancel", "retry")

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        """One more action for each priority."""
        found = super().get_actions(request)
        if not found or not self.has_operate_permission(request):
            return found
        named = {f"priority_{priority.label}": priority for priority in Priority}
        return found | {
            name: (priority_action(priority), name, f"Change the priority to {priority.label}")
            for name, priority in named.items()
        }

    @admin.action(description="Cancel the selected jobs", permissions=["operate"])
    def cancel(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        for job in jobs:
            self.run(request, job, "is being cancelled", partial(cancel_job, job, "cancelled by the staff"))

    @admin.action(description="Submit the selected jobs again", permissions=["operate"])
    def retry(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        for job in jobs:
            self.run(request, job, "was submitted again", partial(retry_job, job))

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Who may see a job's rows as staff and is trusted to change jobs."""
        return request.user.has_perm("proving.change_job")

    def get_urls(self) -> list[URLPattern]:
        workers = path("workers/", self.admin_site.admin_view(self.workers), name="proving_workers")
        return [workers, *super().get_urls()]

    def workers(self, request: HttpRequest) -> HttpResponse:
        """The device workers, and the one thing to do to them: let them run empty."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if request.method == "POST":
            return self._drain(request, request.POST.get("worker", ""))
        try:
            workers = read_snapshot(limit=0).document()["gpu_workers"]
        except ServiceError as error:
            workers = []
            self.message_user(request, error.detail, messages.ERROR)
        context = {
            **self.admin_site.each_context(request),
            "title": "Device workers",
            "workers": workers,
            "may_operate": self.has_operate_permission(request),
        }
        return TemplateResponse(request, "admin/proving/workers.html", context)

    def _drain(self, request: HttpRequest, name: str) -> HttpResponse:
        if not self.has_operate_permission(request):
            raise PermissionDenied
        try:
            drain_worker(name)
        except ServiceError as error:
            self.message_user(request, error.detail, messages.ERROR)
        else:
            LogEntry.objects.create(
                user=cast("User", request.user),
                object_repr=name[:200],
                action_flag=CHANGE,
                change_message="drained",
            )
            self.message_user(request, f"{name} drains: it claims no more", messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:proving_workers"))


def priority_action(priority: Priority) -> Callable[[JobAdmin, HttpRequest, QuerySet[Job]], None]:
    """The action that gives jobs this priority."""

    def act(page: JobAdmin, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        for job in jobs:
            done = f"has the priority {priority.label} now, before it was {Priority(job.priority).label}"
            change = partial(change_priority, job, priority, request.user.get_username())
            page.run(request, job, done, change)

    return act


class AttemptInline(MachineOwned, admin.TabularInline):  # type: ignore[type-arg]
    """The attempts at a partition that have ended."""

    model = PartitionAttempt
    extra = 0
    fields = ("attempt", "outcome", "worker", "device", "error_code", "error_detail", "ended_at")


@admin.register(Partition)
class PartitionAdmin(MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
    """Partitions and how their attempts went."""

    list_display = (
        "__str__",
        "job_link",
        "state",
        "attempt",
        "worker",
        "device",
        "error_code",
        "proof_link",
        "queued_at",
    )
    list_filter = ("state", "device")
    search_fields = ("job__id", "worker")
    list_select_related = ("job", "proof")
    readonly_fields = ("job_link", "proof_link")
    inlines = (AttemptInline,)

    @admin.display(description="job", ordering="job")
    def job_link(self, row: Partition) -> str:
        return link_to(row.job)

    @admin.display(description="proof")
    def proof_link(self, row: Partition) -> str:
        return link_to(row.proof, "proof") if hasattr(row, "proof") else ""


@admin.register(Proof)
class ProofAdmin(MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
    """Verified proofs."""

    list_display = ("__str__", "job_link", "partition_link", "device", "verified_at")
    list_filter = ("device",)
    search_fields = ("job__id",)
    list_select_related = ("job", "partition")
    readonly_fields = ("job_link", "partition_link")

    @admin.display(description="job", ordering="job")
    def job_link(self, row: Proof) -> str:
        return link_to(row.job)

    @admin.display(description="partition")
    def partition_link(self, row: Proof) -> str:
        return link_to(row.partition)


class ApiKeyForm(ModelForm):  # type: ignore[type-arg]
    """A key to make, its scopes as boxes to tick."""

    scopes = MultipleChoiceField(choices=Scope.choices, initial=default_scopes, widget=CheckboxSelectMultiple)

    class Meta:
        model = ApiKey
        fields = ("owner", "name", "scopes", "expires_at")


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """API keys: made here, shown once, revoked here."""

    list_display = (
        "name",
        "owner",
        "prefix",
        "scopes",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    )
    list_filter = ("revoked_at",)
    search_fields = ("name", "prefix", "owner__username")
    list_select_related = ("owner",)
    form = ApiKeyForm
    fields: ClassVar = ("owner", "name", "scopes", "expires_at")
    actions = ("revoke",)

    def has_change_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: ApiKey | None = None) -> bool:
        return False

    def save_model(
        self,
        request: HttpRequest,
        obj: ApiKey,
        form: ModelForm[ApiKey],
        change: bool,  # noqa: FBT001
    ) -> None:
        owner: User = form.cleaned_data["owner"]
        given = form.cleaned_data
        made, plain = keys.create_key(owner, given["name"], given["scopes"], given["expires_at"])
        obj.pk = made.pk
        obj.prefix, obj.digest = made.prefix, made.digest
        self.message_user(request, f"The new key, shown this once: {plain}", messages.WARNING)

    @admin.action(description="Revoke the selected keys", permissions=["add"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiKey]) -> None:
        revoked = 0
        for key in chosen:
            if keys.revoke_key(key):
                self.log_change(request, key, "revoked")
                revoked += 1
        self.message_user(request, f"{revoked} keys revoked", messages.SUCCESS)


@admin.register(ResumableUpload)
class ResumableUploadAdmin(MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
    """Files that arrive in pieces, and that no circuit was made of yet or was."""

    list_display = ("__str__", "owner", "size", "artefact", "created_at", "expires_at")
    search_fields = ("id", "name", "sha256", "owner__username")
    list_select_related = ("owner", "artefact")


@admin.register(Webhook)
class WebhookAdmin(MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
    """Addresses that are told of the ends of jobs."""

    list_display = ("url", "owner", "active", "created_at", "rotated_at")
    list_filter = ("active",)
    search_fields = ("url", "owner__username")
    list_select_related = ("owner",)


@admin.register(WebhookDelivery)
class WebhookDeliveryAdmin(Operated, MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
    """Messages to webhooks and how sending them went."""

    list_display = (
        "event",
        "job",
        "webhook",
        "state",
        "attempts",
        "last_status",
        "last_error",
        "next_at",
        "created_at",
    )
    list_filter = ("state", "event")
    search_fields = ("id", "job__id", "webhook__url")
    list_select_related = ("webhook", "job")
    actions = ("again",)

    @admin.action(description="Send the selected messages again", permissions=["operate"])
    def again(self, request: HttpRequest, deliveries: QuerySet[WebhookDelivery]) -> None:
        for row in deliveries:
            self.run(request, row, "will be sent again", partial(send_again, row))

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Who is trusted to change messages."""
        return request.user.has_perm("proving.change_webhookdelivery")
