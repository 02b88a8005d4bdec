// SPDX-License-Identifier: Apache-2.0
#include "headpond/tensor/kernel.h"

#include <gmock/gmock.h>

namespace headpond {
namespace {

using testing::ElementsAre;

Spec same(const Spec& in) { return in; }

/// Adds a number to each value, or a random one below 1,000. Two that add numbers become one.
class Add final : public Kernel {
 public:
  explicit Add(int32_t number) : Kernel({.title = "add", .result = same}), number_(number) {}
  Result<void> run(KernelCall& call) const override {
    call.scratch<int>() += 1;
    const auto from = call.in().as<int32_t>();
    const auto to = call.make<int32_t>(0, call.in().shape());
    for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] + number_;
    return {};
  }
  KernelRef with(const KernelRef& next) const override {
    const auto* add = dynamic_cast<const Add*>(next.get());
    return add == nullptr ? nullptr : std::make_shared<Add>(number_ + add->number_);
  }

 private:
  const int32_t number_;
};

class AddRandom final : public Kernel {
 public:
  AddRandom() : Kernel({.title = "add_random", .draws = "add_random", .result = same}) {}
  Result<void> run(KernelCall& call) const override {
    const auto drawn = static_cast<int32_t>(call.random().below(1000));
    const auto from = call.in().as<int32_t>();
    const auto to = call.make<int32_t>(0, call.in().shape());
    for (size_t i = 0; i < from.size(); ++i) to[i] = from[i] + drawn;
    return {};
  }
};

class Fails final : public Kernel {
 public:
  Fails() : Kernel({.title = "fails", .result = same}) {}
  Result<void> run(KernelCall&) const override { return tl::unexpected(Error(ErrorKind::DataLoss, "no luck")); }
};

Tensor numbers() { return Tensor::from(std::vector<int32_t>{1, 2, 3}, {3}); }

TEST(Kernel, KnowsTheRolesOfItsFields) {
  std::vector<Tensor> fields = {numbers(), numbers()};
  const std::vector<FieldRole> roles = {FieldRole::image, FieldRole::boxes};
  KernelScratch scratch;
  EXPECT_EQ(KernelCall(fields, {}, 0, {}, scratch, roles).role(1), FieldRole::boxes);
  EXPECT_EQ(KernelCall(fields, {}, 0, {}, scratch).role(1), FieldRole::image);
  for (const FieldRole role :
       {FieldRole::image, FieldRole::mask, FieldRole::boxes, FieldRole::labels, FieldRole::points}) {
    EXPECT_EQ(role_of({std::string(name(role)), DType::u8, {}}), role);
  }
  EXPECT_EQ(role_of({"photo", DType::u8, {}}), FieldRole::image);
}

TEST(Kernel, WritesIntoTheTargetIffItHasDtypeAndShape) {
  std::vector<int32_t> row(3);
  for (const bool fits : {true, false}) {
    std::vector<Tensor> fields = {numbers()};
    const FieldSpec spec = {"", DType::i32, fits ? Shape{3} : Shape{1, 3}};
    const std::vector<OutputSlot> targets = {{reinterpret_cast<std::byte*>(row.data()), &spec}};
    KernelScratch scratch;
    KernelCall call(fields, {}, 0, targets, scratch);
    ASSERT_TRUE(Add(1).run(call));
    EXPECT_THAT(call.in().as<int32_t>(), ElementsAre(1, 2, 3));
    call.finish();
    EXPECT_THAT(fields[0].as<int32_t>(), ElementsAre(2, 3, 4));
    EXPECT_EQ(fields[0].data() == targets[0].data, fits);
  }
  EXPECT_THAT(row, ElementsAre(2, 3, 4));
}

TEST(Kernel, AFieldWithoutAResultStays) {
  std::vector<Tensor> fields = {numbers(), numbers()};
  KernelScratch scratch;
  KernelCall call(fields, {}, 0, {}, scratch);
  ASSERT_TRUE(Add(1).run(call));
  call.finish();
  EXPECT_THAT(fields[1].as<int32_t>(), ElementsAre(1, 2, 3));
  call.set(1, Tensor::scalar(5));
  call.finish();
  EXPECT_EQ(fields[1].item<int32_t>(), 5);
  EXPECT_THAT(fields[0].as<int32_t>(), ElementsAre(2, 3, 4));
}

TEST(Kernel, ScratchStaysFromCallToCall) {
  KernelScratch scratch;
  std::vector<Tensor> fields = {numbers()};
  for (int i = 1; i <= 3; ++i) {
    KernelCall call(fields, {}, 0, {}, scratch);
    ASSERT_TRUE(Add(1).run(call));
    EXPECT_EQ(scratch.get<int>(), i);
    EXPECT_EQ(scratch.get<unsigned>(), 0U);
  }
}

TEST(Kernel, NotesOfDefectsAddUpInTheScratch) {
  KernelScratch scratch;
  std::vector<Tensor> fields = {Tensor::scalar(int64_t{1})};
  const std::vector<RandomKey> keys(1);
  KernelCall(fields, keys, 0, {}, scratch).note({2, "first of two"});
  KernelCall(fields, keys, 1, {}, scratch).note({0, ""});
  EXPECT_EQ(scratch.defects.count, 2);
  EXPECT_EQ(scratch.defects.first, "first of two");
  KernelCall(fields, keys, 2, {}, scratch).note({1, "another"});
  EXPECT_EQ(scratch.defects.count, 3);
  EXPECT_EQ(scratch.defects.first, "another");
}

TEST(Kernel, NeighboursAreJoined) {
  const std::vector<KernelRef> chain = {std::make_shared<Add>(1), std::make_shared<Add>(2),
                                        std::make_shared<AddRandom>(), std::make_shared<Add>(3)};
  const KernelChain joined = join_kernels(chain);
  EXPECT_EQ(joined.kernels.size(), 3U);
  EXPECT_THAT(joined.first, ElementsAre(0U, 2U, 3U));
  const auto one = run_kernels(chain, numbers(), {.seed = 7, .key = 9});
  const auto other = run_kernels(chain, numbers(), {.seed = 7, .key = 9, .joined = false});
  ASSERT_TRUE(one && other);
  const auto drawn = static_cast<int32_t>(Random(random_key(7, "add_random", 0, 0), 9).below(1000));
  EXPECT_THAT(one->as<int32_t>(), ElementsAre(7 + drawn, 8 + drawn, 9 + drawn));
  EXPECT_THAT(other->as<int32_t>(), ElementsAre(7 + drawn, 8 + drawn, 9 + drawn));
}

TEST(Kernel, EqualNamesInOneChainDrawDifferently) {
  const std::vector<KernelRef> once = {std::make_shared<AddRandom>()};
  const std::vector<KernelRef> twice = {once[0], once[0]};
  const auto first = static_cast<int32_t>(Random(random_key(0, "add_random", 0, 2), 4).below(1000));
  const auto second = static_cast<int32_t>(Random(random_key(0, "add_random", 1, 2), 4).below(1000));
  ASSERT_NE(first, second);
  EXPECT_EQ(run_kernels(once, numbers(), {.epoch = 2, .key = 4})->as<int32_t>()[0], 1 + first);
  EXPECT_EQ(run_kernels(twice, numbers(), {.epoch = 2, .key = 4})->as<int32_t>()[0], 1 + first + second);
}

TEST(Kernel, AnErrorEndsTheChain) {
  const std::vector<KernelRef> chain = {std::make_shared<Fails>(), std::make_shared<Add>(1)};
  const auto result = run_kernels(chain, numbers());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind(), ErrorKind::DataLoss);
}

}  // namespace
}  // namespace headpond
