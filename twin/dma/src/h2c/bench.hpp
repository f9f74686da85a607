// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "interrupt_rings.hpp"

namespace meridian {

/// H2C rings in lockstep: a script posts descriptors and rings doorbells; frames, status entries, messages of
/// tm_dsc_sts and contexts of the RTL have to be those of the model and of the script.
class H2cBench : public InterruptRings {
 public:
  static constexpr unsigned queues_of_a_function = 6;

  struct Setting {
    bool credits = false, interval = false, interrupt = false;
    bool aggregate = false;  // the interrupt goes through the function's interrupt ring
    bool status = true;
    bool lost = false;   // the ring is where no memory is
    bool small = false;  // descriptors have 8 bytes, as no ring to the card may
    unsigned size_index = 0;
    unsigned stride = 0;  // of descriptors: 16, 32 or 64 bytes
    unsigned skew = 0;    // bytes from where a ring may begin
  };

  explicit H2cBench(std::uint64_t seed = 1);

  /// Contexts of a queue are written: the ring begins anew, whatever is under way.
  void begin(unsigned queue, const Setting& setting);
  void begin(unsigned queue) { begin(queue, Setting{}); }
  void invalidate(unsigned queue);

  /// Descriptors that the ring has room for, by what was compared.
  unsigned room(unsigned queue) const;
  /// Bytes of a frame.
  struct Piece {
    std::uint64_t address;
    unsigned length;
  };

  /// A frame of pieces, in a descriptor with an entry for each.
  void post(unsigned queue, const std::vector<Piece>& pieces);
  /// The same somewhere in memory.
  void post_pieces(unsigned queue, const std::vector<unsigned>& lengths);
  /// A frame of one piece at an address, or somewhere; length 0 to 65535.
  void post(unsigned queue, unsigned length, std::uint64_t address) {
    post(queue, std::vector<Piece>{{address, length}});
  }
  void post(unsigned queue, unsigned length) { post(queue, length, place(length)); }
  void doorbell(unsigned queue) { doorbell(queue, ring_[queue].pidx); }
  void doorbell(unsigned queue, unsigned pidx);
  void grant(unsigned queue, unsigned count);

  /// A part of a function's window for pushed frames.
  struct Chunk {
    unsigned offset;  // in the queue's part of the window
    std::vector<std::uint32_t> words;
  };
  /// Writes that push the frame that was posted last. Only the RTL has the window.
  std::vector<Chunk> chunks(unsigned queue) const;
  void push(unsigned queue, const std::vector<Chunk>& chunks);
  void push(unsigned queue) { push(queue, chunks(queue)); }
  /// Frames of one piece, of those that were posted, that the RTL has not read from the host's memory.
  unsigned unread(unsigned queue) const;

  /// The frame that has come last of the RTL's queue, out_of_range if none has.
  const Engine::Frame& newest(unsigned queue);

  /// Both come to rest, and everything is compared.
  void compare_all();
  /// The same for a queue that has failed behind what was compared before, and behind more frames that pass.
  void compare_failed(unsigned queue, unsigned more = 0);
  /// Both come to rest, and frames of the queue's past are forgotten.
  void drop(unsigned queue);

  static unsigned function(unsigned queue) { return queue / queues_of_a_function; }
  unsigned entries(unsigned queue) const { return sizes[ring_[queue].setting.size_index] - 1; }
  unsigned pidx(unsigned queue) const { return ring_[queue].pidx; }
  unsigned entries_of_descriptor(unsigned queue) const { return 1U << ring_[queue].setting.stride; }
  bool is_used(unsigned queue) const { return ring_[queue].used; }
  const Setting& setting(unsigned queue) const { return ring_[queue].setting; }
  std::uint64_t ring_address(unsigned queue) const {
    return (ring_[queue].setting.lost ? nowhere : 0x1'0000'0000) + 0x1'0000 * std::uint64_t{queue} + 64 +
           ring_[queue].setting.skew;
  }
  std::uint64_t descriptor_address(unsigned queue, unsigned index) const {
    const Setting& setting = ring_[queue].setting;
    return ring_address(queue) + (setting.small ? 8 : std::uint64_t{16} << setting.stride) * index;
  }
  std::uint64_t status_address(unsigned queue) const { return descriptor_address(queue, entries(queue)); }
  std::uint64_t place(unsigned length);

  /// With the status entry; by their index in the table.
  static constexpr std::array<unsigned, 4> sizes = {17, 64, 9, 130};
  static constexpr std::uint64_t nowhere = std::uint64_t{1} << 40;  // no memory from here on

 private:
  struct Posted {
    std::vector<Piece> pieces;
    std::uint32_t metadata;
    Bytes bytes;
    bool pushed = false;
  };
  struct Ring {
    Setting setting;
    unsigned pidx = 0;
    std::size_t rung = 0;  // descriptors that a doorbell has told
    std::uint64_t credits = 0;
    std::size_t told = 0;  // descriptors that status entries say have ended
    std::size_t compared = 0;
    bool used = false, begins = false, failed = false;
    std::vector<Posted> posted;
    std::vector<Engine::Frame> found, wanted;  // of the RTL, of the model
    int available[2] = {0, 0};                 // by tm_dsc_sts, likewise
  };

  std::uint64_t flags(std::size_t entry, std::size_t pieces, std::size_t room);
  std::size_t expected(const Ring& ring) const;
  void sort_out();
  void compare_queue(unsigned queue);
  void check_status(unsigned function, std::uint64_t address);
  static void follow(Ring& ring, unsigned which, const DescriptorMessage& message);

  std::vector<Ring> ring_;
  Random random_;
  std::uint64_t next_place_ = 0x10'0000'0000;
};

}  // namespace meridian
