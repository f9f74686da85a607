// SPDX-License-Identifier: Apache-2.0
#include "pcie/block_port.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

// MSI-X tables in BAR0, as docs/dma.md has them.
constexpr std::uint32_t pf_table = 0x30000, vf_table = 0x4000;
constexpr unsigned vectors = 16, vectors_a_write = 8;  // a write of 128 bytes, which any payload size allows
constexpr unsigned boundary = 64;                      // read completion boundary
constexpr unsigned most_headers = PcieSetting{}.completion_headers - 1;  // of the block, whatever the link is set to

/// Where a write is a message, beyond all memory: of a function and vector, as is what is written.
constexpr std::uint64_t messages_at = 0xffff'f000'0000'0000;
constexpr std::uint64_t message_address(unsigned function, unsigned vector) {
  return messages_at + (function << 16) + (vector << 4);
}
constexpr std::uint32_t message_data(unsigned function, unsigned vector) {
  return 0xa500'0000 + (function << 8) + vector;
}

void append(Bytes& bytes, std::uint64_t value, unsigned width) {
  for (unsigned byte = 0; byte < width; ++byte) bytes.push_back(static_cast<std::uint8_t>(value >> (8 * byte)));
}

}  // namespace

BlockPort::BlockPort(const QdmaSetting& setting, pcie::Block& block, MemoryBus& host,
                     const std::array<unsigned, first_vf>& vfs)
    : setting_(setting.pcie), block_(block), link_(setting.pcie, host), random_(setting.seed ^ 0xb0), vfs_(vfs) {
  if (setting.reset != PcieReset::all)
    throw InputError(
        "this shell has its own DMA engine, whose PCIe resets take a function's queues: choose --pcie-reset all");
  if (!std::has_single_bit(setting_.max_payload) || setting_.max_payload > 1024 ||
      !std::has_single_bit(setting_.max_read_request) || setting_.max_read_request > 4096)
    throw InputError(
        "the block for PCIe has sizes of powers of two: choose --pcie-payload 128 to 1024 and --pcie-request 128 to "
        "4096");
  if (setting_.extended_tags) extend_tags();
  block_.set_sizes(setting_.max_payload, setting_.max_read_request);
  block_.on_answer = [this](const pcie::AccessAnswer& answer) { answered(answer); };
  block_.on_taken = [this](const pcie::Request& request) { taken(request); };
  block_.on_request = [this](pcie::Request request) { requested(std::move(request)); };
}

void BlockPort::set_functions(unsigned functions) {
  const unsigned vfs = std::accumulate(vfs_.begin(), vfs_.end(), 0U);
  if (vfs != 0 && first_vf + vfs != functions)
    throw InputError("the shell has " + std::to_string(functions) + " functions, and this program was built for " +
                     std::to_string(vfs) + " VFs: build both by scripts/build-card with the same --vfs");
  functions_ = functions;
}

std::optional<unsigned> BlockPort::parent(unsigned function) const {
  if (function < first_vf || function >= functions_) return std::nullopt;
  unsigned end = first_vf;
  for (unsigned pf = 0; pf < first_vf; ++pf)
    if (function < (end += vfs_[pf])) return pf;
  return 0;
}

pcie::Access BlockPort::access(unsigned function, unsigned bar, std::uint64_t offset) {
  pcie::Access access;
  access.function = function;
  access.bar = bar;
  access.aperture = static_cast<unsigned>(std::countr_zero(bar_bytes(function, bar)));
  access.offset = static_cast<std::uint32_t>(offset);
  access.traffic_class = random_.below(8);
  access.attributes = random_.below(8);
  return access;
}

void BlockPort::read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) {
  if (!fits(function, bar, offset, width)) return done(MERIDIAN_LINK_UNSUPPORTED, ones(width));
  while (open_.contains(tag_)) ++tag_;
  pcie::Access asked = access(function, bar, offset);
  asked.bytes = width;
  asked.tag = tag_;
  open_[tag_++] = {function, offset, width, std::move(done), asked.traffic_class, asked.attributes, block_.taken()};
  steps_.push_back({Step::Kind::read, std::move(asked), false, {}});
}

void BlockPort::write(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, std::uint64_t value) {
  if (!fits(function, bar, offset, width)) return;
  pcie::Access given = access(function, bar, offset);
  append(given.data, value, width);
  steps_.push_back({Step::Kind::write, std::move(given), false, {}});
  ++others_;
}

void BlockPort::push(unsigned function, std::uint32_t offset, std::span<const std::uint8_t> bytes) {
  pcie::Access given = access(function, 4, offset);
  given.data.assign(bytes.begin(), bytes.end());
  steps_.push_back({Step::Kind::write, std::move(given), false, {}});
  ++others_;
}

