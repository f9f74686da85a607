// SPDX-License-Identifier: Apache-2.0
/*
 * xsk_tool INTERFACE QUEUE copy|zerocopy [BYTES] [frags] [sg] [alone] [once]: an AF_XDP socket on a queue, which sends each of the
 * tests' frames back with its addresses changed over, until it is killed. All other frames go up the stack. BYTES: of a
 * chunk of its memory. frags: its program takes frames in parts. sg: so does the socket. alone: no program of its own.
 * once: it sends one broadcast, wakes the driver for it one time, and waits.
 */
#include <arpa/inet.h>
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <poll.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HEADER 14
#define FRAGS (1 << 5) /* BPF_F_XDP_HAS_FRAGS */
#define USE_SG (1 << 4) /* XDP_USE_SG */
#define MORE (1 << 0) /* XDP_PKT_CONTD: the frame goes on in the next descriptor */
#define KIND 0x88b5 /* the tests' frames */
#define FRAMES 1024
#define FRAME_BYTES 4096
#define SLOTS 1024 /* of each ring */

static long check(long result, const char *what)
{
	if (result < 0) {
		perror(what);
		exit(1);
	}
	return result;
}

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

struct ring {
	volatile uint32_t *producer, *consumer, *flags;
	void *entries;
};

static struct ring map_ring(int fd, const struct xdp_ring_offset *offsets, size_t entry, uint64_t page)
{
	char *at = mmap(NULL, offsets->desc + SLOTS * entry, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, page);

	check(at == MAP_FAILED ? -1 : 0, "mmap");
	return (struct ring){
		(uint32_t *)(at + offsets->producer), (uint32_t *)(at + offsets->consumer), (uint32_t *)(at + offsets->flags),
		at + offsets->desc,
	};
}

/* A program that sends the tests' frames of the queue to the socket, and all others up the stack. */
static void attach(int interface, int queue, int socket, int flags)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4, .max_entries = 64 };
	int map = check(bpf(BPF_MAP_CREATE, &attr), "map");
	struct bpf_insn program[] = {
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1, .off = offsetof(struct xdp_md, data) },
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 3, .src_reg = 1, .off = offsetof(struct xdp_md, data_end) },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 4, .src_reg = 2 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = 4, .imm = HEADER },
		{ .code = BPF_JMP | BPF_JGT | BPF_X, .dst_reg = 4, .src_reg = 3, .off = 8 },
		{ .code = BPF_LDX | BPF_MEM | BPF_H, .dst_reg = 5, .src_reg = 2, .off = HEADER - 2 },
		{ .code = BPF_JMP | BPF_JNE | BPF_K, .dst_reg = 5, .imm = htons(KIND), .off = 6 },
		{ .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = 2, .src_reg = 1, .off = offsetof(struct xdp_md, rx_queue_index) },
		{ .code = BPF_LD | BPF_IMM | BPF_DW, .dst_reg = 1, .src_reg = BPF_PSEUDO_MAP_FD, .imm = map },
		{ 0 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 3, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map },
		{ .code = BPF_JMP | BPF_EXIT },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = 0, .imm = XDP_PASS },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int loaded;

	memset(&attr, 0, sizeof(attr));
	attr.map_fd = map;
	attr.key = (uintptr_t)&queue;
	attr.value = (uintptr_t)&socket;
	check(bpf(BPF_MAP_UPDATE_ELEM, &attr), "map update");
	memset(&attr, 0, sizeof(attr));
	attr.prog_flags = flags;
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = (uintptr_t)"GPL";
	loaded = check(bpf(BPF_PROG_LOAD, &attr), "load");
	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = loaded;
	attr.link_create.target_ifindex = interface;
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = XDP_FLAGS_DRV_MODE;
	check(bpf(BPF_LINK_CREATE, &attr), "attach");
}

static void send_once(int fd, struct ring *ring, unsigned char *memory)
{
	memset(memory, 0xff, 6);
	memset(memory + 6, 2, 6);
	memcpy(memory + 12, &(uint16_t){ htons(KIND) }, 2);
	((struct xdp_desc *)ring->entries)[0] = (struct xdp_desc){ .addr = (FRAMES - 1) * FRAME_BYTES, .len = 100 };
	__atomic_store_n(ring->producer, 1, __ATOMIC_RELEASE);
	sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
	pause();
}

static void turn(unsigned char *frame)
{
	unsigned char to[6];

	memcpy(to, frame, 6);
	memcpy(frame, frame + 6, 6);
	memcpy(frame + 6, to, 6);
}

