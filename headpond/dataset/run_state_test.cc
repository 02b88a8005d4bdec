// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/run_state.h"

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

const RunState kPlace = {.epoch = 3, .index = 17, .position = std::string("ab\0c", 4)};

TEST(RunState, ComesBackAsItWas) {
  const Dataset dataset = range(9) | shuffle();
  const auto restored = restore(save(kPlace, dataset, 7), dataset, 7);
  ASSERT_TRUE(restored) << restored.error();
  EXPECT_EQ(restored->epoch, 3U);
  EXPECT_EQ(restored->index, 17);
  EXPECT_EQ(restored->position, kPlace.position);
}

TEST(RunState, HasStepsThatRunInOrderInVersion2) {
  RunState place = kPlace;
  EXPECT_EQ(save(place, range(9), 7).substr(0, 4), "hps1") << "what earlier programs read";
  place.in_order = {0, 300};
  const std::string saved = save(place, range(9), 7);
  EXPECT_EQ(saved.substr(0, 4), "hps2");
  const auto restored = restore(saved, range(9), 7);
  ASSERT_TRUE(restored) << restored.error();
  EXPECT_EQ(restored->position, place.position);
  EXPECT_EQ(restored->in_order, place.in_order);
  for (size_t i = 0; i < saved.size(); ++i) EXPECT_FALSE(restore(saved.substr(0, i), range(9), 7)) << i;
}

TEST(RunState, OfAnotherPipelineNamesTheDifference) {
  const std::string saved = save(kPlace, range(9) | shuffle(5) | take(2), 7);
  const auto other = restore(saved, range(9) | shuffle(6) | take(2), 7);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(other.error().message(),
              HasSubstr("step 2: the state has 'shuffle(window=5)', the pipeline has 'shuffle(window=6)'"));
  EXPECT_THAT(restore(saved, range(8) | shuffle(5) | take(2), 7).error().message(), HasSubstr("step 1"));
  EXPECT_THAT(restore(saved, range(9) | shuffle(5), 7).error().message(), HasSubstr("the pipeline has no such step"));
}

// Draws follow from it, so another name is another order and other values.
TEST(RunState, OfAnotherNameIsRefused) {
  const auto steps = [](const std::string& name) -> std::vector<std::pair<Dataset, Step>> {
    const Dataset rows = range(9) | map([](int64_t x) { return static_cast<float>(x); }) | batch(3);
    return {{range(9), shuffle({.name = name})},
            {range(9), random_u32({.name = name})},
            {rows, add_noise(1, {.name = name})},
            {rows, random_flip(0, {.name = name})}};
  };
  const auto a = steps("a"), b = steps("b");
  for (size_t i = 0; i < a.size(); ++i) {
    const Dataset of_a = a[i].first | a[i].second, of_b = b[i].first | b[i].second;
    const std::string saved = save(kPlace, of_a, 7);
    EXPECT_TRUE(restore(saved, of_a, 7)) << "control";
    const auto other = restore(saved, of_b, 7);
    ASSERT_FALSE(other) << of_a.plan();
    EXPECT_EQ(other.error().kind(), ErrorKind::FailedPrecondition);
    EXPECT_THAT(other.error().message(), HasSubstr("name=a)', the pipeline has '"));
    EXPECT_THAT(other.error().message(), HasSubstr("name=b)'"));
  }
}

TEST(RunState, OfAnOperatorThatChangedItsMeaningIsRefused) {
  class Changing final : public Node {
   public:
    explicit Changing(int version) : Node({.op = "changing", .version = version}) {}
  };
  const auto of = [](int version) { return Dataset(std::make_shared<Changing>(version)); };
  EXPECT_TRUE(restore(save(kPlace, of(1), 7), of(1), 7)) << "control";
  EXPECT_THAT(restore(save(kPlace, of(0), 7), of(1), 7).error().message(),
              HasSubstr("the state has 'changing()', the pipeline has 'changing(operator_version=1)'"));
}

