# SPDX-License-Identifier: Apache-2.0
# Writes /boot/meridian.manifest into an image's root: the machine, the version, and the hashes of what a start and the
# logic need. meridian-update looks at it before it has a root started.

# A whole number that is raised with each update that is published: a card refuses what is older than what it runs.
MERIDIAN_UPDATE_VERSION ?= "0"

ROOTFS_POSTPROCESS_COMMAND:append = " meridian_manifest"

meridian_manifest[doc] = "What this root is for, and what it starts with"
meridian_manifest() {
    # The kernel may be a link to a file with its version in the name; a boot loader should need to follow none.
    for name in Image system.dtb initrd; do
        if [ -L "${IMAGE_ROOTFS}/boot/$name" ]; then
            target=$(readlink "${IMAGE_ROOTFS}/boot/$name")
            rm "${IMAGE_ROOTFS}/boot/$name"
            ln "${IMAGE_ROOTFS}/boot/$(basename "$target")" "${IMAGE_ROOTFS}/boot/$name"
        fi
    done
    for name in Image system.dtb; do
        [ -e "${IMAGE_ROOTFS}/boot/$name" ] || bbfatal "the root has no /boot/$name, so it cannot start"
    done
    case "${MERIDIAN_UPDATE_VERSION}" in
    '' | *[!0-9]* | ???????????????????*)
        bbfatal "MERIDIAN_UPDATE_VERSION '${MERIDIAN_UPDATE_VERSION}' is no whole number of at most 18 digits" ;;
    esac
    printf 'machine=%s\nversion=%s\n' "${MACHINE}" "${MERIDIAN_UPDATE_VERSION}" > "${IMAGE_ROOTFS}/boot/meridian.manifest"
    firmware=$(cd "${IMAGE_ROOTFS}" && find .${nonarch_base_libdir}/firmware/meridian -type f 2> /dev/null || true)
    for file in boot/Image boot/system.dtb boot/initrd $firmware; do
        if [ -e "${IMAGE_ROOTFS}/$file" ]; then
            printf '%s  /%s\n' "$(sha256sum < "${IMAGE_ROOTFS}/$file" | cut -d ' ' -f 1)" "${file#./}"
        fi
    done >> "${IMAGE_ROOTFS}/boot/meridian.manifest"
}
