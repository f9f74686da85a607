// SPDX-License-Identifier: GPL-2.0-only
/* devlink: what the card is, parameters that a reload brings into force, the reload itself. */
#include <linux/bitfield.h>
#include <linux/time.h>

#include "compat_devlink.h"
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_devlink.h"
#include "meridian_hw.h"

/* One vector is not for queues. */
#define LEAST_VECTORS	2

#define MESSAGES	200	/* a second of a VF that sends without end; no driver does */
#define MOST_MESSAGES	10000

enum { PARAM_VF_MESSAGE_RATE = DEVLINK_PARAM_GENERIC_ID_MAX + 1 };

static struct devlink *of(struct meridian_devlink *devlink)
{
	return priv_to_devlink(devlink);
}

static u32 read_ident(struct meridian *m, u32 offset)
{
	return meridian_read(m, MERIDIAN_IDENT_BASE + offset);
}

static void put_bitstream(struct meridian *m, struct devlink_info_req *req)
{
	time64_t built = read_ident(m, MERIDIAN_IDENT_BUILD_DATE);
	u32 hash = read_ident(m, MERIDIAN_IDENT_BUILD_HASH);
	char text[32];
	struct tm date;

	time64_to_tm(built, 0, &date);
	snprintf(text, sizeof(text), "%04ld%02d%02d.%02d%02d%02d", date.tm_year + 1900,
		 date.tm_mon + 1, date.tm_mday, date.tm_hour, date.tm_min, date.tm_sec);
	devlink_info_version_running_put(req, DEVLINK_INFO_VERSION_GENERIC_FW, text);
	snprintf(text, sizeof(text), "%08x", hash);
	devlink_info_version_running_put(req, "fw.git", text);
}

static int info_get(struct devlink *devlink, struct devlink_info_req *req,
		    struct netlink_ext_ack *extack)
{
	struct meridian_devlink *priv = devlink_priv(devlink);
	struct meridian *m;
	u32 version;
	char text[32];
	u64 serial = pci_get_dsn(priv->pdev);
	int error = meridian_devlink_driver_name(req, MERIDIAN_NAME);

	if (error)
		return error;
	if (serial) {
		snprintf(text, sizeof(text), "%016llx", serial);
		devlink_info_serial_number_put(req, text);
	}
	mutex_lock(&priv->lock);
	m = priv->m;
	if (!m || !meridian_present(m)) {
		mutex_unlock(&priv->lock);
		return 0;
	}
	/* A VF sees of the bitstream only which registers it has. */
	if (!meridian_is_vf(m->pdev))
		put_bitstream(m, req);
	version = meridian_is_vf(m->pdev) ? meridian_read(m, MERIDIAN_VF_VERSION) :
				       read_ident(m, MERIDIAN_IDENT_VERSION);
	mutex_unlock(&priv->lock);
	snprintf(text, sizeof(text), "%u.%u", FIELD_GET(MERIDIAN_IDENT_VERSION_MAJOR_MASK, version),
		 FIELD_GET(MERIDIAN_IDENT_VERSION_MINOR_MASK, version));
	return devlink_info_version_running_put(req, "fw.registers", text);
}

static int check_vectors(struct devlink *devlink, u32 id, MERIDIAN_PARAM_VALUE value,
			 struct netlink_ext_ack *extack)
{
	if (meridian_param_u32(value) >= LEAST_VECTORS)
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "it takes two vectors at least");
	return -EINVAL;
}

static int check_messages(struct devlink *devlink, u32 id, MERIDIAN_PARAM_VALUE value,
			  struct netlink_ext_ack *extack)
{
	u32 rate = meridian_param_u32(value);

	if (rate >= 1 && rate <= MOST_MESSAGES)
		return 0;
	NL_SET_ERR_MSG_MOD(extack, "1 to 10000 messages a second");
	return -EINVAL;
}

static const struct devlink_param params[] = {
	DEVLINK_PARAM_GENERIC(ENABLE_SRIOV, BIT(DEVLINK_PARAM_CMODE_DRIVERINIT), NULL, NULL, NULL),
	DEVLINK_PARAM_GENERIC(MSIX_VEC_PER_PF_MAX, BIT(DEVLINK_PARAM_CMODE_DRIVERINIT), NULL, NULL,
			      check_vectors),
	DEVLINK_PARAM_DRIVER(PARAM_VF_MESSAGE_RATE, "vf_message_rate", DEVLINK_PARAM_TYPE_U32,
			     BIT(DEVLINK_PARAM_CMODE_DRIVERINIT), NULL, NULL, check_messages),
};

bool meridian_may_sriov(struct meridian_devlink *devlink)
{
	union devlink_param_value value;

	return !meridian_param_get(of(devlink), DEVLINK_PARAM_GENERIC_ID_ENABLE_SRIOV, &value) &&
	       value.vbool;
}

