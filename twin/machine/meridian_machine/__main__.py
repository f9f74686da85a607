# SPDX-License-Identifier: Apache-2.0
"""The twin: Debian machines in QEMU with a simulated Meridian card, which runs the shell's Verilog."""

from __future__ import annotations

import argparse
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

from meridian_twin.process import CardError

from . import console, driver, tools
from .hardware import Hardware
from .machine import Machine, MachineError, MachineTimeout
from .peer import PeerError
from .ps_hardware import PsHardware
from .sd_card import SdCard, SdError
from .sd_machine import SdMachine, default_firmware, default_image
from .twin import DMA, RUNS, Setting, Twin, discard, new_run

TIMED_OUT, FAILED, INTERRUPTED = 124, 125, 130
MOST_PORTS = 4
MOST_SECONDS = 10_000_000
ERRORS = (tools.BuildError, CardError, MachineError, PeerError, SdError, OSError)


def words(text: str) -> list[str]:
    """Of the value of an option that holds several, in the shell's quotes."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r}: {error}".lower()) from None


def wire(text: str) -> str:
    """PORT=SPEC; the card looks at SPEC."""
    port, _, spec = text.partition("=")
    if not (port.isascii() and port.isdigit() and int(port) < MOST_PORTS and spec):
        raise argparse.ArgumentTypeError(f"{text!r} is not PORT=SPEC with a PORT of 0 to {MOST_PORTS - 1}")
    return text


def positive(text: str) -> float:
    """Seconds."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds <= MOST_SECONDS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0, {MOST_SECONDS} at most")
    return seconds


def setting_of(arguments: argparse.Namespace) -> Setting:
    """With the host machine."""
    return card_of(
        arguments,
        hardware=Hardware(
            arguments.memory,
            arguments.cpus,
            arguments.device,
            extra=arguments.qemu,
            iommu=arguments.iommu,
        ),
        ps=None if arguments.ps is None else PsHardware(),
        dhcp=arguments.dhcp,
        driver=arguments.driver and arguments.driver.resolve(),
    )


def ps_setting_of(arguments: argparse.Namespace) -> Setting:
    """With the PS alone."""
    return card_of(
        arguments,
        hardware=None,
        ps=PsHardware(arguments.memory, arguments.cpus, extra=arguments.qemu),
        ps_driver=arguments.driver and arguments.driver.resolve(),
    )


def card_of(arguments: argparse.Namespace, **machines: Any) -> Setting:
    return Setting(
        suite=arguments.suite,
        ports=arguments.ports,
        shell=shell_of(arguments),
        dma=arguments.dma,
        wires=arguments.wire,
        card_options=arguments.card,
        pcap=arguments.pcap,
        wave=arguments.wave,
        **machines,
    )


def shell_of(arguments: argparse.Namespace) -> tuple[str, ...]:
    """Options of its generator."""
    options = [("--box", arguments.box), ("--host-box", arguments.host_box)]
    if arguments.self_test:
        options.append(("--self-test", "true"))
    return tuple(word for option, value in options if value is not None for word in (option, value))


def run_in(machine: Machine, arguments: argparse.Namespace) -> int:
    # One word is a line for the shell; several are a command and its arguments.
    script = arguments.command[0] if len(arguments.command) == 1 else shlex.join(arguments.command)
    try:
        done = machine.run(
            script,
            arguments.timeout,
            lambda data: sys.stdout.buffer.write(data) and sys.stdout.buffer.flush(),
            lambda data: sys.stderr.buffer.write(data) and sys.stderr.buffer.flush(),
        )
    finally:
        sys.stdout.flush()
    machine.power_off()
    return done.status


@contextmanager
def ps_beside(twin: Twin, arguments: argparse.Namespace) -> Iterator[None]:
    """The PS of the host's card, if it is wanted, and its command done."""
    if arguments.ps is None:
        yield
        return
    with twin.ps_machine() as machine:
        if arguments.ps:
            done = machine.run(arguments.ps, arguments.ps_timeout, sys.stderr.buffer.write, sys.stderr.buffer.write)
            sys.stderr.flush()
            if done.status:
                raise MachineError(f"the command of --ps ended with status {done.status}")
        yield
        machine.power_off()


def run(arguments: argparse.Namespace, folder: Path) -> int:
    with Twin(setting_of(arguments), folder) as twin, ps_beside(twin, arguments), twin.machine() as machine:
        return run_in(machine, arguments)


