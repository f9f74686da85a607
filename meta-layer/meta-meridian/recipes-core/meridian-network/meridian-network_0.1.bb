# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Names and addresses of the Meridian SmartNIC's interfaces"
DESCRIPTION = "port0 to port3 are the card's Ethernet ports, mgmt0 the processors' own, and the only one with ssh"
SECTION = "net/misc"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/Apache-2.0;md5=89aea4e17d99a7cacdbeed46a0096b10"

SRC_URI = "\
    file://70-meridian-net.rules \
    file://30-meridian-mgmt.link \
    file://30-meridian-mgmt.network \
    file://30-meridian-port.network \
    file://meridian-sshd.conf \
"

S = "${WORKDIR}"

inherit allarch features_check

REQUIRED_DISTRO_FEATURES = "systemd"

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -d ${D}${nonarch_base_libdir}/udev/rules.d ${D}${systemd_unitdir}/network
    install -d ${D}${systemd_system_unitdir}/sshd.socket.d ${D}${systemd_system_unitdir}/boot-complete.target.requires
    install -m 0644 ${S}/70-meridian-net.rules ${D}${nonarch_base_libdir}/udev/rules.d
    install -m 0644 ${S}/30-meridian-mgmt.link ${S}/30-meridian-mgmt.network ${S}/30-meridian-port.network \
        ${D}${systemd_unitdir}/network
    install -m 0644 ${S}/meridian-sshd.conf ${D}${systemd_system_unitdir}/sshd.socket.d/meridian.conf
    # A root that nobody can log in to has not come up well.
    ln -s ../sshd.socket ${D}${systemd_system_unitdir}/boot-complete.target.requires/sshd.socket
}

FILES:${PN} += "${nonarch_base_libdir}/udev/rules.d ${systemd_unitdir}/network ${systemd_system_unitdir}"
