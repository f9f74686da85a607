# SPDX-License-Identifier: Apache-2.0
"""The latencies of port 0 of a PS: a device tree that has them, and the files that the driver shows them in."""

from __future__ import annotations

from pathlib import Path

from meridian_machine.guest import Guest

FOLDER = "/sys/class/net/eth0/latency"


def latency_tree(folder: Path, rx_ps: int, tx_ps: int) -> Path:
    """A device tree in the folder, with these latencies at 25G and others at 10G."""
    tree = folder / "latency.dts"
    tree.write_text(f"""/include/ "ps.dts"
&meridian {{
    ethernet-ports {{
        #address-cells = <1>;
        #size-cells = <0>;
        ethernet-port@0 {{
            reg = <0>;
            meridian,stamp-latency = <10 7 9>, <25 {rx_ps} {tx_ps}>;
        }};
    }};
}};
""")
    return tree


def latencies(guest: Guest) -> list[int]:
    """Receive and transmit, in ps, as the driver shows them."""
    return [int(it) for it in guest.run(f"cat {FOLDER}/rx_ps {FOLDER}/tx_ps").split()]
