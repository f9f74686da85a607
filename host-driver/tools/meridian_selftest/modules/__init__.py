# SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
"""Modules in the ports' cages: what they tell, and the check of it."""
