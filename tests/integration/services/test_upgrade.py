"""Old code on the new schema: while an upgrade rolls over the hosts, both run on one database."""

from collections.abc import Iterator

import pytest
from django.apps.registry import Apps
from django.db import connection, models
from django.db.migrations import operations
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED
from django.utils import timezone

APP = "proving"
KNOWN = {"0003_outward: apikey.scopes wants a value that older code does not give"}
"""From before the first release."""

HARMLESS = (
    operations.CreateModel,
    operations.AddIndex,
    operations.AlterModelOptions,
    operations.RunPython,
    operations.SeparateDatabaseAndState,
)


def own_migrations() -> list[str]:
    """By name, the oldest first."""
    loader = MigrationLoader(None)
    return sorted(name for app, name in loader.disk_migrations if app == APP)


def complaint(operation: operations.base.Operation) -> str | None:
    """What older code would not survive, or None."""
    match operation:
        case operations.AddField(model_name=model, name=name, field=field):
            given = field.null or field.db_default is not NOT_PROVIDED or field.many_to_many
            return None if given else f"{model}.{name} wants a value that older code does not give"
        case operations.AlterField(model_name=model, name=name, field=field):
            loose = isinstance(field, models.CharField | models.TextField | models.JSONField) or field.null
            return None if loose else f"{model}.{name} becomes another"
        case _ if isinstance(operation, HARMLESS):
            return None
    return operation.describe()


def test_no_migration_takes_from_older_code_what_it_uses() -> None:
    loader = MigrationLoader(None)
    found = {
        f"{name}: {told}"
        for name in own_migrations()[1:]
        for operation in loader.disk_migrations[APP, name].operations
        if (told := complaint(operation))
    }
    assert found == KNOWN


@pytest.mark.parametrize(
    "operation",
    [
        operations.AddField("job", "new", models.IntegerField()),
        operations.AddField("job", "new", models.CharField(default="x", max_length=3)),
        operations.RemoveField("job", "label"),
        operations.RenameField("job", "label", "title"),
        operations.DeleteModel("Job"),
        operations.AlterField("job", "partition_count", models.SmallIntegerField()),
        operations.AddConstraint("job", models.UniqueConstraint(fields=["label"], name="label")),
    ],
    ids=lambda operation: operation.describe(),
)
def test_what_older_code_would_not_survive_is_found(operation: operations.base.Operation) -> None:
    assert complaint(operation)


def test_what_it_survives_is_not() -> None:
    for field in (models.IntegerField(null=True), models.IntegerField(db_default=1)):
        assert complaint(operations.AddField("job", "new", field)) is None


def earlier_models() -> Iterator[tuple[str, Apps]]:
    """The models as each earlier version had them, from the first release's on."""
    executor = MigrationExecutor(connection)
    for name in own_migrations()[2:-1]:
        yield name, executor.loader.project_state((APP, name)).apps


@pytest.mark.django_db
def test_models_of_every_earlier_version_write_and_read_the_schema_of_now() -> None:
    found = list(earlier_models())
    assert found
    for name, apps in found:
        live_through_a_job(name, apps)


def live_through_a_job(name: str, apps: Apps) -> None:
    """Everything that a job writes, by the given version's models."""

    def model(which: str) -> type[models.Model]:
        return apps.get_model(APP, which)

    owner = apps.get_model("auth", "User").objects.create(username=name)
    model("ApiKey").objects.create(owner=owner, name=name, prefix=name[:8], digest=name)
    artefact = model("Artefact").objects.create(sha256=name.ljust(64, "0")[:64], size=1)
    counts = {"variable_count": 4, "public_count": 1, "domain_size": 8, "contributions": 1}
    circuit = model("Circuit").objects.create(
        owner=owner, name=name, curve="bn254", proving_key=artefact, verifying_key={}, **counts
    )
    job = model("Job").objects.create(
        id=name, name=name, owner=owner, circuit=circuit, proof_kind="groth16", partition_count=1
    )
    partition = model("Partition").objects.create(job=job, index=0)
    model("Partition").objects.filter(pk=partition.pk, attempt=1).update(state="gpu", worker="gpu0@here")
    now = timezone.now()
    model("PartitionAttempt").objects.create(partition=partition, attempt=1, outcome="done", ended_at=now)
    model("Proof").objects.create(job=job, partition=partition, index=0, proof={}, public=[], verified_at=now)
    model("Job").objects.filter(pk=job.pk, state="queued").update(state="done", finished_at=now)
    assert model("Job").objects.get(pk=job.pk).state == "done"
    assert model("Proof").objects.get(job=job).public == []
