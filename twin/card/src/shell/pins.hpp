// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

/// The shell's pins as references, grouped by what sits at them. The models know these and not the Verilated class, so
/// that one source serves every port count and width, and unit tests need no shell. Names are those of the pins.
namespace meridian {

using Pin = std::uint8_t&;
using Pin16 = std::uint16_t&;
using Pin32 = std::uint32_t&;
using Pin64 = std::uint64_t&;
using WidePin = std::span<std::uint32_t>;  // least significant word first

/// An address pin of whatever width the bus has.
class AddressPin {
 public:
  AddressPin(Pin16 pin) : narrow_(&pin) {}
  AddressPin(Pin32 pin) : wide_(&pin) {}

  void set(std::uint32_t address) const {
    if (wide_ != nullptr) *wide_ = address;
    if (narrow_ != nullptr) *narrow_ = static_cast<std::uint16_t>(address);
  }

  bool fits(std::uint32_t address) const { return wide_ != nullptr || address < 0x10000U; }

 private:
  std::uint16_t* narrow_ = nullptr;
  std::uint32_t* wide_ = nullptr;
};

struct MacRxPins {
  Pin tvalid;
  Pin64 tdata;
  Pin tkeep;
  Pin tlast;
  Pin tuser;
  Pin tstamp_valid;
  WidePin tstamp;
  WidePin system_timer;
};

struct MacTxPins {
  Pin tready;
  Pin tvalid;
  Pin64 tdata;
  Pin tkeep;
  Pin tlast;
  Pin tuser;
  Pin ptp_op;
  Pin16 ptp_tag;
  Pin tstamp_valid;
  Pin16 tstamp_tag;
  WidePin tstamp;
  WidePin system_timer;
};

/// Of a shell with the self-test.
struct TransceiverPins {
  Pin loopback;
  Pin tx_prbs;
  Pin rx_prbs;
  Pin force_error;
  Pin count_reset;
  Pin prbs_error;
  Pin eyescan_reset;
  Pin drp_en;
  Pin drp_we;
  Pin16 drp_addr;
  Pin16 drp_di;
  Pin16 drp_do;
  Pin drp_rdy;
  Pin tx_restart;
};

struct H2cPins {
  WidePin tdata;
  Pin32 tcrc;
  Pin16 tuser_qid;
  Pin tuser_port_id;
  Pin tuser_err;
  Pin32 tuser_mdata;
  Pin tuser_mty;
  Pin tuser_zero_byte;
  Pin tlast;
  Pin tvalid;
  Pin tready;
};

struct C2hPins {
  WidePin tdata;
  Pin tlast;
  Pin mty;
  Pin ctrl_marker;
  Pin ctrl_port_id;
  Pin16 ctrl_len;
  Pin16 ctrl_qid;
  Pin ctrl_has_cmpt;
  Pin tvalid;
  Pin tready;
};

struct CmptPins {
  WidePin tdata;
  Pin size;
  Pin16 dpar;
  Pin16 ctrl_qid;
  Pin ctrl_cmpt_type;
  Pin16 ctrl_wait_pld_pkt_id;
  Pin ctrl_port_id;
  Pin ctrl_marker;
  Pin ctrl_user_trig;
  Pin tvalid;
  Pin tready;
};

struct C2hStatusPins {
  Pin drop;
  Pin last;
  Pin cmp;
  Pin error;
  Pin16 qid;
  Pin valid;
};

struct TmStatusPins {
  Pin port_id;
  Pin qen;
  Pin byp;
  Pin dir;
  Pin mm;
  Pin error;
  Pin16 qid;
  Pin16 avl;
  Pin qinv;
  Pin irq_arm;
  Pin16 pidx;
  Pin vld;
  Pin rdy;
};

struct CreditPins {
  Pin16 crdt;
  Pin16 qid;
  Pin dir;
  Pin fence;
  Pin vld;
  Pin rdy;
};

struct FlrPins {
  Pin fnc;
  Pin set;
  Pin done_fnc;
  Pin done_vld;
};

/// The QDMA IP's streams, of a shell for it.
struct QdmaPins {
  H2cPins h2c;
  C2hPins c2h;
  CmptPins completion;
  C2hStatusPins c2h_status;
  TmStatusPins tm_status;
  CreditPins credit;
  FlrPins flr;
};

struct UserInterruptPins {
  Pin in_vld;
  Pin16 in_vec;
  Pin in_fnc;
  Pin out_ack;
  Pin out_fail;
};

/// The integrated block for PCIe (PG213), of a shell with the DMA engine of its own. Streams have 256 bit.
struct PciePins {
  WidePin cq_tdata;
  Pin cq_tkeep;
  WidePin cq_tuser;
  Pin cq_tlast;
  Pin cq_tvalid;
  Pin cq_tready;
  Pin cq_np_req;
  WidePin cc_tdata;
  Pin cc_tkeep;
  Pin cc_tlast;
  Pin cc_tvalid;
  Pin cc_tready;
  WidePin rq_tdata;
  Pin rq_tkeep;
  Pin64 rq_tuser;
  Pin rq_tlast;
  Pin rq_tvalid;
  Pin rq_tready;
  Pin rq_seq_num0;
  Pin rq_seq_num_vld0;
  Pin rq_seq_num1;
  Pin rq_seq_num_vld1;
  WidePin rc_tdata;
  Pin rc_tkeep;
  WidePin rc_tuser;
  Pin rc_tlast;
  Pin rc_tvalid;
  Pin rc_tready;
  Pin16 function_status;
  WidePin vf_status;
  Pin max_payload;
  Pin max_read_req;
  Pin flr_in_process;
  Pin flr_done;
  WidePin vf_flr_in_process;
  Pin vf_flr_func_num;
  Pin vf_flr_done;
  Pin msix_enable;
  Pin msix_mask;
  WidePin vf_msix_enable;
  WidePin vf_msix_mask;
};

/// The streams between a shell and the DMA engine in it, which nothing else drives. Of completions no more than when
/// one is taken.
struct InnerStreamPins {
  WidePin h2c_tdata;
  Pin h2c_mty;
  Pin h2c_zero_byte;
  Pin h2c_tlast;
  Pin h2c_tvalid;
  Pin h2c_tready;
  WidePin c2h_tdata;
  Pin c2h_mty;
  Pin c2h_tlast;
  Pin c2h_tvalid;
  Pin c2h_tready;
  Pin cmpt_tvalid;
  Pin cmpt_tready;
};

struct AxilPins {
  AddressPin awaddr;
  std::uint64_t* awuser;  // the QDMA's bus only
  Pin awprot;
  Pin awvalid;
  Pin awready;
  Pin32 wdata;
  Pin wstrb;
  Pin wvalid;
  Pin wready;
  Pin bresp;
  Pin bvalid;
  Pin bready;
  AddressPin araddr;
  std::uint64_t* aruser;
  Pin arprot;
  Pin arvalid;
  Pin arready;
  Pin32 rdata;
  Pin rresp;
  Pin rvalid;
  Pin rready;
};

struct AxiPins {
  Pin64 awaddr;
  Pin awid;
  Pin awlen;
  Pin awsize;
  Pin awburst;
  Pin awvalid;
  Pin awready;
  Pin64 wdata;
  Pin wstrb;
  Pin wlast;
  Pin wvalid;
  Pin wready;
  Pin bid;
  Pin bresp;
  Pin bvalid;
  Pin bready;
  Pin64 araddr;
  Pin arid;
  Pin arlen;
  Pin arsize;
  Pin arburst;
  Pin arvalid;
  Pin arready;
  Pin64 rdata;
  Pin rid;
  Pin rresp;
  Pin rlast;
  Pin rvalid;
  Pin rready;
};

}  // namespace meridian
