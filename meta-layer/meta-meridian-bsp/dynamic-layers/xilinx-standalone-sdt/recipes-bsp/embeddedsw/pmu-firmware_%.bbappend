# SPDX-License-Identifier: Apache-2.0
# The processors' watchdog resets the card: without ENABLE_EM nothing happens when it expires; without ENABLE_RECOVERY,
# which is not set, the error management resets the whole system (AMD UG1137, "FPD WDT" and "Recovering from a Hang System").
CFLAGS:append:zynqmp = " -DENABLE_EM"
