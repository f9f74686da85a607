# SPDX-License-Identifier: Apache-2.0
SUMMARY = "What the ARM side of a Meridian SmartNIC runs"
DESCRIPTION = "Driver, PTP set-up, names of interfaces, and the tools to look at them"
SECTION = "base"
LICENSE = "Apache-2.0"

inherit features_check packagegroup

REQUIRED_DISTRO_FEATURES = "systemd"

RDEPENDS:${PN} = "\
    ethtool \
    iproute2 \
    linuxptp \
    meridian-network \
    meridian-ps \
    meridian-ptp \
"
# It brings Python: BAD_RECOMMENDATIONS leaves both out.
RRECOMMENDS:${PN} = "meridian-tools"
