# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Writes the root file system that is not running, and marks it for the next start"
DESCRIPTION = "Update of the SD card's two roots; what was cut short, or does not come up, gives way to the other"
SECTION = "bsp"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/Apache-2.0;md5=89aea4e17d99a7cacdbeed46a0096b10"

SRC_URI = "\
    file://meridian-update \
    file://meridian-update-good.service \
    file://meridian-update-bad.service \
    file://meridian-watchdog.conf \
"

S = "${WORKDIR}"

inherit allarch features_check systemd

REQUIRED_DISTRO_FEATURES = "systemd"

SYSTEMD_SERVICE:${PN} = "meridian-update-good.service"

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -d ${D}${sbindir} ${D}${systemd_system_unitdir} ${D}${systemd_unitdir}/system.conf.d
    install -m 0755 ${S}/meridian-update ${D}${sbindir}
    install -m 0644 ${S}/meridian-update-good.service ${S}/meridian-update-bad.service ${D}${systemd_system_unitdir}
    install -m 0644 ${S}/meridian-watchdog.conf ${D}${systemd_unitdir}/system.conf.d
}

# The class adds the unit that is enabled; the other one is started by it.
FILES:${PN} += "${systemd_system_unitdir} ${systemd_unitdir}/system.conf.d"

RDEPENDS:${PN} = "e2fsprogs openssh-keygen util-linux-blockdev util-linux-findmnt util-linux-sfdisk"