def host(arguments: argparse.Namespace, folder: Path) -> int:
    with Twin(setting_of(arguments), folder) as twin, ps_beside(twin, arguments):
        return console.attach(twin, twin.host)


def ps(arguments: argparse.Namespace, folder: Path) -> int:
    if arguments.image is not None:
        return from_sd(arguments, folder)
    if arguments.firmware:
        raise SdError("--firmware starts from an SD card: add --image")
    with Twin(ps_setting_of(arguments), folder) as twin:
        if not arguments.command:
            return console.attach(twin, twin.ps)
        with twin.ps_machine() as machine:
            return run_in(machine, arguments)


def from_sd(arguments: argparse.Namespace, folder: Path) -> int:
    """The PS as its SD card has it: the driver and all else are of the image."""
    image = default_image() if arguments.image == Path() else arguments.image
    setting = replace(ps_setting_of(arguments), ps=None)
    hardware = PsHardware(arguments.memory, arguments.cpus, extra=arguments.qemu)
    place = folder / "ps"
    place.mkdir(exist_ok=True)
    card = SdCard.copy(image, place / "sd.img")
    try:
        with Twin(setting, folder) as twin:
            return start_from(card, place, twin, hardware, arguments)
    finally:
        card.path.unlink()


def start_from(card: SdCard, folder: Path, twin: Twin, hardware: PsHardware, arguments: argparse.Namespace) -> int:
    firmware = default_firmware() if arguments.firmware else None
    if not arguments.command:
        with (
            console.terminal_kept(),
            SdMachine(card, folder, twin.card.socket, hardware, on_terminal=True, firmware=firmware) as machine,
        ):
            print(f"twin: log in with {shlex.join(machine.ssh())}; Ctrl-A X ends the machine", file=sys.stderr)
            return machine.wait()
    with SdMachine(card, folder, twin.card.socket, hardware, watch=twin.card.check, firmware=firmware) as machine:
        machine.wait_up()
        done = machine.run(" ".join(arguments.command), arguments.timeout)
        sys.stdout.buffer.write(done.stdout)
        sys.stderr.buffer.write(done.stderr)
        sys.stdout.flush()
        machine.power_off()
    return done.status


