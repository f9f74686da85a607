/* SPDX-License-Identifier: GPL-2.0-only */
/* The self-test of ethtool, as devlink's reporter needs it. */
#ifndef MERIDIAN_SELFTEST_H
#define MERIDIAN_SELFTEST_H

struct devlink_fmsg;
struct meridian;

/* meridian_selftest.c */
const char *meridian_test_name(unsigned int test);
int meridian_test_again(struct meridian *m);
void meridian_put_selftest(struct meridian *m, struct devlink_fmsg *fmsg);

#endif
