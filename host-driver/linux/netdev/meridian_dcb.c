// SPDX-License-Identifier: GPL-2.0-only
/*
 * Enhanced transmission selection (IEEE 802.1Qaz), highest rates and priority flow control (PFC)
 * of a port whose transmit queues have classes. The kernel has PFC both sent and obeyed, so a card
 * that sends none has none here.
 */
#include <linux/dcbnl.h>
#include <linux/netdevice.h>
#include <net/dcbnl.h>

#include "compat_netdev.h"
#include "meridian.h"
#include "meridian_classes.h"
#include "meridian_configure.h"
#include "meridian_dcb.h"
#include "meridian_fault.h"
#include "meridian_pause.h"

#if IS_ENABLED(CONFIG_DCB)
#define MODE	(DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE)
#define WHOLE	100

static unsigned int sum_of_weights(const struct meridian_classes *classes)
{
	unsigned int sum = 0, i;

	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		if (!(classes->strict & BIT(i)))
			sum += classes->weight[i];
	}
	return sum;
}

/* The shares in whole percents: one at least, and the largest makes up for what rounding does. */
static void tell_shares(struct ieee_ets *ets, const struct meridian_classes *classes)
{
	unsigned int sum = sum_of_weights(classes), largest = 0, i;
	int left = WHOLE;

	if (!sum)
		return;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		if (classes->strict & BIT(i) || !classes->weight[i])
			continue;
		ets->tc_tx_bw[i] = max(WHOLE * classes->weight[i] / sum, 1U);
		left -= ets->tc_tx_bw[i];
		if (ets->tc_tx_bw[i] > ets->tc_tx_bw[largest])
			largest = i;
	}
	ets->tc_tx_bw[largest] += left;
}

static int get_ets(struct net_device *netdev, struct ieee_ets *ets)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_classes classes;
	unsigned int i;
	int error;

	/* The kernel asks without a look, also in a reset. */
	if (!netif_device_present(netdev))
		return -ENODEV;
	error = meridian_get_classes(m, &classes);
	if (error)
		return error;
	memset(ets, 0, sizeof(*ets));
	ets->ets_cap = MERIDIAN_CLASSES;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		ets->prio_tc[i] = classes.of_priority[i];
		ets->tc_tsa[i] = classes.strict & BIT(i) ? IEEE_8021QAZ_TSA_STRICT :
							   IEEE_8021QAZ_TSA_ETS;
	}
	tell_shares(ets, &classes);
	return 0;
}

static int choose(struct net_device *netdev, const struct meridian_classes *classes)
{
	int error;

	meridian_lock(netdev);
	error = meridian_set_classes(netdev, classes);
	meridian_unlock(netdev);
	return error;
}

static int take_class(struct net_device *netdev, const struct ieee_ets *ets, unsigned int i,
		      struct meridian_classes *classes)
{
	if (ets->prio_tc[i] >= MERIDIAN_CLASSES) {
		netdev_err(netdev, "priority %u: there is no traffic class %u\n", i,
			   ets->prio_tc[i]);
		return -EINVAL;
	}
	classes->of_priority[i] = ets->prio_tc[i];
	classes->weight[i] = 1;
	switch (ets->tc_tsa[i]) {
	case IEEE_8021QAZ_TSA_STRICT:
		classes->strict |= BIT(i);
		return 0;
	case IEEE_8021QAZ_TSA_ETS:
		if (ets->tc_tx_bw[i] > WHOLE)
			break;
		classes->weight[i] = ets->tc_tx_bw[i];
		return 0;
	default:
		netdev_err(netdev, "traffic class %u: the card supports strict priority and ETS only\n",
			   i);
		return -EOPNOTSUPP;
	}
	netdev_err(netdev, "traffic class %u: its share of %u %% is above 100\n", i,
		   ets->tc_tx_bw[i]);
	return -EINVAL;
}

static int set_ets(struct net_device *netdev, struct ieee_ets *ets)
{
	struct meridian_classes classes;
	unsigned int i, sum;
	int error;

	if (!netif_device_present(netdev))
		return -ENODEV;
	error = meridian_get_classes(netdev_priv(netdev), &classes);
	if (error)
		return error;
	classes.strict = 0;
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		error = take_class(netdev, ets, i, &classes);
		if (error)
			return error;
	}
	sum = sum_of_weights(&classes);
	if (classes.strict != U8_MAX && sum != WHOLE) {
		netdev_err(netdev, "the shares of all ETS traffic classes add up to %u %%, not 100\n",
			   sum);
		return -EINVAL;
	}
	return choose(netdev, &classes);
}

