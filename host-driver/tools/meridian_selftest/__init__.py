# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""The self-test of a Meridian card. It needs Python 3.9 and no other package."""

#: A Debian package has its version here.
VERSION = "checkout"
