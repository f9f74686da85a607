# SPDX-License-Identifier: Apache-2.0
FILESEXTRAPATHS:prepend:meridian-card := "${THISDIR}/files:"

SRC_URI:append:meridian-card = " file://boot.cmd.meridian"
