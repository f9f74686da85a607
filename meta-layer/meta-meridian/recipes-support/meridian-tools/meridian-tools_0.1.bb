# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Self-test of the Meridian SmartNIC"
DESCRIPTION = "meridian-selftest, which tests the card from its own ARM side, and meridian-eye, which measures its links"
SECTION = "console/utils"
LICENSE = "GPL-2.0-only | BSD-3-Clause"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/GPL-2.0-only;md5=801f80980d171dd6425610833a22dbe6"

# The program has one source, for the host, too, outside of the layer: so the layer is used from a checkout of the repository.
# nooelint: oelint.vars.fileextrapaths,oelint.vars.outofcontext
FILESEXTRAPATHS:prepend := "${THISDIR}/../../../../host-driver/tools:${THISDIR}/../../../../host-driver/include:${THISDIR}/../../../../vivado:"

SRC_URI = "\
    file://meridian-selftest \
    file://meridian_selftest \
    file://meridian-eye \
    file://meridian_eye \
    file://meridian_regs.h \
    file://boards \
"

S = "${WORKDIR}"

inherit allarch

do_configure[noexec] = "1"
do_compile[noexec] = "1"

# As the Debian package has it: the program finds the register map and the boards beside it.
do_install() {
    tools=${D}${datadir}/meridian-tools
    install -d $tools/meridian_selftest/modules $tools/meridian_eye ${D}${bindir}
    install -m 0755 ${S}/meridian-selftest ${S}/meridian-eye $tools
    install -m 0644 ${S}/meridian_selftest/*.py $tools/meridian_selftest
    install -m 0644 ${S}/meridian_selftest/modules/*.py $tools/meridian_selftest/modules
    install -m 0644 ${S}/meridian_eye/*.py $tools/meridian_eye
    install -m 0644 ${S}/meridian_regs.h $tools
    for board in ${S}/boards/*/board.tcl; do
        install -D -m 0644 $board $tools/boards/$(basename $(dirname $board))/board.tcl
    done
    sed -i 's/^VERSION = ".*"/VERSION = "${PV}"/' $tools/meridian_selftest/__init__.py
    ln -s ${datadir}/meridian-tools/meridian-selftest ${D}${bindir}/meridian-selftest
    ln -s ${datadir}/meridian-tools/meridian-eye ${D}${bindir}/meridian-eye
}

# python3-core alone has no sockets, JSON or statistics.
RDEPENDS:${PN} += "python3-core python3-modules"