void BlockPort::doorbell(unsigned function, std::uint32_t offset, std::uint32_t value) {
  pcie::Access given = access(function, 0, offset);
  append(given.data, value, 4);
  // One that waits is overwritten, unless something else has come behind it.
  for (auto step = steps_.rbegin(); step != steps_.rend() && step->kind == Step::Kind::doorbell; ++step)
    if (step->access.function == function && step->access.offset == offset) {
      step->access = std::move(given);
      return;
    }
  steps_.push_back({Step::Kind::doorbell, std::move(given), false, {}});
}

void BlockPort::enable_function(unsigned function, bool enabled, unsigned) {
  if (function >= functions_) return;
  steps_.push_back({Step::Kind::enable, access(function, 0, 0), enabled, {}});
  ++others_;
}

void BlockPort::reset_function(unsigned function, std::function<void()> done) {
  if (function >= functions_) {
    if (done) done();
    return;
  }
  steps_.push_back({Step::Kind::reset, access(function, 0, 0), false, std::move(done)});
  ++others_;
}

/// Whether the block takes it: an access behind all writes, as a read that waits holds up none; all else behind all
/// accesses.
bool BlockPort::may_take(Step& step) {
  if (step.is_access()) return !block_.writes();
  if (block_.accesses() != 0) return false;
  return step.cycles == 0 || --step.cycles == 0;
}

void BlockPort::take_step() {
  Step step = std::move(steps_.front());
  steps_.pop_front();
  const unsigned function = step.access.function;
  if (step.kind != Step::Kind::read && step.kind != Step::Kind::doorbell) --others_;
  switch (step.kind) {
    case Step::Kind::write:
    case Step::Kind::read:
    case Step::Kind::doorbell:
      return block_.access(step.access);
    case Step::Kind::enable:
      enabled_[function] = step.enabled;
      return apply(function);
    case Step::Kind::master:
      if (!may(function)) return;
      link_.enable(function, true);
      return block_.set_master(function, true);
    case Step::Kind::msix:
      return block_.set_msix(function, may(function));
    case Step::Kind::reset:
      return begin_reset(function, std::move(step.done));
  }
}

/// Its reset or its PF's, which takes back what is written to its table.
bool BlockPort::is_held(unsigned function) const {
  return std::any_of(resets_.begin(), resets_.end(),
                     [&](const auto& reset) { return reset.first == function || parent(function) == reset.first; });
}

void BlockPort::apply(unsigned function) {
  if (may(function)) return raise(function);
  link_.enable(function, false);
  block_.set_master(function, false);
  block_.set_msix(function, false);
}

/// The two bits come before whatever waits, when the table is written.
void BlockPort::raise(unsigned function) {
  if (function >= first_vf) block_.set_vf_enable(function, true);
  write_messages(function);
  const bool msix_first = random_.below(2) == 0;
  for (const bool master : {msix_first, !msix_first}) {
    Step step{master ? Step::Kind::master : Step::Kind::msix, access(function, 0, 0), true, {}, 1 + random_.below(32)};
    steps_.push_front(std::move(step));
    ++others_;
  }
}

void BlockPort::write_messages(unsigned function) {
  for (unsigned first = 0; first < vectors; first += vectors_a_write) {
    pcie::Access table = access(function, 0, (function < first_vf ? pf_table : vf_table) + 16 * first);
    for (unsigned vector = first; vector < first + vectors_a_write; ++vector) {
      append(table.data, message_address(function, vector), 8);
      append(table.data, message_data(function, vector), 4);
      append(table.data, 0, 4);  // not masked
    }
    block_.access(table);
  }
}

void BlockPort::begin_reset(unsigned function, std::function<void()> done) {
  Reset& reset = resets_[function];
  (reset.under_way ? reset.later : reset.dones).push_back(std::move(done));
  if (reset.under_way) return;
  reset.under_way = true;
  apply(function);
  for (unsigned vf = first_vf; vf < functions_; ++vf) {
    if (parent(vf) != function) continue;
    apply(vf);
    block_.set_vf_enable(vf, false);
  }
  block_.begin_reset(function);
}

void BlockPort::end_reset(unsigned function) {
  const Reset reset = std::move(resets_[function]);
  resets_.erase(function);
  if (!reset.later.empty()) {
    resets_[function] = {true, reset.later, {}};
    block_.begin_reset(function);
  }
  // A PF's reset has taken its VFs along.
  for (unsigned other = 0; other < functions_; ++other)
    if (enabled_[other] && (other == function || parent(other) == function)) apply(other);
  for (const auto& done : reset.dones)
    if (done) done();
}

