/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The link between the card process and whoever plays a machine around it: QEMU, a test, a script.
 *
 * A UNIX stream socket; little endian; every message is a header of 32 bytes and a payload of size - 32 bytes. The
 * client speaks first (HELLO), the card answers WELCOME, or ERROR and closes. The WELCOME has the client's version: a
 * card speaks its own and all before, and refuses a newer one. Roles:
 *   PCIE  the host machine: BARs, DMA to its memory, MSI-X, resets. One at a time.
 *   AXI   the processing system: registers, DMA to its memory, one interrupt line. One at a time.
 *   PCIE_FUNCTION  (version 2) one function of the host, beside PCIE or without: its BARs, DMA and MSI-X are this
 *         client's alone. One at a time for each function.
 * When a client leaves, however it does, its machine is reset as by RESET and its memory and permissions are gone; that
 * of one function is reset as by RESET_FUNCTION. The host takes the clients of its functions along.
 *
 * Requests and replies: a request has one reply with its tag and type + MERIDIAN_LINK_REPLY; BAR_WRITE, DMA_WRITE, MSIX
 * and INTERRUPT have none. The card repeats the request's header in its reply, but for size, type, status and value.
 * Replies may come in another order than their requests. A reply whose status is INVALID has a sentence as payload, in
 * UTF-8 without a zero. At most MERIDIAN_LINK_MAX_REQUESTS of a client's requests may be without a reply. Of the card's
 * reads, MERIDIAN_LINK_MAX_READS of together MERIDIAN_LINK_MAX_READ_BYTES may be, reads of 0 bytes not counted: a client
 * need not keep more answers for a card that does not take them. The tags of each side are its own; the card's reads
 * have different ones as long as they are open.
 *
 * Order: messages of one direction are carried out in the order sent. A DMA_WRITE is in memory before a DMA_READ,
 * MSIX, INTERRUPT or reply behind it is acted on, and so is what the card wrote into shared memory before it sent
 * that. Of one function, the card writes nothing into shared memory before a DMA_WRITE ahead of it is known to be in
 * memory; to know, it sends a DMA_READ of 0 bytes, which is answered with none.
 * A client that waits for a reply must go on serving DMA_READ, and must answer within 10 s.
 *
 * Memory: DMA goes to shared regions (MEMORY) where one holds all of it, a function's own before one of all functions,
 * and by messages otherwise. A PF or VF may access memory, and interrupt, only after FUNCTION said so; RESET_FUNCTION
 * and RESET take that back, as they clear bus mastering in PCIe (a PF's reset also for its VFs).
 *
 * Doorbells (version 2): a function's doorbells of BAR 0 may stand in shared memory (DOORBELLS, struct
 * meridian_link_doorbells), where the card looks while it runs. One that is rung before a message is sent is acted on
 * before that message; one that is rung behind a message may overtake it, unless that was a request and its reply has
 * come. Those of one queue have no order among themselves, and of several writes of one the card may see the last
 * alone. Shared memory that was written before a doorbell was rung is seen by the DMA that follows from it.
 *
 * A message that makes no sense gets a reply with status INVALID if it is a request, else ERROR, and the connection
 * closes. A file descriptor that no message asked for is closed.
 */
#ifndef MERIDIAN_LINK_H
#define MERIDIAN_LINK_H

#include <stdint.h>

#define MERIDIAN_LINK_MAGIC 0x4c52444du /* "MDRL" */
#define MERIDIAN_LINK_VERSION 3u
#define MERIDIAN_LINK_MAX_PAYLOAD 65536u
#define MERIDIAN_LINK_MAX_REGIONS 16u
#define MERIDIAN_LINK_MAX_REQUESTS 64u
#define MERIDIAN_LINK_MAX_READS 1024u
#define MERIDIAN_LINK_MAX_READ_BYTES 16777216u
#define MERIDIAN_LINK_MAX_DOORBELLS 2048u /* queues of a function */
#define MERIDIAN_LINK_ALL_FUNCTIONS 0xffffu
#define MERIDIAN_LINK_REPLY 0x80u

