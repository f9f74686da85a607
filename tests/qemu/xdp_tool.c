// SPDX-License-Identifier: Apache-2.0
/*
 * xdp_tool INTERFACE pass|drop|tx|redirect|abort|meta: attaches a program that does just that, and holds it until it is
 * killed. "meta" puts four bytes before the frame and passes it.
 */
#include <linux/bpf.h>
#include <linux/if_link.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static long bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static const struct bpf_insn finish = { .code = BPF_JMP | BPF_EXIT };

static struct bpf_insn move(int to, int value)
{
	return (struct bpf_insn){ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = to, .imm = value };
}

static struct bpf_insn call(int helper)
{
	return (struct bpf_insn){ .code = BPF_JMP | BPF_CALL, .imm = helper };
}

int main(int argc, char **argv)
{
	static const struct { const char *name; int action; } actions[] = {
		{ "abort", XDP_ABORTED }, { "drop", XDP_DROP }, { "pass", XDP_PASS }, { "tx", XDP_TX },
	};
	struct bpf_insn program[8];
	unsigned int count = 0, i;
	union bpf_attr attr;
	long fd, link;

	if (argc != 3 || !if_nametoindex(argv[1]))
		return 2;
	for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (!strcmp(argv[2], actions[i].name))
			program[count++] = move(BPF_REG_0, actions[i].action);
	if (!strcmp(argv[2], "redirect")) {
		program[count++] = move(BPF_REG_1, if_nametoindex(argv[1]));
		program[count++] = move(BPF_REG_2, 0);
		program[count++] = call(BPF_FUNC_redirect);
	}
	if (!strcmp(argv[2], "meta")) {
		program[count++] = move(BPF_REG_2, -4);
		program[count++] = call(BPF_FUNC_xdp_adjust_meta);
		program[count++] = move(BPF_REG_0, XDP_PASS);
	}
	if (!count)
		return 2;
	program[count++] = finish;
	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_XDP;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = count;
	attr.license = (uintptr_t)"GPL";
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd < 0) {
		perror("load");
		return 1;
	}
	memset(&attr, 0, sizeof(attr));
	attr.link_create.prog_fd = fd;
	attr.link_create.target_ifindex = if_nametoindex(argv[1]);
	attr.link_create.attach_type = BPF_XDP;
	attr.link_create.flags = XDP_FLAGS_DRV_MODE;
	link = bpf(BPF_LINK_CREATE, &attr);
	if (link < 0) {
		perror("attach");
		return 1;
	}
	puts("attached");
	fflush(stdout);
	pause();
	return 0;
}
