# SPDX-License-Identifier: Apache-2.0
"""A machine with a card of two ports, joined by a cable: the function under test, and a far end in a namespace."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from meridian_machine import Hardware, Setting, Twin, tools
from meridian_machine.guest import PF_DEVICE, Guest

FOLDER = "/root/tests"  # of the kernel's tests in the machine
FAR = "far"  # network namespace of the second port
FAR_DEVICE = "far0"  # no name that the kernel would give the function under test
#: Limits that the slow twin does not keep: file, what it has, what it gets. docs/conformance/kernel-selftests.md says what they mean.
LIMITS = (
    ("net/lib/py/utils.py", "timeout=[0-9][0-9]*", "timeout=200"),
    ("net/lib/py/utils.py", "timeout += 20$", "timeout += 200"),
    ("drivers/net/ping.py", "-W0.5", "-W30"),
    ("drivers/net/lib/py/load.py", "pps=1000", "pps=100"),
    ("drivers/net/hw/csum.py", "-n 100", "-n 100 -L 8"),
    # That of Linux 6.12 asks for a name that its library does not know.
    ("drivers/net/hw/csum.py", "{cfg.remote_ifname}", FAR_DEVICE),
    ("drivers/net/hw/rss_ctx.py", "total_seconds(), 0[.0-9]*", "total_seconds(), 15"),
    ("drivers/net/hw/toeplitz.py", '"4000"', '"20000"'),
    ("drivers/net/hw/ethtool_rmon.sh", "=\\([12]\\)0000$", "=\\1000"),
)
#: None of the addresses that the tests give to tunnels and to devices of their own.
LOCAL, REMOTE = ("198.51.100.1", "2001:db8:1::1"), ("198.51.100.2", "2001:db8:1::2")
SHORT_QUEUE, LONG_QUEUE = 8192, 212992  # bytes that a socket has under way; Linux begins with the latter
BEHIND = "2001:db8:2::/64"  # addresses of containers behind the function under test
#: Debian's ethtool does not tell queues in JSON, as tests want them.
ETHTOOL = r"""#!/bin/sh
[ "$1 $2" = "--json -l" ] || exec /usr/sbin/ethtool "$@"
text=$(/usr/sbin/ethtool -l "$3") || exit
printf '%s\n' "$text" | awk '
  /^Pre-set/ { end = "-max" }
  /^Current/ { end = "" }
  /^(RX|TX|Other|Combined):/ && $2 != "n/a" { sub(":", "", $1); found = found ", \"" tolower($1) end "\": " $2 }
  END { print "[{\"ifname\": \"" name "\"" found "}]" }' name="$3"
