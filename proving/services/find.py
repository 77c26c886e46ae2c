"""What a caller may see: owners their own things, staff everything."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import TypeVar

from django.contrib.auth.models import User
from django.db.models import Model, QuerySet

from proving.models import Circuit, Job
from proving.services.errors import not_found

Row = TypeVar("Row", bound=Model)


def circuits_of(viewer: User) -> QuerySet[Circuit]:
    """The circuits that a viewer may see."""
    return _visible(Circuit.objects.select_related("proving_key", "owner"), viewer)


def jobs_of(viewer: User) -> QuerySet[Job]:
    """The jobs that a viewer may see."""
    return _visible(Job.objects.select_related("circuit"), viewer)


def narrowed(
    jobs: QuerySet[Job],
    *,
    state: Collection[str] = (),
    circuit: Circuit | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> QuerySet[Job]:
    """The jobs in one of these states (none: any), of this circuit, submitted between the two times."""
    if state:
        jobs = jobs.filter(state__in=state)
    if circuit is not None:
        jobs = jobs.filter(circuit=circuit)
    if created_after is not None:
        jobs = jobs.filter(submitted_at__gte=created_after)
    if created_before is not None:
        jobs = jobs.filter(submitted_at__lt=created_before)
    return jobs


def find_circuit(viewer: User, reference: str) -> Circuit:
    """The circuit with this id, or the viewer's own with this name. ServiceError when there is none."""
    if "\0" in reference:  # no database has such a text, and some fail at it
        raise not_found("circuit")
    visible = circuits_of(viewer)
    found = visible.filter(pk=reference).first() or visible.filter(owner=viewer, name=reference).first()
    if found is None:
        raise not_found("circuit")
    return found


def find_job(viewer: User, reference: str) -> Job:
    """The viewer's own job of this name, or, for staff, the job with this id. ServiceError else."""
    if "\0" in reference:
        raise not_found("job")
    visible = jobs_of(viewer)
    found = visible.filter(owner=viewer, name=reference).first() or visible.filter(pk=reference).first()
    if found is None:
        raise not_found("job")
    return found


def name_for(job: Job, viewer: User) -> str:
    """What this viewer calls a job: its name to its owner, its id to all others."""
    return job.name if job.owner_id == viewer.pk else job.id


def _visible(rows: QuerySet[Row], viewer: User) -> QuerySet[Row]:
    return rows if viewer.is_staff else rows.filter(owner=viewer)
