"""Hosts on one machine: network namespaces, each device host with a wire to the control host."""

import os
import pwd
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import pytest

CONTROL_ADDRESS = "10.99.0.1"


@dataclass(frozen=True)
class Host:
    """A namespace. `wire` is the control host's end of its wire, empty for the control host itself."""

    name: str
    namespace: str
    address: str
    wire: str = ""

    def inside(self, *, user: str = "") -> list[str]:
        """What stands before a command to run it there."""
        prefix = ["nsenter", f"--net=/run/netns/{self.namespace}"]
        if user:
            entry = pwd.getpwnam(user)
            prefix += [f"--setuid={entry.pw_uid}", f"--setgid={entry.pw_gid}"]
        return [*prefix, "--"]


@dataclass(frozen=True)
class Network:
    """A control host and the hosts that are wired to it, by name."""

    control: Host
    others: dict[str, Host]

    def cut(self, name: str) -> None:
        """Pull the wire of a host: packets vanish, nobody is told."""
        ip("-n", self.control.namespace, "link", "set", self.others[name].wire, "down")

    def mend(self, name: str) -> None:
        """Put the wire back."""
        ip("-n", self.control.namespace, "link", "set", self.others[name].wire, "up")


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def need_namespaces() -> None:
    """The test skips where network namespaces cannot be made."""
    if os.getuid() != 0:
        pytest.skip("network namespaces want root")
    for program in ("ip", "nsenter"):
        if shutil.which(program) is None:
            pytest.skip(f"{program} is not here: apt-get install iproute2 util-linux")
    probe = f"cz{secrets.token_hex(3)}"
    try:
        ip("netns", "add", probe)
        ip("-n", probe, "link", "add", "probe", "type", "veth", "peer", "name", "other")
    except subprocess.CalledProcessError as error:
        pytest.skip(f"network namespaces are not permitted here: {error.stderr.strip()}")
    finally:
        subprocess.run(["ip", "netns", "del", probe], check=False, capture_output=True)


@contextmanager
def wired(*names: str) -> Iterator[Network]:
    """A control host with a wire to each of the named hosts; all of it goes at the end."""
    need_namespaces()
    tag = secrets.token_hex(3)
    control = Host("control", f"cz{tag}-control", CONTROL_ADDRESS)
    others = {
        name: Host(name, f"cz{tag}-{name}", f"10.98.{number}.2", f"to-{name}")
        for number, name in enumerate(names, 1)
    }
    made: list[str] = []
    try:
        for host in (control, *others.values()):
            ip("netns", "add", host.namespace)
            made.append(host.namespace)
            ip("-n", host.namespace, "link", "set", "lo", "up")
        ip("-n", control.namespace, "addr", "add", f"{control.address}/32", "dev", "lo")
        for host in others.values():
            _wire(control, host)
        yield Network(control, others)
    finally:
        for namespace in made:
            subprocess.run(["ip", "netns", "del", namespace], check=False, capture_output=True)


def _wire(control: Host, host: Host) -> None:
    gateway = host.address.removesuffix("2") + "1"
    peer = ("peer", "name", "eth0", "netns", host.namespace)
    ip("-n", control.namespace, "link", "add", host.wire, "type", "veth", *peer)
    ip("-n", control.namespace, "addr", "add", f"{gateway}/30", "dev", host.wire)
    ip("-n", control.namespace, "link", "set", host.wire, "up")
    ip("-n", host.namespace, "addr", "add", f"{host.address}/30", "dev", "eth0")
    ip("-n", host.namespace, "link", "set", "eth0", "up")
    ip("-n", host.namespace, "route", "add", f"{control.address}/32", "via", gateway)