"""
COPY = f"""
cat >/usr/local/bin/ethtool <<'TEXT'
{ETHTOOL}TEXT
chmod +x /usr/local/bin/ethtool
mount -o ro /dev/vdb /mnt && cp -a /mnt {FOLDER} && umount /mnt
cd {FOLDER} && chmod +x drivers/net/*.py drivers/net/hw/*.py drivers/net/hw/*.sh net/forwarding/*.sh
mount -t configfs configfs /sys/kernel/config
mount -t bpf bpf /sys/fs/bpf
modprobe -a netconsole pppoe tls vxlan
sysctl -qw net.ipv6.conf.default.keep_addr_on_down=1 net.ipv6.conf.all.keep_addr_on_down=1
ip address flush dev eth0
ip link set eth1 down && ip link set eth1 name {FAR_DEVICE}
ip netns add {FAR} && ip link set {FAR_DEVICE} netns {FAR}
ip netns exec {FAR} sysctl -qw net.ipv6.conf.all.keep_addr_on_down=1
# fq_codel, which Debian begins with, drops frames that wait 5 ms, as they do in the slow twin. A device whose queue is
# taken away has the default, which is another then.
sysctl -qw net.core.default_qdisc=pfifo_fast
tc qdisc replace dev eth0 root mq && tc qdisc del dev eth0 root
ip netns exec {FAR} tc qdisc replace dev {FAR_DEVICE} root mq && ip netns exec {FAR} tc qdisc del dev {FAR_DEVICE} root
ip -n {FAR} link set lo up
"""


@dataclass
class Bench:
    """device: the interface of the function under test."""

    guest: Guest
    device: str

    @property
    def environment(self) -> dict[str, str]:
        """What the kernel's tests ask for (drivers/net/README.rst)."""
        return {
            "NETIF": self.device,
            "LOCAL_V4": LOCAL[0],
            "LOCAL_V6": LOCAL[1],
            "REMOTE_V4": REMOTE[0],
            "REMOTE_V6": REMOTE[1],
            "LOCAL_PREFIX_V6": BEHIND,
            "REMOTE_TYPE": "netns",
            "REMOTE_ARGS": FAR,
            "KSFT_MACHINE_SLOW": "yes",
            "PING_TIMEOUT": "30",
        }

    def command(self, test: str, without: list[str]) -> str:
        """That runs a test in its folder, between ends as it wants them. without: cases. Raises GuestError."""
        name = test.rpartition("/")[2]
        text = self.guest.run(f"cat {FOLDER}/{test}")
        # A script reads counters as soon as its last frame is in the queue, and the twin is slow: few wait there.
        self.guest.run(f"sysctl -qw net.core.wmem_default={SHORT_QUEUE if name.endswith('.sh') else LONG_QUEUE}")
        # What takes no environment has its interfaces as arguments, in one namespace.
        if "NUM_NETIFS=" in text and "DRIVER_TEST_CONFORMANT:=yes" not in text:
            self.join()
            return f"./{name} {self.device} {FAR_DEVICE}"
        self.prepare()
        return " ".join([f"./{name}", *(f"-T {shlex.quote(case)}" for case in without)])

    def join(self) -> None:
        """Both ends are down, without addresses, in the first namespace. Raises GuestError."""
        self.guest.run(
            f"ip netns exec {FAR} ip link set {FAR_DEVICE} netns 1 2>/dev/null || ip link show {FAR_DEVICE}\n"
            f"for end in {self.device} {FAR_DEVICE}; do ip address flush dev $end && ip link set $end down; done"
        )

    def prepare(self) -> None:
        """Both ends are up and have their addresses, whatever the test before has left. Raises GuestError."""
        self.guest.run(f"ip link set {FAR_DEVICE} netns {FAR} 2>/dev/null || ip -n {FAR} link show {FAR_DEVICE}")
        ends = (("ip", self.device, LOCAL), (f"ip -n {FAR}", FAR_DEVICE, REMOTE))
        for ip, device, (v4, v6) in ends:
            self.guest.run(
                f"{ip} link set {device} up && {ip} address replace {v4}/24 dev {device} && "
                f"{ip} -6 address replace {v6}/64 dev {device} nodad"
            )
        self.guest.until(f"ping -c 1 -W 2 {REMOTE[0]} && ping -6 -c 1 -W 2 {REMOTE[1]}", "(?s) 0% .* 0% ", 60)
        self.guest.run(f"ip -n {FAR} -6 route replace {BEHIND} via {LOCAL[1]}")


@contextmanager
def bench(suite: str, function: str, folder: Path) -> Iterator[Bench]:
    """function: pf or vf; a VF is trusted. Raises BuildError, CardError, MachineError, GuestError."""
    tests = tools.built("build/build-selftests", "--suite", suite, minutes=40)
    drive = ("-drive", f"if=none,id=tests,file={tests},format=raw,readonly=on", "-device", "virtio-blk-pci,drive=tests")
    hardware = Hardware(device="pfs=2", memory=2048, extra=drive)
    setting = Setting(suite=suite, machine="selftests", hardware=hardware, ports=2, cables=[(0, 1)])
    with Twin(setting, folder) as twin, twin.machine() as machine:
        guest = Guest(machine)
        guest.run(COPY)
        for file, old, new in LIMITS:
            # An older kernel has not all of the tests.
            guest.run(f"[ ! -e {FOLDER}/{file} ] || sed -i {shlex.quote(f's/{old}/{new}/')} {FOLDER}/{file}")
        device = "eth0"
        if function == "vf":
            guest.run(f"echo 1 >{PF_DEVICE}/sriov_numvfs && ip link set eth0 vf 0 trust on && ip link set eth0 up")
            device = guest.until(f"ls {PF_DEVICE}/virtfn0/net", "^eth").strip()
        yield Bench(guest, device)
