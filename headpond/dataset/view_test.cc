// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/view.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

TEST(Context, WritesAFieldToTheOutputSlotIffItFits) {
  const FieldSpec pair{"", DType::f32, {2}};
  alignas(64) std::array<std::byte, 8> memory{};
  const std::array<OutputSlot, 1> outputs = {OutputSlot{memory.data(), &pair}};
  Context context;
  Element fits, other_dtype, other_shape, second;
  EXPECT_EQ(context.allocate_output(fits, outputs, DType::f32, {2}), memory.data());
  EXPECT_EQ(fits[size_t{0}].data(), memory.data());
  EXPECT_NE(context.allocate_output(other_dtype, outputs, DType::i32, {2}), memory.data());
  EXPECT_NE(context.allocate_output(other_shape, outputs, DType::f32, {1, 2}), memory.data());
  second.append(Tensor::scalar(1));
  EXPECT_NE(context.allocate_output(second, outputs, DType::f32, {2}), memory.data())
      << "the output is for the first field";
}

TEST(Context, GivesThePlaceOfSmallAndLargeFields) {
  Context context;
  for (const int64_t count : {0, 1, 4, 5, 1000}) {
    Element out;
    std::byte* const memory = context.allocate_output(out, {}, DType::f32, {count});
    EXPECT_EQ(memory, out[size_t{0}].data()) << count;
  }
}

TEST(Context, BindsOnceAndForgetsTheOldest) {
  const Dataset dataset = range(3);
  Context context;
  const auto first = context.view(*dataset.node(), {1, 0});
  EXPECT_EQ(context.view(*dataset.node(), {1, 0}), first);
  for (uint64_t epoch = 1; epoch < 40; ++epoch) EXPECT_NE(context.view(*dataset.node(), {1, epoch}), first);
  EXPECT_NE(context.view(*dataset.node(), {1, 0}), nullptr);
}

Dataset rows() {
  std::vector<float> floats(600);
  std::vector<uint8_t> small(300);
  std::vector<int64_t> wide(20000);
  std::iota(floats.begin(), floats.end(), 0.0F);
  std::iota(small.begin(), small.end(), uint8_t{0});
  std::iota(wide.begin(), wide.end(), 0);
  return from_tensor_slices({{"floats", Tensor::from(std::span<const float>(floats), {100, 3, 2})},
                             {"small", Tensor::from(std::span<const uint8_t>(small), {100, 3})},
                             {"wide", Tensor::from(std::span<const int64_t>(wide), {100, 200})}});
}
Dataset texts() {
  const std::vector<std::string_view> values = {"a", "b"};
  return from_tensor_slices(Tensor::from(std::span<const std::string_view>(values), {2}));
}
float half(float x) { return x / 2; }
int64_t next(int64_t x) { return x + 1; }

TEST(View, FillsColumnsWithWhatAtGives) {
  const std::vector<Dataset> datasets = {
      range(7, 3000, 3),
      range(1),
      rows(),
      rows() | shuffle(),
      rows() | shuffle(9),
      range(3000) | shuffle(100),
      range(3000) | shuffle({.reshuffle_each_iteration = false}),
      rows() | take(90) | skip(3) | shard(3, 1),
      rows() | enumerate(5),
      zip({range(200), rows(), range(80) | shuffle()}),
      rows() | repeat(3),
      range(10) | shuffle() | repeat() | shuffle(100),
      range(2) | repeat(2) | repeat(2),
      concatenate({range(10), range(0), range(300, 1000) | shuffle(), range(5)}),
      concatenate({rows(), rows()}) | repeat(2) | skip(50),
      texts() | shuffle(),
      zip({range(2), texts()}) | enumerate() | repeat(2),
      rows() | map("floats", half),
      rows() | map("wide", next) | map("wide", next) | shuffle(),
      range(3000) | map(next) | map(next),
      range(3) | random_u32() | random_u32({.field = "other"}),
      rows() | add_noise(1, {.field = "floats"}) | repeat(2),
      rows() | random_flip(-1, {.field = "wide"}) | random_flip(0, {.field = "floats"}) | random_u32(),
  };
  for (const Dataset& dataset : datasets) {
    SCOPED_TRACE(dataset.plan());
    EXPECT_TRUE(fills(*dataset.node()));
    for (uint64_t epoch = 0; epoch < 2; ++epoch) {
      EXPECT_EQ(fill_difference(*dataset.node(), *dataset.node()->bind({7, epoch}), epoch), "");
    }
  }
}

TEST(View, DoesNotFillWhatHasHolesOrNoFixedSizeOrIsNoCheaper) {
  const auto all = [](int64_t) { return true; };
  const auto whole = [](const Tensor& x) { return static_cast<float>(x.size()); };
  for (const Dataset& dataset : {range(3) | filter(all), range(3) | filter(all) | map(next), range(3) | cache(),
                                 range(3) | map(whole), concatenate({range(2), range(2) | cache()})}) {
    EXPECT_FALSE(fills(*dataset.node())) << dataset.plan();
  }
}

