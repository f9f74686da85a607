# SPDX-License-Identifier: Apache-2.0
"""The twin command as a user has it: status, output, the run directory, and that nothing is left behind."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from meridian_machine import tools
from meridian_twin.patience import deadline_in, stretched

pytestmark = pytest.mark.qemu
TWIN = str(tools.ROOT / "scripts" / "twin")
# Ctrl-C is heard, even if these tests run where nobody does: in the background of a script.
HEARING = ["env", "--default-signal=INT", TWIN]
SECONDS = 600


def twin(*arguments: str, seconds: float = SECONDS) -> subprocess.CompletedProcess[str]:
    return subprocess.run([TWIN, *arguments], capture_output=True, text=True, timeout=seconds, check=False)


def descendants(pid: int) -> set[int]:
    found = {pid}
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = stat.read_text()
        except OSError:
            continue
        parents[int(stat.parent.name)] = int(text[text.rindex(")") + 2 :].split()[1])
    while more := {child for child, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def alive(pid: int) -> bool:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text[text.rindex(")") + 2] != "Z"


def folders(pids: set[int]) -> set[Path]:
    """Where these processes have their sockets."""
    words = {word for pid in pids for word in Path(f"/proc/{pid}/cmdline").read_text().split("\0")}
    return {Path(word).parent for word in words if word.startswith("/tmp/meridian-")}


def namespaces(pids: set[int]) -> set[str]:
    return {os.readlink(f"/proc/{pid}/ns/net") for pid in pids} - {os.readlink("/proc/self/ns/net")}


def in_use(wanted: set[str]) -> list[str]:
    found = []
    for link in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.append(os.readlink(link))
        except OSError:
            continue
    return [name for name in found if name in wanted]


def wait_for(condition, what: str, seconds: float = 30) -> None:
    deadline = deadline_in(seconds)
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


@pytest.fixture
def working(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A twin that is in the middle of a command."""
    command = [*HEARING, "run", "--no-driver", "--run-dir", str(tmp_path / "run"), "--", "echo here; sleep 1000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0) as process:
        try:
            assert process.stdout is not None
            ready, _, _ = select.select([process.stdout], [], [], stretched(SECONDS))
            said = process.stdout.readline() if ready else b""
            if said != b"here\n":
                os.killpg(process.pid, signal.SIGKILL)
                pytest.fail(f"{said!r}: {process.communicate(timeout=stretched(30))[1].decode()}")
            yield process
        finally:  # the end of the block waits for it
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def test_make_runs_a_command_with_the_card_on_the_bus() -> None:
    command = ["make", "--no-print-directory", "twin-run", "CMD=lspci -nn | grep -c '10ee:903f'; echo \"it's\" here"]
    done = subprocess.run(command, cwd=tools.ROOT, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "1\nit's here\n"


def test_the_twin_ends_with_the_commands_status_and_output(tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = twin("run", "--run-dir", str(run), "--pcap", "--", "sh", "-c", "echo out; echo $1 >&2; exit 5", "x", "a b")
    assert (done.returncode, done.stdout) == (5, "out\n")
    assert "a b\n" in done.stderr
    assert {"console.log", "card.jsonl", "card.pcapng"} <= {path.name for path in run.iterdir()}


def test_a_run_that_went_well_leaves_no_directory_and_one_that_did_not_does() -> None:
    runs = tools.ROOT / "build" / "twin"
    before = set(runs.glob("run-*"))
    assert twin("run", "--no-driver", "--", "true").returncode == 0
    assert set(runs.glob("run-*")) == before
    done = twin("run", "--no-driver", "--timeout", "2", "--", "sleep 1000")
    assert done.returncode == 124
    assert f"waited {stretched(2):.0f} s for the machine to be done" in done.stderr
    left = re.search(r"the files of the run are in (\S+)", done.stderr)
    assert left is not None
    assert (Path(left[1]) / "console.log").exists()
    subprocess.run(["rm", "-r", left[1]], timeout=stretched(30), check=True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_no_process_folder_or_namespace(
    working: subprocess.Popen[bytes], number: signal.Signals
) -> None:
    children = descendants(working.pid)
    places, theirs = folders(children), namespaces(children)
    assert len(children) >= 2
    assert len(places) == 1
    assert len(theirs) == 1, "the far end of the wire is in a namespace of its own"
    # As a terminal does it: to the whole group.
    os.killpg(working.pid, number)
    assert working.wait(timeout=stretched(30)) == 130
    assert not [pid for pid in children if alive(pid)]
    assert not in_use(theirs)
    assert not [path for path in places if path.exists()]


def test_no_process_outlives_a_killed_one(working: subprocess.Popen[bytes]) -> None:
    children = descendants(working.pid)
    theirs = namespaces(children)
    os.kill(working.pid, signal.SIGKILL)
    working.wait(timeout=stretched(30))
    wait_for(lambda: not [pid for pid in children if alive(pid)] and not in_use(theirs), "processes are left")


def test_a_wire_of_the_users_own_is_taken_and_a_wrong_one_refused(tmp_path: Path) -> None:
    capture = tmp_path / "wire.pcapng"
    wire, more = f"0=traffic:count=3,rate=1000pps,capture={capture}+none", "--qemu=-device igb"
    done = twin("run", "--no-driver", "--wire", wire, more, "--", "lspci -n | grep 8086:10c9")
    assert done.returncode == 0, done.stderr
    assert capture.stat().st_size > 3 * 60
    done = twin("run", "--no-driver", "--wire", "0=wireless", "--", "true")
    assert done.returncode == 125
    assert "wireless" in done.stderr


def test_the_far_end_has_an_interface_with_an_address(working: subprocess.Popen[bytes], tmp_path: Path) -> None:
    done = twin("peer", "--run-dir", str(tmp_path / "run"), "--", "ip", "-br", "address", seconds=30)
    assert done.returncode == 0, done.stderr
    assert re.search(r"^wire0 .*10\.44\.0\.1/24", done.stdout, re.MULTILINE)
    os.killpg(working.pid, signal.SIGINT)
    working.wait(timeout=stretched(30))
    done = twin("peer", "--run-dir", str(tmp_path / "run"), "--", "true", seconds=30)
    assert done.returncode == 125
    assert "no twin is running" in done.stderr


def test_the_ps_takes_commands_and_its_memory_is_what_was_asked_for(tmp_path: Path) -> None:
    script = "hostname; grep MemTotal /proc/meminfo; exit 3"
    done = twin("ps", "--no-driver", "--memory", "512", "--cpus", "1", "--run-dir", str(tmp_path), "--", script)
    assert done.returncode == 3, done.stderr
    name, memory = done.stdout.splitlines()
    assert name == "ps"
    assert 400 < int(memory.split()[1]) >> 10 < 512
    assert (tmp_path / "ps" / "console.log").exists()


@pytest.mark.parametrize(
    ("machine", "look", "found", "tty"),
    [
        ("host", b"lspci -n | grep -c 10ee:903f", b"card-1", b"/dev/ttyS0"),
        ("ps", b"busybox devmem 0xa0000000", b"card-0x4D52444E", b"/dev/ttyPS0"),
    ],
)
def test_a_run_without_a_command_gives_the_machines_console(
    machine: str, look: bytes, found: bytes, tty: bytes, tmp_path: Path
) -> None:
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(TWIN, [TWIN, machine, "--no-driver", "--run-dir", str(tmp_path / "run")])
    text, prompt = b"", f"root@{machine}".encode()

    def until(wanted: bytes) -> None:
        nonlocal text
        deadline = deadline_in(SECONDS)
        while wanted not in text:
            assert time.monotonic() < deadline, text.decode(errors="replace")
            if select.select([terminal], [], [], 1)[0]:
                text += os.read(terminal, 65536)

    try:
        until(prompt)
        os.write(terminal, b"sleep 1000\n")
        time.sleep(1)
        os.write(terminal, b"\x03")  # Ctrl-C is the guest's
        os.write(terminal, look + b" | sed s/^/card-/; tty\n")
        until(found)
        until(tty)
        children = descendants(pid)
        os.write(terminal, b"poweroff\n")
        deadline = deadline_in(60)
        while (ended := os.waitpid(pid, os.WNOHANG)) == (0, 0):
            assert time.monotonic() < deadline, text.decode(errors="replace")
            if select.select([terminal], [], [], 0.5)[0]:
                try:
                    text += os.read(terminal, 65536)
                except OSError:
                    pass
        assert os.waitstatus_to_exitcode(ended[1]) == 0
        assert not [child for child in children if alive(child)]
        assert prompt in (tmp_path / "run" / "console.log").read_bytes()
    finally:
        os.close(terminal)
        if alive(pid):
            os.kill(pid, signal.SIGTERM)


@pytest.mark.parametrize("suite", tools.SUITES)
def test_the_driver_is_loaded_and_pings_the_far_end(suite: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    pattern = b"meridian"
    command = f"ping -c 3 -i 0.5 -w 60 -p {pattern.hex()} 10.44.0.1; dmesg | grep -E 'BUG|WARNING|Call Trace'"
    done = twin("run", "--suite", suite, "--run-dir", str(run), "--pcap", "--", command)
    assert "3 received" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 1, f"the kernel complains: {done.stdout}"
    # Request and answer, at the host and at the wire.
    assert (run / "card.pcapng").read_bytes().count(2 * pattern) >= 3 * 2 * 2


def test_the_address_comes_by_dhcp(tmp_path: Path) -> None:
    done = twin("run", "--dhcp", "--run-dir", str(tmp_path / "run"), "--", "ip -4 -br address show dev eth0")
    assert re.search(r"10\.44\.0\.1\d\d/24", done.stdout), done.stdout + done.stderr
    assert "DHCPACK" in (tmp_path / "run" / "dhcp-0.log").read_text()


@pytest.mark.long
def test_waves_are_written(tmp_path: Path) -> None:
    done = twin("run", "--no-driver", "--wave", "--run-dir", str(tmp_path), "--", "lspci -n | grep 10ee", seconds=1800)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "card.fst").stat().st_size > 1000


@pytest.mark.long
def test_waves_show_frames_of_the_driver(tmp_path: Path) -> None:
    """Two runs of the same card: the one with frames has more to show."""
    sizes = []
    for name, command in (("still", "true"), ("busy", "ping -c 20 -i 0.2 -s 1400 -w 120 10.44.0.1")):
        done = twin("run", "--wave", "--run-dir", str(tmp_path / name), "--", command, seconds=1800)
        assert done.returncode == 0, done.stdout + done.stderr
        sizes.append((tmp_path / name / "card.fst").stat().st_size)
    assert sizes[1] > 1.1 * sizes[0]


@pytest.mark.long
def test_each_port_has_its_own_wire(tmp_path: Path) -> None:
    """Two ports, a PF on each: a frame of one is not on the other's wire."""
    script = """
sent() { ethtool -S eth1 | sed -n 's/ *port_tx_frames: //p'; }
sysctl -qw net.ipv6.conf.eth1.disable_ipv6=1
ip address add 10.44.1.2/24 dev eth1 && ip link set eth1 up && sleep 1
ethtool -i eth1 && ip neigh flush all
before=$(sent)
ping -c 3 -i 0.3 -w 60 -I eth0 10.44.0.1 && test "$(sent)" = "$before" || exit
ping -c 3 -i 0.3 -w 60 -I eth1 10.44.1.1 && test "$(sent)" -ge "$((before + 3))" || exit
dmesg | grep 'port . of'
"""
    done = twin("run", "--ports", "2", "--device", "pfs=2", "--run-dir", str(tmp_path), "--", script, seconds=1800)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count(" 3 received") == 2
    assert "port 0 of 2" in done.stdout
    assert "port 1 of 2" in done.stdout


def test_help_names_the_commands_and_a_wrong_command_line_is_refused() -> None:
    done = twin("--help", seconds=30)
    assert done.returncode == 0
    assert all(command in done.stdout for command in ("host", "ps", "run", "peer"))
    for wrong in (["run"], ["run", "--suite", "woody", "--", "true"], ["fly"]):
        assert twin(*wrong, seconds=30).returncode == 2


def test_host_and_ps_are_at_one_card(tmp_path: Path) -> None:
    first = "hostname && cat /sys/class/net/eth0/carrier"
    done = twin("run", "--run-dir", str(tmp_path), "--ps", first, "--", "ping -c 3 -i 0.5 -W 20 10.44.0.3")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 received" in done.stdout
    assert "ps\n" in done.stderr
    done = twin("run", "--ps", "exit 7", "--", "true")
    assert done.returncode == 125
    assert "the command of --ps ended with status 7" in done.stderr
