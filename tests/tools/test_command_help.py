# SPDX-License-Identifier: Apache-2.0
"""Each command of scripts/ says with --help what it does, at once, and builds and installs nothing for that."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from documents import ROOT

COMMANDS = sorted(path.name for path in (ROOT / "scripts").iterdir() if path.is_file() and os.access(path, os.X_OK))
#: Of a processor's time: a computer that is busy may take longer by the clock.
SECONDS = 5
PATIENCE = 60
NO_NETWORK = "http://127.0.0.1:9"


def cache_with_venv(folder: Path) -> Path:
    """A cache that holds the tests' own Python and nothing else. ccache's folder comes with each command."""
    cache = folder / "meridian"
    cache.mkdir()
    (cache / Path(sys.prefix).name).symlink_to(sys.prefix)
    return cache


def shown(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """The command with --help and its own cache. It cannot reach the network through a proxy, and is ended if it goes on."""
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "http_proxy": NO_NETWORK, "https_proxy": NO_NETWORK}
    for name in ("COLUMNS", "PYTHONPATH"):
        environment.pop(name, None)
    with subprocess.Popen(
        [str(ROOT / "scripts" / command), "--help"], env=environment, text=True, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        try:
            out, err = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            out, err = process.communicate()
            err += f"it went on for {PATIENCE} s"
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def used() -> float:
    """Seconds of a processor that all commands so far have taken."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


@pytest.mark.parametrize("command", COMMANDS)
def test_help_is_at_once_and_installs_nothing(command: str, tmp_path: Path) -> None:
    cache = cache_with_venv(tmp_path)
    there, before = {path.name for path in cache.iterdir()} | {"ccache"}, used()
    done = shown(command, tmp_path)
    assert done.returncode == 0, f"scripts/{command} --help ends with {done.returncode}: {done.stderr}"
    assert used() - before < SECONDS, f"scripts/{command} --help takes a processor longer than that"
    assert not {path.name for path in cache.iterdir()} - there, f"scripts/{command} --help leaves this in the cache"
    usage, *rest = done.stdout.splitlines()
    assert re.match(rf"usage: (\[\w+=\w+\] )?scripts/{command}\b", usage), f"scripts/{command} calls itself so: {usage}"
    assert any(re.match(r"[A-Z].*\w", line) for line in rest), (
        f"scripts/{command} --help has no sentence: {done.stdout}"
    )
