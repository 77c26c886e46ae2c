"""Django's settings, read from the environment. Every variable has a default that suits one host."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cuzkweb.addresses import embedded_redis_url
from cuzkweb.environment import (
    database_from_url,
    read_environment,
    redis_from_url,
    secret_key,
    sqlite_database,
)
from cuzkweb.storage import storage_from_url

env = read_environment()

# --- where things are ---------------------------------------------------------------------------------

BASE_DIR = Path(__file__).resolve().parent.parent
CUZKWEB_HOME = env.path("CUZKWEB_HOME", Path("var"))
CUZKWEB_HOME.mkdir(mode=0o700, parents=True, exist_ok=True)
CUZKWEB_DEPLOYMENT = env.text("CUZKWEB_DEPLOYMENT", "main")
REDIS_URL = (
    redis_from_url(env.text("REDIS_URL")) if env.text("REDIS_URL") else embedded_redis_url(CUZKWEB_HOME)
)

# --- limits -------------------------------------------------------------------------------------------

CUZKWEB_LEASE_SECONDS = env.seconds("CUZKWEB_LEASE_SECONDS", 10.0)
CUZKWEB_KEEP_INPUTS_SECONDS = env.integer("CUZKWEB_KEEP_INPUTS_SECONDS", 0)
CUZKWEB_KEEP_SPOOL_SECONDS = env.integer("CUZKWEB_KEEP_SPOOL_SECONDS", 3600, minimum=60)
CUZKWEB_KEEP_PROOFS_SECONDS = env.integer("CUZKWEB_KEEP_PROOFS_SECONDS", 90 * 86_400)
CUZKWEB_KEEP_TIMELINES_SECONDS = env.integer("CUZKWEB_KEEP_TIMELINES_SECONDS", 30 * 86_400)
CUZKWEB_MAX_ATTEMPTS = env.integer("CUZKWEB_MAX_ATTEMPTS", 3, minimum=1)
CUZKWEB_HOST_BUDGET_BYTES = env.size("CUZKWEB_HOST_BUDGET_BYTES", 2 * 2**30)
CUZKWEB_SYNTHESIS_SLOTS = env.integer("CUZKWEB_SYNTHESIS_SLOTS", 2, minimum=1)
CUZKWEB_MAX_PARTITIONS = env.integer("CUZKWEB_MAX_PARTITIONS", 256, minimum=1)
CUZKWEB_MAX_UNFINISHED_PARTITIONS = env.integer("CUZKWEB_MAX_UNFINISHED_PARTITIONS", 100_000)
CUZKWEB_MAX_UNFINISHED_PER_OWNER = env.integer("CUZKWEB_MAX_UNFINISHED_PER_OWNER", 0)
CUZKWEB_READS_PER_MINUTE = env.integer("CUZKWEB_READS_PER_MINUTE", 6000)
CUZKWEB_SUBMITS_PER_MINUTE = env.integer("CUZKWEB_SUBMITS_PER_MINUTE", 600)
CUZKWEB_IDEMPOTENCY_SECONDS = env.integer("CUZKWEB_IDEMPOTENCY_SECONDS", 86_400, minimum=60)
CUZKWEB_MAX_STREAMS = env.integer("CUZKWEB_MAX_STREAMS", 256)
CUZKWEB_CLIENT_SECONDS = env.seconds("CUZKWEB_CLIENT_SECONDS", 30.0)
CUZKWEB_MAX_CONNECTIONS = env.integer("CUZKWEB_MAX_CONNECTIONS", 4096, minimum=1)
CUZKWEB_MAX_SPOOL_BYTES_PER_OWNER = env.size("CUZKWEB_MAX_SPOOL_BYTES_PER_OWNER", 0)
CUZKWEB_CACHE_BYTES = env.size("CUZKWEB_CACHE_BYTES", 64 * 2**30)
CUZKWEB_MIN_FREE_BYTES = env.size("CUZKWEB_MIN_FREE_BYTES", 256 * 2**20)
CUZKWEB_WEBHOOK_NETWORKS = env.names("CUZKWEB_WEBHOOK_NETWORKS")
CUZKWEB_MAX_JSON_BYTES = env.size("CUZKWEB_MAX_JSON_BYTES", 64 * 2**20)
CUZKWEB_MAX_UPLOAD_BYTES = env.size("CUZKWEB_MAX_UPLOAD_BYTES", 16 * 2**30)
CUZKWEB_UPLOAD_QUOTA_BYTES = env.size("CUZKWEB_UPLOAD_QUOTA_BYTES", 64 * 2**30)
CUZKWEB_KEEP_UPLOADS_SECONDS = env.integer("CUZKWEB_KEEP_UPLOADS_SECONDS", 86_400, minimum=60)
CUZKWEB_FLOWER_URL = env.text("CUZKWEB_FLOWER_URL") or None
CUZKWEB_STATUS_OPEN_ON_LOOPBACK = env.boolean("CUZKWEB_STATUS_OPEN_ON_LOOPBACK", default=False)

# --- Django -------------------------------------------------------------------------------------------

DEBUG = env.boolean("CUZKWEB_DEBUG", default=False)
ALLOWED_HOSTS = env.names("CUZKWEB_ALLOWED_HOSTS", ("localhost", "127.0.0.1", "[::1]"))
CUZKWEB_STORAGE_URL = env.text("CUZKWEB_STORAGE_URL")
SECRET_KEY_GIVEN = bool(env.text("CUZKWEB_SECRET_KEY"))
SECRET_KEY = secret_key(env, CUZKWEB_HOME / "secret_key", ALLOWED_HOSTS, shared=bool(CUZKWEB_STORAGE_URL))
CSRF_TRUSTED_ORIGINS = env.names("CUZKWEB_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "cuzkweb",
    "proving",
    "proving.panel",
    "proving.handbook",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "proving.api.middleware.StaticFiles",
    "proving.api.middleware.ContentSecurityPolicy",
    "proving.api.middleware.BodyLimit",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "cuzkweb.urls"
ASGI_APPLICATION = "cuzkweb.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

DATABASE_URL = env.text("DATABASE_URL")
DATABASES: dict[str, dict[str, Any]] = {
    "default": database_from_url(DATABASE_URL)
    if DATABASE_URL
    else sqlite_database(CUZKWEB_HOME / "db.sqlite3"),
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in ("UserAttributeSimilarityValidator", "MinimumLengthValidator", "CommonPasswordValidator")
]
LOGIN_URL = "admin:login"

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = CUZKWEB_HOME / "static"
STATIC_ROOT.mkdir(mode=0o700, exist_ok=True)
WHITENOISE_USE_FINDERS = True

# --- files: what several hosts share, where there are several -------------------------------------------

STORAGES: dict[str, dict[str, Any]] = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}
if CUZKWEB_STORAGE_URL:
    STORAGES["shared"] = storage_from_url(CUZKWEB_STORAGE_URL)

# --- uploads: files go to the disk as they arrive ------------------------------------------------------

FILE_UPLOAD_HANDLERS = ["django.core.files.uploadhandler.TemporaryFileUploadHandler"]
FILE_UPLOAD_TEMP_DIR = str(CUZKWEB_HOME / "uploads")
Path(FILE_UPLOAD_TEMP_DIR).mkdir(mode=0o700, exist_ok=True)
FILE_UPLOAD_PERMISSIONS = 0o600
DATA_UPLOAD_MAX_NUMBER_FILES = CUZKWEB_MAX_PARTITIONS + 8

# --- security -----------------------------------------------------------------------------------------

BEHIND_TLS = env.boolean("CUZKWEB_BEHIND_TLS", default=False)
if BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    SECURE_HSTS_SECONDS = env.integer("CUZKWEB_HSTS_SECONDS", 31_536_000)
    SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = SECURE_HSTS_SECONDS > 0
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

# --- REST ---------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "proving.api.authentication.ApiKeyAuthentication",
        "proving.api.authentication.StaffSessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["proving.api.permissions.InScope"],
    "DEFAULT_THROTTLE_CLASSES": ["proving.api.permissions.Rate"],
    "DEFAULT_PARSER_CLASSES": ["proving.api.parsers.ExactJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "proving.api.schema.Schema",
    "EXCEPTION_HANDLER": "proving.api.problems.answer_exception",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "URL_FORMAT_OVERRIDE": None,
}

SPECTACULAR_SETTINGS = {
    "TITLE": "cuzkweb",
    "DESCRIPTION": "Circuits and private inputs in, Groth16 proofs out.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SCHEMA_PATH_PREFIX": r"/api/v1",
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "COMPONENT_SPLIT_REQUEST": True,
    "COMPONENT_SPLIT_PATCH": False,
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "ENUM_NAME_OVERRIDES": {
        "JobState": "proving.choices.JobState",
        "PartitionState": "proving.choices.PartitionState",
        "CircuitState": "proving.choices.CircuitState",
    },
}

# --- logging ------------------------------------------------------------------------------------------

CUZKWEB_TRACES = env.boolean("CUZKWEB_TRACES", default=False)
if CUZKWEB_TRACES:
    MIDDLEWARE.insert(0, "proving.api.tracing.TraceRequests")
LOG_LEVEL = env.text("CUZKWEB_LOG_LEVEL", "INFO").upper()
CUZKWEB_LOG_JSON = env.boolean("CUZKWEB_LOG_JSON", default=False)
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"},
        "json": {"()": "cuzkweb.logs.JsonLines"},
    },
    "handlers": {
        "console": {"class": "logging.StreamHandler", "formatter": "json" if CUZKWEB_LOG_JSON else "line"}
    },
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {name: {"level": LOG_LEVEL} for name in ("cuzkweb", "proving", "kernels", "celery")},
}
