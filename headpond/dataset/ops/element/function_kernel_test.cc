// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Result<Tensor> twice_of(const Tensor& x) {
  const int64_t value = x.item<int64_t>();
  if (value == 3) return fail(ErrorKind::DataLoss, "a three");
  return Tensor::scalar(value * 2);
}

TEST(FunctionKernel, RunsAmongKernels) {
  const KernelRef twice = function_kernel(twice_of, {.output = {{"", DType::i64, {}}}, .name = "twice"});
  const Dataset dataset = range(4) | map("", twice, twice);
  EXPECT_THAT(elements(dataset),
              ElementsAre("0", "4", "8", HasSubstr("map(0: twice > twice), range, record 3: twice: a three")));
  EXPECT_FALSE(dataset.node()->facts().opaque);
  check_contract(dataset | shuffle());
}

TEST(FunctionKernel, IsOpaqueWithoutAName) {
  const KernelRef kernel = function_kernel(twice_of, {.output = {{"", DType::i64, {}}}});
  EXPECT_TRUE((range(4) | map("", kernel)).node()->facts().opaque);
}

TEST(FunctionKernel, ChecksWhatItsFunctionGives) {
  EXPECT_THROW(function_kernel(twice_of, {}), Exception);
  const KernelRef lies = function_kernel(twice_of, {.output = {{"", DType::f32, {}}}});
  EXPECT_THAT(elements(range(1) | map("", lies)), ElementsAre(HasSubstr("expected {0: float32[]}, found int64[]")));
}

}  // namespace
}  // namespace headpond::internal
