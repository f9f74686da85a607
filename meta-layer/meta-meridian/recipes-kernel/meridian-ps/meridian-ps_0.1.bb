# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Linux driver of the Meridian SmartNIC's ARM side"
DESCRIPTION = "A network interface on each Ethernet port of the card, with hardware timestamps, and its PTP clock"
SECTION = "kernel/modules"
LICENSE = "GPL-2.0-only"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/GPL-2.0-only;md5=801f80980d171dd6425610833a22dbe6"

# What the host's driver needs, too, has one source, outside of the layer: so the layer is used from a checkout of the repository.
# nooelint: oelint.vars.fileextrapaths,oelint.vars.outofcontext
FILESEXTRAPATHS:prepend := "${THISDIR}/../../../../host-driver/include:"

SRC_URI = "\
    file://Kbuild \
    file://Kconfig \
    file://Makefile \
    file://clock \
    file://meridian_ps.h \
    file://meridian_ps_address.c \
    file://meridian_ps_attach.c \
    file://meridian_ps_box.c \
    file://meridian_ps_compat.h \
    file://meridian_ps_detach.c \
    file://meridian_ps_devlink.c \
    file://meridian_ps_ethtool.c \
    file://meridian_ps_filter.c \
    file://meridian_ps_limit.c \
    file://meridian_ps_mac_stats.c \
    file://meridian_ps_main.c \
    file://meridian_ps_netdev.c \
    file://meridian_ps_pm.c \
    file://meridian_ps_port.c \
    file://meridian_ps_queue_stats.c \
    file://meridian_ps_ring.c \
    file://meridian_ps_rx.c \
    file://meridian_ps_service.c \
    file://meridian_ps_stats.c \
    file://meridian_ps_tx.c \
    file://selftest \
    file://meridian_port_run.h \
    file://meridian_port_stats.h \
    file://meridian_port_verdict.h \
    file://meridian_regs.h \
"

S = "${WORKDIR}"

inherit module

# Which register map this driver knows, for those who choose a bitstream.
do_install:append() {
    install -d ${D}${datadir}/meridian
    sed -n -e 's/^#define MERIDIAN_MAP_\(MAJOR\|MINOR\) *\([0-9]*\)$/\1=\2/p' ${S}/meridian_regs.h \
        > ${D}${datadir}/meridian/register-map
}

PACKAGES =+ "${PN}-register-map"
FILES:${PN}-register-map += "${datadir}/meridian"

RDEPENDS:${PN} += "${PN}-register-map"
# Not in KERNEL_MODULE_AUTOLOAD: udev loads it by the device tree's node, or a board's set-up once the logic is there.
RPROVIDES:${PN} += "kernel-module-meridian-ps"
