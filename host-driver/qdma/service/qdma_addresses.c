// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/* The addresses that VFs receive: one of its own each, and others beside it. */
#include "../mailbox/meridian_mailbox.h"
#include "qdma_service.h"

static bool is_same(const u8 *one, const u8 *other)
{
	return memcmp(one, other, QDMA_ADDRESS_BYTES) == 0;
}

static bool is_group(const u8 *address)
{
	return address[0] & 1;
}

static bool is_broadcast(const u8 *address)
{
	static const u8 all[QDMA_ADDRESS_BYTES] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

	return is_same(address, all);
}

static bool is_nothing(const u8 *address)
{
	static const u8 none[QDMA_ADDRESS_BYTES];

	return is_same(address, none);
}

/**
 * qdma_remove_own() - take a VF's own address out of the card's filter
 * @service: its PF's
 * @vf: the VF
 */
void qdma_remove_own(struct qdma_service *service, struct qdma_vf *vf)
{
	if (vf->has_own)
		service->ops->remove_address(service->owner, vf, vf->own);
	vf->has_own = false;
}

/**
 * qdma_remove_addresses() - take what a VF receives beside its own out of the card's filter
 * @service: its PF's
 * @vf: the VF
 */
void qdma_remove_addresses(struct qdma_service *service, struct qdma_vf *vf)
{
	u32 i;

	for (i = 0; i < vf->addresses && !vf->is_away; i++)
		service->ops->remove_address(service->owner, vf, vf->address[i]);
}

static void forget_address(struct qdma_vf *vf, u32 index)
{
	vf->addresses--;
	memmove(vf->address[index], vf->address[vf->addresses], QDMA_ADDRESS_BYTES);
}

/* Returns the place of an address among those beside the VF's own, or their number. */
static u32 find_address(const struct qdma_vf *vf, const u8 *address)
{
	u32 i;

	for (i = 0; i < vf->addresses; i++) {
		if (is_same(vf->address[i], address))
			break;
	}
	return i;
}

static void lose_address(struct qdma_service *service, struct qdma_vf *vf, u32 place)
{
	forget_address(vf, place);
	vf->lost++;
	service->evicted++;
	qdma_service_tell(service, vf, QDMA_VF_LOSES_GROUP);
}

/**
 * qdma_lose_address() - forget an address for which there is no room any more
 * @service: a PF's
 * @vf: the VF, which has asked to receive it; the card's filter does not have it
 * @address: beside its own
 */
void qdma_lose_address(struct qdma_service *service, struct qdma_vf *vf, const u8 *address)
{
	u32 place = find_address(vf, address);

	if (place < vf->addresses)
		lose_address(service, vf, place);
}

/**
 * qdma_take_address() - take an address that another is to have the place of
 * @service: a PF's
 * @vf: the VF, which receives it
 * @place: of the address, of those beside the VF's own
 */
void qdma_take_address(struct qdma_service *service, struct qdma_vf *vf, u32 place)
{
	service->ops->remove_address(service->owner, vf, vf->address[place]);
	lose_address(service, vf, place);
}

/* What a VF has in the card's filter and may lose, or none: its number of addresses. */
static u32 find_loose(const struct qdma_vf *vf, const u8 *address)
{
	return vf->is_trusted || vf->is_away ? vf->addresses : find_address(vf, address);
}

/* Out of the card's filter for all of a PF's VFs who may lose it. */
static void lift(struct qdma_service *service, const u8 *address)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		struct qdma_vf *vf = &service->vf[i];

		if (find_loose(vf, address) < vf->addresses)
			service->ops->remove_address(service->owner, vf, address);
	}
}

/* After lift(): back, or lost if it is to go or finds no room. */
static void put_back(struct qdma_service *service, const u8 *address, bool is_lost)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		struct qdma_vf *vf = &service->vf[i];
		u32 place = find_loose(vf, address);

		if (place < vf->addresses &&
		    (is_lost || service->ops->add_address(service->owner, vf, address)))
			lose_address(service, vf, place);
	}
}

/* Tries without an address of a PF's VFs. What VFs of others call by its name is another port's. */
static bool fits_without(struct qdma_service *services, struct qdma_service *its,
			 const u8 *address, bool (*fits)(void *argument), void *argument)
{
	struct qdma_service *service;
	bool is_done;

	for (service = services; service; service = service->next)
		lift(service, address);
	is_done = fits(argument);
	for (service = services; service; service = service->next)
		put_back(service, address, is_done && service == its);
	return is_done;
}

/* Whether it has been tried already, as another VF has it, too, which was looked at before. */
static bool was_tried(const struct qdma_service *services, const struct qdma_vf *last, u32 place)
{
	const struct qdma_service *service;
	bool is_before = true;
	u32 i;

	for (service = services; service; service = service->next) {
		for (i = 0; i < service->vfs; i++) {
			const struct qdma_vf *vf = &service->vf[i];
			u32 found = find_loose(vf, last->address[place]);

			is_before = is_before && vf != last;
			if (found < vf->addresses && found + is_before > place && vf != last)
				return true;
		}
	}
	return false;
}

