// SPDX-License-Identifier: Apache-2.0
#include "qdma/qdma_ip.hpp"

#include <algorithm>
#include <utility>

#include "qdma/function_reset.hpp"
#include "qdma/ip_state.hpp"
#include "qdma/mailbox.hpp"
#include "qdma/ring/c2h_engine.hpp"
#include "qdma/ring/completions.hpp"
#include "qdma/ring/doorbells.hpp"
#include "qdma/ring/h2c_engine.hpp"

namespace meridian {

namespace {

constexpr unsigned first_vf = 4;

}  // namespace

/// Where in BAR0 an access goes.
struct Place {
  enum class What : std::uint8_t { nothing, csr, doorbell, mailbox, reset } what = What::nothing;
  std::uint32_t offset = 0;  // in it
};

struct QdmaIp::Parts {
  Parts(const QdmaSetting& setting, Qdma& s, MemoryBus& host);

  bool is_pf(unsigned function) const { return function < ip.setting.pfs; }
  bool is_vf(unsigned function) const { return function >= first_vf && function < Contexts::functions; }
  Place place(unsigned function, std::uint32_t offset) const;
  std::uint32_t read_csr(unsigned function, std::uint32_t offset) const;
  void write_csr(std::uint32_t offset, std::uint32_t value);
  void context_changed(Contexts::Kind kind, unsigned index);

  IpState ip;
  Qdma& streams;
  Completions completions;
  H2cEngine h2c;
  C2hEngine c2h;
  Doorbells doorbells;
  Mailbox mailbox;
  FunctionReset function_reset;
};

QdmaIp::Parts::Parts(const QdmaSetting& setting, Qdma& s, MemoryBus& host)
    : ip(setting, host),
      streams(s),
      completions(ip),
      h2c(ip, s.h2c),
      c2h(ip, s.c2h, completions),
      doorbells(ip, h2c, c2h, completions),
      mailbox(ip),
      function_reset(ip, s.flr, mailbox, doorbells) {
  streams.c2h.set_raw(true);
  streams.h2c.set_keep_sent(true);
  ip.contexts.set_observer([this](Contexts::Kind kind, unsigned index) { context_changed(kind, index); });
}

Place QdmaIp::Parts::place(unsigned function, std::uint32_t offset) const {
  const bool pf = is_pf(function);
  if (offset % 4 != 0 || (!pf && !is_vf(function))) return {};
  if (pf && offset < reg::csr_end) return {Place::What::csr, offset};
  const std::uint32_t doorbells_at = pf ? reg::pf_doorbells : reg::vf_doorbells;
  const std::uint32_t doorbells_end = pf ? reg::pf_doorbells_end : reg::vf_doorbells_end;
  if (offset >= doorbells_at && offset < doorbells_end) return {Place::What::doorbell, offset - doorbells_at};
  const std::uint32_t mailbox_at = pf ? reg::pf_mailbox : reg::vf_mailbox;
  const std::uint32_t mailbox_end = pf ? reg::pf_mailbox_end : reg::vf_mailbox_end;
  if (offset < mailbox_at || offset >= mailbox_at + mailbox_end) return {};
  const std::uint32_t in_mailbox = offset - mailbox_at;
  return {in_mailbox == reg::mailbox_reset ? Place::What::reset : Place::What::mailbox, in_mailbox};
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

void QdmaIp::flush() {
  parts_->ip.link.flush();
}

std::uint64_t QdmaIp::answer() {
  return parts_->ip.link.answer();
}

std::uint64_t QdmaIp::access_wait_ps() const {
  return parts_->ip.link.access_wait_ps();
}

std::uint32_t QdmaIp::read(unsigned function, std::uint32_t offset) {
  Parts& p = *parts_;
  flush();
  const Place place = p.place(function, offset);
  switch (place.what) {
    case Place::What::csr:
      return p.read_csr(function, offset);
    case Place::What::doorbell:
      return p.doorbells.read(function, place.offset);
    case Place::What::mailbox:
      return p.mailbox.read(function, place.offset);
    case Place::What::reset:
      return p.function_reset.under_way(function);
    case Place::What::nothing:
      break;
  }
  return 0;
}

void QdmaIp::write(unsigned function, std::uint32_t offset, std::uint32_t value) {
  Parts& p = *parts_;
  const Place place = p.place(function, offset);
  switch (place.what) {
    case Place::What::csr:
      return p.write_csr(offset, value);
    case Place::What::doorbell:
      return p.doorbells.write(function, place.offset, offset, value);
    case Place::What::mailbox:
      return p.mailbox.write(function, place.offset, value);
    case Place::What::reset:
      if ((value & 1) != 0 && !p.function_reset.under_way(function)) p.function_reset.start(function, {});
      return;
    case Place::What::nothing:
      return;
  }
}

void QdmaIp::enable_function(unsigned function, bool enabled, unsigned parent) {
  Parts& p = *parts_;
  if (!p.is_pf(function) && !p.is_vf(function)) return;
  p.ip.link.enable(function, enabled);
  if (p.is_vf(function) && p.is_pf(parent)) p.mailbox.set_parent(function, parent);
}

void QdmaIp::reset_function(unsigned function, std::function<void()> done) {
  Parts& p = *parts_;
  const bool takes_queues = p.ip.setting.reset == PcieReset::all && (p.is_pf(function) || p.is_vf(function));
  if (takes_queues) return p.function_reset.start(function, std::move(done));
  if (done) done();
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
  p.mailbox.reset();
  p.ip.csr.reset();
  for (unsigned ring = 0; ring < Contexts::rings; ++ring) p.ip.interrupts.restart(ring);
  p.function_reset.reset();
}

void QdmaIp::tick(std::uint64_t now_ps) {
  Parts& p = *parts_;
  p.ip.now_ps = now_ps;
  p.ip.link.run(now_ps);
  p.function_reset.run();
  p.completions.run();
  while (const auto grant = p.streams.credit.pop()) p.h2c.grant(grant->queue, grant->count);
  while (const auto message = p.streams.user_interrupts.pop())
    p.ip.interrupts.direct(message->function, message->vector);
  p.h2c.run();
  p.c2h.run();
  p.ip.status.run(p.streams.c2h);
}

bool QdmaIp::idle() const {
  const Parts& p = *parts_;
  return p.ip.link.idle() && p.h2c.idle() && p.c2h.idle() && p.completions.idle() && p.ip.status.idle() &&
         p.function_reset.idle();
}

std::uint64_t QdmaIp::next_ps() const {
  return parts_->completions.next_ps();
}

std::string QdmaIp::waits_for() const {
  const Parts& p = *parts_;
  if (!p.ip.link.idle()) return "pcie: " + std::to_string(p.ip.link.reads()) + " reads";
  for (const std::string& what : {p.h2c.waits_for(), p.c2h.waits_for(), p.function_reset.waits_for()})
    if (!what.empty()) return what;
  return p.ip.status.idle() ? std::string() : "tm_dsc_sts_rdy";
}

}  // namespace meridian