static int get_max_rates(struct net_device *netdev, struct ieee_maxrate *rates)
{
	struct meridian_classes classes;
	int error;

	if (!netif_device_present(netdev))
		return -ENODEV;
	error = meridian_get_classes(netdev_priv(netdev), &classes);
	if (!error)
		memcpy(rates->tc_maxrate, classes.max_kbits, sizeof(classes.max_kbits));
	return error;
}

static int set_max_rates(struct net_device *netdev, struct ieee_maxrate *rates)
{
	struct meridian *m = netdev_priv(netdev);
	struct meridian_classes classes;
	u64 lowest, highest;
	unsigned int i;
	int error;

	if (!netif_device_present(netdev))
		return -ENODEV;
	error = meridian_get_classes(m, &classes);
	if (error)
		return error;
	meridian_read_rates(m, &lowest, &highest);
	for (i = 0; i < MERIDIAN_CLASSES; i++) {
		u64 rate = rates->tc_maxrate[i];

		if (rate && (rate < lowest || rate > highest)) {
			netdev_err(netdev, "traffic class %u: the card holds a class to %llu to %llu kbit/s, and not to %llu\n",
				   i, lowest, highest, rate);
			return -EINVAL;
		}
		classes.max_kbits[i] = rate;
	}
	return choose(netdev, &classes);
}

static int get_pfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	struct meridian *m = netdev_priv(netdev);

	if (!netif_device_present(netdev))
		return -ENODEV;
	memset(pfc, 0, sizeof(*pfc));
	if (!meridian_sends_pause(m))
		return 0;
	pfc->pfc_cap = MERIDIAN_CLASSES;
	pfc->pfc_en = meridian_get_pfc(m, &pfc->delay);
	return 0;
}

/* Without this, the kernel would leave it out of a message of several settings, and say nothing. */
static int set_pfc(struct net_device *netdev, struct ieee_pfc *pfc)
{
	struct meridian *m = netdev_priv(netdev);

	if (!netif_device_present(netdev))
		return -ENODEV;
	if (!meridian_sends_pause(m))
		return pfc->pfc_en ? -EOPNOTSUPP : 0;
	return meridian_choose_pfc(m, pfc->pfc_en, pfc->delay);
}

static u8 get_dcbx(struct net_device *netdev)
{
	return MODE;
}

static u8 set_dcbx(struct net_device *netdev, u8 mode)
{
	return mode != MODE;
}

static const struct dcbnl_rtnl_ops dcb_ops = {
	.ieee_getets = get_ets,
	.ieee_setets = set_ets,
	.ieee_getmaxrate = get_max_rates,
	.ieee_setmaxrate = set_max_rates,
	.ieee_getpfc = get_pfc,
	.ieee_setpfc = set_pfc,
	.getdcbx = get_dcbx,
	.setdcbx = set_dcbx,
};
#endif

/* Those of the port's other PFs that are up have queues that are paced still. */
static void restart_others(struct meridian *m)
{
	struct meridian *other;

	mutex_lock(&m->card->lock);
	list_for_each_entry(other, &m->card->pfs, of_card) {
		if (other != m && other->port == m->port &&
		    test_bit(MERIDIAN_FLAG_UP, &other->flags))
			meridian_schedule_reset(other);
	}
	mutex_unlock(&m->card->lock);
}

/**
 * meridian_set_classes() - choose how the classes of the function's port are set
 * @netdev: of a PF whose card has them
 * @classes: what they are to be
 *
 * The first choice of a port has the queues of its PFs start anew, as they are not paced from then
 * on: those of this one at once, those of others soon.
 *
 * Context: May sleep; under RTNL and the device's lock.
 * Return: 0 or an error; the queues have ended then.
 */
int meridian_set_classes(struct net_device *netdev, const struct meridian_classes *classes)
{
	struct meridian *m = netdev_priv(netdev);
	bool was_paced = meridian_is_paced(m);

	meridian_choose_classes(m, classes);
	if (was_paced)
		restart_others(m);
	if (was_paced && test_bit(MERIDIAN_FLAG_UP, &m->flags))
		return meridian_restart(m);
	return 0;
}

/**
 * meridian_offer_dcb() - have the kernel set the classes of the function's port
 * @netdev: of a function, before it is registered
 *
 * Context: Does not sleep.
 */
void meridian_offer_dcb(struct net_device *netdev)
{
#if IS_ENABLED(CONFIG_DCB)
	if (meridian_has_classes(netdev_priv(netdev)))
		netdev->dcbnl_ops = &dcb_ops;
#endif
}
