# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Eye scan and test patterns of a card's transceivers. It needs Python 3.9 and no other package."""
