# SPDX-License-Identifier: Apache-2.0
"""The program with the shell in it, built once for each configuration; kept for later runs by scripts/build-card."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from meridian_card import Simulator

ROOT = Path(__file__).resolve().parents[1]
BUILD_MINUTES = 20
Start = Callable[..., Simulator]


@pytest.fixture(scope="session")
def built() -> Callable[..., Path]:
    """shell_sim of a configuration. MERIDIAN_SHELL_SIM names one for the default configuration, as one with tracing."""
    programs: dict[tuple[str, ...], Path] = {}

    def build(*generator: str) -> Path:
        if generator not in programs:
            given = os.environ.get("MERIDIAN_SHELL_SIM")
            if given and not generator:
                programs[generator] = Path(given)
            else:
                command = [str(ROOT / "scripts" / "build-card"), *generator]
                done = subprocess.run(command, capture_output=True, text=True, timeout=60 * BUILD_MINUTES, check=False)
                assert done.returncode == 0, f"{' '.join(command)}: {done.stderr}"
                programs[generator] = Path(done.stdout.split()[-1]) / "shell_sim"
        return programs[generator]

    return build


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
