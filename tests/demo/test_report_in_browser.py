# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: on a telephone, on a screen, light, dark and on paper."""

from __future__ import annotations

import base64
import contextlib
import subprocess
from pathlib import Path

import pytest
from browser import Browser
from meridian_show import report
from meridian_show.captured import Captured
from meridian_show.latency import OfSize
from test_show import made

ROOT = Path(__file__).resolve().parents[2]
PAPER = 680  # CSS pixels of an A4 page's width between margins of 15 mm
BEYOND = (
    "[...document.querySelectorAll('table, svg')].filter(it => it.getBoundingClientRect().right > innerWidth).length"
)


@pytest.mark.long
def test_the_report_fits_every_screen_and_paper(tmp_path: Path) -> None:
    subprocess.run([ROOT / "scripts" / "setup", "--browser"], check=True, timeout=600)
    sizes = [OfSize(size, 3, [400, 401, 500], 1.0) for size in (68, 1518)]
    (tmp_path / report.CAPTURE).touch()
    file = report.write(tmp_path, made([1, 0] * 8), Captured(sizes, (8, 8)))
    with contextlib.closing(Browser()) as browser:
        browser.open(file.as_uri())
        grounds = set()
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            browser.ask("Emulation.setEmulatedMedia", media="", features=features)
            grounds.add(browser.value("getComputedStyle(document.body).backgroundColor"))
            for width in (390, 1440):
                browser.ask(
                    "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False
                )
                assert browser.value("document.documentElement.scrollWidth") <= width
        assert len(grounds) == 2
        browser.ask("Emulation.setEmulatedMedia", media="print")
        browser.ask("Emulation.setDeviceMetricsOverride", width=PAPER, height=1000, deviceScaleFactor=1, mobile=False)
        assert browser.value(BEYOND) == 0
        printed = base64.b64decode(browser.ask("Page.printToPDF", preferCSSPageSize=True)["data"])
        assert printed.startswith(b"%PDF")
        wrong = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Network.loadingFailed")
        assert [it for it in browser.events if it.get("method") in wrong] == []
