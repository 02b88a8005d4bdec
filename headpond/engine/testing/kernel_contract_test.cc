// SPDX-License-Identifier: Apache-2.0
// A kernel keeps the contract, and each kernel with one mistake is found.
#include "headpond/engine/testing/kernel_contract.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

namespace headpond {
namespace {

using testing::HasSubstr;

enum class Mistake : uint8_t {
  none,
  counts_calls,
  reads_scratch,
  writes_little,
  other_dtype,
  refuses_while_building,
  hides_draws,
  draws_nothing,
  joins_wrongly,
  writes_arguments,
  needs_the_address
};

// Adds a number to each value, and perhaps a drawn one. Refuses values of 200 and above.
class ShiftKernel final : public Kernel {
 public:
  ShiftKernel(Mistake mistake, bool draws, int times = 1)
      : Kernel({.title = "shift",
                .draws = draws && mistake != Mistake::hides_draws ? "shift" : "",
                .result = [mistake](const Spec& in) { return shifted(in, mistake); }}),
        mistake_(mistake),
        draws_(draws),
        times_(times) {}

  Result<void> run(KernelCall& call) const override {
    const auto from = call.in().as<uint8_t>();
    if (mistake_ == Mistake::writes_arguments && !from.empty()) ++const_cast<uint8_t&>(from[0]);
    uint8_t add = 3;
    for (size_t k = 0; draws_ && mistake_ != Mistake::draws_nothing && k < static_cast<size_t>(times_); ++k) {
      add = static_cast<uint8_t>(add + call.random(k).below(50));
    }
    if (mistake_ == Mistake::counts_calls) add = static_cast<uint8_t>(calls_++);
    int& kept = call.scratch<int>();
    if (mistake_ == Mistake::reads_scratch) add = static_cast<uint8_t>(kept++);
    if (mistake_ == Mistake::joins_wrongly && times_ > 1) ++add;
    if (mistake_ == Mistake::needs_the_address) {
      add = static_cast<uint8_t>(reinterpret_cast<uintptr_t>(from.data()) / 64);
    }
    const auto to = call.make<uint8_t>(0, call.in().shape());
    const size_t size = mistake_ == Mistake::writes_little && from.size() > 2 ? from.size() - 1 : from.size();
    for (size_t i = 0; i < size; ++i) {
      if (from[i] >= 200) return fail(ErrorKind::InvalidArgument, "a value of 200 or more");
      to[i] = static_cast<uint8_t>(from[i] + add);
    }
    return {};
  }

  KernelRef with(const KernelRef& next) const override {
    const auto* const other = dynamic_cast<const ShiftKernel*>(next.get());
    if (other == nullptr || mistake_ != Mistake::joins_wrongly) return nullptr;
    return std::make_shared<ShiftKernel>(mistake_, draws_, times_ + other->times_);
  }

 private:
  static Spec shifted(Spec spec, Mistake mistake) {
    if (mistake == Mistake::other_dtype) spec[0].dtype = DType::i8;
    if (mistake == Mistake::refuses_while_building) throw Exception(Error(ErrorKind::InvalidArgument, "never"));
    return spec;
  }

  const Mistake mistake_;
  const bool draws_;
  const int times_;
  mutable std::atomic<int> calls_ = 0;
};

KernelRef shift_by(Mistake mistake, bool draws = false) { return std::make_shared<ShiftKernel>(mistake, draws); }

std::vector<std::vector<Tensor>> pictures() {
  std::vector<std::vector<Tensor>> all;
  for (const int64_t width : {1, 2, 50, 50}) {
    std::vector<uint8_t> values(static_cast<size_t>(width) * 3, static_cast<uint8_t>(width));
    all.push_back({Tensor::from(values, {1, width, 3})});
  }
  all.push_back({Tensor::from(std::vector<uint8_t>{1, 255, 3}, {1, 1, 3})});
  return all;
}

std::string found(Mistake mistake, bool draws = false) {
  return kernel_violation(shift_by(mistake, draws), pictures(), {.threads = 2});
}

TEST(KernelContract, HoldsForAKernelThatKeepsIt) {
  EXPECT_EQ(found(Mistake::none), "");
  EXPECT_EQ(found(Mistake::none, true), "");
  EXPECT_EQ(
      kernel_violation(shift_by(Mistake::none, true), pictures(),
                       {.before = {shift_by(Mistake::none)}, .after = {shift_by(Mistake::none, true)}, .threads = 0}),
      "");
  EXPECT_EQ(kernel_violation(shift_by(Mistake::none), {}), "");
}

TEST(KernelContract, FindsEachMistake) {
  EXPECT_THAT(found(Mistake::counts_calls), HasSubstr("a second call"));
  EXPECT_THAT(found(Mistake::reads_scratch), HasSubstr("a second call, with another scratch"));
  EXPECT_THAT(found(Mistake::writes_little), HasSubstr("does not write all"));
  EXPECT_THAT(found(Mistake::other_dtype), HasSubstr("result says {'image': int8[1,1,3]}, and run gives uint8[1,1,3]"));
  EXPECT_THAT(found(Mistake::refuses_while_building), HasSubstr("result refuses"));
  EXPECT_THAT(found(Mistake::hides_draws, true), HasSubstr("it draws nothing, and gives another result"));
  EXPECT_THAT(found(Mistake::draws_nothing, true), HasSubstr("the same result for 64 keys"));
  EXPECT_THAT(found(Mistake::writes_arguments), HasSubstr("it changes its arguments"));
  EXPECT_THAT(found(Mistake::needs_the_address), HasSubstr("instead of"));
  EXPECT_THAT(
      kernel_violation(shift_by(Mistake::joins_wrongly), pictures(), {.after = {shift_by(Mistake::joins_wrongly)}}),
      HasSubstr("joined with its neighbours"));
}

TEST(KernelContract, SaysWhatIsWrongWithTheSamples) {
  EXPECT_EQ(kernel_violation(nullptr, pictures()), "the kernel is null");
  EXPECT_THAT(kernel_violation(shift_by(Mistake::none), pictures(), {.roles = {FieldRole::image, FieldRole::mask}}),
              HasSubstr("sample 0: 1 fields for 2 roles"));
}

TEST(KernelContract, LooksAtAllFields) {
  std::vector<std::vector<Tensor>> samples = pictures();
  for (std::vector<Tensor>& sample : samples) sample.push_back(Tensor::from(std::vector<float>{1, 2}, {1, 2}));
  EXPECT_EQ(kernel_violation(shift_by(Mistake::none, true), samples,
                             {.roles = {FieldRole::image, FieldRole::points}, .threads = 1}),
            "");
}

}  // namespace
}  // namespace headpond
