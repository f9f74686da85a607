# SPDX-License-Identifier: Apache-2.0
"""libmeridian with sanitizers, against a card of registers alone."""

from __future__ import annotations

import subprocess
from pathlib import Path

from library_fixtures import LIBRARY

HERE = Path(__file__).parent
QDMA = LIBRARY.parent / "qdma"
SHARED = ("qdma_context", "qdma_device", "qdma_queue", "mailbox/qdma_mailbox", "mailbox/qdma_message")
KERNEL = (
    "access",
    "close",
    "fcntl",
    "ioctl",
    "mmap",
    "munmap",
    "nanosleep",
    "open",
    "pread",
    "pwrite",
    "readlink",
)  # see vfio_cases.c


def test_cases_pass_with_sanitizers(tmp_path: Path) -> None:
    shared = [QDMA / f"{name}.c" for name in SHARED]
    sources = [*HERE.glob("*.c"), *LIBRARY.glob("*.c"), *shared]
    program = tmp_path / "cases"
    command = ["cc", "-g", "-O1", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined"]
    command += ["-U_FORTIFY_SOURCE", *(f"-Wl,--wrap={name}" for name in KERNEL)]
    command += ["-fno-sanitize-recover=all", "-o", str(program), *map(str, sources)]
    subprocess.run(command, check=True, timeout=120)
    done = subprocess.run([str(program)], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (0, "all passed\n"), done.stderr
