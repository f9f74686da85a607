# SPDX-License-Identifier: Apache-2.0
"""From the SD card to a locked clock by one command, and what a card's own Linux is then: the layer's units on Debian."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from meridian_machine import SdCard, SdMachine, Setting, Twin, tools
from meridian_machine.sd_machine import default_image

pytestmark = pytest.mark.qemu
GRANDMASTER = "0=ptp:transport=udp4,log_sync=-3,log_delay_req=-3,drift_ppb=20000"
UNTIL_LOCKED = """
for try in $(seq 240); do
  meridian-ptp-health --limit 5 /usr/share/meridian/ptp/default.conf && exit 0
  sleep 1
done
journalctl -b --no-pager | tail -n 50
exit 1
"""
HEALTH = "meridian-ptp-health@port0.service"
# What the unit says when it has run once more. A machine's own clock jitters against the card's twin time, by as much as
# the computer is busy, so how far the two are apart is not asked here.
HEALTH_SAYS = f"systemctl start {HEALTH}; journalctl --sync; journalctl -b -o cat -t meridian-ptp-health | tail -n 1"
LOCKED = re.compile(r"locked: |unlocked: the system's clock is \d+ ns from port0's, more than 100000")


def test_one_command_goes_from_the_card_to_a_locked_clock(tmp_path: Path) -> None:
    command = [str(tools.ROOT / "scripts/twin"), "ps", "--image", "--wire", GRANDMASTER, "--run-dir", str(tmp_path)]
    done = subprocess.run([*command, "--", UNTIL_LOCKED], capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "locked: " in done.stdout.splitlines()[-1]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SdMachine]:
    folder = tmp_path_factory.mktemp("sd")
    place = folder / "ps"
    place.mkdir()
    card = SdCard.copy(default_image(), place / "sd.img")
    with (
        Twin(Setting(hardware=None, wires=[GRANDMASTER]), folder) as twin,
        SdMachine(card, place, twin.card.socket, watch=twin.card.check) as machine,
    ):
        machine.wait_up()
        yield machine
        machine.power_off()


def said(machine: SdMachine, script: str) -> str:
    return machine.run(script, check=True).text.strip()


def test_units_of_the_layer_run(running: SdMachine) -> None:
    names = (
        "meridian-ptp4l@port0.service",
        "meridian-phc2sys@port0.service",
        "meridian-ptp-health@port0.timer",
        "ssh.socket",
    )
    said(running, "until systemctl -q is-active boot-complete.target; do sleep 1; done")
    for name in names:
        assert (
            said(
                running,
                f"for i in $(seq 60); do systemctl -q is-active {name} && break; sleep 1; done; systemctl is-active {name}",
            )
            == "active"
        )
    done = running.run(UNTIL_LOCKED, 900)
    assert done.status == 0, done.text
    sentence = said(running, HEALTH_SAYS)
    assert LOCKED.match(sentence), sentence
    # The unit of the health has failed as often as the clock was not locked yet.
    assert said(running, f"systemctl reset-failed {HEALTH}; systemctl --failed --no-legend --plain") == ""
    assert said(running, "basename $(readlink /sys/class/net/port0/device/driver)") == "meridian_ps"


def test_the_root_is_read_only_and_etc_is_kept_on_the_data_partition(running: SdMachine) -> None:
    assert running.run("touch /here /usr/here").status != 0
    assert said(running, "findmnt -no SOURCE,FSTYPE /").split() == ["/dev/mmcblk0p2", "ext4"]
    assert said(running, "findmnt -no OPTIONS / | cut -d, -f1") == "ro"
    said(running, "echo word >/etc/word && sync && grep word /data/overlay-etc/root2/upper/word && rm /etc/word")


def test_ssh_is_on_the_management_interface_only(running: SdMachine) -> None:
    assert "mgmt0:22" in said(running, "ss -Hltn 'sport = :22'")
    assert said(running, "ss -Hltn 'sport = :22' | grep -vc mgmt0 || true") == "0"
    methods = running.ssh()[:-1]
    refused = subprocess.run(
        [*methods, "-o", "PubkeyAuthentication=no", "-v", "root@127.0.0.1"],
        capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert refused.returncode == 255
    assert "Permission denied (publickey)" in refused.stderr
