/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What Meridian's VFs ask their PF for beside the messages of the public QDMA drivers, in the same
 * mailbox and with the same header: operations from 0x40 on. Offsets are of bytes of the message.
 * A PF that does not know them refuses.
 */
#ifndef MERIDIAN_MAILBOX_H
#define MERIDIAN_MAILBOX_H

/*
 * The VF's settings. Answer: its address, 6 bytes; whether it is trusted, 1 byte; the longest frame
 * in bytes without FCS, 4 bytes.
 */
#define MERIDIAN_OP_CONFIG		0x40
#define MERIDIAN_CONFIG_ADDRESS		8
#define MERIDIAN_CONFIG_TRUSTED		14
#define MERIDIAN_CONFIG_MAX_FRAME	16

/*
 * To receive an address, or no longer. Request: the address, 6 bytes; 1 to receive it, 1 byte; 1 if
 * it takes the place of the VF's own address, 1 byte. Untrusted VFs have one unicast address.
 */
#define MERIDIAN_OP_ADDRESS		0x41
#define MERIDIAN_ADDRESS_ADDRESS	8
#define MERIDIAN_ADDRESS_ADD		14
#define MERIDIAN_ADDRESS_OWN		15

/* Request: MERIDIAN_FUNCTION_FLAGS_*, 4 bytes: all_multicast and promiscuous. For trusted VFs. */
#define MERIDIAN_OP_FLAGS		0x42
#define MERIDIAN_FLAGS_FLAGS		8

#endif
