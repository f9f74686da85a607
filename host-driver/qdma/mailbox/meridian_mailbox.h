/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What Meridian's VFs ask their PF for beside the messages of the public QDMA drivers, in the same
 * mailbox and with the same header: operations from 0x40 on. Offsets are of bytes of the message.
 * A PF that does not know them refuses; bytes without a name are 0.
 */
#ifndef MERIDIAN_MAILBOX_H
#define MERIDIAN_MAILBOX_H

/* Version of these messages. 1 had CONFIG (without version and capabilities), ADDRESS and FLAGS. */
#define MERIDIAN_MAILBOX_VERSION	2

/*
 * The VF's settings. Answer: its address, 6 bytes; whether it is trusted, 1 byte; the version of
 * these messages that the PF knows, 1 byte, 0 for version 1; the longest frame in bytes without
 * FCS, 4 bytes, of which cards have FRAME_LEAST to FRAME_MOST (spinal's ShellParam); what the card
 * can do for the VF, MERIDIAN_IDENT_CAPABILITIES_*, 4 bytes; how many addresses beside its own the
 * VF has lost since its hello, to others or as there was no room any more, 4 bytes: 0 of a PF that
 * does not count them. A VF that sees more than before asks for all its addresses again.
 */
#define MERIDIAN_OP_CONFIG		0x40
#define MERIDIAN_CONFIG_ADDRESS		8
#define MERIDIAN_CONFIG_TRUSTED		14
#define MERIDIAN_CONFIG_VERSION		15
#define MERIDIAN_CONFIG_MAX_FRAME	16
#define MERIDIAN_CONFIG_CAPABILITIES	20
#define MERIDIAN_CONFIG_LOST		24
#define MERIDIAN_CONFIG_FRAME_LEAST	1518
#define MERIDIAN_CONFIG_FRAME_MOST	16000

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

/* Version 2. Request: 1 if received frames are to lose their 802.1Q tag, else 0, 1 byte. */
#define MERIDIAN_OP_STRIP		0x43
#define MERIDIAN_STRIP_ON		8

/*
 * Version 2. Which of the VF's queues a frame goes to, to be asked for when it has them (FMAP).
 * Request: what is hashed, in which order of bits, MERIDIAN_FUNCTION_HASH_ORDER_*, 4 bytes, of
 * which the card has the bits that its capabilities microsoft_hash and hash_fields name; the key,
 * 10 words of 4 bytes; the indirection table, 4 bits an entry, the even ones lowest, 64 bytes.
 */
#define MERIDIAN_OP_RSS			0x44
#define MERIDIAN_RSS_ORDER		8
#define MERIDIAN_RSS_KEY		12
#define MERIDIAN_RSS_INDIRECTION	52

/*
 * For a VF whose CONFIG has the capability of it. Request: what transmit queues that start from now
 * on ask the card to do to their frames (MERIDIAN_H2C_REQUEST_*), 1 byte: nothing; tags and
 * checksums; or also segments, which take the capability of these.
 */
#define MERIDIAN_OP_TX_OFFLOAD		0x45
#define MERIDIAN_TX_OFFLOAD_ON		8
#define MERIDIAN_TX_OFFLOAD_NONE	0
#define MERIDIAN_TX_OFFLOAD_REQUESTS	1
#define MERIDIAN_TX_OFFLOAD_SEGMENTS	2

#endif
