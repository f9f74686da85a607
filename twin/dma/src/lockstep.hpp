// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "engine.hpp"
#include "fake_shell.hpp"
#include "qdma/qdma_ip.hpp"
#include "test_memory.hpp"

namespace meridian {

/// The RTL and the model of the IP, which get the same accesses; each answer of one has to be the other's. With 4 PFs,
/// 4 VFs of each, and 128 queues.
class Lockstep {
 public:
  static constexpr unsigned queues = 128, pfs = 4, vfs_of_a_pf = 4, functions = 4 + pfs * vfs_of_a_pf;
  static constexpr unsigned first_vf = 4;

  explicit Lockstep(std::uint64_t seed = 1);

  static unsigned parent(unsigned function) {
    return function < first_vf ? function : (function - first_vf) / vfs_of_a_pf;
  }
  static unsigned vf(unsigned pf, unsigned index) { return first_vf + pf * vfs_of_a_pf + index; }

  /// Fails the test where they differ.
  std::uint32_t read(unsigned function, std::uint32_t offset);
  void read_row(unsigned function, std::uint32_t offset, unsigned words);
  void write(unsigned function, std::uint32_t offset, std::uint32_t value);
  void write_row(unsigned function, std::uint32_t offset, const std::vector<std::uint32_t>& words);

  /// Contexts, by PF 0 unless another is named.
  void command(unsigned kind, unsigned operation, unsigned index, unsigned pf = 0);
  void write_context(unsigned kind, unsigned index, const std::array<std::uint32_t, 8>& words, unsigned pf = 0);
  std::array<std::uint32_t, 8> read_context(unsigned kind, unsigned index, unsigned pf = 0);

  /// The reset of the mailbox's register, until it is done.
  void reset_by_mailbox(unsigned function);
  /// PCIe's, with memory access taken away before and given back after it.
  void reset_by_pcie(unsigned function);
  /// The same in two parts: the engine is done when the second begins.
  void begin_reset_by_pcie(unsigned function);
  void finish_reset_by_pcie(unsigned function);

  /// Interrupts, their messages and what the shell was told are the same so far.
  void compare();
  /// Those so far are not compared.
  void forget_interrupts();
  /// So are writes of host memory, in their order; how many there were.
  std::size_t compare_writes();

  /// The function's bits in its MSI-X capability; at first MSI-X is enabled and no vector masked.
  void set_msix(unsigned function, bool enabled, bool masked);
  /// Every vector of the function has its address and data, and is not masked.
  void set_table(unsigned function);
  static std::uint64_t message_address(unsigned function, unsigned vector) {
    return RequesterHost::messages_at + 0x1000 * function + 4 * vector;
  }

  /// Both come to rest.
  void settle();

  // The host's memory and the shell of both.
  void set(unsigned function, std::uint64_t address, std::span<const std::uint8_t> bytes);
  void set_word(unsigned function, std::uint64_t address, std::uint64_t value);
  void grant(unsigned queue, unsigned count);
  void enable_function(unsigned function, bool enabled);
  /// A PF's VF Enable falls for this VF, and is set again.
  void take_away(unsigned vf);
  void give_back(unsigned vf);

  /// The address of a function's mailbox.
  static std::uint32_t mailbox(unsigned function) { return function < first_vf ? 0x22400 : 0x5000; }

  Engine engine;
  TestMemory memory;  // the model's
  FakeShell shell;    // the model's
  MsixTables tables{functions};

 protected:
  void tick_model(unsigned cycles);
  std::uint32_t expected(unsigned function, std::uint32_t offset);
  void store(unsigned function, std::uint32_t offset, std::uint32_t value);
  void follow_interrupts();
  void let_messages_leave(unsigned function, std::uint32_t offset);
  static std::vector<unsigned> family(unsigned function);

 private:
  Qdma streams_;
  QdmaIp model_;
  std::uint64_t now_ps_ = 0;
  std::size_t followed_ = 0;  // of memory.events
  Random random_{9};
  bool model_done_ = false;  // with the reset that was begun last
};

}  // namespace meridian
