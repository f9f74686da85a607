/* SPDX-License-Identifier: BSD-3-Clause */
/* What the test knows of the port, and what is drawn by the seed. */
#include "life.h"

struct life life = { .device = DEVICE };

uint32_t
draw(uint32_t below)
{
	life.random_state ^= life.random_state << 13;
	life.random_state ^= life.random_state >> 7;
	life.random_state ^= life.random_state << 17;
	return (life.random_state >> 16) % below;
}

bool
one_in(uint32_t turns)
{
	return draw(turns) == 0;
}
