# SPDX-License-Identifier: Apache-2.0
"""What build-qemu and build-sd of scripts/build keep in the cache: by what they know it, and who may be using it.
Compilers and package mirrors are stand-ins here, the scripts are the real ones."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECONDS = 60
# Whatever is compiled is a program that sleeps.
GCC = """while [ $# -gt 0 ]; do
  [ "$1" != -o ] || cp --remove-destination "$(command -v sleep)" "$2"
  shift
done
"""
NINJA = """case "$*" in
  *"-t commands"*) echo "gcc -o qemu-system-x86_64 " ;;
  *)
    echo built >>"$BUILDS"
    sleep 1
    for program in qemu-system-x86_64 qemu-system-aarch64; do
      cp --remove-destination "$(command -v sleep)" "$2/$program"
    done ;;
esac
"""
PYTHON = """mkdir -p "$3/bin"
printf '#!/bin/sh\\n' >"$3/bin/pip"
chmod +x "$3/bin/pip"
"""


class Tree:
    """A checkout with these scripts, what they source, and folders, a cache of its own, and stand-ins before all programs."""

    def __init__(self, place: Path, *names: str) -> None:
        self.place, self.cache, self.programs = place / "tree", place / "cache/meridian", place / "bin"
        self.builds = place / "builds"
        self.programs.mkdir(parents=True)
        always = ("scripts/lib/env.sh", "scripts/requirements/tests.txt", "spinal/project/build.properties")
        texts = [(ROOT / name).read_text() for name in names if (ROOT / name).is_file()]
        sourced = {
            name for text in texts for name in re.findall(r'^source "\$MERIDIAN_ROOT/(\S+)"$', text, re.MULTILINE)
        }
        for name in (*always, *sourced, *names):
            source, target = ROOT / name, self.place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
        self.script("setup", "")
        self.program(self.programs / "sudo", 'exec "$@"\n')

    def program(self, file: Path, text: str) -> None:
        file.write_text(f"#!/bin/sh\n{text}")
        file.chmod(0o755)

    def script(self, name: str, text: str) -> None:
        self.program(self.place / "scripts" / name, text)

    def start(self, name: str, *words: str, **more: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "XDG_CACHE_HOME": str(self.cache.parent), "BUILDS": str(self.builds), **more}
        environment["PATH"] = f"{self.programs}:{os.environ['PATH']}"
        return subprocess.Popen(
            [str(self.place / "scripts" / name), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    def run(self, name: str, *words: str, **more: str) -> tuple[int, str, str]:
        with self.start(name, *words, **more) as process:
            said, errors = process.communicate(timeout=SECONDS)
        return process.returncode, said.strip(), errors


@pytest.fixture
def qemu(tmp_path: Path) -> Tree:
    tree = Tree(tmp_path, "scripts/build/build-qemu", "scripts/requirements/qemu.txt", "twin/qemu", "twin/card/include")
    for patch in (tree.place / "twin/qemu/patches").glob("*.patch"):
        patch.write_text("--- a/word\n+++ b/word\n@@ -1 +1 @@\n-one\n+two\n")
    source = tmp_path / "source"
    for name, text in {
        "VERSION": "10.0\n", "word": "one\n", "hw/net/trace-events": "", "hw/net/meson.build": "", "hw/net/Kconfig": "",
        "pc-bios/meson.build": "",
    }.items():  # fmt: skip
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text(text)
    tree.program(source / "configure", "mkdir -p pc-bios/optionrom && touch pc-bios/optionrom/rom.bin\n")
    bios = tmp_path / "seabios/usr/share/seabios/bios-256k.bin"
    bios.parent.mkdir(parents=True)
    bios.touch()
    tree.script("build/fetch-source", f'[ "$1" = --binary ] && echo {tmp_path}/seabios || echo {source}\n')
    for name, text in {"gcc": GCC, "ninja": NINJA, "python3": PYTHON, "make": "", "pkg-config": ""}.items():
        tree.program(tree.programs / name, text)
    return tree


def test_a_qemu_that_runs_is_in_nobodys_way(qemu: Tree) -> None:
    """Its programs are made once more for the sanitizer while a machine runs."""
    status, program, errors = qemu.run("build/build-qemu")
    assert status == 0, errors
    with subprocess.Popen([program, str(SECONDS)]) as machine:
        try:
            status, sanitized, errors = qemu.run("build/build-qemu", "--sanitize")
            assert status == 0 and Path(sanitized).exists(), errors
            assert machine.poll() is None
        finally:
            machine.kill()


def test_who_has_waited_for_a_build_does_not_build_again(qemu: Tree) -> None:
    with qemu.start("build/build-qemu") as first:
        ended = False  # looked at before its work, which may be done between two looks
        while not qemu.builds.exists():
            assert not ended, first.communicate()
            ended = first.poll() is not None
            time.sleep(0.02)
        status, program, errors = qemu.run("build/build-qemu")
        assert (first.wait(SECONDS), status) == (0, 0), errors
    assert Path(program).exists() and qemu.builds.read_text() == "built\n"


@pytest.mark.parametrize(
    "file",
    [
        "meta-layer/meta-meridian-bsp/conf/machine/include/meridian.inc",
        "meta-layer/meta-meridian-bsp/files/meridian-preinit.sh.in",
        "meta-layer/meta-meridian-bsp/recipes-bsp/u-boot/files/boot.cmd.meridian",
        "meta-layer/meta-meridian-bsp/wic/meridian-sd.wks",
        "meta-layer/meta-meridian-bsp/recipes-bsp/meridian-update/files/meridian-update",
        "twin/images/sd/init",
        "twin/images/ps.dts",
        "scripts/lib/layer.sh",
    ],
)
def test_an_sd_card_is_made_anew_when_what_it_is_made_of_changes(tmp_path: Path, file: str) -> None:
    tree = Tree(tmp_path, "scripts/build/build-sd", "meta-layer", "twin/images")
    image = tmp_path / "image"
    image.mkdir()
    (image / "release").write_text("6.12\n")
    for name in ("build-image", "build/build-sd-base", "build/build-module"):
        tree.script(name, f"echo {image}\n")
    # It ends the build behind the place where the key is known.
    tree.script("build/fetch-source", "exit 1\n")
    known = []
    for _ in range(2):
        assert tree.run("build/build-sd")[0] != 0
        known.append({folder.name for folder in tree.cache.glob("sd-*") if folder.is_dir()})
        with (tree.place / file).open("a") as changed:
            changed.write("\n# another\n")
    assert len(known[0]) == 1 and len(known[1]) == 2, known


@pytest.mark.parametrize("box", [True, False])
def test_verilog_of_a_shell_with_a_box_is_made_anew_with_another_verilator(tmp_path: Path, box: bool) -> None:
    """It reads the ports of the box."""
    tree = Tree(
        tmp_path,
        "scripts/build-card",
        "scripts/lib/sbt-lock.sh",
        "spinal/src/main/scala/meridian/shell/GenerateShell.scala",
        "spinal/build.sbt",
    )
    tree.script("sbt", "exit 1\n")  # it ends the build behind the place where the key is known
    (tmp_path / "mine.v").write_text("module mine;\nendmodule\n")
    options = ["--box", str(tmp_path / "mine.v")] if box else []
    known = []
    for version in ("5.006", "5.032"):
        tree.program(tree.programs / "verilator", f"echo Verilator {version}\n")
        assert tree.run("build-card", "--verilog-only", *options)[0] != 0
        known.append({folder.name for folder in (tree.cache / "rtl").iterdir() if folder.is_dir()})
    assert len(known[0]) == 1 and len(known[1]) == 1 + box, known


def test_models_are_compiled_anew_with_another_verilator(tmp_path: Path) -> None:
    """Verilator's own code is among them, and a shell that another version has made would not fit it."""
    tree = Tree(
        tmp_path, "scripts/build-card", "scripts/lib/sbt-lock.sh", "twin/card/CMakeLists.txt", "host-driver/qdma"
    )
    for folder in ("twin/card/src", "twin/card/include", "host-driver/include"):
        (tree.place / folder).mkdir(parents=True, exist_ok=True)
    (tree.place / "host-driver/include/meridian_regs.h").touch()
    (tmp_path / "Shell.v").write_text("module Shell;\nendmodule\n")
    tree.program(tree.programs / "cmake", "exit 1")  # it ends the build behind the place where the key is known
    known = []
    for version in ("5.006", "5.032"):
        tree.program(tree.programs / "verilator", f"echo Verilator {version}\n")
        assert tree.run("build-card", "--verilog", str(tmp_path / "Shell.v"))[0] != 0
        known.append({folder.name for folder in (tree.cache / "card").iterdir() if folder.is_dir()})
    assert len(known[0]) == 1 and len(known[1]) == 2, known


@pytest.mark.long
@pytest.mark.parametrize("dma", ["qdma", "meridian"])
def test_the_shell_runs_code_of_the_dma_engine_only_if_it_has_it(tmp_path: Path, dma: str) -> None:
    """So what is generated of a shell without it is kept while the engine changes."""
    options = ["--dma", dma]
    made = subprocess.run(
        [ROOT / "scripts/build-card", "--verilog-only", *options],
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    folder = Path(made.stdout.strip()).parent
    class_path = folder.with_name(folder.name.partition("-")[0] + ".classpath").read_text().strip()
    done = subprocess.run(
        [
            "java",
            "-Xlog:class+init=info",
            "-cp",
            class_path,
            "meridian.shell.GenerateShell",
            "--output",
            tmp_path,
            *options,
        ],
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    assert "Initializing 'meridian/shell/Shell'" in done.stdout
    assert ("Initializing 'meridian/dma/engine/DmaEngine'" in done.stdout) == (dma == "meridian")
    assert ("Initializing 'meridian/dma/" in done.stdout) == (dma == "meridian")
