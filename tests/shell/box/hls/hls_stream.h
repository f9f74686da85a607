// SPDX-License-Identifier: Apache-2.0
// Stands for the header of Vitis HLS of this name: a queue, whose reader has to find something in it.
#pragma once
#include <queue>
#include <stdexcept>

namespace hls {
template <typename T> class stream {
public:
  T read() {
    if (queue_.empty())
      throw std::logic_error("read from an empty stream");
    T value = queue_.front();
    queue_.pop();
    return value;
  }
  void write(const T &value) { queue_.push(value); }

private:
  std::queue<T> queue_;
};
} // namespace hls
