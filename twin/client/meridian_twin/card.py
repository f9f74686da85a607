# SPDX-License-Identifier: Apache-2.0
"""The card's registers as a driver sees them, by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from .link import Link
from .protocol import Role, Status
from .registers import Registers

Bus = Literal["pf", "ps"]
OKAY = 0
SLVERR = 2


class RegisterError(Exception):
    """A register access was answered with an error."""


class MismatchError(Exception):
    """The card is another one than this driver knows; the message says what differs."""


@dataclass(frozen=True)
class Geometry:
    ports: int
    host_bytes: int
    functions: int
    queues: int
    groups: int
    mac_entries: int
    ps_addresses: int
    max_frame: int


class Card(ABC):
    """One card. Functions are numbered as QDMA does: PFs 0 to 3, VFs from 4 on.

    Raises RegisterError if an access fails, or if the MAC table stays busy.
    """

    def __init__(self, registers: Registers | None = None) -> None:
        self.regs = registers or Registers()
        self.geometry = self._geometry()

    @property
    def bus(self) -> Bus:
        """The side that blocks of both are read from."""
        return "pf"

    def _place(self, block: str, register: str, number: int = 0) -> int:
        place = self.regs.address if self.bus == "pf" else self.regs.ps_address
        return place(block, register, number)

    def _geometry(self) -> Geometry:
        def get(register: str, name: str) -> int:
            return self.regs.field("IDENT", register, name).of(self.read(self._place("IDENT", register), self.bus))

        return Geometry(
            ports=get("GEOMETRY", "PORTS"),
            host_bytes=get("GEOMETRY", "HOST_BYTES"),
            functions=get("GEOMETRY", "FUNCTIONS"),
            queues=get("QUEUES", "QUEUES"),
            groups=get("QUEUES", "GROUPS"),
            mac_entries=get("TABLES", "MAC_ENTRIES"),
            ps_addresses=get("TABLES", "PS_ADDRESSES"),
            max_frame=self.read(self._place("IDENT", "MAX_FRAME"), self.bus),
        )

    def has(self, capability: str) -> bool:
        """Of those in the register of capabilities, such as SEGMENTS."""
        word = self.read(self._place("IDENT", "CAPABILITIES"), self.bus)
        return bool(self.regs.field("IDENT", "CAPABILITIES", capability).of(word))

    # Registers

    @abstractmethod
    def access(
        self, address: int, data: int | None = None, bus: Bus = "pf", function: int | None = None, strobe: int = 15
    ) -> tuple[int, int]:
        """(data, AXI response) of a read, or of a write if there is data; function: who asks, on the pf bus; 0 by default."""

    def read(self, address: int, bus: Bus = "pf", function: int | None = None) -> int:
        data, response = self.access(address, None, bus, function)
        if response != OKAY:
            raise RegisterError(f"read of {address:#x} on {bus}: response {response}")
        return data

    def write(self, address: int, data: int, bus: Bus = "pf", function: int | None = None) -> None:
        _, response = self.access(address, data, bus, function)
        if response != OKAY:
            raise RegisterError(f"write of {data:#x} to {address:#x} on {bus}: response {response}")

    def read64(self, address: int, bus: Bus = "pf", function: int | None = None) -> int:
        """A 64-bit counter: the low word first, which holds the high one."""
        low = self.read(address, bus, function)
        return self.read(address + 4, bus, function) << 32 | low

    def counters(self, block: str, number: int = 0) -> dict[str, int]:
        """All counters of a function (FUNCTION), a port (PORT_COUNTERS) or a port's ownerless frames (HOST_PORT_COUNTERS)."""
        return {
            name: self.read64(self.regs.address(block, f"COUNTER_{name.upper()}", number))
            for name in self.regs.counters(block)
        }

    def events(self, block: str = "HOST_EVENTS", number: int = 0) -> dict[str, int]:
        """Counters named as pairs of registers (HOST_EVENTS, PS_RING)."""
        return {
            name: self.read64(self._place(block, f"{name.upper()}_LOW", number), self.bus)
            for name in self.regs.low_high(block)
            if not name.endswith(("_base", "timestamp_seconds"))
        }

    # Functions

    def set_queues(self, function: int, base: int, count: int) -> None:
        """Queues base until base + count; count 0 switches the function off."""
        field = self.regs.field
        word = field("FUNCTION", "QCONF", "BASE").at(base) | field("FUNCTION", "QCONF", "COUNT").at(count)
        self.write(self.regs.address("FUNCTION", "QCONF", function), word)

    def set_flags(
        self,
        function: int,
        broadcast: bool,
        all_multicast: bool,
        promiscuous: bool,
        trusted: bool,
        control_frames: bool = False,
    ) -> None:
        flags = {
            "BROADCAST": broadcast,
            "ALL_MULTICAST": all_multicast,
            "PROMISCUOUS": promiscuous,
            "TRUSTED": trusted,
            "CONTROL_FRAMES": control_frames,
        }
        word = sum(self.regs.field("FUNCTION", "FLAGS", name).at(int(on)) for name, on in flags.items())
        self.write(self.regs.address("FUNCTION", "FLAGS", function), word)

    def set_function_port(self, function: int, port: int) -> None:
        self.write(self.regs.address("FUNCTION", "PORT", function), port)

    def set_indirection(self, function: int, entries: Sequence[int], first: int = 0) -> None:
        """Entry k is the queue, counted from the function's base, for hash[6:0] = k."""
        for index, queue in enumerate(entries, first):
            self.write(self.regs.address("FUNCTION", "INDIRECTION", function, index), queue)

    def set_hash_key(self, function: int, words: Sequence[int]) -> None:
        """Ten words, the least significant first."""
        for index, word in enumerate(words):
            self.write(self.regs.address("FUNCTION", "HASH_KEY", function, index), word)

    def set_hash_order(self, function: int, order: int) -> None:
        """1: Microsoft's, 0: OpenNIC's; further bits as the register has them."""
        self.write(self.regs.address("FUNCTION", "HASH_ORDER", function), order)

    def set_vlan(self, function: int, strip: bool = False, insert: int | None = None) -> None:
        """strip: received frames lose their 802.1Q tag, and completion entries of 16 bytes tell it.

        insert: control information of the tag that its frames get. With both the function sees nothing of its VLAN.
        """
        field = self.regs.field
        word = field("FUNCTION", "VLAN", "STRIP").at(int(strip))
        if insert is not None:
            word |= field("FUNCTION", "VLAN", "INSERT").at(1) | field("FUNCTION", "VLAN", "TCI").at(insert)
        self.write(self.regs.address("FUNCTION", "VLAN", function), word)

    def set_link_state(self, function: int, up: bool | None) -> None:
        """What a function is told of its link: its port's (None), up, or down, which disables it."""
        state = 0 if up is None else 1 if up else 2
        self.write(self.regs.address("FUNCTION", "LINK", function), state)

    # Queues

    def set_queue_switches(
        self,
        queue: int,
        completion16: bool | None = None,
        paced: bool | None = None,
        transmit_offload: bool | None = None,
        transmit_segments: bool | None = None,
    ) -> None:
        """Of a queue, counted over all functions, before it is started; those that are not named stay.

        completion16: completion entries of 16 bytes. paced: it sends at the rates of its function.
        transmit_offload: the metadata of its transmit descriptors are requests for tags and checksums.
        transmit_segments: and for segments, on a card that has them.
        """
        address = self.regs.address("QUEUE", "SWITCHES", index=queue)
        word = self.read(address)
        switches = {
            "COMPLETION16": completion16,
            "PACED": paced,
            "TRANSMIT_OFFLOAD": transmit_offload,
            "TRANSMIT_SEGMENTS": transmit_segments,
        }
        for name, on in switches.items():
            if on is not None:
                field = self.regs.field("QUEUE", "SWITCHES", name)
                word = word & ~field.at(1) | field.at(int(on))
        self.write(address, word)

    def set_tx_rate(self, function: int, maximum: float = 0, minimum: float = 0) -> None:
        """Mb/s that the paced queues of a function may send together, and that they get before others; 0: none."""
        for name, rate in (("TX_MAX_RATE", maximum), ("TX_MIN_RATE", minimum)):
            self.write(self.regs.address("FUNCTION", name, function), round(rate * 65536 / 125))

    # Ports

    def enable_host(self, port: int, rx: bool = True, tx: bool = True) -> None:
        field = self.regs.field
        word = field("PORT", "HOST_ENABLE", "RX").at(int(rx)) | field("PORT", "HOST_ENABLE", "TX").at(int(tx))
        self.write(self.regs.address("PORT", "HOST_ENABLE", port), word)

    def set_default_function(self, port: int, function: int | None) -> None:
        field = self.regs.field
        word = 0
        if function is not None:
            word = field("HOST_PORT", "DEFAULT_FUNCTION", "FUNCTION").at(function)
            word |= field("HOST_PORT", "DEFAULT_FUNCTION", "VALID").at(1)
        self.write(self.regs.address("HOST_PORT", "DEFAULT_FUNCTION", index=port), word)

    def set_veb(self, port: int, on: bool) -> None:
        """Edge virtual bridging: frames between functions of the port, and the PS, stay inside the card."""
        word = self.regs.field("HOST_PORT", "SWITCHING", "VEB").at(int(on))
        self.write(self.regs.address("HOST_PORT", "SWITCHING", index=port), word)

    def set_ps_filter(
        self, port: int, enable: bool, broadcast: bool = True, all_multicast: bool = True, promiscuous: bool = False
    ) -> None:
        flags = {"ENABLE": enable, "BROADCAST": broadcast, "ALL_MULTICAST": all_multicast, "PROMISCUOUS": promiscuous}
        word = sum(self.regs.field("PORT", "PS_FILTER", name).at(int(on)) for name, on in flags.items())
        self.write(self.regs.ps_address("PORT", "PS_FILTER", port), word, "ps")

    def set_ps_address(self, port: int, index: int, address: bytes | None) -> None:
        """One of the PS's addresses; None takes it away. The address only changes while it is not valid."""
        high_at = self.regs.ps_address("PORT", "PS_ADDRESS_HIGH", port, index)
        self.write(high_at, 0, "ps")
        if address is None:
            return
        low = int.from_bytes(address[:4], "little")
        high = int.from_bytes(address[4:], "little")
        self.write(self.regs.ps_address("PORT", "PS_ADDRESS_LOW", port, index), low, "ps")
        self.write(high_at, high, "ps")
        self.write(high_at, high | self.regs.field("PORT", "PS_ADDRESS_HIGH", "VALID").at(1), "ps")

    def set_ps_limit(self, port: int, others: tuple[int, int] | None, ptp: tuple[int, int] = (0, 0)) -> None:
        """Rate and burst (frames) of the frames of the wire that the PS gets; None: there is no limit.

        What there is to begin with fills up before the limits are enabled.
        """
        field = self.regs.field
        words = {
            name: field("PORT", name, "RATE").at(rate) | field("PORT", name, "BURST").at(burst)
            for name, (rate, burst) in (("PS_PTP_LIMIT", ptp), ("PS_LIMIT", others or (0, 0)))
        }
        for name, word in words.items():
            self.write(self.regs.ps_address("PORT", name, port), word, "ps")
        if others is not None:
            enable = field("PORT", "PS_LIMIT", "ENABLE").at(1)
            self.write(self.regs.ps_address("PORT", "PS_LIMIT", port), words["PS_LIMIT"] | enable, "ps")

    def set_stamp_latency(self, port: int, rx_ns: float, tx_ns: float) -> None:
        """What a frame takes between the connector of a port and where its MAC stamps it."""
        for name, latency in (("RX_LATENCY", rx_ns), ("TX_LATENCY", tx_ns)):
            word = round(latency * (1 << 16)) & 0xFFFF_FFFF
            self.write(self.regs.ps_address("PORT", name, port), word, "ps")

    # Receive filter

    def mac_command(
        self,
        operation: Literal["ADD", "REMOVE", "FIND"],
        port: int,
        address: bytes,
        vid: int | None = None,
        index: int = 0,
        is_group: bool = False,
        max_polls: int = 1000,
    ) -> str:
        """A command on the MAC table, until it is done; DONE, FULL, NOT_FOUND or EXISTS. vid None: every VLAN."""
        regs = self.regs
        scope = regs.field("FILTER", "MAC_SCOPE", "PORT").at(port)
        scope |= regs.field("FILTER", "MAC_SCOPE", "ANY_VLAN").at(1) if vid is None else vid
        value = regs.field("FILTER", "MAC_VALUE", "INDEX").at(index)
        value |= regs.field("FILTER", "MAC_VALUE", "IS_GROUP").at(int(is_group))
        self.write(regs.address("FILTER", "MAC_KEY_LOW"), int.from_bytes(address[:4], "little"))
        self.write(regs.address("FILTER", "MAC_KEY_HIGH"), int.from_bytes(address[4:], "little"))
        self.write(regs.address("FILTER", "MAC_SCOPE"), scope)
        self.write(regs.address("FILTER", "MAC_VALUE"), value)
        self.write(regs.address("FILTER", "MAC_COMMAND"), regs[f"MAC_OPERATION_{operation}"])
        for _ in range(max_polls):
            status = self.read(regs.address("FILTER", "MAC_STATUS"))
            if not regs.field("FILTER", "MAC_STATUS", "BUSY").of(status):
                result = regs.field("FILTER", "MAC_STATUS", "RESULT").of(status)
                return next(n for n in ("DONE", "FULL", "NOT_FOUND", "EXISTS") if regs[f"MAC_RESULT_{n}"] == result)
        raise RegisterError("mac_status stays busy")

    def set_group(self, group: int, functions: set[int]) -> None:
        """Functions that get the frames of a multicast group."""
        field = self.regs.field
        for word in range((self.geometry.functions + 31) // 32):
            select = field("FILTER", "GROUP_SELECT", "GROUP").at(group) | field("FILTER", "GROUP_SELECT", "WORD").at(
                word
            )
            self.write(self.regs.address("FILTER", "GROUP_SELECT"), select)
            bits = sum(1 << f % 32 for f in functions if f // 32 == word)
            self.write(self.regs.address("FILTER", "GROUP_DATA"), bits)

    def enforce_credit(self, on: bool) -> None:
        """Frames for a queue without free buffers are dropped; set it before queues are started."""
        self.write(self.regs.address("FILTER", "CREDIT"), self.regs.field("FILTER", "CREDIT", "ENFORCE").at(int(on)))

    def set_buffer_size(self, queue: int, size: int) -> None:
        """Bytes in a receive buffer of the queue, for the card; 0: a frame takes one buffer."""
        field = self.regs.field
        word = field("FILTER", "BUFFER_SIZE", "BYTES").at(size) | field("FILTER", "BUFFER_SIZE", "QUEUE").at(queue)
        self.write(self.regs.address("FILTER", "BUFFER_SIZE"), word)


class LinkedCard(Card):
    """The card at the end of a link: BAR 2 of a PF, or the registers of the PS.

    Raises MismatchError when its identification is not that of this register map, RegisterError for a bus or a width
    that the link does not have, and what its Link raises.
    """

    def __init__(self, link: Link, registers: Registers | None = None, function: int = 0) -> None:
        self.link = link
        self.function = function
        self.regs = registers or Registers()
        self.check()
        super().__init__(self.regs)

    @property
    def bus(self) -> Bus:
        return "ps" if self.link.role == Role.AXI else "pf"

    def check(self) -> None:
        magic = self.read(self._place("IDENT", "MAGIC"), self.bus, self.function)
        if magic != self.regs["MAGIC"]:
            raise MismatchError(f"this is no Meridian card: its magic is {magic:#010x}, not {self.regs['MAGIC']:#010x}")
        version = self.read(self._place("IDENT", "VERSION"), self.bus, self.function)
        major = self.regs.field("IDENT", "VERSION", "MAJOR").of(version)
        minor = self.regs.field("IDENT", "VERSION", "MINOR").of(version)
        known = self.regs["MAP_MAJOR"], self.regs["MAP_MINOR"]
        if major != known[0] or minor < known[1]:
            raise MismatchError(
                f"the card's register map is version {major}.{minor}, this driver knows {known[0]}.{known[1]}: "
                "take the driver that came with the card's image"
            )

    def access(
        self, address: int, data: int | None = None, bus: Bus = "pf", function: int | None = None, strobe: int = 15
    ) -> tuple[int, int]:
        """As a machine does it: writes are posted and always OKAY."""
        if bus != self.bus:
            raise RegisterError(f"the {self.link.role.name} side has no registers of bus {bus}")
        if strobe != 15:
            raise RegisterError("the link knows whole words only")
        owner = 0 if bus == "ps" else self.function if function is None else function
        status, value = self.link.bar_access(owner, 2 if bus == "pf" else 0, address, 4, data)
        return value, OKAY if status == Status.OK else SLVERR

    def identity(self) -> dict[str, int]:
        """Words of the identification block by name."""
        names = ("MAGIC", "VERSION", "BUILD_DATE", "BUILD_HASH", "CAPABILITIES", "GEOMETRY", "QUEUES", "TABLES")
        return {name.lower(): self.read(self._place("IDENT", name), self.bus) for name in names}
