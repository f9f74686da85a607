# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Loads the Meridian shell's bitstream, then its driver"
DESCRIPTION = "At boot, by the FPGA manager, if bitstream and driver have the same register map"
SECTION = "bsp"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/Apache-2.0;md5=89aea4e17d99a7cacdbeed46a0096b10"

SRC_URI = "\
    file://meridian-fpga \
    file://meridian-fpga.service \
    file://meridian-fpga.conf \
"

S = "${WORKDIR}"

inherit allarch features_check systemd

REQUIRED_DISTRO_FEATURES = "systemd"

SYSTEMD_SERVICE:${PN} = "meridian-fpga.service"

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -d ${D}${sbindir} ${D}${systemd_system_unitdir} ${D}${nonarch_base_libdir}/modprobe.d
    install -m 0755 ${S}/meridian-fpga ${D}${sbindir}
    install -m 0644 ${S}/meridian-fpga.service ${D}${systemd_system_unitdir}
    install -m 0644 ${S}/meridian-fpga.conf ${D}${nonarch_base_libdir}/modprobe.d
}

FILES:${PN} += "${nonarch_base_libdir}/modprobe.d"

# allarch: what it names without depending on its build is in the packagegroup.
RDEPENDS:${PN} = "kmod"
