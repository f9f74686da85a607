# SPDX-License-Identifier: Apache-2.0
"""A hostile card process and a hostile guest at once: whatever both do, QEMU lives and the guest is not held for long.

Rounds of some hundred random accesses, each with a QEMU of its own, whose device and PCI code gcc's address sanitizer
checks. A round is known by its seed.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from fake_card import WELCOME, FakeCard, answer_all, message
from meridian_machine import tools
from meridian_twin import LinkError
from meridian_twin.protocol import MAX_PAYLOAD, REPLY, Header, Type
from qtest_link import CARD, CONFIG, EXPRESS, MSIX, PF_BARS, ROOT_PORT, SRIOV, VF_BARS, QtestLink

pytestmark = pytest.mark.qemu
PATIENCE = 15  # seconds that QEMU waits for an answer
ACCESSES = 400  # a round
HOT_PLUG = 0x0CC0  # ports of ACPI's
NATIVE_HOT_PLUG = ("-global", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off")


def any_message(random: Random) -> bytes:
    kind = random.choice([*Type, random.randrange(256)]) | random.choice([0, 0, 0, REPLY])
    size = random.choice([0, 0, 1, 4, 64, 64, 4096, MAX_PAYLOAD])
    fields = {
        "status": random.choice([0, 0, 1, 2, 3, 9]),
        "tag": random.choice([0, 1, 2, random.randrange(100)]),
        "function": random.choice([0, 0, 1, 4, 5, 7, 255, 65535]),
        "bar": random.randrange(6),
        "width": random.choice([0, 1, 4, 8]),
        "address": random.choice([0, 64, 1 << 20, (1 << 29) - 8, 0xFEE00000, CONFIG, 0xE0000000, (1 << 64) - 1]),
        "value": random.choice([0, 1, 3, 9, 64, 4096, MAX_PAYLOAD, MAX_PAYLOAD + 1, (1 << 64) - 1]),
    }
    return message(kind, random.randbytes(size), **fields)


def sensible(random: Random) -> bytes:
    """Something that a card may say."""
    function = random.choice([0, 0, 0, 1, 4, 5])
    match random.randrange(3):
        case 0:
            return message(Type.MSIX, function=function, value=random.randrange(10))
        case 1:
            return message(Type.DMA_READ, function=function, tag=random.randrange(9), value=random.choice([0, 8, 4096]))
        case _:
            return message(Type.DMA_WRITE, random.randbytes(64), function=function, address=1 << 20)


class HostileCard:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.rude = self.random.choice([0, 0.001, 0.01])  # of its answers, what makes no sense

    def welcome(self) -> bytes:
        sizes = {"functions": self.random.choice([4, 5, 8, 8, 8, 36, 256, 65535])}
        return replace(WELCOME, **sizes).pack()

    def answer(self, card: FakeCard, header: Header, payload: bytes) -> None:
        random = self.random
        if header.type == Type.DMA_READ | REPLY:
            return  # what it would say to that would be answered, too
        if header.type == Type.HELLO:
            card.send(message(Type.HELLO | REPLY, self.welcome(), tag=header.tag))
            return
        said = b"".join(sensible(random) for _ in range(random.choice([0, 0, 1, 2, 30])))
        if random.random() < self.rude:
            said += random.choice([any_message(random), random.randbytes(random.randrange(200))])
        card.send(said)
        if random.random() < self.rude / 4:
            card.hang_up()
        elif random.random() >= self.rude / 20:  # else: no answer at all
            answer_all(card, header, payload)


class HostileGuest:
    def __init__(self, seed: int, link: QtestLink) -> None:
        self.random = Random(seed)
        self.link = link

    def target(self) -> int:
        """Of an interrupt's message: memory, interrupt controllers, and the configuration space of port and card."""
        random = self.random
        device = random.choice([ROOT_PORT, CARD, CARD | 1 << 8, CARD | 4 << 8])
        register = random.choice([0x04, 0x10, EXPRESS + 8, SRIOV + 8, MSIX, 4 * random.randrange(64)])
        return random.choice([
            1 << 20,
            0xFEE00000,
            CONFIG + (device << 4) + register,
            PF_BARS[0][0] + 4 * random.randrange(1 << 16),
            PF_BARS[2][0] + 4 * random.randrange(1 << 20),
        ])  # fmt: skip

    def vector(self) -> None:
        function, vector = self.random.choice([0, 0, 1, 4, 5]), self.random.randrange(10)
        table = 0x30000 if function < 4 else 0x4000
        target = self.target()
        data = self.random.choice([0x700, 0x7C0, 0, 6, 1 << 15, self.random.randrange(1 << 32)])
        for register, value in enumerate((target & 0xFFFFFFFC, target >> 32, data, 0)):
            self.link.write(function, 0, table + 16 * vector + 4 * register, value)
        self.link.config_write(self.link._device(function), MSIX, 1 << 31)
        self.link.enable(function)

    def configuration(self) -> None:
        random = self.random
        device = random.choice([ROOT_PORT, CARD, CARD, CARD, CARD | 1 << 8, CARD | 4 << 8, CARD | 5 << 8])
        wide = 4 * random.randrange(0x180 // 4 if device == ROOT_PORT else 0x1B0 // 4)
        register = random.choice([0x04, 0x04, EXPRESS + 8, EXPRESS + 8, SRIOV + 8, SRIOV + 0x10, MSIX, wide])
        value = random.choice([0, 2, 6, 1, 9, 1 << 15, 1 << 31, 0xFFFFFFFF, random.randrange(1 << 32)])
        self.link.config_write(device, register, value)

    def registers(self) -> None:
        random = self.random
        function = random.choice([0, 0, 1, 4, 5])
        bars = PF_BARS if function < 4 else VF_BARS
        bar = random.choice([0, 2])
        offset = random.choice([0, random.randrange(bars[bar][1])]) & ~7
        width = random.choice([1, 2, 4, 8])
        value = random.choice([None, None, 0, random.randrange(1 << 8 * width)])
        self.link.bar_access(function, bar, offset, width, value)

    def hot_plug(self) -> None:
        random = self.random
        self.link._do(f"outl {HOT_PLUG + 4 * random.randrange(6):#x} {random.choice([0, 1, 2, 3, 0xFFFFFFFF]):#x}")

    def rest(self) -> None:
        """So long that QEMU greets a card that it has lost."""
        time.sleep(0.6)

    def recover(self) -> None:
        self.link._enumerate()

    def act(self) -> None:
        act = self.random.choices(
            [self.registers, self.configuration, self.vector, self.hot_plug, self.recover, self.rest],
            [50, 20, 10, 0.2, 4, 0.5],
        )[0]
        started = time.monotonic()
        try:
            act()
        except LinkError as error:
            if "no card on the bus" not in str(error):
                raise
        # The card may be found, and lost again, once for each function.
        assert time.monotonic() - started < 8 * PATIENCE, f"{act.__name__} held the guest"


def play(qemu: Path, folder: Path, seed: int) -> None:
    random = Random(seed)
    card = HostileCard(seed)
    path = folder / f"card-{seed}"
    pfs = random.choice([1, 1, 2, 4])
    more = random.choice([(), NATIVE_HOT_PLUG])
    try:
        with FakeCard(path, card.answer, None) as fake:
            rude, card.rude = card.rude, 0
            link = QtestLink(qemu, path, pfs=pfs, vfs=random.choice([0, 0, 1]), patience=10 * PATIENCE, more=more)
            card.rude = rude
            try:
                guest = HostileGuest(seed, link)
                for _ in range(ACCESSES):
                    if random.random() < 0.1:
                        fake.send(sensible(random))
                    guest.act()
                assert "AddressSanitizer" not in link.errors()
            finally:
                link.close()
    except (LinkError, AssertionError) as error:
        raise AssertionError(f"seed {seed}: {error}") from error


@pytest.mark.long
def test_neither_a_hostile_card_nor_a_hostile_guest_ends_qemu(
    tmp_path: Path, endurance: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twelve times as long as the other tests of endurance, as there is much to try."""
    qemu = tools.built("build/build-qemu", "--sanitize", minutes=60)
    monkeypatch.setenv("ASAN_OPTIONS", "detect_leaks=0")
    until = time.monotonic() + 12 * endurance
    seed = 0
    while time.monotonic() < until:
        play(qemu, tmp_path, seed)
        seed += 1
    print(f"{seed} rounds")
