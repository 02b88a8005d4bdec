// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/random_choice.h"

#include <gmock/gmock.h>

#include <limits>
#include <map>

namespace headpond {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Adds a number, and one below `random` drawn by `name`.
class ChosenAdd final : public Kernel {
 public:
  ChosenAdd(int64_t number, std::string name = "", int version = 0)
      : Kernel({.title = "add", .draws = std::move(name), .version = version}), number_(number) {}
  Result<void> run(KernelCall& call) const override {
    int64_t sum = number_;
    if (!facts().draws.empty()) sum += static_cast<int64_t>(call.random().below(1000));
    for (size_t i = 0; i < call.size(); ++i) {
      const auto out = call.make<int64_t>(i, call.in(i).shape());
      for (size_t k = 0; k < out.size(); ++k) out[k] = call.in(i).as<int64_t>()[k] + sum;
    }
    return {};
  }

 private:
  const int64_t number_;
};
KernelRef add(int64_t number, const std::string& name = "", int version = 0) {
  return std::make_shared<ChosenAdd>(number, name, version);
}

/// Gives the shape [width], or fails.
class ChosenShape final : public Kernel {
 public:
  explicit ChosenShape(int64_t width, DType dtype = DType::i64)
      : Kernel({.title = "shape", .result = [=](const Spec& in) {
                  return Spec{{in[0].name, dtype, {width}}};
                }}) {}
  Result<void> run(KernelCall&) const override { return fail(ErrorKind::DataLoss, "no shape"); }
};
KernelRef shaped(int64_t width, DType dtype = DType::i64) { return std::make_shared<ChosenShape>(width, dtype); }

int64_t chosen(const KernelRef& kernel, const KernelRun& options = {}) {
  const std::vector<KernelRef> chain = {kernel};
  const auto out = run_kernels(chain, Tensor::from(std::vector<int64_t>(40), {40}), options);
  EXPECT_TRUE(out) << out.error();
  return out->as<int64_t>()[39];
}

int64_t drawn(uint64_t outer_seed, const char* outer, const char* name, uint32_t occurrence, uint64_t element) {
  const RandomKey key = random_key(outer_seed, outer, 0, 0);
  return static_cast<int64_t>(Random(random_key(key.value, name, occurrence, 0), element).below(1000));
}

TEST(RandomChoice, RunsOneKernelByItsWeight) {
  std::map<int64_t, int> counts;
  const KernelRef kernel = random_choice({add(1), add(2), add(3)}, {3, 0, 1});
  for (uint64_t key = 0; key < 1000; ++key) ++counts[chosen(kernel, {.key = key})];
  EXPECT_EQ(counts.size(), 2U);
  EXPECT_NEAR(counts[1], 750, 70);
  std::map<int64_t, int> equal;
  for (uint64_t key = 0; key < 900; ++key) ++equal[chosen(random_choice({add(1), add(2), add(3)}), {.key = key})];
  for (const int64_t number : {1, 2, 3}) EXPECT_NEAR(equal[number], 300, 71);
}

TEST(RandomChoice, NestedKernelsDrawByTheirOwnNames) {
  const KernelRef kernel = random_choice({add(0, "a"), add(1000, "b"), add(2000, "a")});
  for (uint64_t key = 0; key < 50; ++key) {
    const int64_t got = chosen(kernel, {.seed = 4, .key = key});
    const char* const name = got / 1000 == 1 ? "b" : "a";
    EXPECT_EQ(got % 1000, drawn(4, "random_choice", name, got / 1000 == 2 ? 1 : 0, key)) << key;
  }
}

TEST(RandomChoice, AKernelOfAnotherNameChangesNoNumbers) {
  const KernelRef with = random_choice({add(0, "other"), add(1000, "a")}, {0, 1});
  const KernelRef without = random_choice({add(1000, "a")});
  const KernelRef same = random_choice({add(0, "a"), add(1000, "a")}, {0, 1});
  EXPECT_EQ(chosen(with), chosen(without));
  EXPECT_NE(chosen(same), chosen(without)) << "control: the same name counts";
}

TEST(RandomChoice, NestsInItself) {
  const KernelRef inner = random_choice({add(0, "a")});
  const KernelRef kernel = random_choice({inner, inner}, {0, 1});
  EXPECT_NE(chosen(kernel), chosen(random_choice({inner, inner}, {1, 0})));
  EXPECT_EQ(chosen(kernel), chosen(kernel));
}

TEST(RandomChoice, WritesIntoTheTarget) {
  for (const KernelRef& kernel : {random_choice({add(7)}), random_apply({add(3), add(4)}, 1)}) {
    std::vector<int64_t> row(40);
    std::vector<Tensor> fields = {Tensor::from(std::vector<int64_t>(40), {40})};
    const FieldSpec spec = {"", DType::i64, {40}};
    const std::vector<OutputSlot> targets = {{reinterpret_cast<std::byte*>(row.data()), &spec}};
    const RandomKey key;
    KernelScratch scratch;
    KernelCall call(fields, {&key, 1}, 0, targets, scratch);
    ASSERT_TRUE(kernel->run(call));
    EXPECT_EQ(call.in().as<int64_t>()[0], 0);
    call.finish();
    EXPECT_EQ(fields[0].data(), targets[0].data);
    EXPECT_EQ(row[39], 7);
  }
}

TEST(RandomApply, RunsAllOrNone) {
  const KernelRef kernel = random_apply({add(1), add(2, "a"), add(4000)});
  int applied = 0;
  for (uint64_t key = 0; key < 400; ++key) {
    const int64_t got = chosen(kernel, {.key = key});
    if (got == 0) continue;
    EXPECT_EQ(got, 4003 + drawn(0, "random_apply", "a", 0, key));
    ++applied;
  }
  EXPECT_NEAR(applied, 200, 50);
  EXPECT_EQ(chosen(random_apply({add(1)}, 0)), 0);
  EXPECT_EQ(chosen(random_apply({add(1)}, 1)), 1);
}

TEST(NestedKernels, TitlesHaveTheirKernels) {
  EXPECT_EQ(random_choice({add(1), add(1, "a", 2)})->facts().title, "random_choice(add, add [name=a] [version=2])");
  EXPECT_EQ(random_choice({add(1), add(2)}, {0.5, 2})->facts().title, "random_choice(add, add, p=[0.5,2])");
  EXPECT_EQ(random_apply({add(1)})->facts().title, "random_apply(add)");
  EXPECT_EQ(random_apply({add(1)}, 0.25)->facts().title, "random_apply(add, p=0.25)");
}

TEST(NestedKernels, FactsAreWhatHoldsInAllCases) {
  const Spec in = {{"image", DType::i64, {3}}};
  EXPECT_EQ(random_choice({shaped(3), shaped(3)})->facts().result(in)[0].shape, (Shape{3}));
  EXPECT_EQ(random_choice({shaped(3), add(1), shaped(4)})->facts().result(in)[0].shape, (Shape{kUnknown}));
  EXPECT_EQ(random_apply({shaped(3)})->facts().result(in)[0].shape, (Shape{3}));
  EXPECT_EQ(random_apply({shaped(4)})->facts().result(in)[0].shape, (Shape{kUnknown}));
  EXPECT_THROW(random_choice({shaped(3), shaped(3, DType::f32)})->facts().result(in), Exception);
  EXPECT_THROW(random_apply({shaped(3, DType::f32)})->facts().result(in), Exception);
}

TEST(NestedKernels, AnErrorNamesTheKernel) {
  const std::vector<KernelRef> chain = {random_apply({add(1), shaped(3)}, 1)};
  const auto out = run_kernels(chain, Tensor::from(std::vector<int64_t>{1}, {1}));
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().kind(), ErrorKind::DataLoss);
  EXPECT_THAT(out.error().message(), HasSubstr("shape: no shape"));
}

