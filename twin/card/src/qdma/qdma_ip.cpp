// SPDX-License-Identifier: Apache-2.0
#include "qdma/qdma_ip.hpp"

#include <algorithm>
#include <utility>

#include "qdma/c2h_engine.hpp"
#include "qdma/completions.hpp"
#include "qdma/doorbells.hpp"
#include "qdma/h2c_engine.hpp"
#include "qdma/ip_state.hpp"

namespace meridian {

namespace {

constexpr unsigned first_vf = 4;

}  // namespace

struct QdmaIp::Parts {
  Parts(const QdmaSetting& setting, Qdma& s, MemoryBus& host);

  bool is_pf(unsigned function) const { return function < ip.setting.pfs; }
  bool is_vf(unsigned function) const { return function >= first_vf && function < Contexts::functions; }
  std::uint32_t read_csr(unsigned function, std::uint32_t offset) const;
  void write_csr(std::uint32_t offset, std::uint32_t value);
  void context_changed(Contexts::Kind kind, unsigned index);

  IpState ip;
  Qdma& streams;
  Completions completions;
  H2cEngine h2c;
  C2hEngine c2h;
  Doorbells doorbells;
};

QdmaIp::Parts::Parts(const QdmaSetting& setting, Qdma& s, MemoryBus& host)
    : ip(setting, host),
      streams(s),
      completions(ip),
      h2c(ip, s.h2c),
      c2h(ip, s.c2h, completions),
      doorbells(ip, h2c, c2h, completions) {
  streams.c2h.set_raw(true);
  streams.h2c.set_keep_sent(true);
  ip.contexts.set_observer([this](Contexts::Kind kind, unsigned index) { context_changed(kind, index); });
}

std::uint32_t QdmaIp::Parts::read_csr(unsigned function, std::uint32_t offset) const {
  return offset == reg::function_number ? function : ip.csr.read(offset);
}

void QdmaIp::Parts::write_csr(std::uint32_t offset, std::uint32_t value) {
  if (ip.errors.write(offset, value)) return;
  if (offset != reg::context_command) return ip.csr.write(offset, value);
  ip.csr.set(offset, value & ~1U);  // done before anybody can see it busy
  ip.contexts.command(value, ip.csr.context_data(), ip.csr.context_mask());
}

void QdmaIp::Parts::context_changed(Contexts::Kind kind, unsigned index) {
  switch (kind) {
    case Contexts::Kind::sw_c2h:
    case Contexts::Kind::hw_c2h:
      return c2h.restart(index);
    case Contexts::Kind::sw_h2c:
    case Contexts::Kind::hw_h2c:
      return h2c.restart(index);
    case Contexts::Kind::completion:
      return completions.restart(index);
    case Contexts::Kind::coalesce:
      return ip.interrupts.restart(index);
    default:
      return;
  }
}

QdmaIp::QdmaIp(const QdmaSetting& setting, Qdma& streams, MemoryBus& host)
    : parts_(std::make_unique<Parts>(setting, streams, host)) {}

QdmaIp::~QdmaIp() = default;

std::uint32_t QdmaIp::read(unsigned function, std::uint32_t offset) {
  Parts& p = *parts_;
  p.ip.link.flush();
  if (offset % 4 != 0) return 0;
  if (p.is_pf(function)) {
    if (offset < reg::csr_end) return p.read_csr(function, offset);
    if (offset >= reg::pf_doorbells && offset < reg::pf_doorbells_end)
      return p.doorbells.read(function, offset - reg::pf_doorbells);
  } else if (p.is_vf(function)) {
    if (offset >= reg::vf_doorbells && offset < reg::vf_doorbells_end)
      return p.doorbells.read(function, offset - reg::vf_doorbells);
    if (offset == reg::vf_mailbox + reg::mailbox_version) return p.ip.csr.vf_version();
    if (offset == reg::vf_mailbox + reg::mailbox_user_bar) return Csr::vf_user_bar;
  }
  return 0;
}

void QdmaIp::write(unsigned function, std::uint32_t offset, std::uint32_t value) {
  Parts& p = *parts_;
  if (offset % 4 != 0) return;
  if (p.is_pf(function)) {
    if (offset < reg::csr_end) return p.write_csr(offset, value);
    if (offset >= reg::pf_doorbells && offset < reg::pf_doorbells_end)
      return p.doorbells.write(function, offset - reg::pf_doorbells, offset, value);
  } else if (p.is_vf(function)) {
    if (offset >= reg::vf_doorbells && offset < reg::vf_doorbells_end)
      return p.doorbells.write(function, offset - reg::vf_doorbells, offset, value);
  }
}

void QdmaIp::enable_function(unsigned function, bool enabled, unsigned) {
  parts_->ip.link.enable(function, enabled);
}

void QdmaIp::reset_function(unsigned, std::function<void()> done) {
  done();
}

void QdmaIp::reset() {
  Parts& p = *parts_;
  p.ip.link.reset();
  p.ip.contexts.reset();
  p.ip.status.reset();
  p.h2c.reset();
  p.c2h.reset();
  p.completions.reset();
  p.doorbells.reset();
  p.ip.csr.reset();
  for (unsigned ring = 0; ring < Contexts::rings; ++ring) p.ip.interrupts.restart(ring);
}

void QdmaIp::tick(std::uint64_t now_ps) {
  Parts& p = *parts_;
  p.ip.now_ps = now_ps;
  p.ip.link.run(now_ps);
  p.completions.run();
  p.h2c.run();
  p.c2h.run();
  p.ip.status.run(p.streams.c2h);
}

bool QdmaIp::idle() const {
  const Parts& p = *parts_;
  return p.ip.link.idle() && p.h2c.idle() && p.c2h.idle() && p.ip.status.idle();
}

std::uint64_t QdmaIp::next_ps() const {
  return parts_->completions.next_ps();
}

std::string QdmaIp::waits_for() const {
  const Parts& p = *parts_;
  if (!p.ip.link.idle()) return "pcie: " + std::to_string(p.ip.link.reads()) + " reads";
  for (const std::string& what : {p.h2c.waits_for(), p.c2h.waits_for()})
    if (!what.empty()) return what;
  return p.ip.status.idle() ? std::string() : "tm_dsc_sts_rdy";
}

}  // namespace meridian
