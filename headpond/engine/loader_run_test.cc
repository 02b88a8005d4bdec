// SPDX-License-Identifier: Apache-2.0
// What a Loader's epochs, errors and states promise, each by itself.
#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "headpond/base/log.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/engine/testing/loader_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// The state of a Sequence over one epoch after so many calls.
std::string state_after(const Dataset& dataset, const SequenceOptions& options, size_t calls) {
  Sequence sequence(dataset, options);
  for (size_t i = 0; i < calls; ++i) (void)sequence.next();
  return sequence.state();
}

TEST(LoaderEpochs, EachIsItsOwn) {
  const Dataset dataset = range(5) | shuffle() | batch(2);
  for (const int64_t epochs : {0, 1, 3}) {
    Loader loader(dataset, {.epochs = epochs, .seed = 4});
    EXPECT_EQ(rest(loader), sequential(dataset, {.seed = 4, .epochs = epochs}));
    EXPECT_EQ(rest(loader).size(), 0U) << "the end stays";
    EXPECT_EQ(loader.state(), state_after(dataset, {.seed = 4, .epochs = epochs}, 100));
  }
}

TEST(LoaderEpochs, BelowZeroTheyGoOnForEver) {
  Loader loader(range(3) | shuffle(), {.epochs = -1, .seed = 4});
  const std::vector<std::string> twenty = sequential(range(3) | shuffle(), {.seed = 4, .epochs = 20});
  EXPECT_EQ(rest(loader, twenty.size()), twenty);
}

TEST(LoaderEpochs, AnEpochWithoutAnEndHasNoneAfterIt) {
  const Dataset dataset = range(3) | repeat() | batch(2);
  EXPECT_EQ(refused([&] { (void)Loader(dataset, {.epochs = 2}); }).kind(), ErrorKind::InvalidArgument);
  Loader loader(dataset, {.threads = 2});
  EXPECT_EQ(rest(loader, 500).back(), "0/499 [2 0]");
}

TEST(LoaderEpochs, WithoutAnEndOverNothingAreAnError) {
  Loader loader(range(0) | batch(2), {.epochs = -1});
  for (int i = 0; i < 2; ++i) {
    const auto next = loader.next();
    ASSERT_FALSE(next);
    EXPECT_EQ(next.error().kind(), ErrorKind::FailedPrecondition);
  }
}

TEST(LoaderEpochs, OneAfterTheOtherByNextInEpoch) {
  const Dataset dataset = range(5) | shuffle() | batch(2);
  Loader loader(dataset, {.epochs = 3, .seed = 1});
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    for (int64_t index = 0; index < 3; ++index) {
      const auto next = loader.next_in_epoch();
      ASSERT_TRUE(next);
      EXPECT_EQ(next->epoch(), epoch);
      EXPECT_EQ(next->index(), index);
    }
    ASSERT_TRUE(at_end(loader.next_in_epoch()));
    EXPECT_EQ(loader.state(), state_after(dataset, {.seed = 1, .epochs = epoch + 1}, 100));
  }
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(at_end(loader.next_in_epoch()));
}

TEST(LoaderEpochs, AnEmptyOneIsAnEpochToo) {
  Loader loader(range(0) | batch(2), {.epochs = 2});
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(at_end(loader.next_in_epoch()));
  EXPECT_EQ(rest(loader).size(), 0U);
  EXPECT_EQ(loader.state(), state_after(range(0) | batch(2), {.epochs = 2}, 1));
}

TEST(LoaderEpochs, TheRestOfOneCanBeLeftOut) {
  const Dataset dataset = range(6) | shuffle() | batch(2);
  Loader loader(dataset, {.epochs = 3, .seed = 9, .threads = 2});
  EXPECT_EQ(rest(loader, 1).size(), 1U);
  loader.next_epoch();
  EXPECT_EQ(loader.state(), state_after(dataset, {.seed = 9, .epochs = 1}, 100));
  std::vector<std::string> expected = sequential(dataset, {.seed = 9, .epochs = 3});
  expected.erase(expected.begin(), expected.begin() + 3);
  EXPECT_EQ(rest(loader, 3), std::vector(expected.begin(), expected.begin() + 3));
  loader.next_epoch();
  EXPECT_EQ(loader.state(), state_after(dataset, {.seed = 9, .epochs = 2}, 100)) << "all of it was taken already";
  loader.next_epoch();
  EXPECT_EQ(rest(loader).size(), 0U) << "the third epoch was left out whole, before its first batch";
}

