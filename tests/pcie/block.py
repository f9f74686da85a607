# SPDX-License-Identifier: Apache-2.0
"""The integrated block: cocotbext-pcie's model of it, and what that leaves out of PG213: function level resets and the
time-out of completions.
"""

from __future__ import annotations

from typing import Any, ClassVar

import cocotb
from cocotb.triggers import FallingEdge, RisingEdge
from cocotbext.axi import AxiStreamBus
from cocotbext.pcie.core.tlp import Tlp, TlpType
from cocotbext.pcie.xilinx.us import UltraScalePlusPcieDevice
from cocotbext.pcie.xilinx.us.tlp import ErrorCode, Tlp_us

VECTORS = 16
VENDOR, DEVICE = 0x10EE, 0x903F
BAR0_BYTES, BAR2_BYTES = 256 << 10, 4 << 20
TABLE, PENDING = 0x30000, 0x34000
RESET_CYCLES = 40_000


class _Stream(AxiStreamBus):
    """Its signals by their names. A search among all signals, as for those that may be missing, gives copies of the
    engine's pins with Verilator, and what is written to them has no effect.
    """

    _signals: ClassVar = ["tvalid", "tready", "tdata", "tkeep", "tlast", "tuser"]
    _optional_signals: ClassVar = []


def _stream(dut: Any, prefix: str) -> _Stream:
    return _Stream.from_prefix(dut, prefix, case_insensitive=False)


class Block(UltraScalePlusPcieDevice):
    """dut: the engine. It has four PFs, each with BAR0, BAR2 and an MSI-X table in BAR0."""

    def __init__(self, dut: Any, pfs: int = 4) -> None:
        msix = {
            f"pf{pf}_msix_{name}": value
            for pf in range(pfs)
            for name, value in {
                "enable": True,
                "table_size": VECTORS - 1,
                "table_bir": 0,
                "table_offset": TABLE,
                "pba_bir": 0,
                "pba_offset": PENDING,
            }.items()
        }
        super().__init__(
            pcie_generation=3,
            pcie_link_width=8,
            user_clk_frequency=250e6,
            pf_count=pfs,
            max_payload_size=512,
            user_clk=dut.clk,
            user_reset=dut.reset,
            rq_bus=_stream(dut, "s_axis_rq"),
            rc_bus=_stream(dut, "m_axis_rc"),
            cq_bus=_stream(dut, "m_axis_cq"),
            cc_bus=_stream(dut, "s_axis_cc"),
            pcie_cq_np_req=dut.pcie_cq_np_req,
            pcie_rq_seq_num0=dut.pcie_rq_seq_num0,
            pcie_rq_seq_num_vld0=dut.pcie_rq_seq_num_vld0,
            pcie_rq_seq_num1=dut.pcie_rq_seq_num1,
            pcie_rq_seq_num_vld1=dut.pcie_rq_seq_num_vld1,
            cfg_max_payload=dut.cfg_max_payload,
            cfg_max_read_req=dut.cfg_max_read_req,
            cfg_function_status=dut.cfg_function_status,
            cfg_interrupt_msix_enable=dut.cfg_interrupt_msix_enable,
            cfg_interrupt_msix_mask=dut.cfg_interrupt_msix_mask,
            **msix,
        )
        # PG213's user_reset is high from the start; the model begins with it low, and the engine would run for two cycles.
        dut.reset.setimmediatevalue(1)
        dut.sim_skip_host.setimmediatevalue(1)
        self.dut = dut
        self.in_process = 0
        self.ended = 0  # reads that were at RQ when their function's bus master was off
        # What the engine's pins say before its reset is no request.
        self.rq_sink.pause = self.cc_sink.pause = True
        cocotb.start_soon(self._open())
        self._take_request = self.rq_sink.recv
        self.rq_sink.recv = self._recv_request
        for pin in ("cfg_vf_status", "cfg_flr_in_process", "cfg_vf_flr_in_process"):
            getattr(dut, pin).setimmediatevalue(0)
        for pin in ("cfg_interrupt_msix_vf_enable", "cfg_interrupt_msix_vf_mask"):
            getattr(dut, pin).setimmediatevalue(0)
        for number, function in enumerate(self.functions):
            function.vendor_id = VENDOR
            function.device_id = DEVICE + 0x100 * number
            function.configure_bar(0, BAR0_BYTES, ext=True, prefetch=True)
            function.configure_bar(2, BAR2_BYTES, ext=True, prefetch=True)
            function.pcie_cap.function_level_reset_capability = True
            function.pcie_cap.initiate_function_level_reset = lambda of=number: self._begin_reset(of)

    async def _recv_request(self) -> Any:
        """The model drops a read that is at RQ when its function's bus master goes, and leaves its end to be done: nothing
        would ever come for its tag. We take it that the block ends it as those that have left.
        """
        while True:
            frame = await self._take_request()
            request = Tlp_us.unpack_us_rq(frame)
            number = request.requester_id.function
            if not request.is_nonposted() or self.functions[number].bus_master_enable:
                return frame
            self.ended += 1
            self._send_end(request, ErrorCode.FLR if self.in_process >> number & 1 else ErrorCode.BAD_STATUS)

    async def _open(self) -> None:
        await FallingEdge(self.dut.reset)
        self.rq_sink.pause = self.cc_sink.pause = False

    async def _begin_reset(self, number: int) -> None:
        cocotb.start_soon(self._reset(number))

    async def _reset(self, number: int) -> None:
        """PG213, "Function Level Reset": the function's pin is high until the user's logic says that it is done."""
        function = self.functions[number]
        function.bus_master_enable = False
        function.msix_cap.msix_enable = False
        self.in_process |= 1 << number
        self.dut.cfg_flr_in_process.value = self.in_process
        for tag, request in enumerate(self.active_request):
            if request is not None and request.requester_id.function == number:
                self._end(tag, ErrorCode.FLR)
        for _ in range(RESET_CYCLES):
            await RisingEdge(self.user_clk)
            if int(self.dut.cfg_flr_done.value) >> number & 1:
                break
        else:
            raise AssertionError(f"PF {number} does not end its reset")
        self.in_process &= ~(1 << number)
        self.dut.cfg_flr_in_process.value = self.in_process

    def time_out(self, tag: int) -> None:
        """PG213, "Requester Completion Descriptor Format": a read without an answer ends with this error code."""
        self._end(tag, ErrorCode.TIMEOUT)

    def _end(self, tag: int, error: ErrorCode) -> None:
        request = self.active_request[tag]
        self.active_request[tag] = None
        self._send_end(request, error)

    def _send_end(self, request: Tlp_us, error: ErrorCode) -> None:
        end = Tlp_us(Tlp())
        end.fmt_type = TlpType.CPL
        end.tag = request.tag
        end.requester_id = request.requester_id
        end.error_code = error
        end.request_completed = True
        self.rc_queue.put_nowait(end)
