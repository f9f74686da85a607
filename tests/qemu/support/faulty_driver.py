# SPDX-License-Identifier: Apache-2.0
"""The host's driver as it were on a card, or with a PF, that does not do what it should: each fault is a parameter of the module."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from driver_machine import changed
from meridian_machine.driver import SOURCE

PARAMETERS = "/sys/module/meridian/parameters"
#: A module's parameters, in front of what a pattern has found.
BOOL = "static bool {0};\nmodule_param({0}, bool, 0600);\n"
INCLUDE = "#include <linux/moduleparam.h>\n"
QUEUE, SERVICE, REQUESTS = "qdma/qdma_queue.c", "qdma/service/qdma_service.c", "qdma/service/qdma_requests.c"
PF, RING = "linux/functions/meridian_pf.c", "linux/rings/meridian_ring.c"


def parameters(*names: str) -> str:
    return INCLUDE + "".join(BOOL.format(name) for name in names)


#: stuck: the card ends no queue. refused: nor does it start one with an odd number.
END_NONE = (
    QUEUE,
    r"(?s)(static int each\(.*?\n\tu32 i;\n)",
    parameters("refused")
    + "bool stuck;\nmodule_param(stuck, bool, 0600);\n"
    + r"""\g<1>
	if (stuck && op == QDMA_CONTEXT_INVALIDATE)
		return -EBUSY;
	if (refused && op == QDMA_CONTEXT_CLEAR && queue % 2)
		return -EBUSY;
""",
)
#: stuck_rings: it ends no interrupt ring.
END_NO_RING = (
    "qdma/qdma_interrupt.c",
    r"(int qdma_interrupt_stop\(.*\n\{\n)",
    parameters("stuck_rings") + r"\g<1>\tif (stuck_rings)\n\t\treturn -EBUSY;\n",
)
#: unsure: it starts a receive queue but does not say so, and is stuck from then on.
START_UNSURELY = (
    PF,
    r"(?s)(static int start_rx\(struct meridian \*m,.*?qdma_c2h_start\(&m->qdma, setting\);\n)",
    parameters("unsure")
    + "extern bool stuck;\n"
    + r"\g<1>\tif (unsure) {\n\t\tstuck = true;\n\t\terror = -EBUSY;\n\t}\n",
)
#: stubborn: its Bus Master bit stays set.
STAY_MASTER = (
    RING,
    r"(static void fence\(.*\n\{\n\tu16 command = 0;\n\n)\tpci_clear_master\(m->pdev\);\n",
    parameters("stubborn") + r"\g<1>\tif (!stubborn)\n\t\tpci_clear_master(m->pdev);\n",
)
#: other_rings: a PF's driver has rings of no size that its VF's knows. stingy: it grants no queues.
HAVE_OTHER_RINGS = (
    REQUESTS,
    r"(static int tell_tables\(.*\n\{\n)\tqdma_message_put_tables\(.*\n",
    parameters("other_rings")
    + r"""\g<1>	struct qdma_tables tables = asked->service->qdma->tables;
	u32 i;

	for (i = 0; other_rings && i < QDMA_TABLE_ENTRIES; i++)
		tables.rings[i] = 1000 + i;
	qdma_message_put_tables(asked->answer, &tables, STATUS_INTERVAL);
""",
)
GRANT_NONE = (
    REQUESTS,
    r"(?s)(static int give_queues\(.*?\tqdma_message_put_range\(asked->answer, vf->base, )vf->count\);\n",
    parameters("stingy") + r"\g<1>stingy ? 0 : vf->count);\n",
)
#: apart: it says that the card joins no pieces.
JOIN_NO_PIECES = (
    REQUESTS,
    r"(?s)(static int tell_config\(.*?capabilities & VF_CAPABILITIES)\);\n",
    parameters("apart") + r"\g<1> & (apart ? ~CAN(PIECES) : ~0u));\n",
)
#: forgetful: once, it forgets who has said hello. deaf: it lets messages lie; deaf_at: from such an operation on.
FORGET = (
    SERVICE,
    r"(?s)(static void answer\(struct.*?\n\tvf->is_heard = false;\n)",
    parameters("deaf", "forgetful")
    + "static int deaf_at = -1;\nmodule_param(deaf_at, int, 0600);\n"
    + r"""\g<1>	if (forgetful)
		vf->is_known = false;
	forgetful = false;
	if (deaf_at == op)
		deaf = true;
	if (deaf)
		return;
""",
)
BE_DEAF = (SERVICE, r"(?s)(static void hear_all\(.*?\n\tu32 source, i;\n)", r"\g<1>\n\tif (deaf)\n\t\treturn;\n")
FAULTS = (
    END_NONE,
    END_NO_RING,
    START_UNSURELY,
    STAY_MASTER,
    HAVE_OTHER_RINGS,
    GRANT_NONE,
    JOIN_NO_PIECES,
    FORGET,
    BE_DEAF,
)


@contextmanager
def faulty() -> Iterator[Path]:
    """The source of that driver, which is the same for all tests, so that it is built once. No fault is there at first."""
    with ExitStack() as stack:
        source = SOURCE
        for file, pattern, replacement in FAULTS:
            source = stack.enter_context(changed(file, pattern, replacement, source))
        yield source


def parameter(name: str) -> str:
    """Its file in the machine."""
    return f"{PARAMETERS}/{name}"
