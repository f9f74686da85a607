/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef MERIDIAN_LOG_H
#define MERIDIAN_LOG_H

#include <rte_log.h>

extern int meridian_logtype;

#define MERIDIAN_LOG(level, format, ...) \
	rte_log(RTE_LOG_ ## level, meridian_logtype, "meridian: " format "\n", ## __VA_ARGS__)

#endif
