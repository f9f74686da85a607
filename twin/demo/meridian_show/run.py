# SPDX-License-Identifier: Apache-2.0
"""The demo's course: boot, lock, load, end."""

from __future__ import annotations

import contextlib
import re
import subprocess
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from meridian_machine import Hardware, Machine, PsHardware, SdCard, SdMachine, Setting, Twin, driver, tools
from meridian_machine import peer as far_end
from meridian_machine.driver import SOURCE
from meridian_machine.guest import Guest
from meridian_machine.nested_vm import SUITE, TICKING, Vm, vm_files
from meridian_machine.processes import guarded, stop
from meridian_machine.sd_machine import default_image
from meridian_machine.testpmd import LIBRARY, MachineTestpmd, give_to, prepare_vfio, vf_name
from meridian_twin.control import Control

from .burst import SYNC_LOG, Bursts
from .clock import Clock
from .host import Host
from .record import IDLE, LOADED, Programs, Record

VFS = [bytes.fromhex(f"0200000000{16 + n:02x}") for n in range(2)]
GRANDMASTER = f"ptp:transport=udp4,log_sync={SYNC_LOG},log_delay_req={SYNC_LOG},log_announce=-2,link_delay=250ns"
CLOCKS = [word for clock in ("ps=50", "mac_rx_0=-50", "mac_tx_0=50", "host=-50") for word in ("--ppm", clock)]
LOCK_SECONDS = 240
TICK = 1.0
DPDK, VM = range(2)  # who has which VF
FUNCTIONS = ["PF", *(f"VF {number}" for number in range(len(VFS)))]
SETTLE_SECONDS = 120
VM_ADDRESS = far_end.address(0, 50)


def prepare(say: Callable[[str], object]) -> None:
    """Builds what is not built; the scripts say what they do. Raises BuildError."""
    say("card, QEMU, images, drivers: built once, then kept")

    def programs() -> None:
        tools.built("build-card", *Setting().card_build(), minutes=30)
        tools.qemu()

    def images() -> None:
        tools.Image.build(SUITE)
        driver.modules(SUITE, SOURCE)
        tools.built("build-dpdk", "--suite", SUITE, minutes=15)
        default_image()

    # Images wait for the network and write files while the programs are compiled.
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(programs), pool.submit(images)]:
            done.result()


class ShowError(Exception):
    """The demo did not come to where it should: a sentence."""


@dataclass(frozen=True)
class Lengths:
    """Of phases, in seconds, and of a train, in frames."""

    idle: float = 20
    loaded: float = 60
    train: int = 100


