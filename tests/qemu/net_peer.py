# SPDX-License-Identifier: Apache-2.0
"""Linux itself as the host at the other end of the card's wire: the card runs in a network namespace of its own, with a
TAP device there, and this file, run as a program in that namespace, serves TCP.

Port 5001 takes a line "BYTES SEED" and sends so many; port 5002 takes bytes until the end and answers with their SHA-256.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import random
import socket
import socketserver
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

DEVICE = "mrdn0"
ADDRESS = "10.0.0.2"
_SIOCSIFADDR, _SIOCSIFNETMASK, _SIOCSIFMTU, _SIOCSIFFLAGS = 0x8916, 0x891C, 0x8922, 0x8914
_UP_RUNNING = 0x41


def stream(count: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(count)


def digest(count: int, seed: int) -> str:
    return hashlib.sha256(stream(count, seed)).hexdigest()


def wrapper(program: Path, folder: Path) -> Path:
    """A program like `program` that runs in a new network namespace; for root and for others."""
    file = folder / "card-in-namespace"
    namespaces = "--net" if os.geteuid() == 0 else "--user --map-root-user --net"
    file.write_text(f'#!/bin/sh\nexec unshare {namespaces} "{program}" "$@"\n')
    file.chmod(0o755)
    return file


class NetPeer:
    """Serves in the namespace of the process `pid`, which has made the TAP device. Use it as a context manager."""

    def __init__(self, pid: int, mtu: int = 1500) -> None:
        enter = ["nsenter", "-t", str(pid), "-n"] + ([] if os.geteuid() == 0 else ["-U", "--preserve-credentials"])
        self._process = subprocess.Popen(
            [*enter, sys.executable, str(Path(__file__)), str(mtu)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout
        line = self._process.stdout.readline()
        if line != "ready\n":
            self.__exit__()
            raise AssertionError(f"no peer: {line}{self._process.stdout.read()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(timeout=10)


def _configure(mtu: int) -> None:
    def request(call: int, payload: bytes) -> None:
        fcntl.ioctl(control, call, (DEVICE.encode().ljust(16, b"\0") + payload).ljust(40, b"\0"))

    def inet(address: str) -> bytes:
        return struct.pack("<HH4s", socket.AF_INET, 0, socket.inet_aton(address))

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        deadline = time.monotonic() + 10
        while not Path(f"/proc/self/net/dev_snmp6/{DEVICE}").exists() and time.monotonic() < deadline:
            time.sleep(0.02)
        request(_SIOCSIFMTU, struct.pack("<i", mtu))
        request(_SIOCSIFADDR, inet(ADDRESS))
        request(_SIOCSIFNETMASK, inet("255.255.255.0"))
        request(_SIOCSIFFLAGS, struct.pack("<h", _UP_RUNNING))


class _Source(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        count, seed = (int(word) for word in self.rfile.readline().split())
        self.wfile.write(stream(count, seed))


class _Sink(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        seen = hashlib.sha256()
        while data := self.request.recv(1 << 16):
            seen.update(data)
        self.wfile.write(seen.hexdigest().encode() + b"\n")


def main() -> None:
    import threading

    _configure(int(sys.argv[1]))
    socketserver.ThreadingTCPServer.daemon_threads = True
    for port, handler in ((5001, _Source), (5002, _Sink)):
        server = socketserver.ThreadingTCPServer((ADDRESS, port), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
