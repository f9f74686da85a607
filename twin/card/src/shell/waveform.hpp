// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

class VShell;

namespace meridian {

/// The shell's signals in an FST file, between two moments. InputError where the program was built without tracing.
class Waveform {
 public:
  explicit Waveform(VShell& model);
  ~Waveform();

  /// A program that cannot trace says so.
  static void require_tracing();

  /// From now on this file, instead of the one under way.
  void start(const std::string& file, std::uint64_t from_ps, std::uint64_t to_ps);

  /// Every value has settled at this moment.
  void sample(std::uint64_t now_ps);

 private:
  struct Writer;
  VShell& model_;
  std::unique_ptr<Writer> writer_;
};

}  // namespace meridian
