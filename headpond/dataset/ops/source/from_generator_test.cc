// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Spec kNumber = {{"n", DType::i64, {}}};
using Given = Result<std::optional<Element>>;

Generator counter(int64_t from, int64_t end) {
  return [next = from, end]() mutable -> Given {
    if (next == end) return std::nullopt;
    return Element{Tensor::scalar(next++)};
  };
}

// 10 e, 10 e + 1, ... in epoch e.
Generator of_epoch(uint64_t epoch) {
  const auto begin = static_cast<int64_t>(10 * epoch);
  return counter(begin, begin + 4);
}

TEST(FromGenerator, GivesWhatAFreshGeneratorGivesInEachEpoch) {
  const Dataset dataset = from_generator(&of_epoch, kNumber);
  EXPECT_EQ(dataset.kind(), Kind::stream);
  EXPECT_EQ(dataset.cardinality(), std::nullopt);
  EXPECT_THAT(elements(dataset, {.epochs = 2}), ElementsAre("0", "1", "2", "3", "10", "11", "12", "13"));
  EXPECT_THAT(elements(dataset | take(2), {}, true), ElementsAre("0 #0", "1 #1"));
  EXPECT_THAT(elements(dataset | batch(3)), ElementsAre("[0 1 2]", "[3]"));
  check_contract(dataset);
  check_contract(dataset | batch(3));
  check_contract(from_generator([](uint64_t) { return counter(0, 0); }, kNumber));
}

TEST(FromGenerator, IsRestoredBySeek) {
  std::vector<int64_t> sought;
  const auto seek = [&sought](uint64_t epoch, int64_t position) -> Result<Generator> {
    sought.push_back(position);
    const auto begin = static_cast<int64_t>(10 * epoch);
    return counter(begin + position, begin + 4);
  };
  const Dataset dataset = from_generator(&of_epoch, kNumber, {.name = "tens", .seek = seek});
  check_contract(dataset);
  EXPECT_THAT(sought, testing::Contains(3));
  EXPECT_THAT(sought, testing::Not(testing::Contains(0)));
}

TEST(FromGenerator, IsRestoredByReplay) {
  int asked = 0;
  const auto make = [&asked](uint64_t epoch) {
    return [&asked, generator = of_epoch(epoch)]() {
      ++asked;
      return generator();
    };
  };
  const Dataset dataset = from_generator(make, kNumber);
  Sequence sequence(dataset);
  for (int i = 0; i < 3; ++i) (void)sequence.next();
  asked = 0;
  auto restored = Sequence::restored(dataset, {}, sequence.state());
  ASSERT_TRUE(restored);
  EXPECT_EQ(text_of(*restored->next()), "3");
  EXPECT_EQ(asked, 4);
}

TEST(FromGenerator, TellsWhenItIsShorterThanItsState) {
  const Dataset dataset = from_generator(&of_epoch, kNumber);
  Sequence sequence(dataset);
  for (int i = 0; i < 3; ++i) (void)sequence.next();
  const Dataset shorter = from_generator([](uint64_t) { return counter(0, 2); }, kNumber);
  auto restored = Sequence::restored(shorter, {}, sequence.state());
  ASSERT_TRUE(restored);
  for (int call = 0; call < 2; ++call) {
    const auto next = restored->next();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().kind(), ErrorKind::FailedPrecondition);
    EXPECT_EQ(next.error().message(),
              "from_generator(opaque), element 3: the generator ends at 2, before the state's position");
  }
}

TEST(FromGenerator, HasAnErrorAsItsLastWord) {
  int calls = 0;
  const auto fails = [&calls]() -> Given {
    if (++calls < 3) return Element{Tensor::scalar(int64_t{calls})};
    return fail(ErrorKind::DataLoss, "the line is cut");
  };
  Sequence sequence(from_generator([&](uint64_t) { return fails; }, kNumber, {.name = "line", .version = 2}));
  EXPECT_TRUE(sequence.next());
  EXPECT_TRUE(sequence.next());
  for (int again = 0; again < 3; ++again) {
    const auto next = sequence.next();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().message(), "from_generator(line, version=2), element 2: the line is cut");
    EXPECT_EQ(next.error().kind(), ErrorKind::DataLoss);
  }
  EXPECT_EQ(calls, 3);
}

TEST(FromGenerator, GivesWhatIsThrownAsAnError) {
  const auto throws = []() -> Given { throw std::runtime_error("oh"); };
  Sequence by_call(from_generator([&](uint64_t) { return throws; }, kNumber));
  EXPECT_EQ(by_call.next().error().kind(), ErrorKind::Unknown);
  EXPECT_THAT(by_call.next().error().message(), HasSubstr("element 0: oh"));
  Sequence by_make(from_generator([](uint64_t) -> Generator { throw std::runtime_error("no"); }, kNumber));
  EXPECT_THAT(by_make.next().error().message(), HasSubstr("element 0: no"));
}

TEST(FromGenerator, ChecksEachElementAndGoesOn) {
  const auto make = [](uint64_t) {
    return [i = 0]() mutable -> Given {
      if (i == 3) return std::nullopt;
      if (i++ == 1) return Element{Tensor::scalar(0.5F)};
      return Element{Tensor::scalar(int64_t{i})};
    };
  };
  const auto all = elements(from_generator(make, kNumber, {.name = "mixed"}), {}, true);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1],
            "!InvalidArgument: from_generator(mixed, version=0), element 1: expected {'n': int64[]}, found {0: "
            "float32[]}");
  EXPECT_EQ(all[2], "3 #2");
}

TEST(FromGenerator, IsTheSourceOfItsElements) {
  Sequence plain(from_generator(&of_epoch, kNumber)), named(from_generator(&of_epoch, kNumber, {.name = "tens"}));
  EXPECT_EQ(to_string(plain.next()->provenance), "from_generator, record 0");
  EXPECT_EQ(to_string(named.next()->provenance), "tens, record 0");
}

TEST(FromGenerator, RefusesNoFunction) {
  EXPECT_THROW(from_generator({}, kNumber), Exception);
  Sequence empty(from_generator([](uint64_t) { return Generator(); }, kNumber));
  EXPECT_THAT(empty.next().error().message(), HasSubstr("make returned no generator"));
}

}  // namespace
}  // namespace headpond::internal
