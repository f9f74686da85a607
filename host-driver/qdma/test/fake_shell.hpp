// SPDX-License-Identifier: Apache-2.0
// The card beside its QDMA IP, as a PF sees it that serves VFs: it keeps what it is told, and that all of it is the
// VF's own.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "fake_card.hpp"

extern "C" {
#include "../../include/meridian_regs.h"
#include "../mailbox/meridian_mailbox.h"
#include "../service/qdma_service.h"
#include "../service/qdma_shares.h"
}

using Address = std::array<std::uint8_t, QDMA_ADDRESS_BYTES>;

Address address_of(const std::uint8_t* byte);

class FakeShell {
 public:
  struct Function {
    std::uint32_t queues = 0;
    bool is_master = true;  // of PCIe
    std::uint32_t flags = 0;
    bool strip = false;
    qdma_rss rss{};
  };

  struct Queue {
    bool is_paced = false;
    std::uint32_t offload = MERIDIAN_TX_OFFLOAD_NONE;
    std::uint32_t buffer = 0;
    std::uint32_t entry_log2 = 0;
  };

  static const qdma_service_ops ops;
  static constexpr unsigned slots = 4;

  /// Entries in the slots of an address: those of one fifth byte, which is not 0, share theirs.
  std::size_t sharing(const Address& address) const;
  /// Makes a group for the VF, if it may have one; others may lose theirs by it.
  qdma_group* make_group(const qdma_vf& vf, const Address& address);
  qdma_group* group_of(const Address& address);

  std::map<std::uint32_t, Function> functions;
  std::map<std::uint32_t, Queue> queues;
  std::map<Address, std::set<std::uint32_t>> filter;  // who listens
  std::set<Address> taken;                            // by the PF or others
  unsigned room = 1000;                               // entries of the filter
  std::vector<qdma_group> groups;                     // of multicast; none: as many as are wanted
  qdma_service* services = nullptr;                   // that share them
  std::map<qdma_vf_trouble, unsigned> told;
};

/// A PF with VFs 4, 5, ... whose queues begin at 256, on a card that can do everything.
class FakePf {
 public:
  static constexpr unsigned first = 4, first_queue = 256, of_vf = QDMA_VF_QUEUES;

  explicit FakePf(unsigned vfs);

  qdma_vf& vf(unsigned function) { return vfs.at(function - first); }
  static unsigned base_of(unsigned function) { return first_queue + of_vf * (function - first); }

  FakeCard card;
  FakeShell shell;
  qdma_device pf{};
  std::vector<qdma_vf> vfs;
  qdma_service service{};
  std::uint64_t now = 1;

  /// Of a VF, taken at once; the last message that the PF has sent since, if it has.
  void say(unsigned function, const qdma_message& message);
  /// Says it, and returns the status of the answer.
  int ask(unsigned function, const qdma_message& message, qdma_message* answer = nullptr);

  /// Everything that is in force belongs to who has it. Fails the test otherwise.
  void check();
};

qdma_message message_of(std::uint32_t op);
qdma_message range_message(std::uint32_t op, std::uint32_t base, std::uint32_t count);
qdma_message queue_message(std::uint32_t op, std::uint32_t queue, bool is_c2h, int vector = -1);
qdma_message address_message(const Address& address, bool add, bool own);
qdma_message byte_message(std::uint32_t op, std::uint8_t value);
qdma_message flags_message(std::uint32_t flags);
qdma_message rss_message(std::uint32_t queues);
