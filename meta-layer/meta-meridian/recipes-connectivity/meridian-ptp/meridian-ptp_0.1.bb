# SPDX-License-Identifier: Apache-2.0
SUMMARY = "PTP on the Meridian SmartNIC: profiles, units, health check"
DESCRIPTION = "ptp4l on a port of the card, the system's clock after the card's, and a check that both hold"
SECTION = "net/misc"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/Apache-2.0;md5=89aea4e17d99a7cacdbeed46a0096b10"

SRC_URI = "\
    file://ptp.conf \
    file://default.conf \
    file://g8275-1.conf \
    file://gptp.conf \
    file://meridian-ptp4l@.service \
    file://meridian-phc2sys@.service \
    file://meridian-ptp-health@.service \
    file://meridian-ptp-health@.timer \
    file://meridian-ptp-health \
    file://timesyncd-meridian.conf \
"

S = "${WORKDIR}"

inherit allarch features_check systemd

REQUIRED_DISTRO_FEATURES = "systemd"

# The units take any port; port0 is what they are enabled for.
SYSTEMD_SERVICE:${PN} = "\
    meridian-ptp4l@port0.service \
    meridian-phc2sys@port0.service \
    meridian-ptp-health@port0.timer \
"

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -d ${D}${sysconfdir}/meridian ${D}${datadir}/meridian/ptp ${D}${systemd_system_unitdir} ${D}${sbindir}
    install -m 0644 ${S}/ptp.conf ${D}${sysconfdir}/meridian
    install -m 0644 ${S}/default.conf ${S}/g8275-1.conf ${S}/gptp.conf ${D}${datadir}/meridian/ptp
    install -m 0644 ${S}/meridian-ptp4l@.service ${S}/meridian-phc2sys@.service ${S}/meridian-ptp-health@.service \
        ${S}/meridian-ptp-health@.timer ${D}${systemd_system_unitdir}
    install -m 0755 ${S}/meridian-ptp-health ${D}${sbindir}
    install -D -m 0644 ${S}/timesyncd-meridian.conf \
        ${D}${systemd_system_unitdir}/systemd-timesyncd.service.d/meridian.conf
}

# The class adds units that are enabled; that of the health check is started by its timer alone.
FILES:${PN} += "${datadir}/meridian/ptp ${systemd_system_unitdir}"
CONFFILES:${PN} = "${sysconfdir}/meridian/ptp.conf"

RDEPENDS:${PN} = "linuxptp"
