// SPDX-License-Identifier: Apache-2.0
/*
 * xdp_tool INTERFACE pass|drop|tx|redirect|abort|meta|shrink|grow|look [frags] [then ACTION] [pin]: attaches a program that does
 * just that, and holds it until it is killed. With "frags" it takes frames in parts. "meta" puts four bytes before the
 * frame, "shrink" takes 2000 from its end, "grow" puts 100 there; each of them passes it, or does what "then" says.
 * With "pin" it is not attached but left as /sys/fs/bpf/xdp_tool.
 * "look" asks the card for its hash and its 802.1Q tag, prints what comes and passes the frame.
 */
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FRAGS (1 << 5)	   /* BPF_F_XDP_HAS_FRAGS */
#define BOUND_ONLY (1 << 6) /* BPF_F_XDP_DEV_BOUND_ONLY: what a program needs to ask a card */

struct answer {
	int32_t hash_error;
	uint32_t hash;
	uint32_t type;
	int32_t tag_error;
	uint16_t protocol;
	uint16_t tci;
	uint32_t bytes;
};

static struct bpf_insn program[64];
static unsigned int count;

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static void add(int code, int to, int from, int offset, int value)
{
	program[count++] = (struct bpf_insn){ code, to, from, offset, value };
}

static void move(int to, int value)
{
	add(BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}

static void copy(int to, int from)
{
	add(BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

static void call(int helper)
{
	add(BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

/* Register 1 is the context again, as a helper leaves nothing of it. */
static void adjust(int helper, int bytes)
{
	copy(BPF_REG_1, BPF_REG_6);
	move(BPF_REG_2, bytes);
	call(helper);
}

static int action(const char *name)
{
	static const struct { const char *name; int action; } actions[] = {
		{ "abort", XDP_ABORTED }, { "drop", XDP_DROP }, { "pass", XDP_PASS }, { "tx", XDP_TX },
	};
	unsigned int i;

	for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(name, actions[i].name))
			return actions[i].action;
	return -1;
}

static size_t more_of(const struct btf_type *type)
{
	unsigned int members = BTF_INFO_VLEN(type->info);

	switch (BTF_INFO_KIND(type->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return 4;
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64:
		return members * 12;
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO:
		return members * 8;
	default:
		return 0;
	}
}

/* Where the kernel's types have a function that programs may call. */
static int kernel_function(const char *name)
{
	static char all[32 << 20];
	const struct btf_header *header = (const void *)all;
	int file = open("/sys/kernel/btf/vmlinux", O_RDONLY), id = 1;
	const char *strings, *at, *end;
	ssize_t bytes = 0, more;

	while ((more = read(file, all + bytes, sizeof(all) - bytes)) > 0)
		bytes += more;
	strings = all + header->hdr_len + header->str_off;
	at = all + header->hdr_len + header->type_off;
	for (end = at + header->type_len; at < end; id++) {
		const struct btf_type *type = (const void *)at;

		if (BTF_INFO_KIND(type->info) == BTF_KIND_FUNC && !strcmp(strings + type->name_off, name))
			return id;
		at += sizeof(*type) + more_of(type);
	}
	fprintf(stderr, "the kernel has no function %s\n", name);
	exit(1);
}

/* Asks one question of two answers, which are at these offsets of the stack. */
static void ask(const char *question, int first, int second, int error)
{
	copy(BPF_REG_1, BPF_REG_6);
	copy(BPF_REG_2, BPF_REG_10);
	add(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, first);
	copy(BPF_REG_3, BPF_REG_10);
	add(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, second);
	add(BPF_JMP | BPF_CALL, 0, 2 /* BPF_PSEUDO_KFUNC_CALL */, 0, kernel_function(question));
	add(BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_0, error, 0);
}

static void look(int map)
{
	const int at = -(int)sizeof(struct answer), key = at - 8;
	int word;

	for (word = key; word < 0; word += 4)
		add(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, word, 0);
	copy(BPF_REG_1, BPF_REG_6);
	call(BPF_FUNC_xdp_get_buff_len);
	add(BPF_STX | BPF_MEM | BPF_W, BPF_REG_10, BPF_REG_0, at + offsetof(struct answer, bytes), 0);
	ask("bpf_xdp_metadata_rx_hash", at + offsetof(struct answer, hash), at + offsetof(struct answer, type),
	    at + offsetof(struct answer, hash_error));
	ask("bpf_xdp_metadata_rx_vlan_tag", at + offsetof(struct answer, protocol), at + offsetof(struct answer, tci),
	    at + offsetof(struct answer, tag_error));
	add(BPF_LD | BPF_IMM | BPF_DW, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0, map);
	add(0, 0, 0, 0, 0);
	copy(BPF_REG_2, BPF_REG_10);
	add(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, key);
	copy(BPF_REG_3, BPF_REG_10);
	add(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, at);
	move(BPF_REG_4, BPF_ANY);
	call(BPF_FUNC_map_update_elem);
}

/* Prints what the program has found, frame by frame if each is another. */
static void print(int map)
{
	struct answer last = { 0 }, now;
	uint32_t key = 0;

	for (;; usleep(1000)) {
		union bpf_attr attr = { .map_fd = map, .key = (uintptr_t)&key, .value = (uintptr_t)&now };

		if (bpf(BPF_MAP_LOOKUP_ELEM, &attr) || !memcmp(&now, &last, sizeof(now)))
			continue;
		printf("bytes=%u hash=%d,%08x,%#x tag=%d,%04x,%u\n", now.bytes, now.hash_error, now.hash, now.type, now.tag_error,
		       __builtin_bswap16(now.protocol), now.tci);
		fflush(stdout);
		last = now;
	}
}

int main(int argc, char **argv)
{
	int interface = argc > 2 ? if_nametoindex(argv[1]) : 0, verdict = argc > 2 ? action(argv[2]) : -1, map = -1, i;
	static char said[1 << 16];
	union bpf_attr attr;
	long fd, link;
	int pin = 0;

	if (!interface)
		return 2;
	memset(&attr, 0, sizeof(attr));
	copy(BPF_REG_6, BPF_REG_1);
	if (!strcmp(argv[2], "redirect")) {
		move(BPF_REG_1, interface);
		move(BPF_REG_2, 0);
		call(BPF_FUNC_redirect);
		verdict = -2;
	} else if (!strcmp(argv[2], "meta")) {
		adjust(BPF_FUNC_xdp_adjust_meta, -4);
	} else if (!strcmp(argv[2], "shrink")) {
		adjust(BPF_FUNC_xdp_adjust_tail, -2000);
	} else if (!strcmp(argv[2], "grow")) {
		adjust(BPF_FUNC_xdp_adjust_tail, 100);
	} else if (!strcmp(argv[2], "look")) {
		attr.map_type = BPF_MAP_TYPE_ARRAY;
		attr.key_size = sizeof(uint32_t);
		attr.value_size = sizeof(struct answer);
		attr.max_entries = 1;
		map = bpf(BPF_MAP_CREATE, &attr);
		look(map);
	} else if (verdict < 0) {
		return 2;
	}
	memset(&attr, 0, sizeof(attr));
	for (i = 3; i < argc; i++) {
		if (!strcmp(argv[i], "frags"))
			attr.prog_flags |= FRAGS;
		if (!strcmp(argv[i], "then") && i + 1 < argc)
			verdict = action(argv[++i]);
		else if (!strcmp(argv[i], "pin"))
			pin = 1;
	}
	if (verdict != -2)
		move(BPF_REG_0, verdict < 0 ? XDP_PASS : verdict);
	add(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
	if (map >= 0) {
		attr.prog_flags |= BOUND_ONLY;
		attr.prog_ifindex = interface;
	}
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = count;
	attr.license = (uintptr_t) "GPL";
	attr.log_buf = (uintptr_t)said;
	attr.log_size = sizeof(said);
	attr.log_level = 1;
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0) {
		perror(said);
		return 1;
	}
	memset(&attr, 0, sizeof(attr));
	if (pin) {
		attr.pathname = (uintptr_t) "/sys/fs/bpf/xdp_tool";
		attr.bpf_fd = fd;
		return !!bpf(BPF_OBJ_PIN, &attr);
	}
	attr.link_create.prog_fd = fd;
	attr.link_create.target_ifindex = interface;
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = XDP_FLAGS_DRV_MODE;
	link = bpf(BPF_LINK_CREATE, &attr);
	if (link < 0) {
		perror("attach");
		return 1;
	}
	puts("attached");
	fflush(stdout);
	if (map >= 0)
		print(map);
	pause();
	return 0;
}
