// SPDX-License-Identifier: Apache-2.0
#include "base/program.hpp"

#include <exception>
#include <iostream>

#include "base/error.hpp"

namespace meridian {

int run_program(const std::string& name, const std::function<void()>& run) {
  const auto fail = [&](int status, const char* kind, const std::exception& error) {
    std::cout.flush();
    std::cerr << name << ": " << kind << error.what() << '\n';
    return status;
  };
  try {
    run();
    return 0;
  } catch (const CheckError& error) {
    return fail(1, "check failed: ", error);
  } catch (const HangError& error) {
    return fail(3, "hang: ", error);
  } catch (const std::exception& error) {
    return fail(2, "", error);
  }
}

}  // namespace meridian
