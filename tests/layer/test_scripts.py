# SPDX-License-Identifier: Apache-2.0
"""The layer's scripts by themselves: health of PTP, and which bitstream may be loaded."""

from __future__ import annotations

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from card_programs import Programs
from layer_fixtures import image_programs, programs

__all__ = ["image_programs", "programs"]

LAYERS = Path(__file__).resolve().parents[2] / "meta-layer"
PTP = LAYERS / "meta-meridian/recipes-connectivity/meridian-ptp/files"
HEALTH = PTP / "meridian-ptp-health"
FPGA = LAYERS / "meta-meridian-bsp/recipes-bsp/meridian-fpga/files/meridian-fpga"


def health(answers: str, *options: str) -> tuple[int, str]:
    command = [str(HEALTH), *options, "--answers", "-"]
    done = subprocess.run(command, input=answers, capture_output=True, text=True, timeout=10, check=False)
    return done.returncode, done.stdout.strip()


def answers(states: list[str], offset: int = -3, present: str = "true") -> str:
    """As pmc prints them."""
    ports = [
        f"\t020000.fffe.000001-{n} seq 0 RESPONSE MANAGEMENT PORT_DATA_SET\n"
        f"\t\tportIdentity            020000.fffe.000001-{n}\n\t\tportState               {state}\n"
        for n, state in enumerate(states, 1)
    ]
    return "sending: GET PORT_DATA_SET\nsending: GET TIME_STATUS_NP\n" + "".join(ports) + (
        "\t020000.fffe.000001-0 seq 1 RESPONSE MANAGEMENT TIME_STATUS_NP\n"
        f"\t\tmaster_offset              {offset}\n\t\tgmPresent                  {present}\n"
        "\t\tgmIdentity                 00b0ae.fffe.010203\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("said", "options", "status", "sentence"),
    [
        (answers(["SLAVE"]), (), 0, "locked: -3 ns from 00b0ae.fffe.010203"),
        (answers(["MASTER", "SLAVE"], offset=100), (), 0, "locked: 100 ns"),
        (answers(["SLAVE"], offset=101), (), 1, "unlocked: 101 ns"),
        (answers(["SLAVE"], offset=-101), (), 1, "unlocked: -101 ns"),
        (answers(["SLAVE"], offset=-101), ("--limit", "500"), 0, "locked"),
        (answers(["SLAVE"], present="false"), (), 1, "not following: no grandmaster"),
        (answers(["LISTENING", "FAULTY"]), (), 1, "not following: ports are LISTENING, FAULTY"),
        (answers(["UNCALIBRATED"]), (), 1, "not following: ports are UNCALIBRATED"),
        ("sending: GET PORT_DATA_SET\n", (), 1, "unknown: ptp4l does not answer"),
        ("", (), 1, "unknown"),
    ],
)
def test_health_of_ptp_has_a_status_and_a_sentence_for_each_state(
    said: str, options: tuple[str, ...], status: int, sentence: str
) -> None:
    got = health(said, *options)
    assert got[0] == status and got[1].startswith(sentence), got


def stand_ins(folder: Path, **texts: str) -> dict[str, str]:
    """An environment with programs of these texts before all others."""
    for name, text in texts.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}"}


def pmc(folder: Path, *ingress: int, utc: int | None = None) -> str:
    """One that says another ingress time at each call, and the last one from then on; the clock has UTC or is so far
    ahead of it."""
    for number, time in enumerate(ingress):
        scale = f"\t\tcurrentUtcOffset           {utc or 0}\n\t\tptpTimescale               {int(utc is not None)}\n"
        (folder / f"said{number}").write_text(answers(["SLAVE"]) + f"\t\tingress_time               {time}\n" + scale)
    return (
        f'cd {folder}; n=$(cat asked 2>/dev/null || echo 0); echo $((n + 1)) >asked; '
        f'cat said$n 2>/dev/null || cat said{len(ingress) - 1}'
    )  # fmt: skip


