// SPDX-License-Identifier: Apache-2.0
#include "shell/coverage.hpp"

#include <verilated.h>

#if VM_COVERAGE
#include <unistd.h>
#include <verilated_cov.h>

#include <cstdlib>
#include <string>
#endif

namespace meridian {

#if VM_COVERAGE
void write_coverage(VerilatedContext& context) {
  static unsigned cards = 0;
  const char* folder = std::getenv("MERIDIAN_COVERAGE");
  if (folder == nullptr) return;
  const std::string file =
      std::string(folder) + "/" + std::to_string(getpid()) + "-" + std::to_string(cards++) + ".dat";
  context.coveragep()->write(file.c_str());
}
#else
void write_coverage(VerilatedContext&) {}
#endif

}  // namespace meridian
