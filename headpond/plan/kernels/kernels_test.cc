// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/kernels/kernels.h"

#include "headpond/plan/plan_test_internal.h"

namespace headpond::plan {
namespace {

using testing::HasSubstr;

std::string source() { return step("range", "stop = 2") + step("map", "function = 'x', into = 'y'"); }

TEST(PlanKernels, RefusesUnknownNamesAndOptions) {
  EXPECT_THAT(refused(source() + step("map", "field = 'x', kernels = [{ name = 'decode_pmg' }]")),
              HasSubstr("no kernel 'decode_pmg'; did you mean 'decode_png'?"));
  EXPECT_THAT(refused(source() + step("map", "field = 'x', kernels = [{ name = 'decode_png', chanels = 3 }]")),
              HasSubstr("no argument 'chanels'; did you mean 'channels'?"));
  EXPECT_THAT(refused(source() + step("map", "field = 'x', kernels = [{ channels = 3 }]")),
              HasSubstr("each with a name"));
  EXPECT_THAT(refused(source() + step("map", "field = 'x', kernels = ['decode_png']")), HasSubstr("each with a name"));
}

TEST(PlanKernels, RefusesFieldsThatKernelsCannotTake) {
  const std::string kernels = "kernels = [{ name = 'decode_png' }]";
  EXPECT_THAT(refused(source() + step("map", "field = 'x', " + kernels)), HasSubstr("takes bytes[], not int64[]"));
  EXPECT_THAT(refused(source() + step("map", "fields = { mask = 'x' }, " + kernels)), HasSubstr("image is missing"));
  EXPECT_THAT(refused(source() + step("map", "fields = { image = 'x' }, field = 'y', " + kernels)),
              HasSubstr("field cannot be given together with fields"));
  EXPECT_THAT(refused(source() + step("map", "function = 'x', " + kernels)),
              HasSubstr("function cannot be given together"));
  EXPECT_THAT(refused(source() + step("map", "function = 'x', field = 'y'")), HasSubstr("field needs kernels"));
}

}  // namespace
}  // namespace headpond::plan