TEST(RunState, OfAnotherFormatIsRefusedWithBothVersions) {
  std::string saved = save(kPlace, range(9), 7);
  ASSERT_EQ(saved.substr(0, 4), "hps1");
  saved[3] = '3';
  const auto newer = restore(saved, range(9), 7);
  ASSERT_FALSE(newer);
  EXPECT_EQ(newer.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(newer.error().message(), "a state of format version 3; this program reads versions 1 and 2");
  for (const char* const magic : {"hpt1", "hps\xff", "PK\x03\x04"}) {
    EXPECT_EQ(restore(magic + saved.substr(4), range(9), 7).error().kind(), ErrorKind::DataLoss) << magic;
  }
}

TEST(RunState, OfAnotherSeedIsRefused) {
  EXPECT_THAT(restore(save(kPlace, range(9), 7), range(9), 8).error().message(), HasSubstr("seed 7, this run has 8"));
}

TEST(RunState, EachDamagedByteIsNoticed) {
  const Dataset dataset = range(9);
  const std::string saved = save(kPlace, dataset, 7);
  for (size_t i = 0; i < saved.size(); ++i) {
    std::string damaged = saved;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_FALSE(restore(damaged, dataset, 7)) << i;
    EXPECT_FALSE(restore(saved.substr(0, i), dataset, 7)) << i;
  }
  EXPECT_FALSE(restore(saved + "x", dataset, 7));
  EXPECT_FALSE(restore("", dataset, 7));
}

TEST(RunState, OfALongPlanStaysSmall) {
  Dataset dataset = range(9);
  for (int i = 0; i < 1000; ++i) dataset = dataset | take(9);
  const std::string saved = save(kPlace, dataset, 7);
  EXPECT_LT(saved.size(), 4300U);
  EXPECT_TRUE(restore(saved, dataset, 7));
  EXPECT_THAT(
      restore(saved, dataset | take(8), 7).error().message(),
      HasSubstr("pipeline: they differ in step 292 or a later one, after the part of the plan that a state holds"))
      << "not the line at which the plan was cut, which is the same in both";
  EXPECT_THAT(restore(saved, range(9) | take(9), 7).error().message(),
              HasSubstr("step 3: the state has 'take(count=9)', the pipeline has no such step"));
  Dataset other = range(9);
  for (int i = 0; i < 1000; ++i) other = i == 600 ? other | skip(1) : other | take(9);
  EXPECT_THAT(restore(saved, other, 7).error().message(), HasSubstr("or a later one"));
}

TEST(RunState, OfAPlanThatIsCutNamesADifferenceInThePartOfALine) {
  const auto plan = [](const std::string& name) { return range(9) | map([](int64_t x) { return x; }, {.name = name}); };
  const std::string saved = save(kPlace, plan(std::string(5000, 'a')), 7);
  EXPECT_THAT(restore(saved, plan("b"), 7).error().message(),
              HasSubstr("aaa...', the pipeline has 'map(b, version=0)'"));
  EXPECT_THAT(restore(saved, plan(std::string(5001, 'a')), 7).error().message(), HasSubstr("step 2 or a later one"));
}

struct FewHoles {
  FewHoles() { Holes::most = 500; }
  ~FewHoles() { Holes::most = int64_t{1} << 22; }
};

void gives_up(const Dataset& dataset) {
  Sequence sequence(dataset, {});
  auto got = sequence.next();
  for (int answers = 1; got && answers < 10; ++answers) got = sequence.next();
  ASSERT_FALSE(got) << dataset.plan();
  EXPECT_EQ(got.error().kind(), ErrorKind::FailedPrecondition) << dataset.plan();
  EXPECT_THAT(got.error().message(), HasSubstr("500 elements in a row were left out")) << dataset.plan();
}

TEST(Holes, OfAStreamWithoutAnEndAreAnErrorAndNoLoop) {
  const FewHoles few;
  const auto third = [](int64_t x) { return x % 3; };
  const auto never = [](int64_t) { return false; };
  const auto nothing = [](int64_t) { return range(0); };
  const Dataset thirds = counter() | map(third);
  gives_up(thirds | unique());
  gives_up(thirds | unique() | map(third));
  gives_up(thirds | flat_map([](int64_t x) { return range(x); }) | filter(never));
  gives_up(counter() | flat_map(nothing));
  gives_up(counter() | rejection_resample([](int64_t) { return int64_t{0}; }, {0, 1}));
  gives_up(counter() | flat_map([](int64_t x) { return range(x, x + 1); }) | batch(1) |
           distribute(2, 0, {.uneven = UnevenBatch::drop}));
  gives_up(choose_from_datasets({range(1), range(1)}, thirds | map([](int64_t x) { return x % 2; }),
                                {.stop_on_empty_dataset = false}));
}

TEST(Holes, EndWhereAHostIsInterruptedAndNothingIsLost) {
  constexpr int64_t kFirst = 10'000;
  int looks = 0;
  Sequence sequence(range(kFirst + 2) | filter([](int64_t i) { return i >= kFirst; }), {});
  {
    const InterruptLook look([&] { return ++looks == 3; }, /*between_elements=*/true);
    EXPECT_EQ(sequence.next().error().kind(), ErrorKind::Cancelled);
  }
  EXPECT_EQ(looks, 3);
  EXPECT_EQ((*sequence.next())[0].as<int64_t>()[0], kFirst);
}

TEST(Holes, OfAStreamThatMayEndAreNone) {
  const FewHoles few;
  const auto same = [](int64_t) { return int64_t{7}; };
  const auto make = [](uint64_t) -> Generator {
    return [next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == 2000) return std::nullopt;
      return Element{Tensor::scalar(next++)};
    };
  };
  const Dataset numbers = from_generator(make, {{"n", DType::i64, {}}});
  for (const Dataset& dataset : {range(2000) | map(same), numbers | map(same)}) {
    Sequence sequence(dataset | unique(), {});
    EXPECT_TRUE(sequence.next());
    EXPECT_TRUE(sequence.next().error().is_end()) << dataset.plan();
  }
}

}  // namespace
}  // namespace headpond::internal
