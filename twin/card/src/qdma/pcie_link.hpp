// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace meridian {

/// How fast the way to host memory is. unlimited: every read is answered and every write done at once.
struct PcieSetting {
  bool unlimited = true;
  unsigned generation = 3;
  unsigned lanes = 16;
  unsigned max_payload = 256;       // bytes
  unsigned max_read_request = 512;  // bytes
  unsigned tags = 256;              // reads in flight
  unsigned round_trip_ns = 800;     // of an empty read
};

}  // namespace meridian