enum meridian_link_role { MERIDIAN_LINK_PCIE = 0, MERIDIAN_LINK_AXI = 1, MERIDIAN_LINK_PCIE_FUNCTION = 2 };

/* Client to card, unless said otherwise. Fields of the header that are not named are 0. */
enum meridian_link_type {
  MERIDIAN_LINK_HELLO = 1,     /* payload: struct meridian_link_hello; reply payload: struct meridian_link_welcome */
  MERIDIAN_LINK_MEMORY = 2,    /* payload: struct meridian_link_region, with one file descriptor; a reply */
  MERIDIAN_LINK_FORGET = 3,    /* function, address: the region that begins there is taken back; a reply */
  MERIDIAN_LINK_BAR_READ = 4,  /* function, bar, width, address (offset); the reply has value. AXI: bar 0 */
  MERIDIAN_LINK_BAR_WRITE = 5, /* the same with value; posted */
  MERIDIAN_LINK_DMA_READ = 6,  /* card to client: function, address, value (bytes, 0 to 65536); the reply has the
                                  bytes, or none and status UNSUPPORTED */
  MERIDIAN_LINK_DMA_WRITE = 7, /* card to client: function, address, payload; posted */
  MERIDIAN_LINK_MSIX = 8,      /* card to client: function, value (vector) */
  MERIDIAN_LINK_INTERRUPT = 9, /* card to client, AXI: value (level); 0 until told otherwise */
  MERIDIAN_LINK_FUNCTION = 10, /* PCIE: function, value: 1 it may access memory, 0 it may not; bar: its parent PF (its
                                  own number for a PF), INVALID if the card was made with another; a reply */
  MERIDIAN_LINK_RESET_FUNCTION = 11, /* PCIE: function level reset; the reply comes when it is done */
  MERIDIAN_LINK_RESET = 12,          /* PCIE: the slot is reset, AXI: the PS is reset; a reply */
  MERIDIAN_LINK_ADVANCE = 13, /* value: ps; lockstep only: time goes on, the reply comes when it has, with the twin
                                 time as value */
  MERIDIAN_LINK_ERROR = 14,   /* card to client, before it closes: payload is a sentence */
  MERIDIAN_LINK_DOORBELLS = 15, /* version 2, PCIE: function, address (offset in the file, of struct
                                   meridian_link_doorbells), value (queues, from the function's first on), with one
                                   file descriptor as in MEMORY; value 0 and none takes them back; a reply */
  MERIDIAN_LINK_WAKE = 16,      /* version 2, PCIE: doorbells were rung while the card slept; posted */
  MERIDIAN_LINK_FUNCTION_STATE = 17 /* version 3, PCIE: function; the reply's value is 1 if it may access memory, else
                                       0. A client of one function asks for that, and a PF's for its VFs, too */
};

enum meridian_link_status {
  MERIDIAN_LINK_OK = 0,
  MERIDIAN_LINK_UNSUPPORTED = 1, /* nothing answers there; a BAR read's value is all ones */
  MERIDIAN_LINK_INVALID = 2,     /* the request makes no sense; the payload is a sentence */
  MERIDIAN_LINK_BUSY = 3         /* not now */
};

enum meridian_link_flags {
  MERIDIAN_LINK_LOCKSTEP = 1u /* in HELLO: time stands still but for ADVANCE and the accesses that wait for a reply;
                                 for one client at a time */
};

struct meridian_link_header {
  uint32_t size; /* bytes, with this header */
  uint16_t type;
  uint16_t status; /* enum meridian_link_status, in replies */
  uint32_t tag;
  uint16_t function; /* PFs 0 to 3, VFs from 4 on; 0 on AXI */
  uint8_t bar;
  uint8_t width; /* bytes: 1, 2, 4 or 8 */
  uint64_t address;
  uint64_t value;
};

struct meridian_link_hello {
  uint32_t magic;
  uint16_t version;
  uint16_t role;
  uint32_t flags;
  uint32_t function; /* PCIE_FUNCTION: which; 0 in other roles */
  char name[48]; /* for messages; ends with a zero */
};

