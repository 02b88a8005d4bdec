// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <thread>

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Count = std::shared_ptr<std::atomic<int>>;

Count zero() { return std::make_shared<std::atomic<int>>(0); }
Step counting(Count count) {
  return map([count](int64_t x) {
    ++*count;
    return 10 * x;
  });
}
bool is_even(int64_t x) { return x % 2 == 0; }

// Gives its epoch: what a random draw does, in a form that one can read.
class EpochOf final : public Node {
 public:
  EpochOf() : Node({.op = "epoch_of", .spec = {{"", DType::u32, {}}}, .slots = 2}) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    class EpochView final : public View {
     public:
      explicit EpochView(const Binding& bound) : bound_(bound) {}
      Got at(int64_t, Context&, OutputSlots, Element& out) const override {
        out.append(Tensor::scalar(static_cast<uint32_t>(100 * bound_.seed + bound_.epoch)));
        return Got::value;
      }
      const Binding bound_;
    };
    return std::make_shared<EpochView>(binding);
  }
};

TEST(Cache, GivesWhatItsInputGives) {
  const std::vector<std::string> three = {"0", "1", "2"};
  EXPECT_EQ(elements(range(3) | cache()), three);
  EXPECT_EQ(elements(range(3) | as_stream() | cache()), three);
  EXPECT_EQ(elements(range(6) | filter(&is_even) | cache(), {}, true), elements(range(6) | filter(&is_even), {}, true));
  EXPECT_THAT(elements(range(0) | cache()), testing::IsEmpty());
  EXPECT_THAT(elements(range(5) | batch(2) | cache()), ElementsAre("[0 1]", "[2 3]", "[4]"));
}

TEST(Cache, KeepsKindAndCardinality) {
  EXPECT_EQ((range(3) | cache()).cardinality(), 3);
  EXPECT_EQ((range(3) | filter(&is_even) | cache()).kind(), Kind::sparse);
  EXPECT_EQ((range(3) | as_stream() | cache()).kind(), Kind::stream);
  EXPECT_EQ((range(3) | cache()).plan(), "range(start=0, stop=3, step=1)\ncache()\n");
}

TEST(Cache, KeepsTheContract) {
  check_contract(range(5) | cache());
  check_contract(range(5) | filter(&is_even) | cache());
  check_contract(range(5) | as_stream() | cache());
  check_contract(range(5) | batch(2) | cache() | batch(2));
  check_contract(range(5) | cache() | batch(2));
}

TEST(Cache, MakesEachElementOnce) {
  for (const bool stream : {false, true}) {
    const Count count = zero();
    const Dataset input = stream ? range(4) | as_stream() : range(4);
    const Dataset dataset = input | counting(count) | cache();
    EXPECT_EQ(elements(dataset, {.epochs = 3}).size(), 12U);
    EXPECT_EQ(*count, 4);
    EXPECT_EQ(elements(dataset).size(), 4U);
    EXPECT_EQ(*count, 4) << "another run shares what is kept";
    EXPECT_EQ(elements(dataset, {.seed = 1}).size(), 4U);
    EXPECT_EQ(*count, 8) << "another seed does not";
  }
}

TEST(Cache, KeepsHolesToo) {
  const Count count = zero();
  const Dataset dataset = range(4) | counting(count) | filter([](int64_t x) { return x == 20; }) | cache();
  EXPECT_THAT(elements(dataset, {.epochs = 2}), ElementsAre("20", "20"));
  EXPECT_EQ(*count, 4);
}

TEST(Cache, GivesItsInputEpoch0) {
  const Dataset input(std::make_shared<EpochOf>());
  EXPECT_THAT(elements(input, {.seed = 3, .epochs = 2}), ElementsAre("300", "300", "301", "301"));
  const std::vector<std::string> frozen(4, "300");
  EXPECT_EQ(elements(input | cache(), {.seed = 3, .epochs = 2}), frozen);
  EXPECT_EQ(elements(input | as_stream() | cache(), {.seed = 3, .epochs = 2}), frozen);
}