TEST(NestedKernels, AnErrorOfOneWithArgumentsIsSaidOnce) {
  class Refusing final : public Kernel {
   public:
    Refusing() : Kernel({.title = "refusing(0.5)", .result = [](const Spec& in) { return in; }}) {}
    Result<void> run(KernelCall&) const override { return fail(ErrorKind::DataLoss, "refusing: not finite"); }
  };
  const std::vector<KernelRef> chain = {random_apply({std::make_shared<Refusing>()}, 1)};
  const auto out = run_kernels(chain, Tensor::from(std::vector<int64_t>{1}, {1}));
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().to_string(), "DataLoss: refusing(0.5): not finite");
}

TEST(NestedKernels, RefuseOptions) {
  EXPECT_THROW(random_choice({}), Exception);
  EXPECT_THROW(random_choice({nullptr}), Exception);
  EXPECT_THROW(random_choice({add(1)}, {1, 2}), Exception);
  EXPECT_THROW(random_choice({add(1)}, {0}), Exception);
  EXPECT_THROW(random_choice({add(1)}, {-1}), Exception);
  EXPECT_THROW(random_choice({add(1)}, {std::numeric_limits<double>::quiet_NaN()}), Exception);
  EXPECT_THROW(random_apply({}, 0.5), Exception);
  EXPECT_THROW(random_apply({add(1)}, 1.5), Exception);
}

}  // namespace
}  // namespace headpond
