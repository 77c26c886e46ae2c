"""Which addresses a request to an outside host may go to: public ones, and those that the settings name."""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings

from proving.services.errors import invalid

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
EMBEDDING = (ipaddress.ip_network("64:ff9b::/96"), ipaddress.ip_network("64:ff9b:1::/48"))
"""IPv6 networks whose last 32 bits are an IPv4 address that a translator passes the packets on to."""


class ForbiddenError(Exception):
    """A host that is not to be talked to."""


@dataclass(frozen=True, slots=True)
class Destination:
    """A host with the one address that was looked at: connect to this address and to no other."""

    host: str
    port: int
    address: str
    tls: bool


def check_url(url: str) -> None:
    """ServiceError where messages may not go to a URL. Its name is looked up when one is sent."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise invalid("/url", "bad_url", "this is not a URL") from None
    plain_allowed = bool(settings.CUZKWEB_WEBHOOK_NETWORKS)
    if parts.scheme != "https" and not (parts.scheme == "http" and plain_allowed):
        raise invalid("/url", "bad_url", "the URL wants to begin with https://")
    if not parts.hostname or port == 0:
        raise invalid("/url", "bad_url", "the URL has no host")
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise invalid("/url", "bad_url", "the URL must have no user, password or fragment")
    literal = _literal(parts.hostname)
    if literal is not None and not is_allowed(literal):
        raise invalid("/url", "internal_address", "messages are not sent to internal addresses")


def _literal(host: str) -> Address | None:
    """The address that a host is however it is written (127.1, 0x7f000001), or None for a name."""
    if host == "localhost" or host.endswith(".localhost"):
        return ipaddress.IPv4Address("127.0.0.1")
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def resolve(url: str) -> Destination:
    """Look up a URL's host. ForbiddenError where an address is internal, OSError where there is none."""
    parts = urlsplit(url)
    host, tls = parts.hostname or "", parts.scheme == "https"
    port = parts.port or (443 if tls else 80)
    found = {str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)}
    addresses = [ipaddress.ip_address(text.partition("%")[0]) for text in sorted(found)]
    if not addresses or not all(is_allowed(address) for address in addresses):
        raise ForbiddenError("the host has an internal address")
    addresses.sort(key=lambda address: address.version)
    return Destination(host, port, str(addresses[0]), tls)


def is_allowed(address: Address) -> bool:
    """Whether an address is public, or in one of the networks that the settings allow."""
    inner = _inner(address)
    if inner != address:
        return is_allowed(inner)
    if any(_within(address, network) for network in settings.CUZKWEB_WEBHOOK_NETWORKS):
        return True
    return address.is_global and not (address.is_multicast or address.is_reserved)


def _inner(address: Address) -> Address:
    """The IPv4 address that an IPv6 address stands for, else the address itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in EMBEDDING):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _within(address: Address, network: str) -> bool:
    return address in ipaddress.ip_network(network, strict=False)
