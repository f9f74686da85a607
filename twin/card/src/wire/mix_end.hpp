// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "wire/wire_end.hpp"
#include "wire/wire_setting.hpp"

namespace meridian {

/// Several ends on one port: all get what the card sends; what they send is joined in the order of its times, and what
/// is due at once by turns. Frames that fill the wire delay others by a microsecond for each end that does so.
class MixEnd : public WireEnd {
 public:
  using Named = std::pair<std::string, std::unique_ptr<WireEnd>>;

  explicit MixEnd(std::vector<Named> ends);
  ~MixEnd() override;
  MixEnd(const MixEnd&) = delete;
  MixEnd& operator=(const MixEnd&) = delete;

  void receive(const TxFrame& frame) override;
  std::vector<RxFrame> poll(std::uint64_t now_ps, std::size_t pending) override;
  std::uint64_t next_ps() const override;

  /// Of an epoll set, if an end has a descriptor.
  std::optional<int> descriptor() const override;

  bool tend() override;

  /// Each figure's name begins with its end's.
  void report(const WireReport& report) const override;
  bool done() const override;

 private:
  struct Member {
    std::string name;
    std::unique_ptr<WireEnd> end;
    std::deque<RxFrame> held;              // not yet handed over
    std::shared_ptr<std::size_t> waiting;  // handed over, not begun
    std::optional<int> watched;            // its descriptor in the set
  };

  void watch(Member& member);

  std::vector<Member> members_;
  std::size_t turn_ = 0;
  int epoll_ = -1;
};

}  // namespace meridian