/* The limit on vectors that an administrator has set. */
unsigned int meridian_may_vectors(struct meridian_devlink *devlink)
{
	union devlink_param_value value;

	if (meridian_param_get(of(devlink), DEVLINK_PARAM_GENERIC_ID_MSIX_VEC_PER_PF_MAX, &value))
		return UINT_MAX;
	return value.vu32;
}

/* Messages a second that a VF is answered which sends without end. */
unsigned int meridian_may_messages(struct meridian_devlink *devlink)
{
	union devlink_param_value value;

	if (meridian_param_get(of(devlink), PARAM_VF_MESSAGE_RATE, &value))
		return MESSAGES;
	return value.vu32;
}

/*
 * Linux gives a function a minute to come back. Before 6.18 it tells nobody of a recovery that has
 * failed; since then error_detected() hears of it, which ends the wait at once.
 */
#define RESET_MOST	(70 * HZ)

/*
 * One that has failed is over. An error of one function is recovered with all functions of the
 * card: if another one has no driver that can do that, a kernel before 6.18 tells this driver of no
 * end.
 */
static bool is_in_reset(const struct meridian_devlink *priv)
{
	if (time_after(jiffies, priv->reset_at + RESET_MOST))
		return false;
	if (!priv->m)
		return priv->is_due;
	return test_bit(MERIDIAN_FLAG_RESET, &priv->m->flags) &&
	       !test_bit(MERIDIAN_FLAG_GONE, &priv->m->flags);
}

static int let_go(struct meridian_devlink *priv, struct netlink_ext_ack *extack)
{
	if (priv->m && priv->m->vfs) {
		NL_SET_ERR_MSG_MOD(extack, "there are VFs: set sriov_numvfs to 0 first");
		return -EBUSY;
	}
	if (is_in_reset(priv)) {
		/* A namespace that ends takes no refusal: who stays would keep what is freed. */
		if (check_net(devlink_net(of(priv)))) {
			NL_SET_ERR_MSG_MOD(extack,
					   "PCIe resets the card: try again in a minute");
			return -EBUSY;
		}
		priv->is_due = true;
	} else {
		priv->is_due = false;
	}
	priv->lifecycle->detach(priv);
	return 0;
}

static int reload_down(struct devlink *devlink, bool is_other_netns,
		       enum devlink_reload_action action, enum devlink_reload_limit limit,
		       struct netlink_ext_ack *extack)
{
	struct meridian_devlink *priv = devlink_priv(devlink);
	int error;

	meridian_reload_lock(&priv->reload);
	error = let_go(priv, extack);
	meridian_reload_unlock(&priv->reload);
	return error;
}

static int reload_up(struct devlink *devlink, enum devlink_reload_action action,
		     enum devlink_reload_limit limit, u32 *actions, struct netlink_ext_ack *extack)
{
	struct meridian_devlink *priv = devlink_priv(devlink);
	int error = 0;

	meridian_reload_lock(&priv->reload);
	if (!priv->is_due)
		error = priv->lifecycle->attach(priv);
	meridian_reload_unlock(&priv->reload);
	if (error)
		NL_SET_ERR_MSG_MOD(extack, "the card does not start again: see the kernel's log");
	else
		*actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT);
	return error;
}

static const struct devlink_ops ops = {
	.info_get = info_get,
	.reload_actions = BIT(DEVLINK_RELOAD_ACTION_DRIVER_REINIT),
	.reload_down = reload_down,
	.reload_up = reload_up,
};

static int register_params(struct meridian_devlink *devlink)
{
	union devlink_param_value sriov = { .vbool = true };
	union devlink_param_value vectors = { .vu32 = pci_msix_vec_count(devlink->pdev) };
	union devlink_param_value messages = { .vu32 = MESSAGES };
	int error;

	if (meridian_is_vf(devlink->pdev))
		return 0;
	error = devlink_params_register(of(devlink), params, ARRAY_SIZE(params));
	if (error)
		return error;
	meridian_devlink_lock(devlink);
	meridian_param_set(of(devlink), DEVLINK_PARAM_GENERIC_ID_ENABLE_SRIOV, sriov);
	meridian_param_set(of(devlink), DEVLINK_PARAM_GENERIC_ID_MSIX_VEC_PER_PF_MAX, vectors);
	meridian_param_set(of(devlink), PARAM_VF_MESSAGE_RATE, messages);
	meridian_devlink_unlock(devlink);
	return 0;
}

/**
 * meridian_devlink_alloc() - what a function has before it is attached
 * @pdev: the function
 * @lifecycle: for reloads
 *
 * Context: May sleep.
 * Return: not shown to users yet, for meridian_devlink_free(); NULL if there is none to be had.
 */
