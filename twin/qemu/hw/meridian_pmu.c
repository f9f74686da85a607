/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of the platform management API (Xilinx UG1200, EEMI) as its messages come:
 * answered before the write that sends one is done, so a sender never waits.
 */
#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/timer.h"
#include "exec/address-spaces.h"
#include "hw/core/cpu.h"
#include "hw/irq.h"
#include "hw/qdev-properties.h"
#include "hw/resettable.h"
#include "hw/sysbus.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "system/runstate.h"
#include "meridian_pmu.h"
#include "meridian_pmu_registers.h"
#include "hw/net/trace.h"

OBJECT_DECLARE_SIMPLE_TYPE(MeridianPmu, MERIDIAN_PMU)

#define BUFFER_BYTES 0x1000
#define APU_TO_PMU 0x5c0 /* request of the APU; the answer is behind it */
#define ANSWER 0x20
#define WORDS 4 /* of a call's arguments, and of an answer */

#define APU_CPUS 4
#define NODE_APU_0 2
#define NODES 78

#define RVBAR_0 0xfd5c0040
#define RST_FPD_APU 0xfd1a0104
#define OFF_CHECK_NS (1 * SCALE_MS)

enum { /* states of a processor */
    FORCED_OFF = 0,
    ACTIVE = 1,
    SUSPENDING = 3,
};

enum { /* statuses */
    SUCCESS = 0,
    BAD_ARGUMENT = 15,
    NO_FEATURE = 19,
    NO_ACCESS = 2002,
    INVALID_NODE = 2003,
};

struct MeridianPmu {
    SysBusDevice parent_obj;

    MemoryRegion buffers;
    MeridianRegisters registers;
    QEMUTimer *off_timer;
    int states[APU_CPUS];
};

typedef struct PmuCall {
    const char *name;
    uint32_t (*act)(MeridianPmu *s, const uint32_t *arguments,
                    uint32_t *results);
} PmuCall;

static uint32_t pmu_version(MeridianPmu *s, const uint32_t *arguments,
                            uint32_t *results)
{
    results[0] = 1 << 16 | 1;
    return SUCCESS;
}

/* Configuration, power and requirements of nodes: QEMU has nothing to show. */
static uint32_t pmu_taken(MeridianPmu *s, const uint32_t *arguments,
                          uint32_t *results)
{
    return SUCCESS;
}

/* Of the APU; NULL: the machine has not got it. */
static CPUState *pmu_cpu(uint32_t node)
{
    return node >= NODE_APU_0 && node < NODE_APU_0 + APU_CPUS ?
        qemu_get_cpu(node - NODE_APU_0) : NULL;
}

static uint32_t pmu_node_status(MeridianPmu *s, const uint32_t *arguments,
                                uint32_t *results)
{
    uint32_t node = arguments[0];

    if (node >= NODE_APU_0 && node < NODE_APU_0 + APU_CPUS) {
        if (!pmu_cpu(node)) {
            return INVALID_NODE;
        }
        results[0] = s->states[node - NODE_APU_0];
        return SUCCESS;
    }
    if (node >= NODES) {
        return INVALID_NODE;
    }
    results[0] = 1; /* on */
    return SUCCESS;
}

static uint32_t pmu_bus_read(hwaddr address)
{
    return address_space_ldl_le(&address_space_memory, address,
                                MEMTXATTRS_UNSPECIFIED, NULL);
}

static void pmu_bus_write(hwaddr address, uint32_t value)
{
    address_space_stl_le(&address_space_memory, address, value,
                         MEMTXATTRS_UNSPECIFIED, NULL);
}

static void pmu_hold(unsigned cpu, bool in_reset)
{
    pmu_bus_write(RST_FPD_APU, deposit32(pmu_bus_read(RST_FPD_APU), cpu, 1,
                                         in_reset));
}

