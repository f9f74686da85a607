/* SPDX-License-Identifier: BSD-3-Clause */
/* VFs as their PF has them. */
#ifndef MERIDIAN_VFS_H
#define MERIDIAN_VFS_H

#include "meridian.h"

/**
 * struct meridian_vfs - what a PF has for its VFs
 * @service: the library's
 * @vf: the VFs
 * @looked: ns at which VFs that were reset were looked for
 */
struct meridian_vfs {
	struct qdma_service service;
	struct qdma_vf vf[MERIDIAN_VFS];
	uint64_t looked;
};

#endif
