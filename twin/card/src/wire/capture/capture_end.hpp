// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "wire/capture/capture_file.hpp"
#include "wire/wire_end.hpp"

namespace meridian {

/// Writes what passes between the card and another end to a capture: seen from the card's port, frames to the card are
/// inbound, with the end of their start-of-frame delimiter as their time, both ways.
class CaptureEnd : public WireEnd {
 public:
  CaptureEnd(std::unique_ptr<WireEnd> inner, std::shared_ptr<CaptureFile> file, unsigned interface)
      : inner_(std::move(inner)), file_(std::move(file)), interface_(interface) {}

  void receive(const TxFrame& frame) override {
    file_->write(interface_, frame.t_ps, frame.bytes, CaptureDirection::outbound, frame.bad);
    inner_->receive(frame);
  }

  std::vector<RxFrame> poll(std::uint64_t now_ps, std::size_t pending) override {
    auto frames = inner_->poll(now_ps, pending);
    for (auto& frame : frames) {
      frame.on_start = [file = file_, interface = interface_, bad = frame.bad, hook = std::move(frame.on_start)](
                           Bytes& bytes, std::uint64_t sfd_ps) {
        if (hook) hook(bytes, sfd_ps);
        file->write(interface, sfd_ps, bytes, CaptureDirection::inbound, bad);
      };
    }
    return frames;
  }

  std::uint64_t next_ps() const override { return inner_->next_ps(); }
  std::optional<int> descriptor() const override { return inner_->descriptor(); }
  bool tend() override { return inner_->tend(); }
  void report(const WireReport& report) const override { inner_->report(report); }
  bool done() const override { return inner_->done(); }

 private:
  std::unique_ptr<WireEnd> inner_;
  std::shared_ptr<CaptureFile> file_;
  unsigned interface_;
};

}  // namespace meridian
