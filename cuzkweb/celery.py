"""The Celery app: declared queues, explicit settings, one name for every process.

Celery is transport and never truth: a message may come twice, late or never. Everything that a
default could change between versions is written out here.
"""

import logging.config
import os
import socket
from typing import Any

from celery import Celery
from celery.signals import setup_logging
from django.conf import settings
from kombu import Exchange, Queue

from cuzkweb.addresses import broker_url

SYNTHESIS, GPU, FINALIZE, CONTROL = "synthesis", "gpu", "finalize", "control"

VISIBILITY_TIMEOUT = 4 * 3600
"""Seconds until an unacknowledged message is delivered again: far above the longest partition. What makes
a lost worker's partition run again is the tracker's lease, not this."""

PRIORITY_STEPS = (0, 3, 6, 9)
"""critical, high, normal, low: on Redis 0 is served first."""


def queue(name: str) -> Queue:
    """A declared queue with an exchange of its own name."""
    return Queue(name, Exchange(name, type="direct"), routing_key=name)


def host_name() -> str:
    """This machine in the names of workers and queues: CUZKWEB_HOST, or what the machine calls itself."""
    return os.environ.get("CUZKWEB_HOST") or socket.gethostname()


def device_queue(host: str, ordinal: int) -> str:
    """The name of the queue that one device alone consumes."""
    return f"{GPU}.{host}.{ordinal}"


def declare(name: str) -> None:
    """Add a queue to those that this process may consume or send to (a device's own one)."""
    if name not in app.amqp.queues:
        app.amqp.queues.add(queue(name))


def configuration(redis_url: str, deployment: str) -> dict[str, Any]:
    """Every Celery setting of the project."""
    return {
        "broker_url": broker_url(redis_url),
        "broker_connection_retry": True,
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "broker_transport_options": {
            "visibility_timeout": VISIBILITY_TIMEOUT,
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            "queue_order_strategy": "priority",
            "priority_steps": list(PRIORITY_STEPS),
            "global_keyprefix": f"cuzk:{deployment}:celery:",
            "health_check_interval": 25,
            "socket_timeout": 30,
            "socket_keepalive": True,
        },
        "imports": ("proving.tasks",),
        "task_queues": [queue(name) for name in (SYNTHESIS, GPU, FINALIZE, CONTROL)],
        "task_default_queue": CONTROL,
        "task_create_missing_queues": False,
        "task_routes": {
            "synthesize": {"queue": SYNTHESIS},
            "prove": {"queue": GPU},
            "finalize": {"queue": FINALIZE},
            "assemble": {"queue": FINALIZE},
        },
        "task_serializer": "json",
        "result_serializer": "json",
        "event_serializer": "json",
        "accept_content": ["json"],
        "result_accept_content": ["json"],
        "task_default_priority": 6,
        "task_publish_retry": True,
        "task_publish_retry_policy": {"max_retries": 3, "interval_start": 0, "interval_step": 0.2},
        "task_acks_late": True,
        "task_acks_on_failure_or_timeout": True,
        "task_reject_on_worker_lost": True,
        "task_ignore_result": True,
        "task_store_errors_even_if_ignored": False,
        "task_track_started": True,
        "task_send_sent_event": True,
        "result_backend": None,
        "result_expires": 3600,
        "worker_prefetch_multiplier": 1,
        "worker_send_task_events": True,
        "worker_cancel_long_running_tasks_on_connection_loss": False,
        "worker_soft_shutdown_timeout": 30,
        "worker_enable_soft_shutdown_on_idle": False,
        "worker_hijack_root_logger": True,
        "worker_redirect_stdouts": False,
        "worker_log_color": False,
        "enable_utc": True,
        "timezone": "UTC",
    }


os.environ.setdefault("DJANGO_SETTINGS_MODULE", "cuzkweb.settings")
app = Celery("cuzkweb")
app.conf.update(configuration(settings.REDIS_URL, settings.CUZKWEB_DEPLOYMENT))


def log_as_the_settings_say(**_: Any) -> None:
    """In place of Celery's own logging."""
    logging.config.dictConfig(settings.LOGGING)


if settings.CUZKWEB_LOG_JSON:
    setup_logging.connect(log_as_the_settings_say)
