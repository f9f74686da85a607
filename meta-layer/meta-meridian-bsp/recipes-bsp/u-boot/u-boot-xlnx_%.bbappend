# SPDX-License-Identifier: Apache-2.0
FILESEXTRAPATHS:prepend:meridian-card := "${THISDIR}/files:"

SRC_URI:append:meridian-card = " file://meridian-u-boot.cfg"