void BlockPort::answered(const pcie::AccessAnswer& answer) {
  const auto found = open_.find(answer.tag);
  if (found == open_.end())
    throw CheckError("pcie: a completion for tag " + std::to_string(answer.tag) + ", which no read has");
  const Open open = std::move(found->second);
  open_.erase(found);
  if (answer.function != open.function) throw CheckError("pcie: another function answers than was asked");
  if (answer.traffic_class != open.traffic_class || answer.attributes != open.attributes)
    throw CheckError("pcie: a read's answer has not its traffic class or attributes");
  if (!keeps_time_) link_.flush();  // on its way to the host it pushes what was written before
  if (!answer.ok) return open.done(MERIDIAN_LINK_UNSUPPORTED, ones(open.width));
  if (block_.passed() < open.behind)
    throw CheckError("pcie: a read's answer passes a write that the block had before the read");
  if (answer.words.size() != (open.width + 3) / 4 || answer.bytes != open.width || answer.lower != (open.offset & 0x7f))
    throw CheckError("pcie: a read's answer has not its address or length");
  std::uint64_t value = answer.words[0];
  if (answer.words.size() > 1) value |= std::uint64_t{answer.words[1]} << 32;
  open.done(MERIDIAN_LINK_OK, value >> (8 * (open.offset % 4)) & ones(open.width));
}

/// A request is judged when the block takes it: until it passes, a tag or room that it may not have may be free again.
void BlockPort::taken(const pcie::Request& request) {
  if (request.write) {
    if (request.bytes > setting_.max_payload) throw CheckError("pcie: a write above the maximum payload size");
    return;
  }
  if (request.bytes > setting_.max_read_request) throw CheckError("pcie: a read above the maximum request size");
  if (request.tag >= tags_ || read_tags_[request.tag] || block_.completes(request.tag))
    throw CheckError("pcie: a read with tag " + std::to_string(request.tag) + ", which is another's or too high");
  take_room(request);
  read_tags_[request.tag] = true;
}

void BlockPort::requested(pcie::Request request) {
  const unsigned function = request.function;
  if (request.write) {
    const unsigned vector = static_cast<unsigned>(request.address >> 4) % vectors;
    Bytes message;
    append(message, message_data(function, vector), 4);
    if (request.address == message_address(function, vector) && request.data == message)
      return link_.interrupt(function, vector);
    return link_.write(function, request.address, request.data);
  }
  link_.read(function, request.address, request.bytes,
             [this, request](bool ok, const Bytes& data) { complete(request, ok, data); });
}

/// PG213 leaves it to the shell that no more completions come than the block has room for. A host may end them at each
/// read completion boundary, so that room for as many headers is also room for their bytes.
void BlockPort::take_room(const pcie::Request& request) {
  std::uint64_t headers = 0;
  for (unsigned tag = 0; tag < tags_; ++tag)
    headers += read_tags_[tag] ? headers_[tag] : block_.completions(static_cast<std::uint8_t>(tag));
  headers_[request.tag] = (request.address + request.bytes - 1) / boundary - request.address / boundary + 1;
  headers += headers_[request.tag];
  if (headers > most_headers)
    throw CheckError("pcie: reads under way may bring " + std::to_string(headers) +
                     " completions, and the block has room for " + std::to_string(most_headers));
}

/// In packets that end at multiples of the maximum payload size, or now and then at an earlier completion boundary.
void BlockPort::complete(const pcie::Request& request, bool ok, const Bytes& data) {
  read_tags_[request.tag] = false;
  if (!ok) return block_.complete({request.tag, request.address, request.bytes, false, {}});
  for (std::uint32_t sent = 0; sent < request.bytes;) {
    const std::uint64_t at = request.address + sent;
    const std::uint32_t left = request.bytes - sent;
    const std::uint64_t end = random_.below(16) == 0 ? boundary : setting_.max_payload;
    const auto count = static_cast<std::uint32_t>(std::min<std::uint64_t>(left, end - at % end));
    block_.complete({request.tag, at, left, true, Bytes(data.begin() + sent, data.begin() + sent + count)});
    sent += count;
  }
}

void BlockPort::tick(std::uint64_t now_ps) {
  link_.run(now_ps);
  block_.hold_requests(link_.behind());
  while (const auto function = block_.pop_reset()) end_reset(*function);
  while (!steps_.empty() && may_take(steps_.front())) take_step();
}

bool BlockPort::idle() const {
  return block_.idle() && link_.idle() && open_.empty() && steps_.empty() && resets_.empty();
}

void BlockPort::reset() {
  link_.reset();
  block_.reset();
  enabled_.reset();
  read_tags_.reset();
  others_ = 0;
  std::vector<std::function<void()>> dones;
  for (Step& step : std::exchange(steps_, {})) dones.push_back(std::move(step.done));
  for (auto& [function, reset] : std::exchange(resets_, {}))
    for (auto* some : {&reset.dones, &reset.later}) dones.insert(dones.end(), some->begin(), some->end());
  for (const auto& done : dones)
    if (done) done();
  for (auto& [tag, open] : std::exchange(open_, {})) open.done(MERIDIAN_LINK_UNSUPPORTED, ones(open.width));
}

}  // namespace meridian
