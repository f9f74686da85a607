# SPDX-License-Identifier: Apache-2.0
"""Why the card drops a frame, by the counter that tells it (tx_refused: by what Linux tells of a VF): words for it, and a
sentence on why it is right.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    words: str
    why: str


REASONS = {
    "rx_bad_fcs": Reason("bad FCS", "The frame was damaged on the wire, and IEEE 802.3 has the receiver discard it."),
    "rx_runt": Reason("runt", "A frame below 64 bytes is a fragment, and IEEE 802.3 has the receiver discard it."),
    "rx_oversize": Reason(
        "longer than 9600 bytes", "No MTU of the card allows such a frame, so no receiver has a buffer for it."
    ),
    "rx_host_overflow": Reason(
        "host buffer full",
        "The host took frames more slowly than the wire brought them. The PS has a buffer of its own and loses nothing.",
    ),
    "rx_ps_overflow": Reason(
        "PS buffer full",
        "The PS read more slowly than frames came. Frames that are not PTP leave a part of the buffer free for PTP.",
    ),
    "rx_ps_policed": Reason(
        "over the PS's limit",
        "The PS's driver limits how many frames a second may take processor time. PTP has a limit of its own.",
    ),
    "rx_ps_ptp_policed": Reason(
        "over the PS's limit of PTP",
        "More PTP messages came than the PS's driver allows. The limit protects the PS's processors from a flood.",
    ),
    "rx_uncounted": Reason(
        "too fast to be counted otherwise",
        "These are runts one directly after the other. They are dropped like every runt, and this counter keeps up.",
    ),
    "rx_no_match": Reason(
        "unicast nobody takes", "The frame is addressed to another station, and no function here is promiscuous."
    ),
    "rx_no_listener": Reason(
        "broadcast or multicast nobody wants", "No function asked for this broadcast or multicast, so nobody misses it."
    ),
    "rx_disabled": Reason("function off", "The function has no driver that receives, so the frame has no receiver."),
    "rx_bad_queue": Reason(
        "queue of another function",
        "The function's indirection table names a queue that it does not own. The drop keeps functions apart.",
    ),
    "rx_queue_full": Reason(
        "no free buffer in the queue",
        "The function's software gave buffers back more slowly than frames came. If the frame waited, it would block the"
        " frames of all other functions behind it.",
    ),
    "rx_copy_cut": Reason(
        "copy buffer full",
        "Broadcast came faster than it can be copied to each function. Unicast goes first, so copies are dropped.",
    ),
    "rx_host_disabled": Reason(
        "host receive off", "No driver of the host had enabled the port, so no function listens."
    ),
    "tx_spoof": Reason(
        "source address not the function's (transmit)", "A function must not send in the name of another station."
    ),
    "tx_control_frame": Reason(
        "frame that controls the link (transmit)",
        "PAUSE, spanning tree or LACP of an untrusted VF could stop the link for all functions.",
    ),
    "tx_refused": Reason(
        "refused to a VF (transmit)",
        "The source address is not the VF's, or the frame controls the link, which only a trusted VF may do.",
    ),
    "tx_runt": Reason("too short to send (transmit)", "Without a whole Ethernet header a frame has no receiver."),
    "tx_oversize": Reason("longer than 9600 bytes (transmit)", "No MTU of the card allows such a frame."),
    "tx_error": Reason("error in the DMA (transmit)", "The DMA engine marked the data as bad, so it must not be sent."),
    "tx_link_down": Reason("link down (transmit)", "The port has no link, and a frame that waits would block others."),
    "tx_disabled": Reason("function off (transmit)", "The function is not enabled, so it may not send."),
    "tx_host_disabled": Reason("host transmit off", "No driver of the host has enabled the port to send."),
    "tx_hairpin": Reason(
        "to the sender's own address (transmit)", "No bridge sends a frame back to where it came from (IEEE 802.1Q)."
    ),
    "tx_veb_full": Reason(
        "buffer inside the card full (transmit)",
        "The receiving function reads too slowly. If the frame waited, it would block the frames of all functions.",
    ),
    "tx_ps_full": Reason(
        "PS buffer full (transmit)", "Frames of functions may take half of the PS's buffer, so that PTP finds room."
    ),
}
