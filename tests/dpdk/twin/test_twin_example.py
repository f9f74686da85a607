# SPDX-License-Identifier: Apache-2.0
"""The commands of twin/card/README.md that start testpmd on a card process, as they stand there but for the socket."""

from __future__ import annotations

import re
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path

import documents
from documents import ROOT
from meridian_twin import CardProcess
from meridian_twin.patience import deadline_in, stretched

PAGE = ROOT / "twin" / "card" / "README.md"
MINUTES = 10  # the command builds the driver where nothing has built it


def received(said: str) -> bool:
    """Whether the statistics that testpmd has printed have frames."""
    return re.search(r"RX-packets: +[1-9]", said) is not None


def test_testpmd_receives_the_cards_traffic(built_card: Callable[..., Path]) -> None:
    card_line, testpmd_line, *prompt = documents.block(PAGE, "dpdk-testpmd").commands()
    wire = card_line.removesuffix("&").split()[3:]
    said = ""
    with CardProcess(built_card(), "--time", "free", *wire) as card:
        command = testpmd_line.replace("/tmp/card", str(card.socket))
        # Without stdbuf its answers come in pages.
        with subprocess.Popen(
            ["stdbuf", "-oL", "bash", "-c", command],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        ) as process:  # fmt: skip
            assert process.stdin and process.stdout
            late = threading.Timer(stretched(60 * MINUTES), process.kill)  # ends the loops over its lines
            late.start()
            try:
                process.stdin.write("".join(f"{line.removeprefix('testpmd> ')}\n" for line in prompt))
                process.stdin.flush()
                for line in process.stdout:
                    said += line
                    if "io packet forwarding" in line:
                        break
                deadline = deadline_in(60)
                while not received(said) and time.monotonic() < deadline:
                    process.stdin.write("show port stats 0\n")
                    process.stdin.flush()
                    for line in process.stdout:
                        said += line
                        if "RX-packets" in line:
                            break
                    time.sleep(0.2)
                said += process.communicate("stop\nquit\n", timeout=60 * MINUTES)[0]
            finally:
                late.cancel()
                process.kill()
    assert received(said), said