def asked(environment: dict[str, str], *options: str) -> tuple[int, str]:
    command = [str(HEALTH), *options, "ptp4l.conf"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stdout.strip()


def test_an_old_offset_is_no_lock(tmp_path: Path) -> None:
    """ptp4l tells the offset of the last Sync, however long ago that was."""
    for name, times in {"new": (1000, 1000, 2000), "old": (1000,)}.items():
        (tmp_path / name).mkdir()
        status, sentence = asked(stand_ins(tmp_path / name, pmc=pmc(tmp_path / name, *times)))
        wanted = "locked: -3 ns" if name == "new" else "unlocked: no Sync comes, the last offset is old"
        assert (status, sentence.startswith(wanted)) == (int(name == "old"), True), sentence


@pytest.mark.parametrize(
    ("runs", "compared", "utc", "status", "sentence"),
    [
        (True, -99_000, None, 0, "locked: -3 ns"),
        (True, 101_000, None, 1, "unlocked: the system's clock is 101000 ns from port0's, more than 100000"),
        (True, -37_000_000_012, 37, 0, "locked: -3 ns"),
        (True, 37_000_000_012, 37, 1, "unlocked: the system's clock is 74000000012 ns from port0's"),
        (True, -37_000_000_012, None, 1, "unlocked: the system's clock is 37000000012 ns from port0's"),
        (True, 0, 37, 1, "unlocked: the system's clock is 37000000000 ns"),
        (False, 0, None, 1, "unlocked: phc2sys does not run"),
        (True, None, None, 1, "unknown: the system's clock and port0's cannot be compared"),
    ],
)
def test_health_is_locked_only_if_the_systems_clock_follows(
    tmp_path: Path, runs: bool, compared: int | None, utc: int | None, status: int, sentence: str
) -> None:
    said = f"echo 'phc_ctl[7.1]: offset from CLOCK_REALTIME is {compared}ns'" if compared is not None else "exit 1"
    environment = stand_ins(
        tmp_path,
        pmc=pmc(tmp_path, 1000, 2000, utc=utc),
        systemctl=f'[ "$*" = "-q is-active meridian-phc2sys@port0.service" ] && {str(runs).lower()}',
        phc_ctl=f'[ "$*" = "-q -- port0 cmp" ] && {said}',
    )
    got = asked(environment, "--system", "port0")
    assert got[0] == status and got[1].startswith(sentence), got


def test_a_limit_that_ptp_conf_does_not_have_yet_is_the_usual_one(tmp_path: Path) -> None:
    """An update keeps a ptp.conf that was changed before; systemd makes an empty word of what is not in it."""
    words = ("--limit", "", "--system", "port0", "--system-limit", "")
    for apart, wanted in (
        (99_000, (0, "locked: -3 ns from 00b0ae.fffe.010203")),
        (101_000, (1, "unlocked: the system's")),
    ):
        folder = tmp_path / str(apart)
        folder.mkdir()
        stubs = {"systemctl": "true", "phc_ctl": f"echo 'offset from CLOCK_REALTIME is {apart}ns'"}
        status, sentence = asked(stand_ins(folder, pmc=pmc(folder, 1000, 2000), **stubs), *words)
        assert (status, sentence[: len(wanted[1])]) == wanted, sentence


def test_health_says_how_it_is_used() -> None:
    assert health("", "--limit", "close")[0] == 2
    assert subprocess.run([str(HEALTH)], capture_output=True, timeout=10, check=False).returncode == 2


def test_health_is_told_by_the_images_programs(image_programs: Programs) -> None:
    for states, sentence in ((["MASTER", "SLAVE"], "locked: -3 ns"), (["FAULTY"], "not following: ports are FAULTY")):
        done = image_programs.run(HEALTH, "--answers", "-", text=answers(states))
        assert done.stdout.startswith(sentence), done


def system(folder: Path, manifest: str | None, driver: str = "MAJOR=1\nMINOR=2\n") -> Path:
    firmware, share = folder / "lib/firmware/meridian", folder / "usr/share/meridian"
    firmware.mkdir(parents=True)
    share.mkdir(parents=True)
    (firmware / "shell.bit.bin").write_bytes(b"bits")
    (share / "register-map").write_text(driver)
    if manifest is not None:
        (firmware / "shell.manifest").write_text(manifest)
    return folder


SUM = hashlib.sha256(b"bits").hexdigest()
MANIFEST = f"bitstream=shell.bit.bin\nmap=1.2\nsha256={SUM}\n"


@pytest.mark.parametrize(
    ("manifest", "status", "sentence"),
    [
        (MANIFEST, 0, ""),
        (MANIFEST.replace("1.2", "1.10"), 0, ""),
        (MANIFEST.replace("1.2", "1.1"), 0, "register map 1.1 is older than the driver's 1.2"),
        (MANIFEST.replace("1.2", "2.0"), 1, "the bitstream's register map is 2.0, the driver knows 1.2"),
        (MANIFEST.replace("1.2", "10.2"), 1, "the bitstream's register map is 10.2"),
        (MANIFEST.replace("1.2", "1"), 1, "map=1 is not MAJOR.MINOR"),
        (MANIFEST.replace("1.2", "1.x"), 1, "map=1.x is not MAJOR.MINOR"),
        (MANIFEST.replace("1.2", ""), 1, "map= is not MAJOR.MINOR"),
        (MANIFEST.replace("shell.bit", "../shell.bit"), 1, "is not a file beside it"),
        (MANIFEST.replace("shell.bit", "other.bit"), 1, "which"),
        (MANIFEST.replace(SUM, "0" * 64), 1, "is not whole"),
        ("", 1, "is not MAJOR.MINOR"),
        (None, 1, "no "),
    ],
)
def test_a_bitstream_is_accepted_only_if_it_is_whole_and_fits_the_driver(
    programs: Programs, tmp_path: Path, manifest: str | None, status: int, sentence: str
) -> None:
    done = programs.run(FPGA, "--check", "--root", system(tmp_path, manifest))
    assert done.returncode == status and sentence in done.stderr, done
    assert bool(done.stderr) == bool(sentence)


def test_nothing_is_loaded_that_does_not_fit(programs: Programs, tmp_path: Path) -> None:
    manager = system(tmp_path, MANIFEST.replace("1.2", "2.0")) / "sys/class/fpga_manager/fpga0"
    manager.mkdir(parents=True)
    for name in ("flags", "firmware", "state"):
        (manager / name).write_text("as it was")
    done = programs.run(FPGA, "--root", tmp_path)
    assert done.returncode == 1
    assert all((manager / name).read_text() == "as it was" for name in ("flags", "firmware", "state"))


def test_logic_that_does_not_start_gets_no_driver(programs: Programs, tmp_path: Path) -> None:
    manager = system(tmp_path, MANIFEST) / "sys/class/fpga_manager/fpga0"
    manager.mkdir(parents=True)
    for name in ("flags", "firmware"):
        (manager / name).touch()
    (manager / "state").write_text("write complete error\n")
    done = programs.run(FPGA, "--root", tmp_path)
    assert done.returncode == 1 and "state is 'write complete error'" in done.stderr
    assert (manager / "firmware").read_text() == "meridian/shell.bit.bin\n"


def bound(folder: Path, manager: str = "operating\n") -> Path:
    """A system whose driver has the card, beside the processors' own Ethernet; the driver's folder of sysfs."""
    root = system(folder, MANIFEST)
    files = root / "sys/class/fpga_manager/fpga0"
    driver = root / "sys/bus/platform/drivers/meridian_ps"
    for place in (files, driver / "a0000000.ethernet"):
        place.mkdir(parents=True)
    for name, compatible in {
        "a0000000.ethernet": b"meridian,shell-1\0meridian,shell\0",
        "ff0e0000.ethernet": b"xlnx,zynqmp-gem\0cdns,gem\0",
    }.items():
        node = root / "sys/bus/platform/devices" / name / "of_node"
        node.mkdir(parents=True)
        (node / "compatible").write_bytes(compatible)
    for name in ("flags", "firmware"):
        (files / name).write_text("as it was")
    (files / "state").write_text(manager)
    return driver


def test_no_logic_is_loaded_under_a_driver(programs: Programs, tmp_path: Path) -> None:
    """As by `systemctl restart meridian-fpga`; this driver does not let go."""
    driver = bound(tmp_path)
    done = programs.run(FPGA, "--root", tmp_path)
    assert done.returncode == 1 and "the driver still has a0000000.ethernet" in done.stderr
    assert (driver / "unbind").read_text() == "a0000000.ethernet\n"
    manager = tmp_path / "sys/class/fpga_manager/fpga0"
    assert all((manager / name).read_text() == "as it was" for name in ("flags", "firmware"))


def test_a_driver_that_let_go_is_put_back(image_programs: Programs, tmp_path: Path) -> None:
    """The files of sysfs do nothing; programs beside them do what the kernel would."""
    driver = bound(tmp_path)
    beside = tmp_path / "beside"
    beside.mkdir()
    # The last that is looked at before the card is to be gone, and what loads a module that is there already.
    for name, text in {
        "basename": f"rmdir {driver}/a0000000.ethernet; echo a0000000.ethernet",
        "modprobe": ":",
    }.items():
        (beside / name).write_text(f"#!/bin/sh\n{text}\n")
        (beside / name).chmod(0o755)
    programs = Programs(f"{beside}:{image_programs.path}", image_programs.shell)
    done = programs.run(FPGA, "--root", tmp_path)
    assert (tmp_path / "sys/class/fpga_manager/fpga0/firmware").read_text() == "meridian/shell.bit.bin\n"
    assert (driver / "bind").read_text() == "a0000000.ethernet\n"
    assert done.returncode == 1 and "the driver refuses the card" in done.stderr, "the card did not come back here"


def test_a_card_that_a_failed_start_left_without_its_driver_gets_it_back(
    image_programs: Programs, tmp_path: Path
) -> None:
    """The module is there from the start before, in which the FPGA manager refused the bitstream."""
    driver = bound(tmp_path)
    (driver / "a0000000.ethernet").rmdir()
    beside = tmp_path / "beside"
    beside.mkdir()
    (beside / "modprobe").write_text("#!/bin/sh\n")
    (beside / "modprobe").chmod(0o755)
    programs = Programs(f"{beside}:{image_programs.path}", image_programs.shell)
    programs.run(FPGA, "--root", tmp_path)
    assert (driver / "bind").read_text() == "a0000000.ethernet\n"


def test_the_driver_keeps_the_card_where_no_logic_can_be_loaded(programs: Programs, tmp_path: Path) -> None:
    driver = bound(tmp_path)
    (tmp_path / "sys/class/fpga_manager/fpga0/firmware").unlink()
    done = programs.run(FPGA, "--root", tmp_path)
    assert done.returncode == 1 and "no FPGA manager at" in done.stderr
    assert not (driver / "unbind").exists()
