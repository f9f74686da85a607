# SPDX-License-Identifier: Apache-2.0
"""Serves TCP at the far end of the card's wire; this file is run as a program in its network namespace.

Port 5001 takes a line "BYTES SEED" and sends so many; port 5002 takes bytes until the end and answers with their SHA-256.
"""

from __future__ import annotations

import hashlib
import random
import socketserver
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from meridian_twin.patience import stretched


def stream(count: int, seed: int) -> bytes:
    return random.Random(seed).randbytes(count)


def digest(count: int, seed: int) -> str:
    return hashlib.sha256(stream(count, seed)).hexdigest()


class DataServer:
    """Serves at that address. enter: words before a command that is to run in the namespace. A context manager."""

    def __init__(self, enter: Sequence[str], address: str) -> None:
        self._process = subprocess.Popen(
            [*enter, sys.executable, str(Path(__file__)), address],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self._process.stdout
        line = self._process.stdout.readline()
        if line != "ready\n":
            self.__exit__()
            raise AssertionError(f"no server: {line}{self._process.stdout.read()}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(timeout=stretched(10))


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
    socketserver.ThreadingTCPServer.daemon_threads = True
    for port, handler in ((5001, _Source), (5002, _Sink)):
        server = socketserver.ThreadingTCPServer((sys.argv[1], port), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
