# SPDX-License-Identifier: Apache-2.0
"""What the public drivers do at a card's registers and rings, step by step, so that the card is held to it."""
