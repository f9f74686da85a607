// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

namespace meridian {

/// Runs a program to its exit status: 0 done; 1 a rule at the pins is broken (CheckError); 3 something hangs
/// (HangError); 2 any other error, which is the user's to mend. What went wrong goes to standard error with the name.
int run_program(const std::string& name, const std::function<void()>& run);

}  // namespace meridian
