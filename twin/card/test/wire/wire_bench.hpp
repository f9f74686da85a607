// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "wire/wire_end.hpp"
#include "wire/wire_setting.hpp"

namespace meridian {

/// A frame that reached the card.
struct Arrived {
  Bytes bytes;
  std::uint64_t sfd_ps = 0;
  bool bad = false;
};

/// A card's port without the card: polls an end as the seam says, lays its frames on an ideal wire and keeps them.
class WireBench {
 public:
  explicit WireBench(WireEnd& end, WireSetting setting = {}) : end_(end), setting_(setting) {}

  std::uint64_t now_ps() const { return now_ps_; }

  void run_until(std::uint64_t until_ps) {
    for (;;) {
      const std::uint64_t poll_ps = std::max(end_.next_ps(), now_ps_);
      const std::uint64_t start_ps =
          waiting_.empty() ? never_ps : std::max({free_ps_, waiting_.front().at_ps, now_ps_});
      const std::uint64_t next_ps = std::min(poll_ps, start_ps);
      if (next_ps > until_ps) break;
      now_ps_ = next_ps;
      if (start_ps <= poll_ps) {
        begin();
      } else {
        poll();
        if (end_.next_ps() <= now_ps_) throw std::logic_error("an end that has been polled wants it again at once");
      }
    }
    now_ps_ = until_ps;
  }

  void run_for(std::uint64_t ps) { run_until(now_ps_ + ps); }

  void poll() {
    for (auto& frame : end_.poll(now_ps_, waiting_.size())) waiting_.push_back(std::move(frame));
  }

  /// The card sends a frame; now is the end of its start-of-frame delimiter.
  void send(Bytes bytes, bool bad = false) {
    TxFrame frame;
    frame.t_ps = now_ps_;
    frame.t_end_ps = now_ps_ + (bytes.size() + wire::fcs) * setting_.byte_ps();
    frame.bytes = std::move(bytes);
    frame.bad = bad;
    const std::uint64_t end_ps = frame.t_end_ps;
    run_until(end_ps);
    end_.receive(frame);
    poll();
  }

  /// What arrived since the last call.
  std::vector<Arrived> take() { return std::exchange(arrived_, {}); }

 private:
  void begin() {
    RxFrame frame = std::move(waiting_.front());
    waiting_.pop_front();
    const std::uint64_t sfd_ps = now_ps_ + wire::preamble * setting_.byte_ps();
    free_ps_ = now_ps_ + setting_.frame_ps(frame.bytes.size()) + frame.gap * setting_.byte_ps();
    if (frame.on_start) frame.on_start(frame.bytes, sfd_ps);
    arrived_.push_back({std::move(frame.bytes), sfd_ps, frame.bad});
  }

  WireEnd& end_;
  WireSetting setting_;
  std::deque<RxFrame> waiting_;
  std::vector<Arrived> arrived_;
  std::uint64_t now_ps_ = 0;
  std::uint64_t free_ps_ = 0;
};

/// A path for a file of this test, gone with the object.
class TestFile {
 public:
  explicit TestFile(const std::string& ending) {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string("meridian_") + test->test_suite_name() + "_" + test->name() + ending;
    std::replace(name.begin(), name.end(), '/', '_');
    path_ = std::filesystem::temp_directory_path() / name;
  }
  ~TestFile() { std::filesystem::remove(path_); }
  TestFile(const TestFile&) = delete;
  TestFile& operator=(const TestFile&) = delete;

  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

template <typename Action>
std::string input_error_of(Action&& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace meridian
