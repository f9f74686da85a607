# SPDX-License-Identifier: Apache-2.0
"""What the self-test program says of a card by its registers: bitstream, links, rings of the ARM side."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

import pytest
from fake_system import FakeSystem
from meridian_selftest import arm, ethtool, identity, ports
from meridian_selftest.card import ArmCard
from meridian_selftest.context import Context, Options
from meridian_selftest.dump import PARTS, VERSION, Dump
from meridian_selftest.registers import Registers
from meridian_selftest.result import Fail, Skip

MAP = Registers()
NOW = 1_700_000_000
#: Words of a host port in the driver's dump.
HOST_PORT_WORDS = 4


class Card:
    """Registers of a ZCU106 with one interface, eth7 on port 1, as the driver dumps them. resets: one at each look."""

    def __init__(self) -> None:
        self.words = {name: [0] * count for name, count in PARTS.items()}
        self.resets = 0
        self.write("ident", "IDENT_MAGIC", MAP["MAGIC"])
        self.field("ident", "IDENT_VERSION", MAJOR=MAP["MAP_MAJOR"], MINOR=MAP["MAP_MINOR"])
        self.field("ident", "IDENT_GEOMETRY", PORTS=2, HOST_BYTES=32)
        self.field("ident", "IDENT_CLOCKS", HOST_MHZ=125)
        self.write("ident", "IDENT_BUILD_DATE", NOW)
        self.write("ident", "IDENT_BUILD_HASH", 0x1234ABCD)
        self.words["port"][0] = 10 << MAP["PORT_LINK_STATUS_GIGABITS_SHIFT"]

    def write(self, part: str, register: str, value: int) -> None:
        self.words[part][MAP[register] // 4] = value

    def field(self, part: str, register: str, **fields: int) -> None:
        self.write(part, register, sum(value << MAP[f"{register}_{name}_SHIFT"] for name, value in fields.items()))

    def link(self, port: int) -> None:
        self.words["host_port"][HOST_PORT_WORDS * port + 1] = MAP["HOST_PORT_STATE_LINK_UP_MASK"]

    def dump(self) -> Dump:
        self.words["receiver"][0] += self.resets << MAP["PORT_RECEIVER_RESETS_SHIFT"]
        return Dump(MAP, VERSION, [word for part in PARTS for word in self.words[part]])


@pytest.fixture
def card(fake: FakeSystem, monkeypatch: pytest.MonkeyPatch) -> Card:
    card = Card()
    place = fake.card()
    (place / "net/eth7").mkdir(parents=True)
    (fake.root / "drivers/meridian").mkdir(parents=True)
    (place / "driver").symlink_to(fake.root / "drivers/meridian")
    (fake.root / "sys/class/net/eth7").mkdir()
    (fake.root / "sys/class/net/eth7/dev_port").write_text("1\n")
    monkeypatch.setattr(Context, "dump", lambda self, interface="": card.dump())
    monkeypatch.setattr(time, "time", lambda: NOW)
    return card


def test_a_bitstream_of_a_board_passes_with_its_geometry_commit_and_date(fake: FakeSystem, card: Card) -> None:
    own = f"{MAP['MAP_MAJOR']}.{MAP['MAP_MINOR']}"
    assert identity.host_map(fake.context()) == f"magic 0x4d52444e, register map {own}, the driver's is {own}"
    words = "2 port(s) of 10 Gb/s, 32 bytes at 125 MHz: zcu106; git 1234abcd, 2023-11-14"
    assert identity.host_bitstream(fake.context()) == words
    assert identity.host_bitstream(fake.context(board="zcu106")) == words
    card.write("ident", "IDENT_BUILD_DATE", 0)
    card.write("ident", "IDENT_BUILD_HASH", 0)
    said = identity.host_bitstream(fake.context())
    assert said.endswith("git 00000000 (a tree with changes), without a date")
    card.field("ident", "IDENT_GEOMETRY", PORTS=1, HOST_BYTES=32)
    assert "no board of the builds (a build of your own, or a simulated card)" in identity.host_bitstream(
        fake.context()
    )


@pytest.mark.parametrize(
    ("change", "check", "said"),
    [
        (
            lambda card: card.write("ident", "IDENT_MAGIC", 0x10EE903F),
            identity.host_map,
            "the card's magic is 0x10ee903f, not 0x4d52444e. The card does not answer any more",
        ),
        (
            lambda card: card.field("ident", "IDENT_VERSION", MAJOR=MAP["MAP_MAJOR"] + 1),
            identity.host_map,
            f"the card's register map is version {MAP['MAP_MAJOR'] + 1}.0",
        ),
        (
            lambda card: card.write("ident", "IDENT_BUILD_DATE", NOW + 2 * identity.DAY),
            identity.host_bitstream,
            "the bitstream is dated after today. Set the host's clock",
        ),
    ],
    ids=["magic", "version", "date"],
)
def test_a_wrong_magic_map_or_date_fails_its_check(
    fake: FakeSystem, card: Card, change: Callable[[Card], None], check: Callable[[Context], str], said: str
) -> None:
    change(card)
    with pytest.raises(Fail, match=re.escape(said)):
        check(fake.context())


def test_a_bitstream_of_another_board_fails(fake: FakeSystem, card: Card) -> None:
    with pytest.raises(Fail, match=r"which is not t1-rfsoc\. Load a bitstream that was built for t1-rfsoc"):
        identity.host_bitstream(fake.context(board="t1-rfsoc"))


def test_each_port_has_a_line_for_its_link(fake: FakeSystem, card: Card, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ports, "WATCH_SECONDS", 0)
    lines = ports.host_links(fake.context())
    assert [line.name for line in lines] == ["link.0", "link.1"]
    assert lines[0].text.startswith("port 0 has no link. Plug in a cable")
    assert lines[1].text.startswith("port 1 (eth7) has no link: its receiver is locked, the MAC is not aligned")
    card.resets = 2
    lines = ports.host_links(fake.context())
    assert "port 1 (eth7) has no link: its receiver finds no signal (2 resets in a second)" in lines[1].text
    for port in range(2):
        card.link(port)
    lines = ports.host_links(fake.context(ports=frozenset({0, 1})))
    assert lines[0].text.startswith("port 0 has a link, no PF is bound to it (no interface)")
    assert lines[1].text.startswith("port 1 has a link, 10 Gb/s (eth7)")
    assert ports.host_links(fake.context(ports=frozenset({1})))[0].text == "--ports leaves it out"


def test_rings_of_the_arm_side_that_stopped_fail_on_the_host(fake: FakeSystem, card: Card) -> None:
    with pytest.raises(Skip, match="no ring of the ARM side runs"):
        arm.host_rings(fake.context())
    for side in ("RX", "TX"):
        card.field("ps_ring", f"PS_RING_{side}_STATUS", RUNNING=1)
    assert arm.host_rings(fake.context()) == "the ARM side's rings run on the port(s) of eth7"
    card.field("ps_ring", "PS_RING_TX_STATUS", RUNNING=1, ERROR=2)
    with pytest.raises(Fail, match="TX ring of the port of eth7 has stopped: producer index beyond the ring"):
        arm.host_rings(fake.context())


def test_rings_of_the_arm_side_with_errors_fail_there(monkeypatch: pytest.MonkeyPatch) -> None:
    context = Context(ArmCard("card", ["port0", "port1"]), Options(), MAP)
    counts = {"card_rx_frames": 7, "card_tx_frames": 8}
    up = {"port0"}
    monkeypatch.setattr(ethtool, "statistics", lambda interface: counts)
    monkeypatch.setattr(ethtool, "is_up", lambda interface: interface in up)
    assert arm.arm_rings(context) == "rings without an error: port0 7 in, 8 out"
    counts["restarts_tx_timeout"] = 3
    with pytest.raises(Fail, match="port0 counts errors: restarts_tx_timeout 3"):
        arm.arm_rings(context)
    del counts["restarts_tx_timeout"]
    up.clear()
    with pytest.raises(Skip, match="no interface of the card is up here"):
        arm.arm_rings(context)

    def detached(interface: str) -> dict[str, int]:
        raise ethtool.Detached(interface)

    monkeypatch.setattr(ethtool, "statistics", detached)
    with pytest.raises(Fail, match="port0 is detached: the card does not end its rings"):
        arm.arm_rings(context)
