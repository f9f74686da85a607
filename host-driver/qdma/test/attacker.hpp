// SPDX-License-Identifier: Apache-2.0
// A VF that says anything.
#pragma once

#include <random>

#include "service_fixture.hpp"

/// Messages that no driver would send, many of them nearly right.
class Attacker {
 public:
  /// With even seeds, addresses that share their slots, too.
  explicit Attacker(unsigned seed) : slots(seed % 2 == 0 ? 3 : 1), random(seed) {}

  unsigned below(unsigned limit) { return random() % limit; }
  bool rarely() { return below(8) == 0; }

  qdma_message message() {
    qdma_message message = likely();
    for (unsigned flips = rarely() ? 1 + below(4) : 0; flips != 0; --flips) message.byte[below(128)] = random();
    if (below(64) == 0)
      for (std::uint8_t& byte : message.byte) byte = random();
    return message;
  }

  Address address() {
    if (rarely()) return broadcast;
    return {static_cast<std::uint8_t>(below(3)), 0, 0, 0, static_cast<std::uint8_t>(below(slots)),
            static_cast<std::uint8_t>(below(80))};
  }

 private:
  int vector() { return static_cast<int>(below(4) == 0 ? below(4096) : below(10)) - 1; }
  std::uint32_t count() { return rarely() ? random() : below(10); }
  std::uint32_t queue() { return rarely() ? random() & 0xffff : 248 + below(48); }

  qdma_message likely() {
    static constexpr unsigned queue_ops[] = {QDMA_OP_CONTEXT_WRITE, QDMA_OP_CONTEXT_WRITE, QDMA_OP_CONTEXT_CLEAR,
                                             QDMA_OP_CONTEXT_INVALIDATE};
    switch (below(12)) {
      case 0:
        return message_of(below(4) == 0 ? QDMA_OP_VF_BYE : QDMA_OP_HELLO);
      case 1:
        return range_message(QDMA_OP_QUEUE_REQUEST, random(), count());
      case 2:
        return range_message(QDMA_OP_FMAP, 256 + 8 * below(5), count());
      case 3:
      case 4:
      case 5:
        return queue_message(queue_ops[below(4)], queue(), rarely() != (below(2) == 0), vector());
      case 6:
      case 7:
        return address_message(address(), below(3) != 0, rarely());
      case 8:
        return flags_message(rarely() ? random() : below(16));
      case 9:
        return byte_message(below(2) == 0 ? MERIDIAN_OP_STRIP : MERIDIAN_OP_TX_OFFLOAD, below(4));
      case 10:
        return rss_message(1 + below(8));
      default:
        return message_of(random() & 0xff);
    }
  }

  unsigned slots;
  std::mt19937 random;
};
