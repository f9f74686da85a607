# SPDX-License-Identifier: Apache-2.0
SUMMARY = "System of the Meridian SmartNIC's ARM side"
DESCRIPTION = "Keeps the card's clock by PTP; read-only root, ssh by key on the management interface, no password"
SECTION = "base"
LICENSE = "Apache-2.0"

inherit core-image features_check

REQUIRED_DISTRO_FEATURES = "systemd"

IMAGE_FEATURES += "read-only-rootfs ssh-server-openssh"
# A machine with a data partition names it, and keeps what is changed in /etc there.
IMAGE_FEATURES += "${@'overlayfs-etc' if d.getVar('OVERLAYFS_ETC_DEVICE') else ''}"

IMAGE_INSTALL:append = " packagegroup-meridian"

# A file of public keys that may log in as root. Without it nobody can: there is no password.
MERIDIAN_AUTHORIZED_KEYS ?= ""

# A file of public keys whose signatures of updates meridian-update takes. Without it only --unsigned ones are taken.
MERIDIAN_UPDATE_KEYS ?= ""

ROOTFS_POSTPROCESS_COMMAND += "meridian_rootfs"
do_rootfs[file-checksums] += "${@'%s:True' % d.getVar('MERIDIAN_AUTHORIZED_KEYS') if d.getVar('MERIDIAN_AUTHORIZED_KEYS') else ''}"
do_rootfs[file-checksums] += "${@'%s:True' % d.getVar('MERIDIAN_UPDATE_KEYS') if d.getVar('MERIDIAN_UPDATE_KEYS') else ''}"

meridian_rootfs[doc] = "The data partition's folder, who may log in, and who signs updates"
meridian_rootfs() {
    if [ -n "${OVERLAYFS_ETC_MOUNT_POINT}" ]; then
        install -d ${IMAGE_ROOTFS}${OVERLAYFS_ETC_MOUNT_POINT}
    fi
    if [ -n "${MERIDIAN_AUTHORIZED_KEYS}" ]; then
        install -d -m 0700 ${IMAGE_ROOTFS}${ROOT_HOME}/.ssh
        install -m 0600 ${MERIDIAN_AUTHORIZED_KEYS} ${IMAGE_ROOTFS}${ROOT_HOME}/.ssh/authorized_keys
    else
        bbwarn "MERIDIAN_AUTHORIZED_KEYS is empty: nobody can log in to this image"
    fi
    if [ -n "${MERIDIAN_UPDATE_KEYS}" ]; then
        install -D -m 0644 ${MERIDIAN_UPDATE_KEYS} ${IMAGE_ROOTFS}${datadir}/meridian/update-keys
    fi
}
