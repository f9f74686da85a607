// SPDX-License-Identifier: Apache-2.0
#pragma once

class VerilatedContext;

namespace meridian {

/// Writes which branches and bits of the shell were reached, into a new file of the folder that the variable
/// MERIDIAN_COVERAGE names. Does nothing in a program that was built without -DCOVERAGE=ON.
void write_coverage(VerilatedContext& context);

}  // namespace meridian
