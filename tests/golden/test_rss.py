# SPDX-License-Identifier: Apache-2.0
"""The model's hash in Microsoft's order against its documentation, "Verifying the RSS Hash Calculation"."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from meridian_golden.rss import hash_type, rss_hash

KEY = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcbae7b30b477cb2da38030f20c6a42b73bbeac01fa")
WORDS = tuple(int.from_bytes(KEY[at : at + 4], "little") for at in range(0, 40, 4))
SUITE = [
    ("161.142.100.80", 1766, "66.9.149.187", 2794, 0x323E8FC2, 0x51CCC178),
    ("65.69.140.83", 4739, "199.92.111.2", 14230, 0xD718262A, 0xC626B0EA),
    ("12.22.207.184", 38024, "24.19.198.95", 12898, 0xD2D0A5DE, 0x5C2B394A),
    ("209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xAFC7327F),
    ("202.188.127.2", 1303, "153.39.163.191", 44251, 0x5D1809C5, 0x10E828A2),
    ("3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2CC18CD5, 0x40207D3D),
    ("ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0F0C461C, 0xDDE51BBF),
    ("fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251, 0x4B61E985, 0x02D1FEEF),
]


@pytest.mark.parametrize(("to", "to_port", "of", "of_port", "plain", "with_ports"), SUITE)
def test_the_hash_agrees_with_microsofts_verification_suite(
    to: str, to_port: int, of: str, of_port: int, plain: int, with_ports: int
) -> None:
    addresses = ip_address(of).packed + ip_address(to).packed
    ports = of_port.to_bytes(2, "big") + to_port.to_bytes(2, "big")
    for protocol, name in ((1, ""), (6, "_tcp"), (17, "_udp")):
        if len(addresses) == 8:
            ip = b"\x08\0" + bytes.fromhex("450000280102400040") + bytes([protocol, 0, 0]) + addresses
        else:
            ip = b"\x86\xdd" + bytes.fromhex("600000000014") + bytes([protocol, 64]) + addresses
        for tag in (b"", b"\x81\0\x1f\x07"):
            frame = bytes(12) + tag + ip + ports + bytes(40)
            assert rss_hash(frame, WORDS, order=1) == (with_ports if name else plain)
            assert hash_type(frame, order=1) == ("ipv4" if len(addresses) == 8 else "ipv6") + name


@pytest.mark.parametrize(("to", "to_port", "of", "of_port"), [case[:4] for case in SUITE])
@pytest.mark.parametrize("symmetric", [1, 2])
def test_a_symmetric_hash_is_that_of_both_directions(
    to: str, to_port: int, of: str, of_port: int, symmetric: int
) -> None:
    def frame(source: str, port: int, destination: str, destination_port: int) -> bytes:
        addresses = ip_address(source).packed + ip_address(destination).packed
        if len(addresses) == 8:
            ip = b"\x08\0" + bytes.fromhex("45000028010240004006") + bytes(2) + addresses
        else:
            ip = b"\x86\xdd" + bytes.fromhex("6000000000140640") + addresses
        return bytes(12) + ip + port.to_bytes(2, "big") + destination_port.to_bytes(2, "big") + bytes(40)

    order = 1 | symmetric << 1
    there, back = frame(of, of_port, to, to_port), frame(to, to_port, of, of_port)
    assert rss_hash(there, WORDS, order) == rss_hash(back, WORDS, order)
    assert rss_hash(there, WORDS, 1) != rss_hash(back, WORDS, 1)
    without = order | 0xCCCC0000
    assert hash_type(there, without) == ("ipv4" if "." in to else "ipv6")
    assert rss_hash(there, WORDS, without) == rss_hash(frame(of, 1, to, 2), WORDS, without)
    assert rss_hash(there, WORDS, order) != rss_hash(frame(of, 1, to, 2), WORDS, order)
