# SPDX-License-Identifier: Apache-2.0
"""The self-test program's system in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest
from fake_system import FakeSystem
from meridian_selftest import system


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeSystem:
    monkeypatch.setattr(system, "ROOT", tmp_path)
    monkeypatch.setattr(system, "PCI", tmp_path / "sys/bus/pci/devices")
    monkeypatch.setattr(system, "NET", tmp_path / "sys/class/net")
    monkeypatch.setattr(system, "PROC", tmp_path / "proc")
    return FakeSystem(tmp_path)
