// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A TCG plugin that counts the guest's instructions, those of the kernel and those of programs apart. Each time the
 * guest executes the mark, an 8-byte no-operation that no compiler makes, it appends a line "KERNEL PROGRAMS
 * MICROSECONDS" to a file: what all processors have executed until then, and a clock.
 *
 *   qemu-system-x86_64 -plugin libcount_instructions.so,out=FILE
 *
 * A halted processor executes nothing, so sleep is not counted. A block that an exception cuts short counts whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <qemu-plugin.h>

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct counts {
    uint64_t kernel;
    uint64_t programs;
};

/* nopl 0x4b52414d(%rax,%rax,1) */
static const uint8_t mark[] = { 0x0f, 0x1f, 0x84, 0x00, 'M', 'A', 'R', 'K' };
static struct qemu_plugin_scoreboard *scores;
static qemu_plugin_u64 kernel, programs;
static FILE *out;

static void marked(unsigned int vcpu, void *data)
{
    fprintf(out, "%" PRIu64 " %" PRIu64 " %" PRIi64 "\n", qemu_plugin_u64_sum(kernel),
            qemu_plugin_u64_sum(programs), g_get_monotonic_time());
    fflush(out);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
    size_t count = qemu_plugin_tb_n_insns(tb);
    bool upper_half = qemu_plugin_tb_vaddr(tb) >> 63;
    uint8_t bytes[sizeof(mark)];

    qemu_plugin_register_vcpu_tb_exec_inline_per_vcpu(tb, QEMU_PLUGIN_INLINE_ADD_U64,
                                                      upper_half ? kernel : programs, count);
    for (size_t i = 0; i < count; i++) {
        struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

        if (qemu_plugin_insn_size(insn) == sizeof(mark) &&
            qemu_plugin_insn_data(insn, bytes, sizeof(bytes)) == sizeof(mark) && !memcmp(bytes, mark, sizeof(mark))) {
            qemu_plugin_register_vcpu_insn_exec_cb(insn, marked, QEMU_PLUGIN_CB_NO_REGS, NULL);
        }
    }
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
    if (argc != 1 || strncmp(argv[0], "out=", 4) || !(out = fopen(argv[0] + 4, "w"))) {
        fprintf(stderr, "count_instructions: wants out=FILE, a file that can be written\n");
        return -1;
    }
    scores = qemu_plugin_scoreboard_new(sizeof(struct counts));
    kernel = qemu_plugin_scoreboard_u64_in_struct(scores, struct counts, kernel);
    programs = qemu_plugin_scoreboard_u64_in_struct(scores, struct counts, programs);
    qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
    return 0;
}
