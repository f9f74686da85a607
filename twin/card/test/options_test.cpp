// SPDX-License-Identifier: Apache-2.0
#include "base/options.hpp"

#include <gtest/gtest.h>

#include "shell/card_options.hpp"

namespace meridian {
namespace {

std::string error_of(const std::string& option, const std::string& value) {
  Arguments arguments({option, value});
  CardSetting card;
  arguments.next();
  try {
    take_card_option(arguments, card);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(Options, RefuseATimeThatDoesNotFit) {
  for (const char* const option : {"--hang-us", "--trace-from", "--trace-to"}) {
    EXPECT_EQ(error_of(option, "18446744073709"), "");
    EXPECT_NE(error_of(option, "18446744073709551615").find("is too large, the largest is"), std::string::npos);
    EXPECT_NE(error_of(option, "18446744073709551616").find("is not a number"), std::string::npos);
    EXPECT_NE(error_of(option, "-1").find("is not a number"), std::string::npos);
  }
}

TEST(Options, ScaleToTheSmallerUnit) {
  Arguments arguments({"--hang-us", "5"});
  CardSetting card;
  arguments.next();
  EXPECT_TRUE(take_card_option(arguments, card));
  EXPECT_EQ(card.hang_ps, 5'000'000U);
}

}  // namespace
}  // namespace meridian
