# SPDX-License-Identifier: Apache-2.0
"""The program with the shell in it, built once for each configuration; kept for later runs by scripts/build-card."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from dma_engines import QDMA_IP, with_engine
from meridian_card import Simulator
from meridian_machine.twin import DMA
from meridian_twin import CardProcess
from meridian_twin.control import Control
from meridian_twin.patience import deadline_in
from meridian_twin.wire import Wire, WireError

pytest_plugins = ["debug_kernel", "longest_first", "machine_report", "pcie_link"]
ROOT = Path(__file__).resolve().parents[1]
BUILD_MINUTES = 20
BUSY_PS = 100_000_000  # so long a card may work on without rest: many round trips of the link far
Start = Callable[..., Simulator]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--endurance", type=int, default=300, metavar="SECONDS", help="how long each test of endurance runs (300)"
    )
    parser.addoption(
        "--dma",
        choices=DMA,
        default=os.environ.get("MERIDIAN_DMA", DMA[0]),
        help=f"whose DMA engine the tests' cards have (the variable MERIDIAN_DMA, or {DMA[0]})",
    )


def pytest_configure(config: pytest.Config) -> None:
    os.environ["MERIDIAN_DMA"] = config.getoption("--dma")  # for the machines' cards (meridian_machine.twin.Setting)


@pytest.fixture(scope="session")
def endurance(request: pytest.FixtureRequest) -> int:
    """Seconds for which a test does what must not fail once."""
    return request.config.getoption("--endurance")


@pytest.fixture(scope="session")
def own_dma(request: pytest.FixtureRequest) -> bool:
    """Whether the tests' cards have the DMA engine of our own, and no model of the QDMA IP, if they name neither."""
    return request.config.getoption("--dma") == "meridian"


@pytest.fixture(scope="session")
def programs(request: pytest.FixtureRequest) -> Callable[..., Path]:
    """The folder with the programs of a configuration, with the DMA engine that the option --dma says, or its own."""
    folders: dict[tuple[str, ...], Path] = {}

    def build(*options: str) -> Path:
        generator = with_engine(options, request.config.getoption("--dma"))
        if generator not in folders:
            command = [str(ROOT / "scripts" / "build-card"), *generator]
            done = subprocess.run(command, capture_output=True, text=True, timeout=60 * BUILD_MINUTES, check=False)
            assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
            folders[generator] = Path(done.stdout.splitlines()[-1])
        return folders[generator]

    return build


def given_or_built(programs: Callable[..., Path], name: str, variable: str) -> Callable[..., Path]:
    """A program of a configuration. The variable names one for the default configuration, as one with tracing."""

    def find(*generator: str) -> Path:
        given = os.environ.get(variable)
        return Path(given) if given and not generator else programs(*generator) / name

    return find


@pytest.fixture(scope="session")
def built(programs: Callable[..., Path]) -> Callable[..., Path]:
    """shell_sim drives the streams at the pins of the QDMA IP; with the DMA engine of our own they are in the shell."""
    return given_or_built(lambda *of: programs(*of, *QDMA_IP), "shell_sim", "MERIDIAN_SHELL_SIM")


@pytest.fixture(scope="session")
def built_card(programs: Callable[..., Path]) -> Callable[..., Path]:
    return given_or_built(programs, "meridian_card", "MERIDIAN_CARD")


@pytest.fixture
def start(built: Callable[..., Path], request: pytest.FixtureRequest) -> Start:
    """Starts a run: start("--seed", "3", configuration=("--ports", "2")). It ends with the test."""

    def run(*options: str, configuration: tuple[str, ...] = ()) -> Simulator:
        simulator = Simulator(built(*configuration), *options)
        request.addfinalizer(simulator.close)
        return simulator

    return run


@pytest.fixture(scope="session")
def shell_sim(built: Callable[..., Path]) -> Path:
    """The program of the default configuration."""
    return built()


class RunningCard(CardProcess):
    """meridian_card with the wires of its ports in the test's hands. control: the socket that its --control names."""

    def __init__(self, program: Path, *options: str, ports: int = 1) -> None:
        self._wires = tempfile.TemporaryDirectory(prefix="meridian-")
        paths = [Path(self._wires.name) / str(port) for port in range(ports)]
        named = [word for port, path in enumerate(paths) for word in ("--wire", f"{port}=socket:path={path}")]
        if "--control" not in options:
            named += ["--control", str(Path(self._wires.name) / "control")]
        words = [*named, *options]
        self.control = Path(words[words.index("--control") + 1])
        super().__init__(program, *named, *options)
        try:
            self.wires = [Wire(path) for path in paths]
        except WireError:
            self.close()
            raise

    def rest(self, seconds: float = 60) -> None:
        """Waits until the card has done all that it was told before, or has worked on for BUSY_PS.

        Our DMA engine counts a receive buffer when it has read its descriptor, and the link may be a far one: the card
        drops a frame that comes before. No register of a driver says that the descriptors are there.
        """
        with Control(self.control) as inside:
            # The card takes doorbells that were rung before the first question before it answers the second one.
            end_ps, deadline = inside.ask("stats")["t_ps"] + BUSY_PS, deadline_in(seconds)
            while (now := inside.ask("stats"))["simulation"]["busy"] and now["t_ps"] < end_ps:
                assert time.monotonic() < deadline, f"the card does not come to rest within {seconds:g} s"
                time.sleep(0.002)

    def close(self) -> None:
        for wire in getattr(self, "wires", []):
            wire.close()
        super().close()
        self._wires.cleanup()


@pytest.fixture
def run_card(built_card: Callable[..., Path], request: pytest.FixtureRequest) -> Callable[..., RunningCard]:
    """Runs the card program: run_card("--seed", "3", configuration=("--ports", "2")). It ends with the test, well."""

    def run(*options: str, configuration: tuple[str, ...] = ()) -> RunningCard:
        ports = int(configuration[configuration.index("--ports") + 1]) if "--ports" in configuration else 1
        time = () if "--time" in options else ("--time", "free")
        card = RunningCard(built_card(*configuration), *options, *time, ports=ports)

        def end() -> None:
            text, status = card.output(), card.stop()
            card.close()
            assert status == 0, f"meridian_card ended with {status}: {text}"

        request.addfinalizer(end)
        return card

    return run