TEST(LoaderEpochs, AreRangesOfBatches) {
  const Dataset dataset = range(5) | shuffle() | batch(2);
  const std::vector<std::string> expected = sequential(dataset, {.seed = 3, .epochs = 3});
  Loader loader(dataset, {.epochs = 3, .seed = 3});
  std::vector<std::string> all;
  int64_t epochs = 0;
  for (auto epoch : loader.epochs()) {
    EXPECT_EQ(epoch.index(), epochs++);
    for (const Batch& one : epoch) {
      all.push_back(fmt::format("{}/{} {}", one.epoch(), one.index(), text_of(one.element())));
    }
  }
  EXPECT_EQ(epochs, 3);
  EXPECT_EQ(all, expected);
  Loader whole(dataset, {.epochs = 3, .seed = 3});
  all.clear();
  for (const Batch& one : whole) {
    all.push_back(fmt::format("{}/{} {}", one.epoch(), one.index(), text_of(one.element())));
  }
  EXPECT_EQ(all, expected);
}

TEST(LoaderEpochs, OneIsEmptyAfterItsEnd) {
  Loader loader(range(5) | batch(2), {.epochs = 2});
  std::vector<int> batches;
  for (const auto epoch : loader.epochs()) {
    for (int pass = 0; pass < 2; ++pass) {
      batches.push_back(0);
      for (const Batch& batch : epoch) {
        EXPECT_EQ(batch.epoch(), epoch.index());
        ++batches.back();
      }
    }
  }
  EXPECT_THAT(batches, ElementsAre(3, 0, 3, 0));
}

TEST(LoaderEpochs, GoOnInTheMiddleOfOne) {
  const Dataset dataset = range(5) | batch(2);
  Loader loader(dataset, {.epochs = 2});
  EXPECT_EQ(rest(loader, 2).size(), 2U);
  auto restored = Loader::restored(dataset, {.epochs = 2}, loader.state());
  ASSERT_TRUE(restored);
  std::vector<std::string> all;
  for (auto epoch : restored->epochs()) {
    for (const Batch& one : epoch) all.push_back(fmt::format("{}/{}", epoch.index(), one.index()));
  }
  EXPECT_THAT(all, ElementsAre("0/2", "1/0", "1/1", "1/2"));
}

Dataset failing_at(const std::vector<int64_t>& bad, int64_t count) {
  return range(count) | map(
                            [bad](int64_t x) -> Result<int64_t> {
                              if (std::find(bad.begin(), bad.end(), x) == bad.end()) return x;
                              return fail(ErrorKind::DataLoss, fmt::format("{} is bad", x));
                            },
                            {.name = "failing"});
}

TEST(LoaderErrors, StandInTheirPlaceAndTheRestComes) {
  for (const int threads : {0, 1, 3}) {
    const LoaderOptions options{.epochs = 2, .threads = threads};
    Loader each(failing_at({0, 3, 9}, 10), options);
    EXPECT_EQ(rest(each), sequential(failing_at({0, 3, 9}, 10), {.epochs = 2}));
    Loader batches(failing_at({0, 3, 9}, 10) | batch(2), options);
    const std::vector<std::string> all = rest(batches);
    ASSERT_EQ(all.size(), 14U);
    EXPECT_THAT(all[0], HasSubstr("0 is bad"));
    EXPECT_EQ(all[1], "0/0 [1 2]");
    EXPECT_EQ(all, sequential(failing_at({0, 3, 9}, 10) | batch(2), {.epochs = 2}));
  }
}

