# SPDX-License-Identifier: Apache-2.0
"""A suite that the Debian mirror does not have is told apart from a mirror that cannot be asked, and a check of the
drivers for which nothing was built is no success."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from meridian_twin.patience import stretched

ROOT = Path(__file__).resolve().parents[2]
#: What the scripts read on their way to the mirror.
PARTS = (
    "lib/env.sh",
    "lib/apt.sh",
    "lib/progress.sh",
    "requirements/tests.txt",
    "build/build-headers",
    "build-dpdk",
    "check-driver",
)


@contextmanager
def mirror(status: int) -> Iterator[str]:
    """Answers each request with this status."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(status)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/debian"
        server.shutdown()
        thread.join()


class Tree:
    """A checkout with the scripts alone, on a system whose mirror a test chooses. What it installs is there."""

    def __init__(self, folder: Path) -> None:
        self.root, self.etc = folder / "tree", folder / "etc"
        for part in PARTS:
            target = self.root / "scripts" / part
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / "scripts" / part, target)
        functions = self.root / "scripts/lib/apt.sh"
        functions.write_text(functions.read_text().replace("/etc/", f"{self.etc}/"))
        (self.root / "spinal/project").mkdir(parents=True)
        shutil.copy(ROOT / "spinal/project/build.properties", self.root / "spinal/project")
        (self.etc / "apt/sources.list.d").mkdir(parents=True)
        (self.etc / "os-release").write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
        for name in ("host-driver/dpdk", "host-driver/qdma", "host-driver/include", "twin/dpdk", "twin/card/include"):
            (self.root / name).mkdir(parents=True)
            (self.root / name / "file").touch()
        self.script("setup", "")
        self.script("pkg-config", "echo 22.11")
        (folder / "apt.conf").write_text('Acquire::Retries "0";\n')  # which would take seconds
        self.environment = os.environ | {
            "XDG_CACHE_HOME": str(folder / "cache"),
            "APT_CONFIG": str(folder / "apt.conf"),
            "no_proxy": "127.0.0.1",
            "PATH": f"{self.root / 'scripts'}:{os.environ['PATH']}",
        }

    def script(self, name: str, lines: str) -> None:
        path = self.root / "scripts" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\n{lines}\n")
        path.chmod(0o755)

    def use(self, address: str) -> None:
        (self.etc / "apt/sources.list").write_text(f"deb {address} bookworm main\n")

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.root / "scripts" / command[0], *command[1:]],
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=stretched(60),
            check=False,
        )


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


#: Scripts that need a suite of the mirror.
ASKING = {"headers": ("build/build-headers", "trixie"), "dpdk": ("build-dpdk", "--suite", "trixie")}


@pytest.mark.parametrize("command", ASKING.values(), ids=ASKING)
def test_a_suite_that_the_mirror_does_not_have_has_a_status_of_its_own(tree: Tree, command: tuple[str, ...]) -> None:
    with mirror(404) as address:
        tree.use(address)
        done = tree.run(*command)
    assert done.returncode == 3, done.stderr
    assert f"{address} has no suite trixie" in done.stderr


@pytest.mark.parametrize("command", ASKING.values(), ids=ASKING)
@pytest.mark.parametrize("status", [403, 500, 503])
def test_a_mirror_that_fails_is_an_error(tree: Tree, command: tuple[str, ...], status: int) -> None:
    with mirror(status) as address:
        tree.use(address)
        done = tree.run(*command)
    assert done.returncode == 1, done.stderr
    assert f"cannot ask the Debian mirror for suite trixie: E: Failed to fetch {address}" in done.stderr
    assert f"  {status}  " in done.stderr


@pytest.mark.parametrize("command", ASKING.values(), ids=ASKING)
def test_a_mirror_that_cannot_be_reached_is_an_error(tree: Tree, command: tuple[str, ...]) -> None:
    with mirror(404) as address:
        pass
    tree.use(address)
    done = tree.run(*command)
    assert done.returncode == 1, done.stderr
    assert "Could not connect to 127.0.0.1" in done.stderr


@pytest.mark.parametrize("command", ASKING.values(), ids=ASKING)
def test_a_system_without_a_mirror_is_an_error(tree: Tree, command: tuple[str, ...]) -> None:
    done = tree.run(*command)
    assert done.returncode == 1, done.stderr
    assert "the system's apt sources name no Debian mirror" in done.stderr


def check_driver(tree: Tree, headers: str) -> subprocess.CompletedProcess[str]:
    """The check of two suites' kernels, of a driver without files, where build-headers does as it is said here."""
    tree.script("lib/checkpatch.sh", "linux_scripts() { pwd; }")
    tree.script("build/build-headers", headers)
    (tree.root / "host-driver/linux").mkdir()
    (tree.root / "host-driver/check.mk").touch()
    (tree.root / "host-driver/linux/Makefile").write_text("check-style:\n")
    return tree.run("check-driver", "bullseye", "trixie")


def test_a_check_without_any_kernel_fails(tree: Tree) -> None:
    done = check_driver(tree, "exit 3")
    assert done.returncode == 1
    assert "trixie: NOT CHECKED: the mirror does not have it" in done.stdout
    assert "the mirror has none of these suites: bullseye trixie" in done.stderr


def test_a_check_ends_with_headers_that_cannot_be_built(tree: Tree) -> None:
    done = check_driver(tree, "echo no network >&2; exit 1")
    assert done.returncode == 1
    assert "no network" in done.stderr and "NOT CHECKED" not in done.stdout
