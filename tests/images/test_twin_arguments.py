# SPDX-License-Identifier: Apache-2.0
"""The twin command without a machine: what it says of wrong arguments, and what it keeps."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

import pytest
from meridian_machine import Hardware, Setting, tools
from meridian_machine import __main__ as command


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--card", "'"], "no closing quotation"),
        (["--qemu", '-device "igb'], "no closing quotation"),
        (["--wire", "foo"], "'foo' is not PORT=SPEC"),
        (["--wire", "x=none"], "'x=none' is not PORT=SPEC"),
        (["--wire", "4=none"], "'4=none' is not PORT=SPEC with a PORT of 0 to 3"),
        (["--wire", "0="], "'0=' is not PORT=SPEC"),
        (["--wire", "²=none"], "is not PORT=SPEC"),
        (["--timeout", "0"], "'0' is not a number of seconds above 0"),
        (["--timeout", "nan"], "'nan' is not a number of seconds"),
        (["--timeout", "soon"], "'soon' is not a number of seconds"),
        (["--ports", "5"], "invalid choice: 5"),
        (["--dma", "xdma"], "invalid choice: 'xdma'"),
    ],
)
def test_a_wrong_argument_is_refused_in_a_sentence(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        command.main(["run", *arguments, "--", "true"])
    assert ended.value.code == 2
    assert sentence in capsys.readouterr().err


def test_a_wire_of_a_port_that_the_card_lacks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tools, "built", lambda *_, **__: tmp_path)
    status = command.main(["ps", "--wire", "2=none", "--run-dir", str(tmp_path / "run"), "--no-driver", "--", "true"])
    assert status == command.FAILED
    assert "--wire names port 2, the last port is 0: add --ports" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("device", "shell", "vfs"),
    [
        ("", (), []),
        ("pfs=1", (), []),
        ("pfs=2", (), ["--vfs", "2,2,0,0"]),
        ("id=card,pfs=3,vfs=1", ("--functions", "12", "--self-test", "true"), ["--vfs", "3,3,2,0"]),
        ("pfs=4", ("--vfs", "1,0,0,3"), []),
    ],
)
def test_the_dma_engine_of_our_own_gives_each_pf_as_many_vfs(
    device: str, shell: tuple[str, ...], vfs: list[str]
) -> None:
    hardware = Hardware(device=device)
    assert Setting(hardware=hardware, shell=shell, dma="meridian").card_build() == [*shell, "--dma", "meridian", *vfs]
    assert Setting(hardware=hardware, shell=shell, dma="qdma").card_build() == [*shell]


@pytest.mark.parametrize("machine", ["run", "host", "ps"])
@pytest.mark.parametrize(
    ("arguments", "shell"),
    [
        ([], ()),
        (["--self-test"], ("--self-test", "true")),
        (["--self-test", "--box", "a.v,b.v"], ("--box", "a.v,b.v", "--self-test", "true")),
        (["--host-box", "a.v"], ("--host-box", "a.v")),
    ],
)
def test_the_shell_has_the_options_that_the_command_names(
    machine: str, arguments: list[str], shell: tuple[str, ...]
) -> None:
    command_line = [machine, *arguments, *(["--", "true"] if machine == "run" else [])]
    parsed = command.parser().parse_args(command_line)
    setting = command.ps_setting_of(parsed) if machine == "ps" else command.setting_of(parsed)
    assert setting.shell == shell


@pytest.mark.parametrize(("option", "kept"), [("--pcap", True), ("--wave", True), ("--keep", True), (None, False)])
def test_files_that_an_option_asks_for_are_kept_after_ctrl_c(
    option: str | None, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders: list[Path] = []

    def interrupted(_: argparse.Namespace, folder: Path) -> int:
        folders.append(folder)
        (folder / "card.pcapng").write_bytes(b"frames")
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "run", interrupted)
    assert command.main(["run", *([option] if option else []), "--", "true"]) == command.INTERRUPTED
    (folder,) = folders
    assert (folder / "card.pcapng").exists() == kept
    shutil.rmtree(folder, ignore_errors=True)


@pytest.mark.parametrize("line", ["x=5; echo $x", "echo $$ $(id -u) ${HOME}", "echo 'a b' \"c\" \\$d", "echo #1 `pwd`"])
def test_make_twin_run_hands_on_the_command_as_it_is(line: str, tmp_path: Path) -> None:
    shutil.copy(tools.ROOT / "Makefile", tmp_path)
    (tmp_path / "scripts").mkdir()
    for name, script in (("setup", "true"), ("twin", 'printf "%s" "${@: -1}"')):
        (tmp_path / "scripts" / name).write_text(f"#!/bin/bash\n{script}\n")
        (tmp_path / "scripts" / name).chmod(0o755)
    make = ["make", "--no-print-directory", "-C", str(tmp_path), "twin-run", f"CMD={line}"]
    done = subprocess.run(make, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == line


@pytest.mark.parametrize("place", ["BOX", "HOST_BOX"])
def test_a_module_of_no_file_is_refused_by_make(place: str) -> None:
    """It would be left out without a word."""
    root = Path(__file__).resolve().parents[2]
    for target in ("rtl", "bitstream"):
        done = subprocess.run(
            ["make", "-n", target, f"{place}_MODULE=mine"], cwd=root, capture_output=True, text=True, check=False
        )
        assert done.returncode == 2
        assert f"{place}_MODULE names a module of no file: give {place}, too." in done.stderr