static uint32_t pmu_wakeup(MeridianPmu *s, const uint32_t *arguments,
                           uint32_t *results)
{
    unsigned cpu = arguments[0] - NODE_APU_0;

    if (!pmu_cpu(arguments[0])) {
        return INVALID_NODE;
    }
    if (arguments[1] & 1) {
        pmu_bus_write(RVBAR_0 + 8 * cpu, arguments[1] & ~1);
        pmu_bus_write(RVBAR_0 + 8 * cpu + 4, arguments[2]);
    }
    pmu_hold(cpu, false);
    s->states[cpu] = ACTIVE;
    return SUCCESS;
}

/* A processor that said so is off once it waits. */
static void pmu_check_off(void *opaque)
{
    MeridianPmu *s = opaque;
    bool again = false;

    for (unsigned cpu = 0; cpu < APU_CPUS; cpu++) {
        if (s->states[cpu] != SUSPENDING) {
            continue;
        }
        if (pmu_cpu(NODE_APU_0 + cpu)->halted) {
            pmu_hold(cpu, true);
            s->states[cpu] = FORCED_OFF;
        } else {
            again = true;
        }
    }
    if (again) {
        timer_mod(s->off_timer,
                  qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + OFF_CHECK_NS);
    }
}

static uint32_t pmu_self_suspend(MeridianPmu *s, const uint32_t *arguments,
                                 uint32_t *results)
{
    if (!pmu_cpu(arguments[0])) {
        return INVALID_NODE;
    }
    s->states[arguments[0] - NODE_APU_0] = SUSPENDING;
    timer_mod(s->off_timer,
              qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + OFF_CHECK_NS);
    return SUCCESS;
}

static uint32_t pmu_shutdown(MeridianPmu *s, const uint32_t *arguments,
                             uint32_t *results)
{
    switch (arguments[0]) {
    case 0:
        qemu_system_shutdown_request(SHUTDOWN_CAUSE_GUEST_SHUTDOWN);
        return SUCCESS;
    case 1:
        qemu_system_reset_request(SHUTDOWN_CAUSE_GUEST_RESET);
        return SUCCESS;
    default:
        return BAD_ARGUMENT;
    }
}

static uint32_t pmu_mmio_write(MeridianPmu *s, const uint32_t *arguments,
                               uint32_t *results)
{
    uint32_t *word = meridian_register(&s->registers, arguments[0], true);

    if (!word) {
        return NO_ACCESS;
    }
    *word = (*word & ~arguments[1]) | (arguments[2] & arguments[1]);
    return SUCCESS;
}

static uint32_t pmu_mmio_read(MeridianPmu *s, const uint32_t *arguments,
                              uint32_t *results)
{
    uint32_t *word = meridian_register(&s->registers, arguments[0], false);

    if (!word) {
        return NO_ACCESS;
    }
    results[0] = *word;
    return SUCCESS;
}

static uint32_t pmu_chip(MeridianPmu *s, const uint32_t *arguments,
                         uint32_t *results)
{
    results[0] = MERIDIAN_IDCODE;
    return SUCCESS;
}

static uint32_t pmu_feature_check(MeridianPmu *s, const uint32_t *arguments,
                                  uint32_t *results);

#define FEATURE_CHECK 63
static const PmuCall pmu_calls[] = {
    [1] = { "GET_API_VERSION", pmu_version },
    [2] = { "SET_CONFIGURATION", pmu_taken },
    [3] = { "GET_NODE_STATUS", pmu_node_status },
    [7] = { "SELF_SUSPEND", pmu_self_suspend },
    [10] = { "REQ_WAKEUP", pmu_wakeup },
    [12] = { "SYSTEM_SHUTDOWN", pmu_shutdown },
    [13] = { "REQ_NODE", pmu_taken },
    [14] = { "RELEASE_NODE", pmu_taken },
    [15] = { "SET_REQUIREMENT", pmu_taken },
    [19] = { "MMIO_WRITE", pmu_mmio_write },
    [20] = { "MMIO_READ", pmu_mmio_read },
    [24] = { "GET_CHIPID", pmu_chip },
    [FEATURE_CHECK] = { "FEATURE_CHECK", pmu_feature_check },
};

