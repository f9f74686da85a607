// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "link/host_port.hpp"
#include "pcie/block.hpp"
#include "qdma/pcie_link.hpp"
#include "qdma/qdma_ip.hpp"

namespace meridian {

/// A host behind the integrated block for PCIe: accesses to the BARs, memory, interrupts, resets. Accesses, enables and
/// resets reach the block in their order.
///
/// A function is enabled as software does it: VF Enable of a VF, then bus master and MSI-X Enable in either order. Bus
/// master and MSI-X Enable fall when the host says so or the function is reset; VF Enable falls when its PF is.
///
/// Interrupts are messages of the shell's own MSI-X tables. Software's table is the machine's, which masks and keeps
/// vectors pending itself, so this class writes the shell's: each vector of each function has an address and a value of
/// this class's own, and a function's write of it is an interrupt of the machine.
class BlockPort final : public HostPort {
 public:
  /// vfs: of each PF, in the order of their numbers; none: all are PF 0's.
  BlockPort(const QdmaSetting& setting, pcie::Block& block, MemoryBus& host,
            const std::array<unsigned, first_vf>& vfs = {});

  /// InputError if these are not PFs and VFs together.
  void set_functions(unsigned functions) override;
  std::optional<unsigned> parent(unsigned function) const override;
  bool has_window() const override { return true; }

  /// For benches: an answer takes its time on the link, which PcieLink::answer() tells, and does not push at once what
  /// was written before it.
  void keep_time() { keeps_time_ = true; }
  PcieLink& link() { return link_; }
  const PcieLink& link() const { return link_; }

  /// What the host has sent and the shell has not taken: accesses, and what waits behind them.
  std::size_t waiting() const { return steps_.size() + block_.accesses(); }

  /// The host has set Extended Tag Enable, so the card's reads may have tags above 31.
  void extend_tags() { tags_ = 256; }

  void read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) override;
  void write(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, std::uint64_t value) override;
  void doorbell(unsigned function, std::uint32_t offset, std::uint32_t value) override;

  /// A packet to BAR 4, of double words.
  void push(unsigned function, std::uint32_t offset, std::span<const std::uint8_t> bytes);
  std::size_t pending() const override { return open_.size() + others_ + (block_.accesses() != 0 ? 1 : 0); }
  std::size_t reads() const override { return open_.size(); }
  void collect() override {}
  void enable_function(unsigned function, bool enabled, unsigned parent) override;
  void reset_function(unsigned function, std::function<void()> done) override;
  void reset() override;
  void tick(std::uint64_t now_ps) override;
  bool idle() const override;
  std::uint64_t next_ps() const override { return ~std::uint64_t{0}; }

 private:
  /// A read of the host without an answer.
  struct Open {
    unsigned function;
    std::uint64_t offset;
    unsigned width;
    Read done;
    unsigned traffic_class, attributes;
    std::uint64_t behind;  // so many writes of the shell
  };
  /// What waits for its turn at the block.
  struct Step {
    enum class Kind { read, write, doorbell, enable, master, msix, reset } kind;
    pcie::Access access;
    bool enabled = false;
    std::function<void()> done;
    unsigned cycles = 0;  // that it waits when its turn has come

    bool is_access() const { return kind == Kind::read || kind == Kind::write || kind == Kind::doorbell; }
  };
  struct Reset {
    bool under_way = false;
    std::vector<std::function<void()>> dones, later;  // who waits for this one; for one behind it
  };

  pcie::Access access(unsigned function, unsigned bar, std::uint64_t offset);
  bool may_take(Step& step);
  void take_step();
  void answered(const pcie::AccessAnswer& answer);
  void taken(const pcie::Request& request);
  void requested(pcie::Request request);
  void take_room(const pcie::Request& request);
  void complete(const pcie::Request& request, bool ok, const Bytes& data);
  bool is_held(unsigned function) const;
  bool may(unsigned function) const { return enabled_[function] && !is_held(function); }
  void apply(unsigned function);
  void raise(unsigned function);
  void write_messages(unsigned function);
  void begin_reset(unsigned function, std::function<void()> done);
  void end_reset(unsigned function);

  PcieSetting setting_;
  pcie::Block& block_;
  PcieLink link_;
  Random random_;
  std::array<unsigned, first_vf> vfs_;
  std::deque<Step> steps_;
  std::size_t others_ = 0;             // of steps_: neither reads, which are open, nor doorbells
  std::map<std::uint8_t, Open> open_;  // by tag
  unsigned functions_ = 256;
  std::uint8_t tag_ = 0;
  bool keeps_time_ = false;
  unsigned tags_ = 32;                        // that a function may use without Extended Tag
  std::bitset<256> enabled_;                  // as the host has it
  std::bitset<256> read_tags_;                // of the shell's reads that have no answer
  std::array<std::uint64_t, 256> headers_{};  // of the completions that may come for these
  std::map<unsigned, Reset> resets_;
};

}  // namespace meridian