/**
 * qdma_make_room() - let what VFs without trust have asked for give way
 * @services: of the card's PFs, by @next of struct qdma_service
 * @fits: tries whether what needs the room finds it; puts it there if so
 * @argument: of @fits
 *
 * One address after another leaves the card's filter until @fits succeeds. That one is lost, the
 * others come back at once. Who has most addresses is the first to lose one, whichever PF of the
 * card it is of. Each address is tried once, however many VFs have it.
 *
 * Return: whether @fits did.
 */
bool qdma_make_room(struct qdma_service *services, bool (*fits)(void *argument), void *argument)
{
	u8 address[QDMA_ADDRESS_BYTES];
	struct qdma_service *service;
	u32 place, i;

	for (place = QDMA_VF_ADDRESSES; place-- > 0;) {
		for (service = services; service; service = service->next) {
			for (i = 0; i < service->vfs; i++) {
				struct qdma_vf *vf = &service->vf[i];

				if (vf->is_trusted || vf->is_away || place >= vf->addresses ||
				    was_tried(services, vf, place))
					continue;
				memcpy(address, vf->address[place], QDMA_ADDRESS_BYTES);
				if (fits_without(services, service, address, fits, argument))
					return true;
			}
		}
	}
	return false;
}

/* An own address that needs a place. */
struct newcomer {
	struct qdma_service *service;
	struct qdma_vf *vf;
	const u8 *address;
};

static bool fits_in(void *argument)
{
	const struct newcomer *new = argument;

	return !new->service->ops->add_address(new->service->owner, new->vf, new->address);
}

static bool add_firmly(struct qdma_service *service, struct qdma_vf *vf, const u8 *address)
{
	struct newcomer new = { .service = service, .vf = vf, .address = address };
	int error = service->ops->add_address(service->owner, vf, address);

	return !error || (error == -ENOSPC &&
			  qdma_make_room(service->card ? *service->card : service, fits_in, &new));
}

/**
 * qdma_add_own() - let a VF receive its own address
 * @service: its PF's
 * @vf: the VF, which does not
 */
void qdma_add_own(struct qdma_service *service, struct qdma_vf *vf)
{
	vf->has_own = add_firmly(service, vf, vf->own);
	if (!vf->has_own)
		qdma_service_tell(service, vf, QDMA_VF_HAS_NO_ADDRESS);
}

/**
 * qdma_is_kept() - whether an address is kept for a VF, though that be away
 * @service: a PF's
 * @vf: the VF that asks, for which it may be kept; NULL: none of the service's
 * @address: unicast
 *
 * Return: whether it is.
 */
bool qdma_is_kept(const struct qdma_service *service, const struct qdma_vf *vf, const u8 *address)
{
	u32 i;

	for (i = 0; i < service->vfs; i++) {
		const struct qdma_vf *other = &service->vf[i];

		if (other == vf)
			continue;
		if (is_same(other->own, address) || is_same(other->first, address) ||
		    (other->is_fixed && is_same(other->fixed, address)))
			return true;
	}
	return false;
}

/* A VF that is away is refused what it would be refused if it were there. */
static bool take(struct qdma_service *service, struct qdma_vf *vf, const u8 *address)
{
	if (qdma_is_kept(service, vf, address))
		return false;
	if (vf->is_away)
		return is_group(address) || service->ops->is_free(service->owner, vf, address);
	return !service->ops->add_address(service->owner, vf, address);
}

/**
 * qdma_resume_addresses() - let a VF receive what it has asked for
 * @service: its PF's
 * @vf: the VF, which has queues again
 *
 * What is somebody else's by now is lost.
 */
void qdma_resume_addresses(struct qdma_service *service, struct qdma_vf *vf)
{
	u32 i;

	vf->is_away = false;
	for (i = vf->addresses; i-- > 0;) {
		if (take(service, vf, vf->address[i]))
			continue;
		forget_address(vf, i);
		vf->lost++;
	}
}

/* The old one goes when the new one is there. Only what is meant @firmly makes others give way. */
static int set_own(struct qdma_service *service, struct qdma_vf *vf, const u8 *address,
		   bool firmly)
{
	u32 place = find_address(vf, address);
	bool is_there = is_same(address, vf->own) ? vf->has_own :
						    place < vf->addresses && !vf->is_away;

	if (qdma_is_kept(service, vf, address))
		return -QDMA_REFUSE_PARAMETER;
	if (!is_there)
		is_there = firmly ? add_firmly(service, vf, address) :
				    !service->ops->add_address(service->owner, vf, address);
	if (!is_there)
		return -QDMA_REFUSE_PARAMETER;
	if (!is_same(address, vf->own))
		qdma_remove_own(service, vf);
	/* Room may have been made at the cost of others. */
	place = find_address(vf, address);
	if (place < vf->addresses)
		forget_address(vf, place);
	memcpy(vf->own, address, QDMA_ADDRESS_BYTES);
	vf->has_own = true;
	return 0;
}

