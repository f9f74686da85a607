# SPDX-License-Identifier: Apache-2.0
"""The far end of the card's wires: interfaces in a network namespace that lives as long as the card's process.

The card is started in a namespace of its own and makes a TAP device for each port there, or takes an end of a veth pair
that was made before it, so nothing is seen in the system's own network, and nothing is left when the card has gone.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from meridian_twin.patience import deadline_in, stretched

from .processes import guarded, stop

SECONDS = 20
PREFIX = 24


class PeerError(Exception):
    """The namespace or what is in it cannot be made."""


def interface(port: int) -> str:
    return f"wire{port}"


def address(port: int, host: int) -> str:
    """The far end is host 1 of a port's network, the machine host 2."""
    return f"10.44.{port}.{host}"


def wire(port: int, veth: bool = False) -> str:
    """What the card takes for --wire."""
    return f"{port}=packet:interface=card{port}" if veth else f"{port}=tap:name={interface(port)}"


def unshared(veths: Sequence[int] = ()) -> list[str]:
    """Words before a command that is to have a network of its own, with veth pairs for these ports. Without root it is
    root of its own user namespace."""
    words = ["unshare", "--net", *(() if os.geteuid() == 0 else ("--map-root-user",))]
    if not veths:
        return words
    # A veth leaves the cutting of long segments to who reads it, and the card cuts none.
    pairs = [
        f"ip link add {interface(port)} gso_max_segs 1 type veth peer name card{port} && ip link set card{port} up"
        for port in veths
    ]
    return [*words, "sh", "-c", " && ".join([*pairs, 'exec "$@"']), "sh"]


class Peer:
    """The network namespace of a running card. Raises PeerError if a command fails, or is not done in time."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._dhcp: list[subprocess.Popen[bytes]] = []

    @property
    def enter(self) -> list[str]:
        """Words before a command that is to run there."""
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        return ["nsenter", "--target", str(self.pid), "--net", *user, "--"]

    def do(self, *command: str) -> None:
        try:
            done = subprocess.run(
                [*self.enter, *command], capture_output=True, text=True, timeout=stretched(SECONDS), check=False
            )
        except subprocess.TimeoutExpired:
            raise PeerError(f"{' '.join(command)}: not done after {SECONDS} s") from None
        if done.returncode != 0:
            raise PeerError(f"{' '.join(command)}: {done.stderr.strip()}")

    def set_up(self, ports: Sequence[int]) -> None:
        """Addresses for the interfaces of these ports."""
        self.do("ip", "link", "set", "lo", "up")
        for port in ports:
            self.do("ip", "address", "add", f"{address(port, 1)}/{PREFIX}", "dev", interface(port))
            self.do("ip", "link", "set", interface(port), "up")

    def serve_dhcp(self, port: int, folder: Path) -> None:
        """A DHCP server on a port's wire, hosts 100 to 199; its words go to the folder."""
        program = shutil.which("dnsmasq", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")
        if program is None:
            raise PeerError("there is no dnsmasq: scripts/setup --images installs it")
        # In its debug mode it stays who it is: in a user namespace it could not become another.
        options = ["--no-daemon", "--conf-file=/dev/null", "--port=0", "--log-dhcp", "--pid-file="]
        options += ["--bind-interfaces", f"--interface={interface(port)}"]
        options += [f"--dhcp-leasefile={folder / f'leases-{port}'}"]
        options += [f"--dhcp-range={address(port, 100)},{address(port, 199)},1h", "--dhcp-authoritative"]
        words = folder / f"dhcp-{port}.log"
        with words.open("wb") as log:
            process = subprocess.Popen(
                [*self.enter, *guarded([program, *options])],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                process_group=0,
            )
        self._dhcp.append(process)
        deadline = deadline_in(SECONDS)
        while "IP range" not in words.read_text(errors="replace"):
            if process.poll() is not None or time.monotonic() > deadline:
                raise PeerError(f"dnsmasq does not start: {words.read_text(errors='replace').strip()}")
            time.sleep(0.05)

    def close(self) -> None:
        for process in self._dhcp:
            stop(process)