@contextlib.contextmanager
def iperf_server(twin: Twin) -> Iterator[None]:
    process = subprocess.Popen(
        [*twin.peer.enter, *guarded(["iperf3", "-s", "-1"])], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        stop(process)


class Show:
    """Use `run`. folder: of the run, which keeps its captures and logs."""

    def __init__(self, folder: Path, record: Record, lengths: Lengths) -> None:
        self.folder, self.record, self.lengths = folder, record, lengths

    def setting(self) -> Setting:
        wire = f"{GRANDMASTER}+tap:name={far_end.interface(0)}+socket:path={self.folder / 'wire'}"
        options = [*CLOCKS, "--control", str(self.folder / "control")]
        return Setting(
            suite=SUITE,
            hardware=Hardware(memory=2048, iommu=True, kernel=TICKING),
            wires=[f"0={wire}"],
            card_options=options,
            pcap=True,
        )

    def run(self) -> None:
        place = self.folder / "ps"
        place.mkdir(exist_ok=True)
        self.record.begin("booting the host, and the card's PS from its SD card")
        card = SdCard.copy(default_image(), place / "sd.img")
        try:
            with Twin(self.setting(), self.folder) as twin:
                twin.peer.set_up([0])
                twin.host.files.update(vm_files())
                twin.host.files[LIBRARY] = tools.built("build-dpdk", "--suite", SUITE, minutes=15)
                with (
                    iperf_server(twin),
                    ThreadPoolExecutor(1) as pool,
                    SdMachine(card, place, twin.card.socket, PsHardware(), watch=twin.card.check) as ps,
                ):
                    booted = pool.submit(ps.wait_up)
                    with twin.machine() as machine:
                        self.record.note("the host is up, its driver loaded")
                        seconds = booted.result()
                        self.record.note(f"the PS is up, {seconds:.0f} s after power-on")
                        self._with(twin, machine, ps)
                        machine.power_off()
                    ps.power_off()
        finally:
            card.path.unlink(missing_ok=True)

    def _with(self, twin: Twin, machine: Machine, ps: SdMachine) -> None:
        with (
            contextlib.closing(Clock(ps, self.record)) as clock,
            Control(self.folder / "control") as control,
        ):
            host = Host(machine, control, self.record)
            self.record.begin("waiting for ptp4l to lock")
            self._until(host, clock.locked, LOCK_SECONDS, "ptp4l does not lock; the run's ps/console.log may say why")
            self.record.begin(IDLE)
            self._for(host, self.lengths.idle)
            self._load(host, machine)
            self.record.begin("ending")
            if clock.ended:
                raise ShowError("the login that follows ptp4l has ended before the demo did")

    def _load(self, host: Host, machine: Machine) -> None:
        """Linux on the PF, testpmd on a VF, a virtual machine with the other, and trains of frames for all three."""
        guest = Guest(machine)
        self.record.begin("a virtual machine boots with a VF of its own")
        host.make_vfs(VFS)
        prepare_vfio(guest, hugepages=96)
        for number in range(len(VFS)):
            give_to(guest, vf_name(guest, number), "vfio-pci")
        vm = Vm(guest, vf_name(guest, VM))
        vm.up(VM_ADDRESS)
        self.record.begin("testpmd starts on the other VF")
        testpmd = MachineTestpmd(guest, [vf_name(guest, DPDK)])
        testpmd.start("macswap")
        host.start_traffic()
        vm.run(f"ping {far_end.address(0, 1)} >/tmp/ping &")
        self.record.begin(LOADED)
        receivers = [guest.address(), *VFS]
        self.record.train = self.lengths.train
        self.record.receivers = dict(zip(FUNCTIONS, (it.hex(":") for it in receivers), strict=True))
        with (
            Control(self.folder / "control") as control,
            contextlib.closing(
                Bursts(self.folder / "wire", receivers, self.lengths.train, control, self.record)
            ) as bursts,
        ):
            self._for(host, self.lengths.loaded)
            self.record.begin("the last train ends")
            bursts.end()
            self._until(
                host, lambda: self.record.counters[-1].twin > bursts.ends, SETTLE_SECONDS, "the last train hangs"
            )
        self.record.begin("what the programs say")
        counted = testpmd.statistics()
        self.record.note(f"testpmd received {counted['RX-packets']} frames and sent {counted['TX-packets']}")
        answered = len(re.findall("bytes from", vm.run("cat /tmp/ping")))
        self.record.note(f"pings of the virtual machine that were answered: {answered}")
        self.record.programs = Programs(counted["RX-packets"], counted["TX-packets"], answered)
        testpmd.quit()
        vm.power_off()

    def _for(self, host: Host, seconds: float) -> None:
        self._until(host, None, seconds, "")

    def _until(self, host: Host, done: Callable[[], bool] | None, seconds: float, sentence: str) -> None:
        """Looks at the counters each second until it is done; without `done`, for so long."""
        end = time.monotonic() + seconds
        while not (done and done()):
            left = end - time.monotonic()
            if left <= 0:
                if done:
                    raise ShowError(sentence)
                return
            began = time.monotonic()
            host.look()
            time.sleep(max(0.0, min(TICK - (time.monotonic() - began), left)))
