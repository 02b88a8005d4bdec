// SPDX-License-Identifier: Apache-2.0
#include "headpond/plan/step_call.h"

#include <gtest/gtest.h>

#include "headpond/dataset/ops.h"
#include "headpond/plan/plan_test_internal.h"

namespace headpond::plan {
namespace {

PlanValue of(int64_t value) { return {.is = value}; }

std::string refusal(const StepCall& call) {
  try {
    build_step(call);
    return "no error";
  } catch (const Exception& error) {
    return error.error().message();
  }
}

TEST(StepCall, GivesThePlanOfTheStepInAFile) {
  const Dataset source = build_step({.op = "range", .args = {{"stop", of(10)}, {"start", of(2)}}});
  const Dataset shuffled = build_step({.op = "shuffle", .name = "deal", .inputs = {{"", source}}});
  const Dataset batches = build_step({.op = "batch", .args = {{"batch_size", of(3)}}, .inputs = {{"", shuffled}}});
  const PlanFile file =
      parse_plan("[[step]]\nop = 'range'\nargs = { start = 2, stop = 10 }\n[[step]]\nop = 'shuffle'\nname = 'deal'\n" +
                     step("batch", "batch_size = 3"),
                 "f.toml");
  EXPECT_EQ(batches.plan(), file.dataset.plan());
  const Dataset both = build_step({.op = "zip", .inputs = {{"a", source}, {"b", source}}});
  EXPECT_EQ(to_string(both.spec()), "{'a': int64[], 'b': int64[]}");
}

TEST(StepCall, NestsAFunction) {
  const Dataset source = build_step({.op = "range", .args = {{"stop", of(3)}}});
  const Dataset nested =
      build_step({.op = "flat_map", .name = "upto", .inputs = {{"", source}}, .nested = [](const Element& in) {
                    return headpond::range(in[0].item<int64_t>());
                  }});
  Sequence sequence(nested);
  std::vector<int64_t> all;
  while (auto next = sequence.next()) all.push_back((*next)[0].item<int64_t>());
  EXPECT_EQ(all, (std::vector<int64_t>{0, 0, 1}));
}

TEST(StepCall, AnArgumentNamesAChain) {
  const Dataset sound = from_tensors({{"", Tensor::from(std::vector<float>(8, 1.0F), {8})}});
  const auto with = [&](const std::string& name) {
    const PlanTable kernel = {{"name", {.is = std::string("mix_noise")}}, {"noise", {.is = name}}};
    return StepCall{.op = "map",
                    .args = {{"kernels", {.is = PlanList{{.is = kernel}}}}},
                    .inputs = {{"", sound}},
                    .chains = {{"hum", sound}}};
  };
  EXPECT_TRUE(Sequence(build_step(with("hum"))).next());
  EXPECT_EQ(refusal(with("hiss")), "map: no chain 'hiss'");
}

TEST(StepCall, ErrorsNameTheOperatorAndNoFile) {
  const Dataset source = build_step({.op = "range", .args = {{"stop", of(3)}}});
  EXPECT_EQ(refusal({.op = "shufle"}), "no operator 'shufle'; did you mean 'shuffle'?");
  EXPECT_EQ(refusal({.op = "take", .inputs = {{"", source}}}), "take: count is missing");
  EXPECT_EQ(refusal({.op = "take", .args = {{"cuont", of(1)}}, .inputs = {{"", source}}}),
            "take: no argument 'cuont'; did you mean 'count'?");
  EXPECT_EQ(refusal({.op = "range", .inputs = {{"", source}}}), "range: 1 inputs are not what it takes");
  EXPECT_EQ(refusal({.op = "take"}), "take: 0 inputs are not what it takes");
}

}  // namespace
}  // namespace headpond::plan
