# SPDX-License-Identifier: Apache-2.0
SUMMARY = "Bitstream of the Meridian shell"
DESCRIPTION = "A file that Vivado and bootgen made (MERIDIAN_BITSTREAM), with a manifest of what it is"
SECTION = "bsp"
LICENSE = "Apache-2.0"
LIC_FILES_CHKSUM = "file://${COMMON_LICENSE_DIR}/Apache-2.0;md5=89aea4e17d99a7cacdbeed46a0096b10"

SRC_URI = "${@'file://%s' % d.getVar('MERIDIAN_BITSTREAM') if d.getVar('MERIDIAN_BITSTREAM') else ''}"

S = "${WORKDIR}"

COMPATIBLE_MACHINE = "meridian-card"
PACKAGE_ARCH = "${MACHINE_ARCH}"

# nooelint: oelint.task.noanonpython
python () {
    if not d.getVar("MERIDIAN_BITSTREAM"):
        raise bb.parse.SkipRecipe("MERIDIAN_BITSTREAM names no bitstream")
    if not d.getVar("MERIDIAN_BITSTREAM_MAP"):
        raise bb.parse.SkipRecipe("MERIDIAN_BITSTREAM_MAP does not say which register map the bitstream has")
}

do_configure[noexec] = "1"
do_compile[noexec] = "1"

do_install() {
    install -d ${D}${nonarch_base_libdir}/firmware/meridian
    install -m 0644 ${S}/${MERIDIAN_BITSTREAM} ${D}${nonarch_base_libdir}/firmware/meridian/shell.bit.bin
    sum=$(sha256sum ${S}/${MERIDIAN_BITSTREAM} | cut -d ' ' -f 1)
    printf 'bitstream=shell.bit.bin\nmap=%s\nsha256=%s\n' "${MERIDIAN_BITSTREAM_MAP}" "$sum" \
        > ${D}${nonarch_base_libdir}/firmware/meridian/shell.manifest
}

FILES:${PN} += "${nonarch_base_libdir}/firmware/meridian"
