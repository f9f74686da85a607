// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <vector>

namespace meridian {

/// MSI-X tables and pending bits of all functions, as a driver and PCIe know them: which messages follow from the
/// interrupts of the model, whose tables the host has.
class MsixTables {
 public:
  static constexpr unsigned vectors = 16;  // as DmaParam has them
  struct Message {
    unsigned function;
    std::uint64_t address;
    std::uint32_t data;
    auto operator<=>(const Message&) const = default;
  };

  explicit MsixTables(unsigned functions) : function_(functions) {}

  static std::uint32_t table(unsigned function) { return function < first_vf ? 0x30000 : 0x4000; }
  static std::uint32_t pending_bits(unsigned function) { return function < first_vf ? 0x34000 : 0x4800; }
  /// There is a word of a table or of pending bits in a function's BAR0.
  static bool has(unsigned function, std::uint32_t offset);

  std::uint32_t read(unsigned function, std::uint32_t offset) const;
  void write(unsigned function, std::uint32_t offset, std::uint32_t value);

  void interrupt(unsigned function, unsigned vector);
  /// The bits of the capability, and whether the function may access memory.
  void allow(unsigned function, bool enabled, bool masked);
  void set_master(unsigned function, bool on);
  /// PCIe's reset masks all vectors, too.
  void reset(unsigned function, bool by_pcie);

  std::uint32_t pending(unsigned function) const { return function_.at(function).pending; }
  std::vector<Message> messages;  // in the order in which they were sent

 private:
  static constexpr unsigned first_vf = 4;
  struct Entry {
    std::array<std::uint32_t, 3> words{};  // address, data
    bool masked = true;
  };
  struct Function {
    std::array<Entry, vectors> entries{};
    std::uint32_t pending = 0;
    bool enabled = false, masked = false, master = false;
  };

  void send_pending(unsigned function);

  std::vector<Function> function_;
};

}  // namespace meridian