struct meridian_link_welcome {
  uint32_t magic;
  uint16_t version;
  uint8_t ports;
  uint8_t pfs;
  uint16_t functions;
  uint16_t queues;
  uint32_t build_hash;
  uint32_t build_date;
  uint32_t bar0_bytes; /* of a PF */
  uint32_t bar2_bytes;
  uint32_t vf_bar0_bytes;
  uint32_t vf_bar2_bytes;
  uint16_t device_id;    /* of PF 0; the others follow the public scheme */
  uint16_t vf_device_id; /* of the VFs of PF 0 */
  uint64_t time_ps;      /* twin time */
  uint8_t vfs[4];        /* of each PF by the card's making, in the order of their numbers; all 0: the host shares them */
  uint32_t bar4_bytes;   /* of a PF; 0: it has none */
  uint32_t vf_bar4_bytes;
  uint8_t reserved[4];
};

/*
 * A piece of guest memory that the card may access by itself: bytes of the file, from offset on, stand at address. The
 * file is a memfd sealed against shrinking (F_SEAL_SHRINK), so that no access of the card can fault. Regions of one
 * function do not overlap; what is written to one that is not writable comes as DMA_WRITE.
 */
struct meridian_link_region {
  uint64_t address;
  uint64_t bytes;
  uint64_t offset;
  uint16_t function; /* or MERIDIAN_LINK_ALL_FUNCTIONS; addresses behind an IOMMU belong to one function */
  uint8_t writable;
  uint8_t reserved[5]; /* 0 */
};

/*
 * A function's doorbells in shared memory, at a multiple of 64 in a file sealed against shrinking; zero at first. The
 * queues that the DOORBELLS message has follow this head, each with its four doorbells in the order of BAR 0.
 *
 * To ring (any number of threads, each doorbell by one at a time):
 *   1. the doorbell's word: in the low half what would be written to the register, in the high half one more than
 *      before, so that the same value twice is seen twice (release);
 *   2. OR of the queue's bit into rung (release), then a full barrier;
 *   3. if asleep is 1, exchange it for 0, and if it was 1, send WAKE.
 * The card, to look: exchanges a word of rung for 0 (acquire), then reads the words of the queues whose bits were set
 * (acquire) and acts on those that differ from what it acted on last. To sleep: sets asleep to 1, a full barrier, looks
 * once more, and waits for its socket.
 *
 * Why none is lost. Let a doorbell's word be written before its bit is set. If the card's exchange takes that bit, it
 * reads that word or a newer one: the OR releases, the exchange acquires. If the exchange came before the OR, the bit
 * stays for the next look. And there is a next look: the card sleeps only after a look behind the barrier that follows
 * asleep = 1. Of two barriers one is first. Is it the card's, the client reads asleep = 1 behind its own and sends
 * WAKE, or another thread took the 1 and sends it. Is it the client's, the card's look behind its own finds the bit.
 */
struct meridian_link_doorbells {
  uint32_t asleep; /* the card waits for its socket */
  uint8_t reserved[60];
  uint64_t rung[MERIDIAN_LINK_MAX_DOORBELLS / 64]; /* a bit a queue */
};

struct meridian_link_queue_doorbells {
  uint64_t word[4]; /* interrupt CIDX, H2C PIDX, C2H PIDX, completion CIDX */
};

#ifdef __cplusplus
#define MERIDIAN_LINK_ASSERT static_assert
#else
#define MERIDIAN_LINK_ASSERT _Static_assert
#endif
MERIDIAN_LINK_ASSERT(sizeof(struct meridian_link_header) == 32, "header");
MERIDIAN_LINK_ASSERT(sizeof(struct meridian_link_hello) == 64, "hello");
MERIDIAN_LINK_ASSERT(sizeof(struct meridian_link_welcome) == 64, "welcome");
MERIDIAN_LINK_ASSERT(sizeof(struct meridian_link_region) == 32, "region");
MERIDIAN_LINK_ASSERT(sizeof(struct meridian_link_doorbells) == 320, "doorbells");
MERIDIAN_LINK_ASSERT(sizeof(struct meridian_link_queue_doorbells) == 32, "doorbells of a queue");

#endif
