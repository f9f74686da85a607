// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "bench/host/ring_host.hpp"
#include "qdma/qdma_ip.hpp"

namespace meridian {

enum class DmaMode { idle, forward, c2h, h2c, both, loopback, round_trip };

/// Who makes the frames that come by C2H, and takes those that go by H2C. pins: the bench, at the pins of the streams,
/// without a shell. block: the self-test block of the shell.
enum class DmaSource { pins, block };

struct DmaSetting {
  DmaMode mode = DmaMode::forward;
  DmaSource source = DmaSource::pins;
  unsigned queues = 1;
  unsigned bytes = 64;
  std::uint64_t gap_ps = 0;  // between frames of whoever makes them
  HostSetting host;          // what it shares with the above is set from that
  QdmaSetting qdma;
  std::uint64_t warm_ps = 50'000'000;
  std::uint64_t measure_ps = 200'000'000;
};

}  // namespace meridian
