// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/memory_bus.hpp"
#include "qdma/pcie_link.hpp"
#include "stream/streams.hpp"

namespace meridian {

enum class QdmaVersion { eqdma4, eqdma5 };

/// What PCIe's function level reset takes from a function. PG302 and PG344 ("Function Level Reset") have contexts,
/// mailbox and user logic reset by a register of the mailbox alone, which software writes before PCIe's reset.
enum class PcieReset { link, all };

struct QdmaSetting {
  QdmaVersion version = QdmaVersion::eqdma5;
  unsigned pfs = 4;        // 1 to 4
  unsigned functions = 0;  // that PCIe offers, VFs begin at 4; 0: as many as the shell has
  unsigned queues = 2048;  // told in the capability register
  PcieSetting pcie;        // unlimited by default
  // What the H2C engine has room for, from the request to the stream (PG302 5.0, "H2C Stream Engine").
  unsigned h2c_bytes = 32768;
  PcieReset reset = PcieReset::all;
  bool c2h_drop = false;    // a frame without a buffer is dropped; the IP stops its stream until there is one
  bool h2c_gather = false;  // a descriptor of 32 or 64 bytes may have a frame's pieces, which the IP's has not
  unsigned user_mhz = 250;  // clock of the streams, which timers count
  std::uint64_t seed = 1;
};

/// A model of the Xilinx QDMA IP: its registers (BAR0 of every function) and rings in host memory on one side, its
/// streams at the shell's pins on the other. The contract is what the published drivers rely on.
///
/// Functions are numbered as in the IP: PFs 0 to 3, VFs 4 to 255. Nothing here blocks: what a host does wrong is an
/// error register, an error in a status entry, or nothing at all, as the IP has it, and touches that function alone.
class QdmaIp {
 public:
  QdmaIp(const QdmaSetting& setting, Qdma& streams, MemoryBus& host);
  ~QdmaIp();
  QdmaIp(const QdmaIp&) = delete;
  QdmaIp& operator=(const QdmaIp&) = delete;

  /// BAR0 of a function, 32 bit; what is not there reads 0 and takes no write.
  std::uint32_t read(unsigned function, std::uint32_t offset);
  void write(unsigned function, std::uint32_t offset, std::uint32_t value);

  /// The answer to a read elsewhere on the card leaves now: on the way to the host it pushes what was written before.
  void flush();

  /// The same in time, which flush() leaves out (PcieLink).
  std::uint64_t answer();
  std::uint64_t access_wait_ps() const;

  /// A function may access memory (bus master, VF enable) or may not; parent is a VF's PF.
  void enable_function(unsigned function, bool enabled, unsigned parent);

  /// PCIe function level reset of a function that may not access memory any more. As PcieReset::all, done is called
  /// when the shell too has let the function go, and a PF's takes its VFs along; as PcieReset::link, at once: neither
  /// queues nor the shell hear of it.
  void reset_function(unsigned function, std::function<void()> done);

  /// The slot is reset, or the host is gone: everything is as after power-on. Pending reads are forgotten.
  void reset();

  /// Once per rising edge of the host clock, between the streams' sample and drive.
  void tick(std::uint64_t now_ps);

  /// Nothing under way that needs a clock.
  bool idle() const;

  /// The next moment at which it does something by itself (a timer), all ones if none.
  std::uint64_t next_ps() const;

  /// In words, what it waits for; empty when idle.
  std::string waits_for() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace meridian
