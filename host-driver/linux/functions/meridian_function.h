/* SPDX-License-Identifier: GPL-2.0-only */
/* A function: what a PF and a VF do in their own ways, what looks after it, what it survives. */
#ifndef MERIDIAN_FUNCTION_H
#define MERIDIAN_FUNCTION_H

#include "meridian.h"

/* meridian_pf.c */
extern const struct meridian_ops meridian_pf_ops;
int meridian_start_function(struct meridian *m);
void meridian_restore_pf(struct meridian *m);
void meridian_leave_function(struct meridian *m);

/* meridian_vf.c */
extern const struct meridian_ops meridian_vf_ops;
int meridian_identify_vf(struct meridian *m);
void meridian_leave_pf(struct meridian *m);
bool meridian_was_reset(struct meridian *m);

/* meridian_vf_ask.c */
void meridian_doubt_pf(struct meridian *m);

/* meridian_vf_address.c */
int meridian_set_own_address(struct meridian *m, const u8 *address);
void meridian_repeat_own_address(struct meridian *m);

/* meridian_vf_wishes.c */
bool meridian_see_flags(struct meridian *m);
bool meridian_see_losses(struct meridian *m);

/* meridian_errors.c */
void meridian_begin_errors(struct meridian *m);
void meridian_take_errors(struct meridian *m);
void meridian_take_late_errors(struct meridian *m);

/* meridian_service.c */
void meridian_init_service(struct meridian *m);
void meridian_start_service(struct meridian *m);
void meridian_stop_service(struct meridian *m);
int meridian_request_misc_irq(struct meridian *m);
void meridian_free_misc_irq(struct meridian *m);

/* meridian_recovery.c */
extern const struct pci_error_handlers meridian_error_handlers;
extern const struct dev_pm_ops meridian_pm_ops;
void meridian_before_reset(struct meridian *m);
void meridian_after_reset(struct meridian *m);
void meridian_shutdown(struct pci_dev *pdev);

#endif