static const PmuCall *pmu_call(uint32_t id)
{
    return id < ARRAY_SIZE(pmu_calls) && pmu_calls[id].act ?
        &pmu_calls[id] : NULL;
}

/* Version 2 of it says, too, which IOCTL there are: none. */
static uint32_t pmu_feature_check(MeridianPmu *s, const uint32_t *arguments,
                                  uint32_t *results)
{
    if (!pmu_call(arguments[0])) {
        return NO_FEATURE;
    }
    results[0] = arguments[0] == FEATURE_CHECK ? 2 : 1;
    return SUCCESS;
}

static void pmu_interrupt(void *opaque, int line, int level)
{
    MeridianPmu *s = opaque;
    uint32_t *request = memory_region_get_ram_ptr(&s->buffers) + APU_TO_PMU;
    uint32_t id = le32_to_cpu(request[0]);
    const PmuCall *call = pmu_call(id);
    uint32_t arguments[WORDS], results[WORDS] = {}, status = NO_FEATURE;

    if (!level) {
        return;
    }
    for (int i = 0; i < WORDS; i++) {
        arguments[i] = le32_to_cpu(request[1 + i]);
    }
    if (call) {
        status = call->act(s, arguments, results);
    }
    trace_meridian_pmu_call(call ? call->name : "unknown", id, arguments[0],
                            arguments[1], arguments[2], arguments[3], status,
                            results[0]);
    if (status != SUCCESS) {
        trace_meridian_pmu_refused(call ? call->name : "unknown", id,
                                   arguments[0], status);
    }
    request[ANSWER / 4] = cpu_to_le32(status);
    for (int i = 0; i < WORDS; i++) {
        request[ANSWER / 4 + 1 + i] = cpu_to_le32(results[i]);
    }
}

static void pmu_realize(DeviceState *dev, Error **errp)
{
    MeridianPmu *s = MERIDIAN_PMU(dev);
    SysBusDevice *bus = SYS_BUS_DEVICE(dev);

    if (!memory_region_init_ram(&s->buffers, OBJECT(s), "meridian-ipi-buffers",
                                BUFFER_BYTES, errp)) {
        return;
    }
    sysbus_init_mmio(bus, &s->buffers);
    meridian_registers_init(&s->registers, bus);
    qdev_init_gpio_in(dev, pmu_interrupt, 1);
    s->off_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, pmu_check_off, s);
}

static void pmu_unrealize(DeviceState *dev)
{
    timer_free(MERIDIAN_PMU(dev)->off_timer);
}

static void pmu_reset_hold(Object *obj, ResetType type)
{
    MeridianPmu *s = MERIDIAN_PMU(obj);

    timer_del(s->off_timer);
    meridian_registers_reset(&s->registers,
                             object_property_get_uint(OBJECT(first_cpu),
                                                      "cntfrq", &error_abort),
                             MERIDIAN_HANDOFF);
    memset(s->states, 0, sizeof(s->states));
    s->states[0] = ACTIVE;
}

static const VMStateDescription pmu_vmstate = {
    .name = TYPE_MERIDIAN_PMU,
    .unmigratable = 1,
};

static void pmu_class_init(ObjectClass *class, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(class);

    dc->realize = pmu_realize;
    dc->unrealize = pmu_unrealize;
    RESETTABLE_CLASS(class)->phases.hold = pmu_reset_hold;
    dc->desc = "PMU of a ZynqMP, as far as its boot loaders talk to it";
    dc->vmsd = &pmu_vmstate;
    dc->user_creatable = false; /* the machine wires it */
}

static const TypeInfo pmu_info = {
    .name = TYPE_MERIDIAN_PMU,
    .parent = TYPE_SYS_BUS_DEVICE,
    .instance_size = sizeof(MeridianPmu),
    .class_init = pmu_class_init,
};

static void pmu_register(void)
{
    type_register_static(&pmu_info);
}

type_init(pmu_register)