/**
 * qdma_give_address() - the administrator's choice of a VF's own address
 * @service: its PF's
 * @vf: the VF
 * @address: unicast
 *
 * Return: 0; -QDMA_REFUSE_PARAMETER, as it is somebody else's or finds no room.
 */
int qdma_give_address(struct qdma_service *service, struct qdma_vf *vf, const u8 *address)
{
	int refusal = set_own(service, vf, address, true);

	if (refusal)
		return refusal;
	memcpy(vf->fixed, address, QDMA_ADDRESS_BYTES);
	vf->is_fixed = true;
	return 0;
}

/**
 * qdma_free_address() - the administrator chooses no own address for a VF any more
 * @service: its PF's
 * @vf: the VF, which keeps the one that it has if it has queues
 * @other: unicast, that it gets if not, so that its former one is free; if there is room
 */
void qdma_free_address(struct qdma_service *service, struct qdma_vf *vf, const u8 *other)
{
	vf->is_fixed = false;
	if (!vf->mapped && !set_own(service, vf, other, true))
		memcpy(vf->first, other, QDMA_ADDRESS_BYTES);
}

/* Whether there is room for it beside the former one or not. */
static void return_to(struct qdma_service *service, struct qdma_vf *vf, const u8 *address)
{
	if (is_same(vf->own, address) || !set_own(service, vf, address, false))
		return;
	qdma_remove_own(service, vf);
	memcpy(vf->own, address, QDMA_ADDRESS_BYTES);
	qdma_add_own(service, vf);
}

/**
 * qdma_restore_address() - a VF's own address is the administrator's choice again, if there is one
 * @service: its PF's
 * @vf: the VF, which has chosen another while it was trusted
 */
void qdma_restore_address(struct qdma_service *service, struct qdma_vf *vf)
{
	if (vf->is_fixed)
		return_to(service, vf, vf->fixed);
}

/**
 * qdma_reset_address() - a VF's own address is none that a driver has chosen
 * @service: its PF's
 * @vf: the VF, whose driver has gone
 */
void qdma_reset_address(struct qdma_service *service, struct qdma_vf *vf)
{
	return_to(service, vf, vf->is_fixed ? vf->fixed : vf->first);
}

static int change_own(struct qdma_service *service, struct qdma_vf *vf, const u8 *address)
{
	if (is_same(address, vf->own))
		return 0;
	if (is_group(address) || (vf->is_fixed && !vf->is_trusted))
		return -QDMA_REFUSE_PARAMETER;
	return set_own(service, vf, address, false);
}

static int add_other(struct qdma_service *service, struct qdma_vf *vf, const u8 *address)
{
	/* It may ask again for what it has, as when it has not heard the answer. */
	if (is_same(address, vf->own) || find_address(vf, address) < vf->addresses)
		return 0;
	if (!is_group(address) && !vf->is_trusted)
		return -QDMA_REFUSE_PARAMETER;
	if (vf->addresses == QDMA_VF_ADDRESSES)
		return -QDMA_REFUSE_PARAMETER;
	if (!take(service, vf, address))
		return -QDMA_REFUSE_PARAMETER;
	memcpy(vf->address[vf->addresses++], address, QDMA_ADDRESS_BYTES);
	return 0;
}

static int remove_other(struct qdma_service *service, struct qdma_vf *vf, const u8 *address)
{
	u32 place = find_address(vf, address);

	if (place == vf->addresses)
		return 0;
	if (!vf->is_away)
		service->ops->remove_address(service->owner, vf, address);
	forget_address(vf, place);
	return 0;
}

/**
 * qdma_set_address() - let a VF receive an address, or no longer
 * @service: its PF's
 * @vf: the VF
 * @request: MERIDIAN_OP_ADDRESS
 *
 * Return: 0 or a negative enum qdma_refusal.
 */
int qdma_set_address(struct qdma_service *service, struct qdma_vf *vf,
		     const struct qdma_message *request)
{
	const u8 *byte = request->byte, *address = &byte[MERIDIAN_ADDRESS_ADDRESS];

	if (is_nothing(address) || byte[MERIDIAN_ADDRESS_ADD] > 1 || byte[MERIDIAN_ADDRESS_OWN] > 1)
		return -QDMA_REFUSE_PARAMETER;
	if (byte[MERIDIAN_ADDRESS_OWN])
		return change_own(service, vf, address);
	/* Those it receives anyway. */
	if (is_broadcast(address))
		return 0;
	return byte[MERIDIAN_ADDRESS_ADD] ? add_other(service, vf, address) :
					    remove_other(service, vf, address);
}
