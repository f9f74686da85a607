// SPDX-License-Identifier: Apache-2.0
#include <verilated.h>

#include <string>

#include "base/error.hpp"

/// Verilator calls this at a $finish. The shell's RTL has one behind each of its own checks, which has printed its
/// sentence to standard output; without this the first one would be ignored, and the second would end with status 0.
void vl_finish(const char* file, int line, const char*) {
  throw meridian::CheckError("a check in the shell's RTL failed at " + std::string(file) + ":" + std::to_string(line));
}
