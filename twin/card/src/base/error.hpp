// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <string>

namespace meridian {

/// The shell broke a rule at its pins.
class CheckError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something that must come to an end within a bound did not.
class HangError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the user gave (arguments, scenario, capture file) cannot be used.
class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace meridian
