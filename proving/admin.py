"""The admin: what staff may see of the service's rows. Machines own most; actions go through services."""

# ruff: noqa: ARG002 - Django names the arguments

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import Model, QuerySet
from django.http import HttpRequest

from proving.models import ApiKey, Circuit, Job, Partition, PartitionAttempt, Proof
from proving.services import keys
from proving.services.cancel import cancel_job
from proving.services.errors import ServiceError
from proving.services.retry import retry_job

if TYPE_CHECKING:
    from django.forms import ModelForm

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


@admin.register(Circuit)
class CircuitAdmin(MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
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


class PartitionInline(MachineOwned, admin.TabularInline):  # type: ignore[type-arg]
    """The partitions of a job."""

    model = Partition
    extra = 0
    show_change_link = True
    fields = ("index", "state", "attempt", "worker", "device", "error_code", "error_detail")


@admin.register(Job)
class JobAdmin(MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
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

    @admin.action(description="Cancel the selected jobs", permissions=["operate"])
    def cancel(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        for job in jobs:
            self._run(
                request, job, "is being cancelled", lambda job=job: cancel_job(job, "cancelled by the staff")
            )

    @admin.action(description="Submit the selected jobs again", permissions=["operate"])
    def retry(self, request: HttpRequest, jobs: QuerySet[Job]) -> None:
        for job in jobs:
            self._run(request, job, "was submitted again", lambda job=job: retry_job(job))

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Who may see a job's rows as staff and is trusted to change jobs."""
        return request.user.has_perm("proving.change_job")

    def _run(self, request: HttpRequest, job: Job, success: str, action: Any) -> None:
        try:
            action()
        except ServiceError as error:
            self.message_user(request, f"{job.pk}: {error.detail}", messages.ERROR)
        else:
            self.message_user(request, f"{job.pk} {success}", messages.SUCCESS)


class AttemptInline(MachineOwned, admin.TabularInline):  # type: ignore[type-arg]
    """The attempts at a partition that have ended."""

    model = PartitionAttempt
    extra = 0
    fields = ("attempt", "outcome", "worker", "device", "error_code", "error_detail", "ended_at")


@admin.register(Partition)
class PartitionAdmin(MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
    """Partitions and how their attempts went."""

    list_display = ("job", "index", "state", "attempt", "worker", "device", "error_code", "queued_at")
    list_filter = ("state", "device")
    search_fields = ("job__id", "worker")
    list_select_related = ("job",)
    inlines = (AttemptInline,)


@admin.register(Proof)
class ProofAdmin(MachineOwned, admin.ModelAdmin):  # type: ignore[type-arg]
    """Verified proofs."""

    list_display = ("job", "index", "device", "verified_at")
    list_filter = ("device",)
    search_fields = ("job__id",)
    list_select_related = ("job",)


@admin.register(ApiKey)
class ApiKeyAdmin(admin.ModelAdmin):  # type: ignore[type-arg]
    """API keys: made here, shown once, revoked here."""

    list_display = ("name", "owner", "prefix", "created_at", "last_used_at", "revoked_at")
    list_filter = ("revoked_at",)
    search_fields = ("name", "prefix", "owner__username")
    list_select_related = ("owner",)
    fields: ClassVar = ("owner", "name")
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
        made, plain = keys.create_key(owner, form.cleaned_data["name"])
        obj.pk = made.pk
        obj.prefix, obj.digest = made.prefix, made.digest
        self.message_user(request, f"The new key, shown this once: {plain}", messages.WARNING)

    @admin.action(description="Revoke the selected keys", permissions=["add"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiKey]) -> None:
        revoked = sum(keys.revoke_key(key) for key in chosen)
        self.message_user(request, f"{revoked} keys revoked", messages.SUCCESS)
