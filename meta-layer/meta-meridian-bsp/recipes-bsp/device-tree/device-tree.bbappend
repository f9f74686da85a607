# SPDX-License-Identifier: Apache-2.0
FILESEXTRAPATHS:prepend:meridian-card := "${THISDIR}/files:"

# The boards' trees include those of the kernel.
KERNEL_INCLUDE:meridian-card = "\
    ${STAGING_KERNEL_DIR}/arch/${ARCH}/boot/dts/xilinx \
    ${STAGING_KERNEL_DIR}/scripts/dtc/include-prefixes \
"
