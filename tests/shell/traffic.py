# SPDX-License-Identifier: Apache-2.0
"""Random settings of a shell, and random frames that meet them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

import large_frames
from bench import Bench
from meridian_golden.frame import BROADCAST, LINK_LOCAL, MAC_CONTROL_TYPE, SERVICE_TYPE, VLAN_TYPE
from meridian_golden.limit import PTP_PORTS, PTP_TYPE, Limit, Rate
from packets import packet, scrambled, spoilt

VIDS = (0, 5, 6, 100, 4095)
IPV4, IPV6 = 0x0800, 0x86DD
ID_BYTES = 6
PLENTY = 60_000
SEGMENT_BYTES = 19  # where the metadata of a descriptor have them


def unicast(random: Random) -> bytes:
    return bytes([random.randrange(256) & 0xFC | 2]) + random.randbytes(5)


def multicast(random: Random) -> bytes:
    return bytes([random.randrange(127) << 1 | 1]) + random.randbytes(5)


@dataclass
class World:
    """Addresses that mean something to the shell, for frames to be made of."""

    random: Random
    bench: Bench
    stations: list[tuple[int, bytes, int | None, int]] = field(default_factory=list)  # port, address, VLAN, function
    groups: list[tuple[int, bytes, int | None]] = field(default_factory=list)
    ps: list[tuple[int, bytes]] = field(default_factory=list)
    queues: list[int] = field(default_factory=list)
    strangers: list[bytes] = field(default_factory=list)
    most: int = 9700
    storm: bool = False  # most frames are broadcast
    veb: bool = False  # some ports switch inside the card
    rates: bool = False  # functions have rates
    number: int = 0
    runts: set[bytes] = field(default_factory=set)  # that were received

    # Settings

    def set_up(self, credit: bool = True) -> None:
        """Every setting at random, as the PF's driver and the PS would at their start."""
        random, bench = self.random, self.bench
        shell, geometry = bench.shell, bench.geometry
        shell.enforce_credit(credit)
        self.strangers = [unicast(random) for _ in range(4)] + [multicast(random) for _ in range(3)]
        for function in range(geometry.functions):
            self._set_up_function(function)
        for port in range(geometry.ports):
            self._set_up_port(port)
        functions = range(geometry.functions)
        for group in range(min(6, geometry.groups)):
            port = random.randrange(geometry.ports)
            address = multicast(random) if group else BROADCAST
            vid = random.choice((None, None, *VIDS))
            members = set(random.sample(functions, random.randrange(geometry.functions)))
            bench.add_group(group, port, address, vid, members)
            self.groups.append((port, address, vid))
        for function in functions if self.rates else ():
            most = random.choice((0, 1, 500, 9000))
            shell.set_tx_rate(function, most, random.choice((0, most // 2)))
        bench.step(10_000)

    def _set_up_function(self, function: int) -> None:
        random, bench = self.random, self.bench
        port = random.randrange(bench.geometry.ports)
        bench.set_function_port(function, port)
        bench.set_flags(function, *(random.random() < chance for chance in (0.5, 0.2, 0.1, 0.4, 0.4)))
        bench.set_hash_order(function, random.choice((0, 0, 1, random.getrandbits(32) & 0xFFFF0007)))
        insert = random.randrange(16) << 12 | random.choice(VIDS) if random.random() < 0.3 else None
        bench.set_vlan(function, random.random() < 0.4, insert)
        home, count = bench.queue_home(function), random.randint(1, bench.queues_each)
        first = home + random.randrange(bench.queues_each - count + 1)
        if random.random() < 0.85:
            bench.set_queues(function, first, count)
            self.queues += range(first, first + count)
        # Now and then an entry beyond the function's queues, which may be another's.
        width = count + random.choice((0, 0, 1, 3))
        bench.set_indirection(function, [random.randrange(width) for _ in range(128)])
        if random.random() < 0.5:
            bench.set_hash_key(function, tuple(random.getrandbits(32) for _ in range(10)))
        bench.set_switches(range(home, home + bench.queues_each))
        for queue in range(home, home + bench.queues_each):
            size = random.choice((0, 64, 2048, 4096))
            if size:
                bench.shell.set_buffer_size(queue, size)
            bench.shell.post(queue, PLENTY, size)
        for _ in range(random.randint(1, 3)):
            address, vid = unicast(random), random.choice((None, None, *VIDS))
            if insert is not None and random.random() < 0.7:
                vid = insert & 0xFFF
            self.add_station(
                port if random.random() < 0.95 else random.randrange(bench.geometry.ports), address, vid, function
            )
            if random.random() < 0.3:  # the same address with a VLAN belongs to another
                self.add_station(port, address, random.choice(VIDS), random.randrange(bench.geometry.functions))

    def _set_up_port(self, port: int) -> None:
        random, bench = self.random, self.bench
        bench.enable_host(port, random.random() < 0.95, random.random() < 0.95)
        bench.set_ps_filter(port, *(random.random() < chance for chance in (0.9, 0.8, 0.5, 0.05)))
        for make in random.choices((unicast, multicast), (3, 1), k=random.randint(1, bench.geometry.ps_addresses)):
            address = make(random)
            bench.add_ps_address(port, address)
            self.ps.append((port, address))
        if random.random() < 0.5:
            bench.set_default_function(port, random.randrange(bench.geometry.functions))
        if self.veb:
            bench.set_veb(port, random.random() < 0.8)
        if random.random() < 0.7:
            bench.set_ps_limit(port, Limit(self._rate(), self._rate()))
        bench.ps[port].start()

    def _rate(self) -> Rate:
        """Mostly one that frames are over."""
        random = self.random
        return Rate(random.choice((0, random.randrange(1 << 6), random.randrange(1 << 10))), random.randrange(40))

    def add_station(self, port: int, address: bytes, vid: int | None, function: int) -> None:
        self.bench.add_address(port, address, vid, function)
        if (port, address, vid, function) not in self.stations:
            self.stations.append((port, address, vid, function))

    # Frames

    def length(self) -> int:
        random = self.random
        kind = random.random()
        if kind < 0.1:
            return 60
        if kind < 0.6:
            return random.randint(60, 200)
        if kind < 0.75:
            return 64 * random.randint(1, 24) + random.randint(-2, 2)
        if kind < 0.9:
            return random.randint(200, 1514)
        largest = self.bench.geometry.max_frame
        return random.randint(1514, largest) if kind < 0.98 else random.randint(largest - 2, self.most)

    def _tag(self, vid: int | None) -> bytes:
        random = self.random
        kind = random.random()
        if vid is None and kind < 0.6:
            return b""
        if kind > 0.97:
            return SERVICE_TYPE.to_bytes(2, "big") + random.randbytes(2)
        tci = random.randrange(16) << 12 | (random.choice(VIDS) if vid is None or kind < 0.1 else vid)
        return VLAN_TYPE.to_bytes(2, "big") + tci.to_bytes(2, "big")

    def frame(self, destination: bytes, source: bytes, vid: int | None, length: int, bare: bool = False) -> bytes:
        """A frame unlike any other, if it is long enough to be one; bare: without a tag."""
        random = self.random
        self.number += 1
        head = destination + source + (b"" if bare else self._tag(vid))
        mark = self.number.to_bytes(ID_BYTES, "big")
        if length >= 60 and random.random() < 0.4:
            return spoilt(random, head + packet(random, length - len(head), mark), len(head))
        if random.random() < 0.7:
            words = random.choice((5, 5, 5, 6, 15, random.randrange(16)))
            head += IPV4.to_bytes(2, "big") + bytes([0x40 | words]) + random.randbytes(8)
            head += bytes([random.choice((6, 17))])
        else:
            head += random.randrange(0x600, 0x8000).to_bytes(2, "big")
        body = random.randbytes(max(0, length - len(head)))
        frame = bytearray((head + body)[:length])
        if length >= 80 and random.random() < 0.1:
            self._dress(frame)
        if length >= 40:
            frame[-ID_BYTES:] = mark
        return bytes(frame)

    def _dress(self, frame: bytearray) -> None:
        """As PTP, or nearly."""
        random = self.random
        at = random.choice((12, 12, 16))
        frame[at : at + 2] = random.choice((PTP_TYPE, IPV4, IPV6)).to_bytes(2, "big")
        for place in (36, 40, 56, 60):
            frame[place : place + 2] = random.choice((*PTP_PORTS, 321)).to_bytes(2, "big")

    def _control(self, frame: bytes) -> bytes:
        """As one that controls the link, or nearly."""
        random = self.random
        if random.random() < 0.5:
            return LINK_LOCAL + bytes([random.randrange(18)]) + frame[6:]
        at = random.choice((12, 12, 16, 20))
        return frame[:at] + (MAC_CONTROL_TYPE ^ (random.random() < 0.1)).to_bytes(2, "big") + frame[at + 2 :]

    def destination(self, port: int) -> tuple[bytes, int | None]:
        """Somebody's address (mostly somebody on that port) and the VLAN it is known for."""
        random = self.random
        kind = random.random()
        if self.storm and random.random() < 0.8:
            return BROADCAST, None
        if kind < 0.5:
            here = [(a, v) for p, a, v, _ in self.stations if p == port or kind < 0.02]
            return random.choice(here or [(self.strangers[0], None)])
        if kind < 0.65:
            return random.choice([a for p, a in self.ps if p == port]), None
        if kind < 0.72:
            return BROADCAST, None
        mine = [(a, v) for p, a, v in self.groups if p == port]
        if kind < 0.82 and mine:
            return random.choice(mine)
        return random.choice(self.strangers), None

    def received(self, port: int, runts: bool = True) -> tuple[bytes, bool]:
        """A frame from the wire, and whether its FCS is bad."""
        random = self.random
        destination, vid = self.destination(port)
        length = random.randint(1, 59) if runts and random.random() < 0.03 else self.length()
        frame = bytearray(self.frame(destination, unicast(random), vid, length))
        if length < 40:  # too short for a number: a runt, seen by nobody, but the test tells frames apart by bytes
            mark = self.number.to_bytes(4, "big")
            frame[-4:] = mark[-length:]
            if bytes(frame) in self.runts:  # as one of a byte may be
                frame[-4:] = mark
            self.runts.add(bytes(frame))
        return bytes(frame), random.random() < 0.03

    def sent(self) -> tuple[int, bytes, bool, int]:
        """A frame of the host: queue, bytes, whether DMA marks it bad, and the metadata of its descriptor."""
        random, bench = self.random, self.bench
        queue = (
            random.choice(self.queues)
            if self.queues and random.random() < 0.95
            else random.randrange(bench.geometry.queues)
        )
        kind = random.random()
        own = [(a, v) for _, a, v, f in self.stations if f == bench.home_of(queue)]
        source, vid = random.choice(own) if own and kind < 0.8 else (random.choice(self.stations)[1], None)
        length = random.randint(1, 59) if random.random() < 0.05 else self.length()
        # The destination of a short frame is what tells it apart.
        destination = unicast(random) if length < 60 else random.choice(self.strangers)
        sender = bench.golden.functions.get(bench.home_of(queue))  # the last queues may be nobody's
        if sender and bench.golden.ports[sender.port].veb and length >= 40 and random.random() < 0.7:
            destination, known = self.destination(sender.port)
            vid = vid if known is None or random.random() < 0.3 else known
        bare = bool(sender and sender.insert is not None and random.random() < 0.8)
        metadata = random.getrandbits(32)
        if bench.has_transmit_offload(queue) or bench.has_transmit_segments(queue):
            metadata &= ~(1 << 16)
            if random.random() < 0.25:  # mostly the VLAN that it is known in
                bare = bare or random.random() < 0.8
                metadata = metadata & ~0xFFF | 1 << 16 | (random.choice(VIDS) if vid is None else vid)
        error = random.random() < 0.02
        size = self._segment_bytes() if bench.segmentation else 0
        if bench.segmentation and (size or bench.has_transmit_segments(queue)):
            metadata = metadata & ~(0x1FFF << SEGMENT_BYTES) | size << SEGMENT_BYTES
        if size and length >= 60 and random.random() < 0.8:
            # Two buffers inside the card have no room for many at once.
            most = 2000 if destination not in self.strangers or destination[0] & 1 else large_frames.MOST
            head = destination + source + (b"" if bare else self._tag(vid))
            frame = self._large(head, size, most, error)
        elif size and random.random() < 0.1:
            return queue, b"", error, metadata
        else:
            frame = self.frame(destination, source, vid, length, bare)
            if random.random() < 0.7:
                frame = scrambled(random, frame, ID_BYTES)
        if length >= 40 and random.random() < 0.1:
            frame = self._control(frame)
        return queue, frame, error, metadata

    def _segment_bytes(self) -> int:
        """Of a frame that is to be cut; now and then fewer than the shell takes."""
        random = self.random
        kind = random.random()
        return 0 if kind < 0.75 else random.randrange(1, 300) if kind > 0.98 else large_frames.segment_bytes(random)

    def _large(self, head: bytes, size: int, most: int, error: bool) -> bytes:
        """A frame that is to be cut, or cannot be."""
        random = self.random
        one = large_frames.large(random, head, large_frames.payload_bytes(random, size, most))
        # What an error behind the packet does depends on the beats of the stream.
        return large_frames.spoilt(random, one) if random.random() < 0.25 and not error else one.frame()

    def sent_by_ps(self, port: int = 0) -> bytes:
        random = self.random
        length = random.randint(1, 59) if random.random() < 0.1 else min(self.length(), self.bench.geometry.max_frame)
        # Too short for a number: the destination tells it apart, and nobody inside is meant.
        destination, vid = unicast(random) if length < 40 else random.choice(self.strangers), None
        if self.bench.golden.ports[port].veb and length >= 40 and random.random() < 0.6:
            destination, vid = self.destination(port)
        return self.frame(destination, random.randbytes(6), vid, length)