TEST(LoaderErrors, AnIteratorThrowsThemAndNextGoesOn) {
  Loader loader(failing_at({1}, 4), {.threads = 1});
  std::vector<std::string> all;
  const Error error = refused([&] {
    for (const Batch& one : loader) all.push_back(text_of(one.element()));
  });
  EXPECT_THAT(all, ElementsAre("0"));
  ASSERT_TRUE(error);
  EXPECT_EQ(error.kind(), ErrorKind::DataLoss);
  EXPECT_THAT(rest(loader), ElementsAre("0/1 2", "0/2 3"));
}

TEST(LoaderErrors, OfALostSourceComeAgain) {
  const auto two = [](uint64_t) -> Generator {
    return [next = int64_t{0}]() mutable -> Result<std::optional<Element>> {
      if (next == 2) return fail(ErrorKind::DataLoss, "the wire is cut");
      return Element{Tensor::scalar(next++)};
    };
  };
  Loader loader(from_generator(two, {{"", DType::i64, {}}}), {.threads = 2});
  const std::vector<std::string> all = rest(loader, 6);
  for (size_t i = 2; i < all.size(); ++i) EXPECT_THAT(all[i], HasSubstr("the wire is cut"));
  EXPECT_EQ(all[1], "0/1 1");
}

TEST(LoaderState, OfAnotherPipelineOrSeedIsRefusedWithTheDifference) {
  Loader loader(range(9) | batch(2), {.seed = 1});
  (void)loader.next();
  const std::string state = loader.state();
  const auto other = Loader::restored(range(9) | batch(3), {.seed = 1}, state);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(other.error().message(), AllOf(HasSubstr("batch_size=2"), HasSubstr("batch_size=3")));
  const auto seed = Loader::restored(range(9) | batch(2), {.seed = 2}, state);
  ASSERT_FALSE(seed);
  EXPECT_EQ(seed.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_THAT(seed.error().message(), HasSubstr("seed 1"));
}

TEST(LoaderState, FunctionsThatCannotBeComparedAreNamedOnce) {
  const auto said_by = [](const Dataset& dataset) {
    std::string said;
    set_log_sink([&](LogLevel, std::string_view line) { said += line; });
    for (int i = 0; i < 2; ++i) {
      EXPECT_TRUE(Loader::restored(dataset, {.threads = 0}, Loader(dataset, {.threads = 0}).state()));
    }
    set_log_sink({});
    return said;
  };
  const auto same = [](int64_t x) { return x; };
  static int64_t size = 77;  // Another plan each time that the test runs in this process.
  ++size;
  EXPECT_EQ(said_by(range(size) | map(same) | batch(3)),
            "a restored state cannot tell whether a function without a name has changed: map(opaque); give it a name");
  EXPECT_EQ(said_by(range(size) | map(same) | batch(3)), "") << "once";
  EXPECT_EQ(said_by(range(size) | map(same, {.name = "same"}) | batch(3)), "") << "control";
}

TEST(LoaderState, ThatIsDamagedIsRefused) {
  const Dataset dataset = range(9) | filter([](int64_t x) { return x != 3; }) | batch(2);
  Loader loader(dataset);
  (void)loader.next();
  const std::string state = loader.state();
  for (size_t i = 0; i < state.size(); ++i) {
    std::string damaged = state;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x41);
    const auto flipped = Loader::restored(dataset, {}, damaged),
               cut = Loader::restored(dataset, {}, state.substr(0, i));
    ASSERT_FALSE(flipped) << "byte " << i;
    EXPECT_EQ(flipped.error().kind(), ErrorKind::DataLoss);
    ASSERT_FALSE(cut) << "cut to " << i;
    EXPECT_EQ(cut.error().kind(), ErrorKind::DataLoss);
  }
  EXPECT_TRUE(Loader::restored(dataset, {}, state)) << "control: the whole state";
}