struct meridian_devlink *meridian_devlink_alloc(struct pci_dev *pdev,
						const struct meridian_lifecycle *lifecycle)
{
	struct devlink *devlink = meridian_devlink_new(&ops, sizeof(struct meridian_devlink),
						       &pdev->dev);
	struct meridian_devlink *priv;

	if (!devlink)
		return NULL;
	priv = devlink_priv(devlink);
	priv->pdev = pdev;
	priv->lifecycle = lifecycle;
	priv->card = meridian_card_get(pdev);
	if (!priv->card)
		goto free;
	mutex_init(&priv->reload);
	mutex_init(&priv->lock);
	if (meridian_devlink_begin(devlink, &pdev->dev))
		goto put;
	if (register_params(priv))
		goto end;
	meridian_health_begin(priv);
	pci_set_drvdata(pdev, priv);
	return priv;
end:
	meridian_devlink_end(devlink);
put:
	mutex_destroy(&priv->lock);
	mutex_destroy(&priv->reload);
	meridian_card_put(priv->card);
free:
	devlink_free(devlink);
	return NULL;
}

/**
 * meridian_devlink_free() - undo meridian_devlink_alloc()
 * @devlink: hidden, of a function that is detached
 *
 * Context: May sleep.
 */
void meridian_devlink_free(struct meridian_devlink *devlink)
{
	pci_set_drvdata(devlink->pdev, NULL);
	meridian_health_end(devlink);
	if (!meridian_is_vf(devlink->pdev))
		devlink_params_unregister(of(devlink), params, ARRAY_SIZE(params));
	meridian_devlink_end(of(devlink));
	mutex_destroy(&devlink->lock);
	mutex_destroy(&devlink->reload);
	meridian_card_put(devlink->card);
	devlink_free(of(devlink));
}

/**
 * meridian_devlink_show() - from now on users may ask
 * @devlink: of a function that is attached
 *
 * Context: May sleep.
 */
void meridian_devlink_show(struct meridian_devlink *devlink)
{
	meridian_devlink_publish(of(devlink));
	meridian_health_show(devlink);
}

/**
 * meridian_devlink_hide() - undo meridian_devlink_show()
 * @devlink: no reload is under way on return
 *
 * Context: May sleep.
 */
void meridian_devlink_hide(struct meridian_devlink *devlink)
{
	meridian_health_hide(devlink);
	meridian_devlink_withdraw(of(devlink));
}

/**
 * meridian_begin_port() - have a port, before there is an interface
 * @m: an identified function; its devlink's lock is held
 *
 * A PF has the port of the card that it is bound to, from which Linux makes the name p0, p1, and so
 * on. A VF has no part of the card's connectors.
 *
 * Context: May sleep.
 * Return: 0 or a negative error.
 */
int meridian_begin_port(struct meridian *m)
{
	struct devlink_port *port = &m->devlink->port;
	struct devlink_port_attrs attrs = { .flavour = DEVLINK_PORT_FLAVOUR_VIRTUAL };
	int error;

	if (!meridian_is_vf(m->pdev)) {
		attrs.flavour = DEVLINK_PORT_FLAVOUR_PHYSICAL;
		attrs.phys.port_number = m->port;
	}
	memset(port, 0, sizeof(*port));
	devlink_port_attrs_set(port, &attrs);
	error = meridian_port_begin(of(m->devlink), port, m->port);
	if (error)
		dev_err(&m->pdev->dev, "devlink does not take the port: %d\n", error);
	else
		meridian_port_gets_netdev(port, m->netdev);
	return error;
}

/**
 * meridian_end_port() - undo meridian_begin_port()
 * @m: a function whose interface is not registered any more
 *
 * Context: May sleep.
 */
void meridian_end_port(struct meridian *m)
{
	meridian_port_end(&m->devlink->port);
}

/**
 * meridian_end_reload() - attach what a reload has detached during a reset
 * @devlink: of a function that is not reset any more; its lock is held
 *
 * Context: May sleep.
 */
void meridian_end_reload(struct meridian_devlink *devlink)
{
	int error;

	if (!devlink->is_due)
		return;
	devlink->is_due = false;
	error = devlink->lifecycle->attach(devlink);
	if (error)
		dev_err(&devlink->pdev->dev,
			"the card does not start after a reset (%d): try devlink dev reload\n",
			error);
}

/* A reload has it, too. */
void meridian_devlink_lock(struct meridian_devlink *devlink)
{
	meridian_devl_lock(of(devlink), &devlink->reload);
}

void meridian_devlink_unlock(struct meridian_devlink *devlink)
{
	meridian_devl_unlock(of(devlink), &devlink->reload);
}