// The first run stops early; the second one takes what is kept and asks for the rest.
TEST(Cache, KeepsWhatAnEarlyEndLeft) {
  const Count count = zero();
  const Dataset dataset = range(5) | counting(count) | cache();
  {
    Sequence sequence(dataset);
    (void)sequence.next();
    (void)sequence.next();
  }
  EXPECT_EQ(*count, 2);
  EXPECT_EQ(elements(dataset).size(), 5U);
  EXPECT_EQ(*count, 5);
  const Dataset stream = range(5) | as_stream() | cache();
  Sequence first(stream), second(stream);
  EXPECT_EQ(text_of(*first.next()), "0");
  EXPECT_EQ(text_of(*second.next()), "0");
  EXPECT_EQ(text_of(*second.next()), "1");
  EXPECT_EQ(text_of(*first.next()), "1");
  EXPECT_EQ(text_of(*first.next()), "2");
}

TEST(Cache, KeepsNoErrors) {
  const auto fails_at_1 = [](int64_t x) -> Result<int64_t> {
    if (x == 1) return fail(ErrorKind::DataLoss, "bad");
    return x;
  };
  for (const bool stream : {false, true}) {
    const Dataset input = stream ? range(4) | as_stream() : range(4);
    const Dataset dataset = input | map(fails_at_1) | cache();
    const auto all = elements(dataset, {.epochs = 2});
    ASSERT_EQ(all.size(), 8U) << "the error comes in each epoch, in its place";
    for (const size_t bad : {size_t{1}, size_t{5}}) EXPECT_THAT(all[bad], HasSubstr("range, record 1: bad"));
    EXPECT_THAT(std::vector(all.begin() + 4, all.begin() + 5), ElementsAre("0"));
    EXPECT_THAT(std::vector(all.begin() + 6, all.end()), ElementsAre("2", "3"));
    Sequence sequence(dataset);
    for (int i = 0; i < 3; ++i) (void)sequence.next();  // 0, the error, 2.
    const Dataset fresh = input | map(fails_at_1) | cache();
    auto restored = Sequence::restored(fresh, {}, sequence.state());
    ASSERT_TRUE(restored);
    EXPECT_EQ(text_of(*restored->next()), "3");
  }
}

TEST(Cache, MayBeAskedFromManyThreads) {
  constexpr int64_t kSlots = 400;
  const Count count = zero();
  const Dataset dataset = range(kSlots) | counting(count) | cache();
  const auto ask = [&dataset](uint64_t epoch) {
    const auto view = dataset.node()->bind({.seed = 1, .epoch = epoch});
    Context context;
    for (int64_t i = 0; i < kSlots; ++i) {
      Element out;
      ASSERT_EQ(view->at(i, context, {}, out), Got::value);
      ASSERT_EQ(out[size_t{0}].as<int64_t>()[0], 10 * i);
      ASSERT_EQ(out.key, static_cast<uint64_t>(i));
    }
  };
  {
    std::vector<std::jthread> threads;
    for (uint64_t epoch = 0; epoch < 4; ++epoch) threads.emplace_back(ask, epoch);
  }
  EXPECT_GE(*count, kSlots);
  const int after = *count;
  ask(9);
  EXPECT_EQ(*count, after);
}

TEST(Cache, SharesAStreamAmongThreads) {
  const Dataset dataset = range(300) | as_stream() | cache();
  const auto expected = elements(range(300));
  std::vector<std::vector<std::string>> seen(4);
  {
    std::vector<std::jthread> threads;
    for (auto& mine : seen) threads.emplace_back([&] { mine = elements(dataset); });
  }
  for (const auto& mine : seen) EXPECT_EQ(mine, expected);
}

TEST(Cache, RefusesAnInputWithoutAnEnd) {
  class Endless final : public Node {
   public:
    Endless() : Node({.op = "endless", .spec = {{"", DType::u32, {}}}, .slots = kEndless}) {}
  };
  EXPECT_THROW(Dataset(std::make_shared<Endless>()) | cache(), Exception);
  EXPECT_NO_THROW(Dataset(std::make_shared<Endless>()) | take(5) | cache());
}

}  // namespace
}  // namespace headpond::internal