TEST(View, DoesNotFillPastTheLastPlace) {
  const std::vector<int64_t> positions = {1, kEndless - 1};
  std::array<int64_t, 2> numbers{}, more{};
  const FieldSpec number{"", DType::i64, {}};
  const std::array<OutputSlot, 2> columns = {OutputSlot{reinterpret_cast<std::byte*>(numbers.data()), &number},
                                             OutputSlot{reinterpret_cast<std::byte*>(more.data()), &number}};
  Context context;
  const Dataset endless = range(3) | repeat();
  for (const Dataset& dataset : {endless | skip(2), endless | shard(2, 0)}) {
    EXPECT_FALSE(dataset.node()->bind({})->fill(positions, context, OutputSlots(columns).first(1), nullptr));
  }
  EXPECT_FALSE((endless | enumerate(2)).node()->bind({})->fill(positions, context, columns, nullptr));
}

// Fills as range(100) does but for one fault.
class Faulty final : public View {
 public:
  enum Fault { none, value, key, order, refusal, after };
  explicit Faulty(Fault fault) : fault_(fault) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    return view_->at(i, context, outputs, out);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    std::vector<int64_t> asked(positions.begin(), positions.end());
    if (fault_ == order) std::sort(asked.begin(), asked.end());
    const bool filled = view_->fill(asked, context, columns, keys);
    if (fault_ == value && positions.size() > 256) columns[0].data[8 * 256] ^= std::byte{1};
    if (fault_ == key && keys != nullptr && positions.size() > 256) ++keys[256];
    if (fault_ == after) columns[0].data[8 * positions.size()] = std::byte{0};
    return filled && (fault_ != refusal || positions.size() < 2);
  }

 private:
  const Fault fault_;
  const Dataset range_ = range(100);
  const std::shared_ptr<const View> view_ = range_.node()->bind({});
};

TEST(FillDifference, FindsEachFault) {
  const Dataset dataset = range(100);
  const auto found = [&](Faulty::Fault fault) { return fill_difference(*dataset.node(), Faulty(fault)); };
  EXPECT_EQ(found(Faulty::none), "");
  EXPECT_THAT(found(Faulty::value), testing::HasSubstr("257 positions: row 256"));
  EXPECT_THAT(found(Faulty::key), testing::HasSubstr("the key is"));
  EXPECT_THAT(found(Faulty::order), testing::HasSubstr("at() gives"));
  EXPECT_THAT(found(Faulty::refusal), testing::HasSubstr("2 positions: not filled"));
  EXPECT_THAT(found(Faulty::after), testing::HasSubstr("written after its end"));
}

// Counts how often the view of each operator is asked, by the operator above it.
class Calls final : public ViewObserver {
 public:
  std::shared_ptr<const View> see(const Node& node, std::shared_ptr<const View> view) override {
    return std::make_shared<Counted>(std::move(view), all[node.facts().op]);
  }
  std::map<std::string, int> all;

 private:
  class Counted final : public View {
   public:
    Counted(std::shared_ptr<const View> view, int& calls) : view_(std::move(view)), calls_(calls) {}
    Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
      ++calls_;
      return view_->at(i, context, outputs, out);
    }

   private:
    const std::shared_ptr<const View> view_;
    int& calls_;
  };
};

TEST(ViewObserver, SeesTheInputOfEachOperator) {
  const auto same = map([](int64_t x) { return x; });
  const Dataset chain =
      range(9) | same | shuffle() | skip(1) | shard(1, 0) | take(7) | cache() | enumerate() | batch(2);
  Calls calls;
  Context context;
  Element out;
  ASSERT_EQ(view_of(*chain.node(), {.observer = &calls})->at(1, context, {}, out), Got::value);
  EXPECT_EQ(calls.all.size(), 9U);
  for (const auto& [op, count] : calls.all) EXPECT_EQ(count, op == "batch" ? 1 : 2) << op;
}

TEST(ViewObserver, SeesPartsAndInputsThatMeet) {
  Calls calls;
  Context context;
  Element once, again;
  const Dataset zipped = zip({range(3), range(3) | repeat(2) | take(3), concatenate({range(2), range(2)}) | take(3)});
  const auto view = view_of(*zipped.node(), {.observer = &calls});
  ASSERT_EQ(view->at(2, context, {}, once), Got::value);
  EXPECT_EQ(calls.all["range"], 3);
  EXPECT_EQ(calls.all["repeat"], 1);
  EXPECT_EQ(calls.all["concatenate"], 1);
  ASSERT_EQ(zipped.node()->bind({})->at(2, context, {}, again), Got::value);
  EXPECT_EQ(calls.all["range"], 3) << "a view without an observer, and the same context";
}

TEST(View, HasNoColumnsUnlessItSaysSo) {
  const Dataset dataset = range(3) | filter([](int64_t) { return true; });
  Context context;
  EXPECT_FALSE(dataset.node()->bind({})->fill({}, context, {}, nullptr));
}

}  // namespace
}  // namespace headpond::internal
