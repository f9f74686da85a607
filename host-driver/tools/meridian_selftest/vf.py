# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Check of a VF: it and its messages interrupt, it comes back from a reset under load, and its PF loses nothing."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from . import counters, frames, system, traffic
from .card import HOST_DRIVER, Function, has_carrier
from .changes import interface_up, written
from .context import Context
from .counters import Reading
from .frames import Frames
from .result import Fail, Skip

#: Frames of the VF that may be under way to the PF.
WINDOW = 64
#: After so long, frames that did not come are taken as lost by the reset.
STUCK_SECONDS = 0.2
LOAD_SECONDS, QUICK_LOAD_SECONDS = 1.0, 0.3
APPEAR_SECONDS, BACK_SECONDS = 10, 10
#: A name that so many looks have found stays.
LOOKS, LOOK_SECONDS = 5, 0.1
#: Verdicts of the card on the PF's frames that are no loss.
WENT = ("card_tx_sent", "card_tx_bytes", "card_tx_switched", "card_tx_to_ps", "card_tx_offload_skipped")
LOOK = "'dmesg | grep meridian' tells of resets and refusals"


@dataclass
class Load:
    """Frames from the VF to the PF inside the card, and from the PF to the wire, one by one."""

    vf: Frames
    pf: Frames
    to: bytes
    sent: int = 0
    came: int = 0
    of_pf: int = 0
    _lost: int = 0
    _since: float = field(default_factory=time.monotonic)

    def turn(self) -> None:
        """Some of each."""
        came = self.pf.receive()
        now = time.monotonic()
        if came or now - self._since > STUCK_SECONDS:
            self._lost = self._lost if came else self.sent - self.came
            self._since = now
        self.came += came
        while self.sent - self.came - self._lost < WINDOW and self.vf.send(self.sent, self.to):
            self.sent += 1
        if not self.pf.waiting():
            self.of_pf += self.pf.send(self.of_pf)
        time.sleep(0)

    def last(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.turn()

    def until_came(self, more: int, seconds: float) -> bool:
        """Whether so many more frames of the VF come in time."""
        wanted, end = self.came + more, time.monotonic() + seconds
        while self.came < wanted:
            if time.monotonic() > end:
                return False
            self.turn()
        return True


def _reset(path: Path) -> list[str]:
    """Writes the file, which takes as long as the reset; what went wrong."""
    try:
        path.write_text("1")
    except OSError as error:
        return [f"the kernel does not reset the VF: {error.strerror}"]
    return []


def _reset_under(load: Load, vf: Function, seconds: float) -> None:
    """The VF is reset while the load goes on."""
    said: list[str] = []
    thread = threading.Thread(target=lambda: said.extend(_reset(vf.path / "reset")), daemon=True)
    thread.start()
    end = time.monotonic() + seconds
    while thread.is_alive():
        load.turn()
        if time.monotonic() > end:
            raise Fail(f"the kernel does not end the reset of {vf.address}", LOOK)
    if said:
        raise Fail(said[0], LOOK)


def _told_losses(interface: str, start: Reading, sent: int) -> str:
    """Of a PF that has sent so many frames since the start: what the card or its driver has lost of its frames, and of those
    that others have sent by it; "" if nothing. It looks again while frames are under way.
    """
    verdicts = counters.of_interface(interface)[1]
    vanished, end = 0, counters.reading([interface])
    for _ in range(counters.TRIES):
        vanished = counters.difference(verdicts, start, end)
        if vanished <= 0:
            break
        time.sleep(counters.PAUSE_SECONDS)
        end = counters.reading([interface])
    before, after = ({name.partition(":")[2]: value for name, value in one.first.items()} for one in (start, end))
    found = []
    for name, value in after.items():
        is_verdict = name.startswith("card_tx_") and name not in WENT and "_copies_" not in name
        if (is_verdict or name == "tx_dropped") and value > before[name]:
            found.append(f"{name} {value - before[name]}")
    left = after["card_tx_sent"] - before["card_tx_sent"]
    if vanished > 0:
        found.append(f"{vanished} frames of {interface} vanished")
    elif left < sent and not found:
        found.append(f"the card sent {left} of {sent}")
    return ", ".join(found)


def _run(context: Context, pf: Function, vf: Function) -> str:
    part = QUICK_LOAD_SECONDS if context.options.quick else LOAD_SECONDS
    bound = context.patience(BACK_SECONDS)
    start_counts = counters.reading([pf.interface])
    with frames.opened(vf.interface) as from_vf, frames.opened(pf.interface) as of_pf:
        load = Load(from_vf, of_pf, frames.address(pf.interface))
        if not load.until_came(WINDOW, bound):
            raise Fail(
                f"of {load.sent} frames of {vf.interface} (VF 0) {load.came} reach {pf.interface} inside the card", LOOK
            )
        load.last(part)
        _reset_under(load, vf, bound)
        start, came = time.monotonic(), load.came
        if not load.until_came(2 * WINDOW, bound):
            raise Fail(
                f"after its reset {load.came - came} frames of {vf.interface} (VF 0) reach {pf.interface} in {bound:g} s",
                LOOK,
            )
        back = time.monotonic() - start
        load.last(part)
        if not of_pf.sent(context.patience(1)):
            raise Fail(f"a frame of {pf.interface} is not done: its queue stands still", LOOK)
    if lost := _told_losses(pf.interface, start_counts, load.of_pf):
        raise Fail(f"frames of {pf.interface} were lost beside the reset: {lost}", LOOK)
    return (
        f"VF 0 of {pf.interface} was back {back:.1f} s after its reset, {load.came} of its frames came; {pf.interface} lost none of "
        f"{load.of_pf}"
    )


def _new_vf(context: Context, pf: Function) -> Function:
    """VF 0, when it has an interface."""
    vf = Function((pf.path / "virtfn0").resolve())
    names: list[str] = []

    def has_name() -> bool:
        """udev may give it another name soon after it is there."""
        names.append(vf.interface)
        return bool(names[-1]) and names[-LOOKS:] == LOOKS * [names[-1]]

    if not system.until(has_name, context.patience(APPEAR_SECONDS), LOOK_SECONDS):
        if vf.driver not in ("", HOST_DRIVER):
            raise Skip(
                f"{vf.driver} takes VF 0 of {pf.address} before {HOST_DRIVER} does: see 'modprobe -c | grep {vf.driver}'"
            )
        raise Fail(f"VF 0 of {pf.address} gets no interface in {context.patience(APPEAR_SECONDS):g} s", LOOK)
    if "flr" not in system.read(vf.path / "reset_method", "flr"):
        raise Fail(f"the kernel does not reset {vf.address} by function level reset", "See 'lspci -vv': FLReset+")
    return vf


def reset_under_load(context: Context) -> str:
    """A VF of each PF is made, loaded, reset and taken away again."""
    if not context.host.interfaces:
        context.host.first_interface()
    pfs = {pf.interface: pf for pf in context.host.pfs if pf.interface}
    done: list[str] = []

    def work(name: str) -> str:
        """With --quick of one PF, as a VF takes seconds: Linux waits a second when it ends one."""
        if context.options.quick and done:
            raise context.no_more_time(name)
        said = _reset_of(context, pfs[name])
        done.append(name)
        return said

    said, skipped = context.of_each(pfs, work)
    return "; ".join([*said, *skipped])


def _reset_of(context: Context, pf: Function) -> str:
    if not pf.number("sriov_totalvfs"):
        raise Skip(f"the bitstream has no VFs for {pf.interface}, or devlink's enable_sriov is off")
    context.may_disturb(f"makes a VF of {pf.interface} and resets it")
    if pf.number("sriov_numvfs"):
        raise Skip(
            f"there are VFs of {pf.interface}, which may be in use: end them with 'echo 0 >{pf.path}/sriov_numvfs' first"
        )
    if not system.number(pf.path / "sriov_drivers_autoprobe", 1):
        raise Skip(f"VFs get no driver: 'echo 1 >{pf.path}/sriov_drivers_autoprobe'")
    try:
        return _with_a_vf(context, pf)
    except OSError as error:
        raise Fail(f"the kernel refuses: {error}", LOOK) from None


def _messages(context: Context, pf: Function, before: int | None) -> str:
    """VF 0 has a link by now, which its PF has told it in answer to a message. The PF's driver looks for messages without
    an interrupt, too."""
    if before is None:
        raise Fail(f"Linux has no interrupt of {pf.address} for messages of VFs", "'dmesg | grep meridian' says why")
    if not system.until(lambda: (traffic.of_messages(pf) or 0) > before, context.patience(traffic.INTERRUPT_SECONDS)):
        raise Fail(f"no interrupt comes for messages of VF 0 to {pf.interface} ({pf.address})", traffic.LOST)
    return "its messages interrupted"


def _vectors(context: Context, vf: Function) -> str:
    """No reason to leave the reset out."""
    try:
        return f"vectors that fired: {traffic.vectors(context, vf.interface)}"
    except Skip as reason:
        return f"vectors not tested: {reason}"


def _with_a_vf(context: Context, pf: Function) -> str:
    before = traffic.of_messages(pf)
    with context.at_work(pf.interface), written(pf.path / "sriov_numvfs", "1"):
        vf = _new_vf(context, pf)
        with interface_up(vf.interface):
            if not system.until(lambda: has_carrier(vf.interface), context.patience(APPEAR_SECONDS)):
                raise Fail(f"{vf.interface} (VF 0) gets no link from its PF", LOOK)
            interrupted = [_messages(context, pf, before), _vectors(context, vf)]
            with frames.by_first_queue(pf.interface):
                return ", ".join([_run(context, pf, vf), *interrupted])