TEST(LoaderRun, GivesTheDeepestDatasetOfAStream) {
  const std::vector<std::function<Dataset(const Dataset&)>> steps = {
      [](const Dataset& below) { return below | map([](int64_t x) { return x + 1; }, {.name = "plus_one"}); },
      [](const Dataset& below) { return below | filter([](int64_t x) { return x >= 0; }, {.name = "natural"}); },
      [](const Dataset& below) { return below | shuffle(2); }};
  for (const auto& step : steps) {
    Dataset deep = range(5) | as_stream();
    while (deep.node()->depth() < kMostDepth) deep = step(deep);
    const std::vector<std::string> expected = sequential(deep, {});
    EXPECT_EQ(expected.size(), 5U);
    for (const int threads : {0, 2}) {
      Loader loader(deep, {.threads = threads});
      EXPECT_EQ(rest(loader), expected) << threads << " threads";
    }
  }
}

TEST(LoaderRewind, BeginsAgainWhereverItWas) {
  const Dataset dataset = range(40) | shuffle() | filter([](int64_t x) { return x % 3 != 0; }) | batch(3);
  const std::vector<std::string> expected = sequential(dataset, {.seed = 5, .epochs = 2});
  for (const int threads : {0, 2}) {
    for (const size_t taken : {size_t{0}, size_t{1}, expected.size() / 2, expected.size() / 2 + 2, expected.size()}) {
      Loader loader(dataset, {.epochs = 2, .seed = 5, .threads = threads});
      (void)rest(loader, taken);
      loader.rewind();
      EXPECT_EQ(loader.state(), Loader(dataset, {.epochs = 2, .seed = 5}).state());
      EXPECT_EQ(rest(loader), expected) << taken << " were taken by " << threads << " threads";
      loader.rewind();
      loader.rewind();
      EXPECT_EQ(rest(loader), expected) << "also after the end, and twice";
    }
  }
}

TEST(LoaderRewind, GoesToAnyEpoch) {
  const Dataset dataset = range(20) | shuffle() | batch(3);
  const std::vector<std::string> expected = sequential(dataset, {.seed = 5, .epochs = 3});
  for (const size_t taken : {size_t{0}, size_t{9}, expected.size()}) {
    Loader loader(dataset, {.epochs = 3, .seed = 5, .threads = 2});
    (void)rest(loader, taken);
    for (const int64_t epoch : {2, 0, 1, 3, 70}) {
      loader.rewind(epoch);
      const size_t before = std::min(static_cast<size_t>(epoch) * 7, expected.size());
      EXPECT_EQ(rest(loader),
                std::vector<std::string>(expected.begin() + static_cast<std::ptrdiff_t>(before), expected.end()))
          << "epoch " << epoch << " after " << taken;
    }
    EXPECT_THROW(loader.rewind(-1), Exception);
  }
}

TEST(LoaderRewind, GoesToAnyEpochOfARunWithoutAnEndWhileItsThreadsMakeBatches) {
  const Dataset dataset = range(2000) | shuffle() | batch(3);
  for (const int threads : {0, 2}) {
    const LoaderOptions options{.epochs = -1, .seed = 5, .threads = threads};
    Loader there(dataset, options), passed(dataset, options);
    (void)rest(there, 4);
    for (int64_t epoch = 0; epoch < 5; ++epoch) passed.next_epoch();
    there.rewind(5);
    EXPECT_EQ(there.state(), passed.state());
    EXPECT_EQ(rest(there, 3), rest(passed, 3));
    there.rewind(INT64_MAX);
    const auto last = there.next();
    ASSERT_TRUE(last) << last.error().to_string();
    EXPECT_EQ(last->epoch(), INT64_MAX);
    EXPECT_THROW(there.rewind(INT64_MIN), Exception);
    EXPECT_EQ(there.next()->epoch(), INT64_MAX) << "it is where it was";
  }
}

