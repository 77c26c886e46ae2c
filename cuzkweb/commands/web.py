"""`cuzkweb web`: the web server of the service."""

import argparse
import socket


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own arguments."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--fd", type=int, help="a listening socket that this process was started with")
    where.add_argument("--port", type=int, default=8000, help="port to listen on (default: 8000)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")


def run(options: argparse.Namespace) -> int:
    """Serve until a signal says stop."""
    import uvicorn
    from django.conf import settings

    from cuzkweb.protocol import allow_connections, patient_protocol
    from cuzkweb.ready import set_up_django

    set_up_django()
    most = settings.CUZKWEB_MAX_CONNECTIONS
    allow_connections(most)
    config = uvicorn.Config(
        "cuzkweb.asgi:application",
        host=options.host,
        port=options.port,
        lifespan="off",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=5,
        http=patient_protocol(settings.CUZKWEB_CLIENT_SECONDS, most),
    )
    given = [socket.socket(fileno=options.fd)] if options.fd is not None else None
    uvicorn.Server(config).run(sockets=given)
    return 0
