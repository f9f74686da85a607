# SPDX-License-Identifier: Apache-2.0
"""The whole demo: host, PS, VFs and a loaded wire at one card, shown while it runs, and a report of it."""
