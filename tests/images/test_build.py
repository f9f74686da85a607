# SPDX-License-Identifier: Apache-2.0
"""What scripts/build-image and scripts/build/build-module make, refuse and remember."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path

import pytest
from meridian_machine import Hardware, Image, Machine, tools

pytestmark = pytest.mark.qemu
MODULE = """// SPDX-License-Identifier: GPL-2.0-only
#include <linux/module.h>
#include "../shared/word.h"
static int __init hello_init(void)
{
	pr_info("hello: " WORD "\\n");
	return 0;
}
static void __exit hello_exit(void)
{
}
module_init(hello_init);
module_exit(hello_exit);
MODULE_DESCRIPTION("says a word");
MODULE_LICENSE("GPL");
"""


def script(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(tools.ROOT / "scripts" / name), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A module that includes a header beside its folder."""
    module, shared = tmp_path / "tree" / "hello", tmp_path / "tree" / "shared"
    module.mkdir(parents=True)
    shared.mkdir()
    (module / "Kbuild").write_text("obj-m := hello.o\n")
    (module / "hello.c").write_text(MODULE)
    (shared / "word.h").write_text(f'#define WORD "{time.time_ns()}"\n')
    return module


def build(source: Path, suite: str, *uses: str) -> subprocess.CompletedProcess[str]:
    options = [word for use in uses for word in ("--use", use)]
    return script("build/build-module", "--suite", suite, "--with", str(source.parent), *options, str(source))


@pytest.mark.parametrize("suite", tools.SUITES)
def test_a_module_is_built_for_the_kernel_that_boots(source: Path, suite: str, tmp_path: Path) -> None:
    done = build(source, suite)
    assert done.returncode == 0, done.stderr
    module = Path(done.stdout.strip()) / "hello.ko"
    word = (source.parent / "shared" / "word.h").read_text().split('"')[1]
    machine = Machine(tools.qemu(), Image.build(suite), tmp_path, hardware=Hardware(cpus=1), files={"hello.ko": module})
    with machine:
        machine.wait_ready()
        machine.run("insmod /run/twin/hello.ko", check=True)
        assert f"hello: {word}" in machine.run("dmesg").text


def test_a_module_is_built_once_for_its_content(source: Path) -> None:
    first = build(source, tools.SUITES[0])
    again = build(source, tools.SUITES[0])
    assert (again.stdout, again.stderr) == (first.stdout, "")
    (source.parent / "shared" / "word.h").write_text('#define WORD "another"\n')
    other = build(source, tools.SUITES[0])
    assert other.returncode == 0
    assert other.stdout != first.stdout
    assert not list(source.rglob("*.ko")), "nothing is left in the source"


def test_only_what_a_module_uses_counts(source: Path) -> None:
    first = build(source, tools.SUITES[0], "shared")
    assert first.returncode == 0, first.stderr
    beside = source.parent / "build"
    beside.mkdir()
    (beside / "Vcard.h").write_text("class Vcard;\n")
    assert build(source, tools.SUITES[0], "shared").stdout == first.stdout
    (source.parent / "shared" / "word.h").write_text('#define WORD "another"\n')
    assert build(source, tools.SUITES[0], "shared").stdout not in ("", first.stdout)
    for use in ("lost", "../tree/shared/../.."):
        done = build(source, tools.SUITES[0], use)
        assert done.returncode == 2
        assert f"has no folder ./{use}" in done.stderr
    done = script("build/build-module", "--use", "shared", str(source))
    assert done.returncode == 2 and "--use names a folder below that of --with" in done.stderr


def test_a_module_that_does_not_compile_says_where(source: Path) -> None:
    (source / "hello.c").write_text(MODULE.replace("return 0", "return nothing"))
    done = build(source, tools.SUITES[0])
    assert done.returncode == 1
    assert "nothing" in done.stderr
    assert "the build failed; its log:" in done.stderr


def test_what_is_no_module_is_refused(tmp_path: Path) -> None:
    done = script("build/build-module", str(tmp_path))
    assert done.returncode == 2
    assert "has neither Kbuild nor Makefile" in done.stderr


def test_another_suite_is_refused() -> None:
    done = script("build-image", "--suite", "woody")
    assert done.returncode == 2
    assert "not of woody" in done.stderr


def test_another_machine_is_refused() -> None:
    done = script("build-image", "--machine", "toaster")
    assert done.returncode == 2
    assert "not for toaster" in done.stderr


def test_an_image_is_built_once() -> None:
    first = script("build-image")
    started = time.monotonic()
    again = script("build-image")
    assert time.monotonic() - started < 10
    assert (again.stdout, again.stderr) == (first.stdout, "")
    folder = Path(again.stdout.strip())
    assert {"vmlinuz", "early.cpio", "root.ext4", "release", "build"} <= {path.name for path in folder.iterdir()}
