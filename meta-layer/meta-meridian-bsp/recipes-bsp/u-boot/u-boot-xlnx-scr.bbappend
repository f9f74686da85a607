# SPDX-License-Identifier: Apache-2.0
FILESEXTRAPATHS:prepend := "${THISDIR}/files:"

SRC_URI:append:meridian-card = " file://boot.cmd.meridian"