def driven(source: Path) -> argparse.ArgumentParser:
    """Options for the driver of a machine."""
    result = argparse.ArgumentParser(add_help=False)
    where = source.relative_to(tools.ROOT)
    result.add_argument(
        "--driver", type=Path, default=source, metavar="DIR", help=f"folder of the driver's source ({where})"
    )
    result.add_argument("--no-driver", dest="driver", action="store_const", const=None, help="do not load a driver")
    return result


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(prog="scripts/twin", description=__doc__)
    commands = result.add_subparsers(required=True, metavar="COMMAND")
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--suite",
        choices=(*tools.SUITES, tools.OLDEST),
        default=tools.SUITES[0],
        help="Debian release of the machine (trixie)",
    )
    common.add_argument("--memory", type=int, default=1024, metavar="MIB", help="memory of the machine (1024)")
    common.add_argument("--cpus", type=int, default=2, help="processors of the machine (2)")
    common.add_argument(
        "--ports", type=int, default=1, choices=range(1, MOST_PORTS + 1), help="Ethernet ports of the card (1)"
    )
    common.add_argument(
        "--wire",
        action="append",
        type=wire,
        default=[],
        metavar="PORT=SPEC",
        help="other end of a port's wire, as for meridian_card (default: an interface in a network namespace)",
    )
    common.add_argument(
        "--box",
        metavar="FILE[,FILE...]",
        help="source of your own module, which the shell has at each port (docs/user-logic.md)",
    )
    common.add_argument(
        "--host-box",
        metavar="FILE[,FILE...]",
        help="source of your own module at the host, between filters and DMA engine",
    )
    common.add_argument(
        "--self-test",
        action="store_true",
        help="the shell has the self-test block, for dma-pattern and port-loops of meridian-selftest (docs/selftest.md)",
    )
    common.add_argument(
        "--dma",
        choices=DMA,
        default=Setting().dma,
        help="whose DMA engine the card has: our own, or the QDMA IP, as a model (%(default)s)",
    )
    common.add_argument("--pcap", action="store_true", help="capture the frames at the card into card.pcapng")
    common.add_argument("--wave", action="store_true", help="write waveforms of the shell into card.fst (slow)")
    common.add_argument("--run-dir", type=Path, metavar="DIR", help=f"folder for the files of the run ({RUNS}/run-...)")
    common.add_argument("--keep", action="store_true", help="keep the run directory of a run that succeeded")
    common.add_argument(
        "--card",
        type=words,
        default=[],
        metavar="OPTIONS",
        help="options for meridian_card, as --card='--ppm mac_rx_0=5'",
    )
    common.add_argument(
        "--qemu", type=words, default=[], metavar="OPTIONS", help="options for QEMU, as --qemu='-device igb'"
    )

    timed = argparse.ArgumentParser(add_help=False)
    timed.add_argument(
        "--timeout", type=positive, default=600, metavar="SECONDS", help="time limit of the command (600)"
    )
    plugged = argparse.ArgumentParser(add_help=False)
    plugged.add_argument(
        "--device",
        default="",
        metavar="PROPERTIES",
        help="QEMU properties of the card, as pfs=2,vfs=16 (twin/qemu/README.md)",
    )
    plugged.add_argument(
        "--iommu",
        action="store_true",
        help="add an IOMMU, which translates the addresses that the card reads and writes",
    )
    plugged.add_argument(
        "--ps",
        nargs="?",
        const="",
        metavar="CMD",
        help="also boot the card's own PS, with its driver, and first run the shell command CMD in it",
    )
    plugged.add_argument(
        "--ps-timeout", type=positive, default=120, metavar="SECONDS", help="time limit of the command of --ps (120)"
    )
    plugged.add_argument("--dhcp", action="store_true", help="start a DHCP server at the other end of the wire")

    one = commands.add_parser(
        "host", parents=[common, plugged, driven(driver.SOURCE)], help="boot the machine and open its console"
    )
    one.set_defaults(act=host)
    one = commands.add_parser(
        "run",
        parents=[common, plugged, driven(driver.SOURCE), timed],
        help="boot the machine, run a command in it as root, and end with its status",
    )
    one.add_argument(
        "command", nargs="+", metavar="CMD", help="command and arguments, or one word as a line for the shell"
    )
    one.set_defaults(act=run)
    one = commands.add_parser(
        "ps",
        parents=[common, driven(driver.PS_SOURCE), timed],
        help="boot the card's own PS and open its console, or run a command in it",
    )
    one.add_argument(
        "--image",
        nargs="?",
        type=Path,
        const=Path(),
        metavar="FILE.wic",
        help="boot from a copy of this SD card image, with systemd; commands go through ssh (default: our own image)",
    )
    one.add_argument(
        "--firmware",
        action="store_true",
        help="with --image: boot through TF-A and U-Boot, as a real card does (default: QEMU starts Linux)",
    )
    one.add_argument(
        "command",
        nargs="*",
        metavar="CMD",
        help="command and arguments, or one word as a line for the shell (default: open the console)",
    )
    one.set_defaults(act=ps)
    one = commands.add_parser("peer", help="run a command at the far end of the wire of a running twin")
    one.add_argument(
        "--run-dir", type=Path, metavar="DIR", help="run directory of the twin (default: the one that was started last)"
    )
    one.add_argument("command", nargs="*", metavar="CMD", help="command and arguments (default: a shell)")
    one.set_defaults(act=None)
    return result


def ended(number: int, _: FrameType | None) -> None:
    raise KeyboardInterrupt(signal.Signals(number).name)


def is_kept(arguments: argparse.Namespace) -> bool:
    """Whether the run directory stays after a run that did not fail."""
    return bool(arguments.keep or arguments.run_dir is not None or arguments.pcap or arguments.wave)


def main(line: Sequence[str] | None = None) -> int:
    arguments = parser().parse_args(line)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, ended)
    if arguments.act is None:
        try:
            return console.enter_peer(arguments.command, arguments.run_dir)
        except PeerError as error:
            print(f"twin: {error}", file=sys.stderr)
            return FAILED
    folder = new_run(arguments.run_dir)
    keep = True
    try:
        status = arguments.act(arguments, folder)
        keep = is_kept(arguments)
    except ERRORS as error:
        print(f"twin: {error}", file=sys.stderr)
        status = TIMED_OUT if isinstance(error, MachineTimeout) else FAILED
    except KeyboardInterrupt:
        keep = is_kept(arguments)
        status = INTERRUPTED
    if keep:
        print(f"twin: the files of the run are in {folder}", file=sys.stderr)
    else:
        discard(folder)
    return status


if __name__ == "__main__":
    sys.exit(main())
