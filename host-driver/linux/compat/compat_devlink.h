/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between kernels in devlink. */
#ifndef MERIDIAN_COMPAT_DEVLINK_H
#define MERIDIAN_COMPAT_DEVLINK_H

#include <linux/netdevice.h>
#include <linux/version.h>
#include <net/devlink.h>

/* When a devlink is shown to users, and what brings its functions into being, changed. */
static inline struct devlink *meridian_devlink_new(const struct devlink_ops *ops, size_t bytes,
						   struct device *dev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	return devlink_alloc(ops, bytes, dev);
#else
	return devlink_alloc(ops, bytes);
#endif
}

static inline int meridian_devlink_begin(struct devlink *devlink, struct device *dev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	return 0;
#else
	return devlink_register(devlink, dev);
#endif
}

static inline void meridian_devlink_end(struct devlink *devlink)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
	devlink_unregister(devlink);
#endif
}

static inline void meridian_devlink_publish(struct devlink *devlink)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 15, 0)
	devlink_params_publish(devlink);
	devlink_reload_enable(devlink);
#else
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0)
	devlink_reload_enable(devlink);
#elif LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
	devlink_set_features(devlink, DEVLINK_F_RELOAD);
#endif
	devlink_register(devlink);
#endif
}

static inline void meridian_devlink_withdraw(struct devlink *devlink)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(5, 16, 0)
	devlink_reload_disable(devlink);
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(5, 15, 0)
	devlink_unregister(devlink);
#endif
}

/* A reload has devlink's lock from 6.0 on. Before, a lock of the driver stands for it. */
static inline void meridian_devl_lock(struct devlink *devlink, struct mutex *before)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	devl_lock(devlink);
#else
	mutex_lock(before);
#endif
}

static inline void meridian_devl_unlock(struct devlink *devlink, struct mutex *before)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	devl_unlock(devlink);
#else
	mutex_unlock(before);
#endif
}

/* Before 6.0, a reload takes the lock of the driver by itself. */
static inline void meridian_reload_lock(struct mutex *before)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
	mutex_lock(before);
#endif
}

static inline void meridian_reload_unlock(struct mutex *before)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 0, 0)
	mutex_unlock(before);
#endif
}

/*
 * A devlink's port and the interface that it has know each other: the port finds out about the
 * interface, or is told; the interface is made with the port, or is asked.
 */
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
#define MERIDIAN_PORT_OPS(get) .ndo_get_devlink_port = get,
#else
#define MERIDIAN_PORT_OPS(get)
#endif

static inline int meridian_port_begin(struct devlink *devlink, struct devlink_port *port,
				      unsigned int index)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	return devl_port_register(devlink, port, index);
#else
	return devlink_port_register(devlink, port, index);
#endif
}

static inline void meridian_port_end(struct devlink_port *port)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 0, 0)
	devl_port_unregister(port);
#else
	devlink_port_unregister(port);
#endif
}

/* Before the interface is registered. */
static inline void meridian_port_gets_netdev(struct devlink_port *port, struct net_device *netdev)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	SET_NETDEV_DEVLINK_PORT(netdev, port);
#endif
}

/* While it is registered. */
static inline void meridian_port_has_netdev(struct devlink_port *port, struct net_device *netdev)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	devlink_port_type_eth_set(port, netdev);
#endif
}

static inline void meridian_port_loses_netdev(struct devlink_port *port)
{
#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 2, 0)
	devlink_port_type_clear(port);
#endif
}

static inline int meridian_devlink_driver_name(struct devlink_info_req *req, const char *name)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return 0;
#else
	return devlink_info_driver_name_put(req, name);
#endif
}

static inline int meridian_param_get(struct devlink *devlink, u32 id,
				     union devlink_param_value *value)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	return devl_param_driverinit_value_get(devlink, id, value);
#else
	return devlink_param_driverinit_value_get(devlink, id, value);
#endif
}

/* What a parameter's check is given. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
#define MERIDIAN_PARAM_VALUE union devlink_param_value *
#define meridian_param_u32(name) ((name)->vu32)
#else
#define MERIDIAN_PARAM_VALUE union devlink_param_value
#define meridian_param_u32(name) ((name).vu32)
#endif

static inline void meridian_param_set(struct devlink *devlink, u32 id,
				      union devlink_param_value value)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	devl_param_driverinit_value_set(devlink, id, &value);
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	devl_param_driverinit_value_set(devlink, id, value);
#else
	devlink_param_driverinit_value_set(devlink, id, value);
#endif
}

/* Each fault is repaired, however soon it comes after the last. */
static inline struct devlink_health_reporter *
meridian_reporter(struct devlink *devlink, const struct devlink_health_reporter_ops *ops,
		  void *priv)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 18, 0)
	return devlink_health_reporter_create(devlink, ops, priv);
#else
	return devlink_health_reporter_create(devlink, ops, 0, priv);
#endif
}

#endif