TEST(LoaderRewind, MakesTheFirstBatchesAheadAndKeepsWhatACacheHolds) {
  std::atomic<int> made = 0;
  const Dataset dataset = range(12) | map([&](int64_t x) {
                            ++made;
                            return x;
                          }) |
                          cache() | batch(2);
  Loader loader(dataset, {.threads = 2});
  EXPECT_EQ(rest(loader).size(), 6U);
  loader.rewind();
  EXPECT_TRUE(becomes_true([&] { return loader.stats().stages.size() > 0 && loader.try_next().has_value(); }))
      << "try_next() itself makes nothing";
  EXPECT_EQ(rest(loader).size(), 5U);
  EXPECT_EQ(made, 12) << "all came from the cache";
  Loader other(range(12) | map([&](int64_t x) {
                 ++made;
                 return x;
               }) |
               batch(2));
  EXPECT_EQ(rest(other).size(), 6U);
  other.rewind();
  EXPECT_EQ(rest(other).size(), 6U);
  EXPECT_EQ(made, 36) << "control: without a cache they are made again";
}

TEST(LoaderRewind, ForgetsAnErrorThatWasNotGivenYet) {
  const Dataset dataset = range(3) | map([](int64_t x) -> Result<int64_t> {
                            if (x == 0) return fail(ErrorKind::DataLoss, "the first one");
                            return x;
                          });
  Loader loader(dataset, {.threads = 2});
  const std::vector<std::string> expected = rest(loader);
  loader.rewind();
  EXPECT_EQ(rest(loader), expected);
}

TEST(LoaderRestore, GoesToAnyState) {
  const Dataset dataset = range(20) | shuffle() | batch(3);
  const std::vector<std::string> expected = sequential(dataset, {.seed = 2, .epochs = 2});
  std::vector<std::string> states;
  Loader loader(dataset, {.epochs = 2, .seed = 2, .threads = 2});
  for (size_t i = 0; i <= expected.size(); ++i) {
    states.push_back(loader.state());
    (void)rest(loader, 1);
  }
  for (const size_t at : {size_t{9}, size_t{2}, size_t{14}, size_t{0}, size_t{7}}) {
    ASSERT_TRUE(loader.restore(states[at]));
    EXPECT_EQ(loader.state(), states[at]);
    EXPECT_EQ(rest(loader), std::vector(expected.begin() + static_cast<std::ptrdiff_t>(at), expected.end())) << at;
  }
}

TEST(LoaderRestore, ARefusedStateChangesNothing) {
  const Dataset dataset = range(20) | shuffle() | batch(3);
  Loader loader(dataset, {.seed = 2, .threads = 2});
  (void)rest(loader, 2);
  const std::string before = loader.state();
  const auto other = loader.restore(Loader(range(21) | shuffle() | batch(3), {.seed = 2}).state());
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind(), ErrorKind::FailedPrecondition);
  EXPECT_EQ(loader.restore("no state").error().kind(), ErrorKind::DataLoss);
  EXPECT_EQ(loader.state(), before);
  EXPECT_EQ(rest(loader).size(), 5U);
  loader.close();
  EXPECT_EQ(loader.restore(before).error().kind(), ErrorKind::FailedPrecondition);
}

// What it reads may be gone.
class MayBeGone final : public Node {
 public:
  MayBeGone(const Dataset& input, const std::atomic<bool>& is_gone)
      : Node(facts_over(input.node(), "may_be_gone", "", input.spec())), is_gone_(is_gone) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override {
    if (is_gone_) throw Exception(Error(ErrorKind::NotFound, "the source is gone"));
    return input().bind(binding);
  }

 private:
  const std::atomic<bool>& is_gone_;
};

TEST(LoaderRestore, APositionThatCannotBeOpenedIsAnErrorAndTheBeginComesNext) {
  std::atomic<bool> is_gone = false;
  const Dataset dataset(std::make_shared<MayBeGone>(range(9), is_gone));
  Loader loader(dataset, {.threads = 1});
  const std::vector<std::string> expected = rest(loader);
  loader.rewind();
  (void)rest(loader, 4);
  const std::string state = loader.state();
  is_gone = true;
  const auto refused = loader.restore(state);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind(), ErrorKind::NotFound);
  is_gone = false;
  EXPECT_EQ(rest(loader), expected);
  ASSERT_TRUE(loader.restore(state));
  EXPECT_EQ(rest(loader).size(), 5U) << "control";
}

}  // namespace
}  // namespace headpond::internal