int main(int argc, char **argv)
{
	struct ring fill, done, receive, send;
	struct xdp_mmap_offsets offsets;
	struct sockaddr_xdp address = { .sxdp_family = AF_XDP };
	socklen_t length = sizeof(offsets);
	int slots = SLOTS, flags = 0, is_alone = 0, is_once = 0, is_first = 1, fd, i;
	struct xdp_umem_reg umem = { .len = (uint64_t)FRAMES * FRAME_BYTES, .chunk_size = FRAME_BYTES };
	unsigned char *memory = mmap(NULL, umem.len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

	for (i = 4; i < argc; i++) {
		if (atoi(argv[i]))
			umem.chunk_size = atoi(argv[i]);
		if (!strcmp(argv[i], "frags"))
			flags = FRAGS;
		if (!strcmp(argv[i], "sg"))
			address.sxdp_flags = USE_SG;
		if (!strcmp(argv[i], "alone"))
			is_alone = 1;
		if (!strcmp(argv[i], "once"))
			is_once = 1;
	}
	if (argc < 4 || !if_nametoindex(argv[1]))
		return 2;
	address.sxdp_ifindex = if_nametoindex(argv[1]);
	address.sxdp_queue_id = atoi(argv[2]);
	address.sxdp_flags |= XDP_USE_NEED_WAKEUP | (strcmp(argv[3], "copy") ? XDP_ZEROCOPY : XDP_COPY);
	fd = check(socket(AF_XDP, SOCK_RAW, 0), "socket");
	umem.addr = (uintptr_t)memory;
	check(setsockopt(fd, SOL_XDP, XDP_UMEM_REG, &umem, sizeof(umem)), "umem");
	check(setsockopt(fd, SOL_XDP, XDP_UMEM_FILL_RING, &slots, sizeof(slots)), "fill ring");
	check(setsockopt(fd, SOL_XDP, XDP_UMEM_COMPLETION_RING, &slots, sizeof(slots)), "completion ring");
	check(setsockopt(fd, SOL_XDP, XDP_RX_RING, &slots, sizeof(slots)), "receive ring");
	check(setsockopt(fd, SOL_XDP, XDP_TX_RING, &slots, sizeof(slots)), "transmit ring");
	check(getsockopt(fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length), "offsets");
	fill = map_ring(fd, &offsets.fr, sizeof(uint64_t), XDP_UMEM_PGOFF_FILL_RING);
	done = map_ring(fd, &offsets.cr, sizeof(uint64_t), XDP_UMEM_PGOFF_COMPLETION_RING);
	receive = map_ring(fd, &offsets.rx, sizeof(struct xdp_desc), XDP_PGOFF_RX_RING);
	send = map_ring(fd, &offsets.tx, sizeof(struct xdp_desc), XDP_PGOFF_TX_RING);
	for (i = 0; i < FRAMES - 1; i++)
		((uint64_t *)fill.entries)[i] = (uint64_t)i * FRAME_BYTES;
	__atomic_store_n(fill.producer, FRAMES - 1, __ATOMIC_RELEASE);
	if (!is_alone)
		attach(address.sxdp_ifindex, address.sxdp_queue_id, fd, flags);
	check(bind(fd, (struct sockaddr *)&address, sizeof(address)), "bind");
	puts("ready");
	fflush(stdout);
	if (is_once)
		send_once(fd, &send, memory + (FRAMES - 1) * FRAME_BYTES);
	for (;;) {
		struct pollfd wait = { .fd = fd, .events = POLLIN };

		poll(&wait, 1, 10);
		while (*receive.consumer != __atomic_load_n(receive.producer, __ATOMIC_ACQUIRE)) {
			struct xdp_desc *from = &((struct xdp_desc *)receive.entries)[*receive.consumer % SLOTS];

			if (is_first)
				turn(memory + from->addr);
			is_first = !(from->options & MORE);
			((struct xdp_desc *)send.entries)[*send.producer % SLOTS] = *from;
			__atomic_store_n(receive.consumer, *receive.consumer + 1, __ATOMIC_RELEASE);
			__atomic_store_n(send.producer, *send.producer + 1, __ATOMIC_RELEASE);
		}
		if (*send.consumer != *send.producer && (*send.flags & XDP_RING_NEED_WAKEUP))
			sendto(fd, NULL, 0, MSG_DONTWAIT, NULL, 0);
		while (*done.consumer != __atomic_load_n(done.producer, __ATOMIC_ACQUIRE)) {
			((uint64_t *)fill.entries)[*fill.producer % SLOTS] = ((uint64_t *)done.entries)[*done.consumer % SLOTS];
			__atomic_store_n(done.consumer, *done.consumer + 1, __ATOMIC_RELEASE);
			__atomic_store_n(fill.producer, *fill.producer + 1, __ATOMIC_RELEASE);
		}
	}
}
