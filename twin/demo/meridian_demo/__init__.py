# SPDX-License-Identifier: Apache-2.0
"""The capture demo: real frames through the Verilated shell, every frame and counter checked."""
