# SPDX-License-Identifier: Apache-2.0
"""docs/ptp.md has the profiles, variables and units that the card's Linux has."""

from __future__ import annotations

import re

import documents
from documents import ROOT

PAGE = ROOT / "docs" / "ptp.md"
FILES = ROOT / "meta-layer" / "meta-meridian" / "recipes-connectivity" / "meridian-ptp" / "files"


def rows(head: str) -> list[list[str]]:
    (found,) = (table[2:] for table in documents.tables(PAGE) if table[0][0] == head)
    return found


def test_the_page_has_each_profile() -> None:
    profiles = {path.stem: path.read_text() for path in FILES.glob("*.conf") if "[global]" in path.read_text()}
    assert len(profiles) > 2
    table = {row[0].strip("`"): row[2:] for row in rows("`PTP_PROFILE`")}
    assert set(table) == set(profiles)
    for name, (transport, mechanism, domain, syncs) in table.items():
        settings = dict(re.findall(r"^(\w+)\t+(\S+)$", profiles[name], re.MULTILINE))
        assert settings["network_transport"] == transport, name
        assert settings["delay_mechanism"] == mechanism, name
        assert settings["domainNumber"] == domain, name
        assert 2 ** -int(settings["logSyncInterval"]) == int(syncs), name
        assert float(settings["step_threshold"]) == 0.001, name


def test_the_page_has_each_variable() -> None:
    text = (FILES / "ptp.conf").read_text()
    variables = re.findall(r"^(\w+)=", text, re.MULTILINE)
    assert [row[0].strip("`") for row in rows("variable")] == variables


def test_the_page_has_each_unit() -> None:
    units = {path.name.split("@")[0] for path in FILES.glob("*@.service")}
    assert {row[0].strip("`").removesuffix("@port0") for row in rows("unit on the card")} == units
