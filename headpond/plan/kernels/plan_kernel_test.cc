// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/kernels/plan_kernel.h"

#include <gmock/gmock.h>

namespace headpond::plan {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PlanKernelOptions : public testing::Test {
 protected:
  const PlanValue value_ = parse_toml("size = [224, 0]\nalone = 3\nscale = [0.5, 1]\nlarge = 4294967296\n", "f.toml");
  const PlanArguments options_ = {"f.toml", 1, "resize", &value_, {"size", "alone", "scale", "large", "none"}};

  template <class Ask>
  static std::string problem(Ask ask) {
    try {
      ask();
      return "no error";
    } catch (const PlanError& error) {
      return error.error().message();
    }
  }
};

TEST_F(PlanKernelOptions, GiveListsAndOneValueAsAListOfOne) {
  EXPECT_THAT(integers_option(options_, "size"), ElementsAre(224, 0));
  EXPECT_THAT(integers_option(options_, "alone"), ElementsAre(3));
  EXPECT_THAT(integers_option(options_, "none", {7}), ElementsAre(7));
  EXPECT_THAT(numbers_option(options_, "scale"), ElementsAre(0.5, 1.0));
  EXPECT_THAT(numbers_option(options_, "none"), ElementsAre());
  EXPECT_EQ(number_option(options_, "alone", 1), 3.0);
  EXPECT_EQ(number_option(options_, "none", 0.25), 0.25);
  EXPECT_EQ(int32_option(options_, "alone", 1), 3);
}

TEST_F(PlanKernelOptions, RefuseWhatDoesNotFit) {
  EXPECT_THAT(problem([&] { integers_option(options_, "scale"); }), HasSubstr("scale must be an integer"));
  EXPECT_THAT(problem([&] { int32_option(options_, "large", 1); }), HasSubstr("large is 4294967296: out of range"));
}

}  // namespace
}  // namespace headpond::plan
