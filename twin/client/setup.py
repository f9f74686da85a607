# SPDX-License-Identifier: Apache-2.0
"""Takes the register map along into what is installed; everything else is in pyproject.toml."""

from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
HEADERS = (
    HERE.parents[1] / "host-driver" / "include" / "meridian_regs.h",
    HERE.parent / "card" / "include" / "meridian_link.h",
)


class BuildWithHeaders(build_py):
    def run(self) -> None:
        super().run()
        target = Path(self.build_lib) / "meridian_twin" / "include"
        target.mkdir(parents=True, exist_ok=True)
        for header in HEADERS:
            (target / header.name).write_bytes(header.read_bytes())


setup(cmdclass={"build_py": BuildWithHeaders})
