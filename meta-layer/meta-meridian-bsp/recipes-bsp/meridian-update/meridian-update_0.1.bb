# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Writes the root file system that is not running, and marks it for the next start"
DESCRIPTION = "Update of the SD card's two roots; what was cut short leaves the running one marked"
SECTION = "bsp"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/Apache-2.0;md5=89aea4e17d99a7cacdbeed46a0096b10"

SRC_URI = "file://meridian-update"

S = "${WORKDIR}"

inherit allarch

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -d ${D}${sbindir}
    install -m 0755 ${S}/meridian-update ${D}${sbindir}
}

RDEPENDS:${PN} = "util-linux-blockdev util-linux-findmnt util-linux-sfdisk"
