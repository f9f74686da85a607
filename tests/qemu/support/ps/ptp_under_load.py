# SPDX-License-Identifier: Apache-2.0
"""What ptp4l and its grandmaster are given where the wire is full, so that twin time is some thousand times slower than
the machine's clock, by which ptp4l counts its time-outs."""

from __future__ import annotations

from ptp_run import Grandmaster

LINE = 25e9  # bits a second
# Its messages come by twin time, ptp4l's own timers are the machine's.
BUSY = Grandmaster("busy", 0, "transport=ethernet", "-2 -E", 12_000, logs=(-10, 0, -7))
SERVO = "--pi_proportional_const=160 --pi_integral_const=16"
# Announce messages would be out of date when they are read: the roles are given.
GIVEN = "--BMCA=noop --inhibit_announce=1 --ignore_source_id=1"
CLOCKS = [word for clock in ("ps=50", "mac_rx_0=-50", "mac_tx_0=50", "host=-50") for word in ("--ppm", clock)]
