# SPDX-License-Identifier: Apache-2.0
"""A machine whose PF and VF, the VF in a network namespace, talk to Linux at the other end of the card's wire."""

from __future__ import annotations

import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from driver_machine import running
from machine_report import run_folder
from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine import peer as far_end
from meridian_machine.driver import SOURCE
from meridian_machine.guest import PF_DEVICE, Guest
from meridian_machine.testpmd import give_to, vf_name
from meridian_twin.patience import deadline_in, stretched

FAR = far_end.address(0, 1)
WIRE = far_end.interface(0)
IPERF_PORT, HTTP_PORT = 5201, 8000
MEGABYTE = 1 << 20


@dataclass
class Function:
    """The PF, or a VF in its namespace."""

    guest: Guest
    interface: str
    address: str
    namespace: str = ""

    @property
    def enter(self) -> str:
        return f"ip netns exec {self.namespace} " if self.namespace else ""

    def run(self, command: str, seconds: float = 60) -> str:
        """One command, no line for a shell."""
        return self.guest.run(self.enter + command, seconds)

    def up(self) -> None:
        self.run(f"ip address replace {self.address}/24 dev {self.interface}")
        self.run(f"ip link set {self.interface} up")
        self.guest.until(f"{self.enter}ip link show {self.interface}", "LOWER_UP")

    def ping(self, count: int = 3, size: int = 56, to: str = FAR) -> None:
        """All are answered, whole."""
        self.guest.ping(count, size, to, self.enter)

    def iperf(self, size: str, *more: str, seconds: float = 120) -> int:
        """Bytes that TCP brought to the receiver."""
        text = self.run(f"iperf3 -c {FAR} -p {IPERF_PORT} -n {size} -J {' '.join(more)}", seconds)
        return json.loads(text)["end"]["sum_received"]["bytes"]

    def download(self, name: str, seconds: float = 120) -> str:
        """SHA-256 of a file of the far end as it arrives by HTTP."""
        url = f"http://{FAR}:{HTTP_PORT}/{name}"
        script = f"set -o pipefail; {self.enter}curl -sS --fail --max-time {seconds - 5:.0f} {url} | sha256sum"
        return self.guest.run(script, seconds).split()[0]


@dataclass
class Network:
    """All of it. `served` is the folder of the far end's HTTP server."""

    twin: Twin
    guest: Guest
    pf: Function
    served: Path
    vfs: list[Function] = field(default_factory=list)

    def functions(self) -> list[Function]:
        return [self.pf, *self.vfs]

    def serve(self, name: str, size: int) -> str:
        """A new file for the HTTP server; its SHA-256."""
        data = random.Random(size).randbytes(size)
        (self.served / name).write_bytes(data)
        return hashlib.sha256(data).hexdigest()

    def far(self, *command: str, seconds: float = 60) -> str:
        """Output of a command in the far end's namespace that must succeed."""
        done = subprocess.run(
            [*self.twin.peer.enter, *command], capture_output=True, text=True, timeout=seconds, check=False
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def make_vfs(self, count: int) -> None:
        """Made by the PF, each in a namespace of its own."""
        self.guest.run(f"echo {count} >{PF_DEVICE}/sriov_numvfs")
        for number in range(count):
            name = self.guest.run(f"ls {PF_DEVICE}/virtfn{number}/net").strip()
            self.guest.run(f"ip netns add vf{number} && ip link set {name} netns vf{number}")
            self.vfs.append(Function(self.guest, name, f"10.44.0.{10 + number}", f"vf{number}"))
            self.vfs[-1].up()

    def make_vfs_for_vm(self) -> None:
        """Two: VF 0 is for a virtual machine, at vfio-pci, VF 1 in a namespace."""
        self.make_vfs(2)
        self.vfs.pop(0)
        self.guest.run("ip netns del vf0")
        give_to(self.guest, vf_name(self.guest, 0), "vfio-pci")

    def end_vfs(self) -> None:
        for vf in self.vfs:
            self.guest.run(f"ip netns del {vf.namespace}")
        self.vfs.clear()
        self.guest.run(f"echo 0 >{PF_DEVICE}/sriov_numvfs")


@contextmanager
def server(twin: Twin, *command: str, port: int) -> Iterator[None]:
    """A program at the far end, from when it listens on a TCP port."""
    process = subprocess.Popen([*twin.peer.enter, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = deadline_in(30)
        while (
            f":{port} "
            not in subprocess.run(
                [*twin.peer.enter, "ss", "-Htln"], capture_output=True, text=True, timeout=stretched(20), check=True
            ).stdout
        ):
            assert process.poll() is None and time.monotonic() < deadline, f"{command[0]} does not listen"
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait(timeout=stretched(20))


@contextmanager
def network(
    vfs: int = 1,
    hardware: Hardware | None = None,
    suite: str = tools.SUITES[0],
    files: dict[str, Path] | None = None,
    shell: Sequence[str] = (),
    driver: Path = SOURCE,
) -> Iterator[Network]:
    """The machine, its VFs and the servers at the far end.

    files: for the machine, under /run/twin; shell: options of its generator; driver: its source.
    """
    with run_folder() as folder:
        served = folder / "served"
        served.mkdir()
        serve = [sys.executable, "-m", "http.server", "--bind", FAR, "--directory", os.fspath(served), str(HTTP_PORT)]
        setting = Setting(suite=suite, hardware=hardware or Hardware(), shell=shell, driver=driver)
        with Twin(setting, folder) as twin:
            twin.host.files.update(files or {})
            with (
                server(twin, "iperf3", "-s", "-p", str(IPERF_PORT), port=IPERF_PORT),
                server(twin, *serve, port=HTTP_PORT),
                running(twin) as guest,
            ):
                it = Network(twin, guest, Function(guest, "eth0", "10.44.0.2"), served)
                if vfs:
                    it.make_vfs(vfs)
                yield it
                if vfs:
                    it.end_vfs()
                it.pf.ping()
