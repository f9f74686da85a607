# SPDX-License-Identifier: Apache-2.0
"""The machines around a Meridian card's twin, in Python: drivers of its host side and of its PS."""

from .card import LinkedCard, MismatchError, RegisterError
from .driver import Host, Ps
from .link import Link, LinkError, LinkTimeout
from .memory import Memory
from .offload import Offload
from .process import CardError, CardProcess
from .protocol import Role
from .qdma import QueueError, QueueSetting, Tables, Trigger

__all__ = [
    "CardError",
    "CardProcess",
    "Host",
    "Link",
    "LinkError",
    "LinkTimeout",
    "LinkedCard",
    "Memory",
    "MismatchError",
    "Offload",
    "Ps",
    "QueueError",
    "QueueSetting",
    "RegisterError",
    "Role",
    "Tables",
    "Trigger",
]
