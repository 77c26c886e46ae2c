"""The addresses of the REST API, version 1, and of what operators read."""

from django.urls import path, re_path
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerSplitView

from proving.api import account, history, operations, streams, timeline, uploads, views

urlpatterns = [
    path("api/v1/circuits", views.CircuitsView.as_view(), name="circuits"),
    path("api/v1/circuits/<str:circuit>", views.CircuitView.as_view(), name="circuit"),
    path("api/v1/jobs", views.JobsView.as_view(), name="jobs"),
    path("api/v1/jobs/<str:job>", views.JobView.as_view(), name="job"),
    path("api/v1/jobs/<str:job>/cancel", views.JobCancelView.as_view(), name="job-cancel"),
    path("api/v1/jobs/<str:job>/proof", views.JobProofView.as_view(), name="job-proof"),
    path("api/v1/jobs/<str:job>/stream", streams.JobStreamView.as_view(), name="job-stream"),
    path("api/v1/jobs/<str:job>/timeline", timeline.JobTimelineView.as_view(), name="job-timeline"),
    path("api/v1/keys", account.KeysView.as_view(), name="keys"),
    path("api/v1/keys/<str:prefix>/revoke", account.KeyRevokeView.as_view(), name="key-revoke"),
    path("api/v1/webhooks", account.WebhooksView.as_view(), name="webhooks"),
    path("api/v1/webhooks/<str:webhook>", account.WebhookView.as_view(), name="webhook"),
    path("api/v1/webhooks/<str:webhook>/rotate", account.WebhookRotateView.as_view(), name="webhook-rotate"),
    path("api/v1/webhooks/<str:webhook>/deliveries", account.DeliveriesView.as_view(), name="deliveries"),
    path("api/v1/uploads", uploads.UploadsView.as_view(), name="uploads"),
    path("api/v1/uploads/<str:upload>", uploads.UploadView.as_view(), name="upload"),
    path("api/v1/verify", views.VerifyView.as_view(), name="verify"),
    path("api/v1/status", operations.StatusView.as_view(), name="status"),
    path("api/v1/status/stream", streams.StatusStreamView.as_view(), name="status-stream"),
    path("api/v1/status/history", history.HistoryView.as_view(), name="status-history"),
    path("api/schema/", SpectacularAPIView.as_view(), name="schema"),
    path("api/docs/", SpectacularSwaggerSplitView.as_view(url_name="schema"), name="docs"),
    path("status", operations.StatusView.as_view(schema=None), name="cuzk-status"),
    path("healthz", operations.HealthView.as_view(), name="healthz"),
    path("readyz", operations.ReadinessView.as_view(), name="readyz"),
    path("metrics", operations.MetricsView.as_view(), name="metrics"),
    re_path(r"^api/", views.NothingView.as_view()),
]
