// SPDX-License-Identifier: GPL-2.0-only
/*
 * VFs that are reset behind their PF's back, as VFIO does when a virtual machine comes or goes.
 * PCIe's function level reset leaves the VF's queues as they were (qdma/qdma_reset.h), but
 * clears its Bus Master bit. Linux's PCI core gives a function 100 ms for its reset, so the bit is
 * looked at twice in that time: the queues are gone before anybody can set it again.
 */
#include "meridian.h"
#include "meridian_card.h"
#include "meridian_vfs.h"

#define WATCH_PERIOD	max(HZ / 25, 1)

/* Functions count as routing identifiers do, from the card's first PF on. */
static struct pci_dev *find_vf(const struct meridian *m, const struct qdma_vf *vf)
{
	u16 id = pci_dev_id(m->pdev) + vf->function - m->function;

	return pci_get_domain_bus_and_slot(pci_domain_nr(m->pdev->bus), PCI_BUS_NUM(id),
					   id & 0xff);
}

/**
 * meridian_vf_command() - the command register of a VF
 * @m: its PF
 * @vf: the VF
 *
 * Context: May sleep.
 * Return: the register; 0 if the VF is not there or does not answer, as while it is reset.
 */
u16 meridian_vf_command(struct meridian *m, const struct qdma_vf *vf)
{
	struct pci_dev *pdev = find_vf(m, vf);
	u16 command = 0;

	if (!pdev)
		return 0;
	if (pci_read_config_word(pdev, PCI_COMMAND, &command) || command == (u16)QDMA_ALL_ONES)
		command = 0;
	pci_dev_put(pdev);
	return command;
}

/**
 * meridian_restore_vf() - bring back what a reset of the PF has taken of a VF in PCIe
 * @m: its PF
 * @vf: the VF, without queues
 * @command: of meridian_vf_command() before the reset; 0: the VF was not there
 *
 * Linux does it for the PF alone. The VF's driver may be any, and need not know.
 *
 * Context: May sleep.
 */
void meridian_restore_vf(struct meridian *m, const struct qdma_vf *vf, u16 command)
{
	struct pci_dev *pdev = command ? find_vf(m, vf) : NULL;

	if (!pdev)
		return;
	pci_write_config_word(pdev, PCI_COMMAND, command);
	pci_restore_msi_state(pdev);
	pci_dev_put(pdev);
}

/**
 * meridian_vf_is_master() - whether a VF may access memory
 * @owner: its PF's struct meridian
 * @vf: the VF
 *
 * Context: May sleep.
 * Return: what its Bus Master bit says; false if the VF is not there or does not answer, as while
 * it is reset.
 */
bool meridian_vf_is_master(void *owner, const struct qdma_vf *vf)
{
	return meridian_vf_command(owner, vf) & PCI_COMMAND_MASTER;
}

static void do_watch(struct work_struct *work)
{
	struct meridian *m = container_of(work, struct meridian, vf_watch.work);

	mutex_lock(&m->card->lock);
	/* Nothing is known while the PF itself is reset. */
	if (m->vfs && !m->qdma.gone && qdma_answers(&m->qdma))
		qdma_service_look(&m->vf_service);
	mutex_unlock(&m->card->lock);
	meridian_watch_vfs(m);
}

void meridian_init_vf_watch(struct meridian *m)
{
	INIT_DELAYED_WORK(&m->vf_watch, do_watch);
}

/**
 * meridian_watch_vfs() - take from the card what VFs have that are reset, from now on
 * @m: a PF with VFs, until its vf_watch is cancelled
 *
 * Context: Does not sleep.
 */
void meridian_watch_vfs(struct meridian *m)
{
	schedule_delayed_work(&m->vf_watch, WATCH_PERIOD);
}
