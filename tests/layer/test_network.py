# SPDX-License-Identifier: Apache-2.0
"""What systemd-networkd takes from the wire on a port of the card: an address, and nothing else."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

FILES = Path(__file__).resolve().parents[2] / "meta-layer/meta-meridian/recipes-core/meridian-network/files"
NETWORKD = Path("/usr/lib/systemd/systemd-networkd")
# In a network, host name and mount namespace of its own: a port, and a server on the other end of its cable that offers
# a default route in every way (gateway, option 121, router advertisement; by a netmask it claims half of all addresses as
# its neighbours), a host name, a domain and a name server. The management interface has a default route, too.
SCRIPT = r"""
set -eu
mount -t tmpfs tmpfs /run && mkdir -p /run/systemd/network /run/udev/data
mount -t sysfs sysfs /sys
hostname before
sed 's/^Driver=.*/Name=port0/' "$1" >/run/systemd/network/30-port.network
ip link set lo up
ip link add port0 type veth peer name wire
ip link add mgmt0 type veth peer name office
ip addr add 10.0.0.5/24 dev mgmt0
ip link set mgmt0 up && ip link set office up
ip route add default via 10.0.0.1
# There is no udev that would tell of it.
echo I:1 >/run/udev/data/n$(cat /sys/class/net/port0/ifindex)
ip addr add 192.0.2.1/24 dev wire
ip addr add 2001:db8::1/64 dev wire nodad
ip link set wire up
dnsmasq --keep-in-foreground --no-daemon --port=0 --conf-file=/dev/null --interface=wire --bind-interfaces   --dhcp-range=192.0.2.50,192.0.2.59 --dhcp-option=3,192.0.2.1 --dhcp-option=121,0.0.0.0/0,192.0.2.1,198.51.100.0/24,192.0.2.1   --dhcp-option=6,192.0.2.1 --dhcp-option=15,evil.example --dhcp-option-force=12,evil --dhcp-option=26,600 --dhcp-option-force=1,128.0.0.0   --dhcp-range=2001:db8::,ra-only --enable-ra --ra-param=wire,4 --dhcp-leasefile=/run/leases   --user=root --log-dhcp >/run/dnsmasq.log 2>&1 &
server=$!
"$2" >/run/networkd.log 2>&1 &
client=$!
tries=0
until ip -4 addr show dev port0 | grep -q 192.0.2.5; do
  tries=$((tries + 1))
  [ $tries -lt 300 ] || { cat /run/networkd.log /run/dnsmasq.log >&2; exit 1; }
  sleep 0.1
done
# An advertisement is sent every few seconds, and one more when it is asked for.
sleep "$3"
echo "routes: $(ip -4 route show; ip -6 route show dev port0 | grep -v '^fe80')"
echo "way to elsewhere: $(ip route get 203.0.113.7)"
echo "way by the port: $(ip route get 192.0.2.77 oif port0)"
echo "addresses: $(ip -6 addr show dev port0 scope global)"
echo "host: $(hostname)"
echo "mtu: $(cat /sys/class/net/port0/mtu)"
echo "asked as: $(grep -c 'client provides name' /run/dnsmasq.log || true)"
kill $client $server
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="namespaces are root's")
def test_a_port_takes_an_address_and_nothing_else() -> None:
    if not NETWORKD.exists() or not shutil.which("dnsmasq", path="/usr/sbin:/sbin"):
        pytest.skip("systemd-networkd or dnsmasq is not here")
    done = subprocess.run(
        ["unshare", "--net", "--uts", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", SCRIPT,
         "sh", str(FILES / "30-meridian-port.network"), str(NETWORKD), "5"],
        capture_output=True, text=True, timeout=120, check=False, env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/sbin:/sbin"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = dict(line.split(": ", 1) for line in done.stdout.splitlines() if ": " in line)
    routes = done.stdout[done.stdout.index("routes: ") + 8 : done.stdout.index("way to elsewhere: ")]
    assert "dev port0" not in routes and "198.51.100" not in routes, routes
    assert routes.count("default") == 1 and "dev mgmt0" in said["way to elsewhere"]
    # A program that is bound to the port, as ptp4l is, reaches who is on its wire.
    assert "dev port0" in said["way by the port"] and "via" not in said["way by the port"]
    assert said["addresses"].strip() == "" and said["host"] == "before"
    assert (said["mtu"], said["asked as"]) == ("1500", "0")
