// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cmath>
#include <set>

#include "headpond/dataset/ops/fold/evaluate.h"
#include "headpond/dataset/testing/contract.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

// Every third number is bad, 5 throws, and 77 is not about the data.
const auto kDoubting = [](int64_t x) -> Result<int64_t> {
  if (x % 3 == 1) return fail(ErrorKind::DataLoss, fmt::format("no {}", x));
  if (x == 5) throw std::runtime_error("five");
  if (x == 77) return fail(Error::of_system(ErrorKind::DataLoss, "the disk", EIO));
  return x;
};
Step doubting() { return map(kDoubting, {.name = "doubting"}); }
Step skipping(OnErrorOptions options = {}) { return on_error(options); }
Step substituting(int64_t value, OnErrorOptions options = {}) {
  options.policy = OnErrorPolicy::substitute;
  options.substitute = Element{Tensor::scalar(value)};
  return on_error(options);
}

// What on_error said on the way, in order of delivery: "skipped 4 at 4 #0: text".
std::vector<std::string> failed_of(const Dataset& dataset, const Binding& binding = {}) {
  PlainFeed feed;
  Context context;
  const auto iterator = open(*dataset.node(), binding, feed);
  for (int calls = 0; calls < 100; ++calls) {
    Element out;
    if (iterator->next(context, out) == Got::end) break;
  }
  std::vector<std::string> all;
  for (const FailedElement& one : context.failed) {
    all.push_back(fmt::format("{} {} at {} #{} {}: {}", to_string(one.action), one.element_number, one.position,
                              one.error_number, to_string(one.provenance), one.error.message()));
  }
  return all;
}

TEST(OnError, SkipsWhatFailed) {
  EXPECT_THAT(elements(range(7) | doubting() | skipping(), {}, true), ElementsAre("0 #0", "2 #2", "3 #3", "6 #6"));
  EXPECT_THAT(elements(range(7) | as_stream() | doubting() | skipping()), ElementsAre("0", "2", "3", "6"));
  EXPECT_THAT(answers(script({"1", "bad", "pending", "worse", "bad", "2", "bad"}) | skipping()),
              ElementsAre("1", "pending", "2", "end"));
  EXPECT_THAT(elements(range(9) | doubting() | batch(2) | skipping()), ElementsAre("[0 2]", "[3 6]", "[8]"));
  EXPECT_THAT(elements(range(0) | skipping()), IsEmpty());
}

TEST(OnError, SubstitutesWhatFailed) {
  EXPECT_THAT(elements(range(7) | doubting() | substituting(-1), {}, true),
              ElementsAre("0 #0", "-1 #1", "2 #2", "3 #3", "-1 #4", "-1 #5", "6 #6"));
  EXPECT_THAT(elements(range(7) | as_stream() | doubting() | substituting(-1)),
              ElementsAre("0", "-1", "2", "3", "-1", "-1", "6"));
  EXPECT_THAT(elements(range(5) | doubting() | substituting(-1) | repeat(2) | enumerate() | batch(5)),
              ElementsAre("[0 1 2 3 4], [0 -1 2 3 -1]", "[5 6 7 8 9], [0 -1 2 3 -1]"));
  const Dataset rows = range(3) | map([](int64_t x) -> Result<std::tuple<int64_t, std::string>> {
                         if (x == 1) return fail(ErrorKind::DataLoss, "one");
                         return std::tuple(x, std::string("row"));
                       });
  const Element both{Tensor::scalar(int64_t{-1}), Tensor::scalar("none")};
  EXPECT_THAT(elements(rows | on_error({.policy = OnErrorPolicy::substitute, .substitute = both})),
              ElementsAre("0, 'row'", "-1, 'none'", "2, 'row'"));
}

TEST(OnError, PassesErrorsOnThatItMustNotHide) {
  EXPECT_THAT(elements(range(76, 79) | doubting() | skipping()), ElementsAre(HasSubstr("the disk"), "78"));
  EXPECT_THAT(elements(range(76, 79) | doubting() | substituting(-1)), ElementsAre("-1", HasSubstr("the disk"), "78"));
  for (const ErrorKind kind : {ErrorKind::Cancelled, ErrorKind::DeadlineExceeded, ErrorKind::FailedPrecondition}) {
    const auto refusing = [kind](int64_t x) -> Result<int64_t> {
      if (x == 1) return fail(kind, "not the data");
      return x;
    };
    EXPECT_THAT(elements(range(3) | map(refusing) | skipping()), ElementsAre("0", HasSubstr("not the data"), "2"));
  }
  EXPECT_THAT(failed_of(range(76, 79) | doubting() | skipping()), SizeIs(1)) << "only what was skipped";
}

TEST(OnError, WithFailPassesEachErrorOnAndTellsIt) {
  const Dataset all = range(3, 7) | doubting() | on_error({.policy = OnErrorPolicy::fail});
  EXPECT_THAT(elements(all), ElementsAre("3", HasSubstr("no 4"), HasSubstr("five"), "6"));
  EXPECT_THAT(failed_of(all),
              ElementsAre(HasSubstr("failed 1 at 1 #0 range, record 1"), HasSubstr("failed 2 at 2 #1")));
  const auto bad = [](int64_t) -> Result<int64_t> { return fail(ErrorKind::DataLoss, "bad"); };
  EXPECT_THAT(elements(range(50) | map(bad) | on_error({.policy = OnErrorPolicy::fail})), SizeIs(50)) << "no limits";
}

TEST(OnError, HandlesWhatIsBelowUpToTheNextOne) {
  const auto above = map([](int64_t x) -> Result<int64_t> {
    if (x == 3) return fail(ErrorKind::DataLoss, "three");
    return x;
  });
  const Dataset all = range(5) | doubting() | substituting(-1) | above | skipping();
  EXPECT_THAT(elements(all), ElementsAre("0", "-1", "2", "-1"));
  EXPECT_THAT(elements(range(5) | doubting() | skipping() | above), ElementsAre("0", "2", HasSubstr("three")));
  EXPECT_THAT(failed_of(all), ElementsAre(HasSubstr("substituted 1 at 1 #0"), HasSubstr("skipped 3 at -1 #0"),
                                          HasSubstr("substituted 4 at 4 #1")));
  // What ends the run below goes through.
  EXPECT_THAT(elements(range(5) | doubting() | skipping({.max_errors = 0}) | substituting(9)),
              testing::Contains(HasSubstr("max_errors=0")));
}

TEST(OnError, TellsEachFailureWithItsPlace) {
  EXPECT_THAT(failed_of(range(7) | doubting() | skipping()),
              ElementsAre("skipped 1 at 1 #0 range, record 1: map(doubting, version=0), range, record 1: no 1",
                          "skipped 4 at 4 #1 range, record 4: map(doubting, version=0), range, record 4: no 4",
                          "skipped 5 at 5 #2 range, record 5: map(doubting, version=0), range, record 5: five"));
  EXPECT_THAT(failed_of(range(7) | evens() | doubting() | skipping()),
              ElementsAre(HasSubstr("skipped 2 at 4 #0 range, record 4")))
      << "the third element, at position 4";
  EXPECT_THAT(failed_of(range(5) | as_stream() | doubting() | skipping()),
              ElementsAre(HasSubstr("skipped 1 at -1 #0 range, record 1"), HasSubstr("skipped 4 at -1 #1")));
  EXPECT_THAT(failed_of(range(5) | doubting() | batch(2) | skipping()),
              ElementsAre(HasSubstr("range, record 1"), HasSubstr("range, record 4")));
}

TEST(OnError, TellsThePositionsOfShuffledBatches) {
  PlainFeed feed;
  Context context;
  const Dataset dataset = range(7) | doubting() | batch(1) | shuffle() | skipping();
  const auto iterator = open(*dataset.node(), {.seed = 3}, feed);
  for (Element out; iterator->next(context, out) != Got::end;) out.clear();
  ASSERT_EQ(context.failed.size(), 3U);
  for (const FailedElement& one : context.failed) EXPECT_EQ(one.position, one.element_number);
}

TEST(OnError, EndsTheRunWhenALimitIsExceeded) {
  const Dataset some = range(100) | doubting();
  Sequence sequence(some | skipping({.max_errors = 2}));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(sequence.next());
  const std::string state = sequence.state();
  for (int i = 0; i < 3; ++i) {
    const auto ended = sequence.next();
    ASSERT_FALSE(ended);
    EXPECT_EQ(ended.error().kind(), ErrorKind::FailedPrecondition);
    EXPECT_THAT(ended.error().message(), AllOf(HasSubstr("on_error(policy=skip"), HasSubstr("3 elements failed")));
    EXPECT_THAT(ended.error().cause()->message(), HasSubstr("five"));
    EXPECT_EQ(sequence.state(), state);
  }
  auto again = Sequence::restored(some | skipping({.max_errors = 2}), {}, state);
  ASSERT_TRUE(again);
  EXPECT_THAT(again->next().error().message(), HasSubstr("3 elements failed"));
  EXPECT_THAT(failed_of(some | skipping({.max_errors = 2})),
              ElementsAre(HasSubstr("skipped 1"), HasSubstr("skipped 4"), HasSubstr("failed 5")));
}

TEST(OnError, GivesUpWhenEverythingFailsAndSaysWhy) {
  const auto broken = [](int64_t x) -> Result<int64_t> {
    if (x < 3) return x;
    return fail(ErrorKind::DataLoss, fmt::format("no magic number at offset {}", x * 100));
  };
  for (const Step& step : {skipping(), substituting(-1)}) {
    Sequence sequence(range(1000) | map(broken) | step);
    auto last = sequence.next();
    while (last) last = sequence.next();
    EXPECT_THAT(last.error().message(), AllOf(HasSubstr("10 elements in a row failed"),
                                              HasSubstr("all with DataLoss: 'no magic number at offset #'")));
  }
  // A source that is lost gives its error again and again.
  const Dataset lost = from_generator(
      [](uint64_t) {
        return Generator([]() -> Result<std::optional<Element>> { return fail(ErrorKind::DataLoss, "lost"); });
      },
      {{"", i64, {}}}, {.name = "lost"});
  EXPECT_THAT(Sequence(lost | skipping()).next().error().message(), HasSubstr("'lost'"));
}

TEST(OnError, CountsEachEpochByItself) {
  const Dataset some = range(5) | doubting() | skipping({.max_errors = 2});
  EXPECT_THAT(elements(some, {.epochs = 3}), SizeIs(9));
  EXPECT_THAT(elements(some | repeat(3)), SizeIs(9));
  EXPECT_THAT(elements(range(5) | doubting() | repeat(3) | skipping({.max_errors = 2})),
              testing::Contains(HasSubstr("3 elements failed")));
}

TEST(OnError, KeepsPositionsUnlessItSkips) {
  const Dataset some = range(7) | doubting();
  EXPECT_EQ((some | skipping()).kind(), Kind::stream);
  EXPECT_EQ((some | substituting(0)).kind(), Kind::indexed);
  EXPECT_EQ((some | substituting(0)).cardinality(), 7);
  EXPECT_EQ((some | evens() | substituting(0)).kind(), Kind::sparse);
  EXPECT_EQ((some | on_error({.policy = OnErrorPolicy::fail})).kind(), Kind::indexed);
  EXPECT_THAT(at(some | substituting(0), 1).error().message(), HasSubstr("no 1")) << "by position it does not act";
}

template <class Build>
std::string refusal(Build build) {
  try {
    build();
  } catch (const Exception& e) {
    return e.error().message();
  }
  return "";
}

TEST(OnError, IsNotReadByPosition) {
  const Dataset all = range(9) | doubting() | substituting(0);
  for (const Step& reader : {shuffle(), shuffle(3), select({1, 2}), sample_weighted(std::vector<double>(9, 1), 3)}) {
    EXPECT_THAT(refusal([&] { (void)(all | reader); }), HasSubstr("put on_error after"));
  }
  EXPECT_THAT(elements(all | as_stream() | shuffle(3)), SizeIs(9));
  EXPECT_THAT(elements(range(9) | shuffle() | doubting() | substituting(0)), SizeIs(9));
}

TEST(OnError, RefusesWrongOptions) {
  EXPECT_THAT(refusal([] { (void)on_error({.max_error_share = 1.5}); }),
              HasSubstr("max_error_share=1.5: must be 0 to 1"));
  EXPECT_THAT(refusal([] { (void)on_error({.max_error_share = std::nan("")}); }), HasSubstr("must be 0 to 1"));
  EXPECT_THAT(refusal([] { (void)on_error({.policy = static_cast<OnErrorPolicy>(3)}); }),
              HasSubstr("on_error: policy=3 is unknown"));
  EXPECT_THAT(refusal([] { (void)on_error({.window = 0}); }), HasSubstr("window=0"));
  EXPECT_THAT(refusal([] { (void)on_error({.give_up_after = 0}); }), HasSubstr("give_up_after=0: must be 1 to 1000"));
  EXPECT_THAT(refusal([] { (void)on_error({.max_error_share = 0.5, .window = 3000}); }), HasSubstr("1500 failures"));
  const Element number{Tensor::scalar(1.5F)};
  EXPECT_THAT(
      refusal([&] { (void)(range(3) | on_error({.policy = OnErrorPolicy::substitute, .substitute = number})); }),
      HasSubstr("expected {0: int64[]}, found {0: float32[]}"));
  EXPECT_THAT(refusal([&] { (void)(range(3) | on_error({.policy = OnErrorPolicy::substitute})); }),
              HasSubstr("needs a substitute, an element of {0: int64[]}"));
  EXPECT_THAT(refusal([&] { (void)(range(3) | on_error({.substitute = number})); }), HasSubstr("another policy"));
}

TEST(OnError, IsInThePlanWithAllThatItDecidesBy) {
  EXPECT_THAT((range(3) | skipping({.max_errors = 5})).plan(),
              HasSubstr("on_error(policy=skip, max_errors=5, max_error_share=0.01, window=10000, give_up_after=10)"));
  EXPECT_NE((range(3) | substituting(1)).plan(), (range(3) | substituting(2)).plan());
  Sequence sequence(range(9) | skipping());
  EXPECT_FALSE(Sequence::restored(range(9) | skipping({.give_up_after = 9}), {}, sequence.state()));
}

// From each place a restored run gives the same rest, errors included, and ends in the same state.
void check_restores(const Dataset& dataset, size_t most = 60) {
  const auto outcomes = [&](Sequence& sequence) {
    std::vector<std::string> all;
    for (size_t i = 0; i < most; ++i) {
      const auto next = sequence.next();
      all.push_back(at_end(next) ? "end" : next ? text_of(*next) : "!" + next.error().to_string());
      all.push_back(sequence.state());
      if (at_end(next)) break;
    }
    return all;
  };
  Sequence whole(dataset, {.epochs = 2}), stepping(dataset, {.epochs = 2});
  const auto all = outcomes(whole);
  for (size_t taken = 0; 2 * taken < all.size(); ++taken) {
    auto restored = Sequence::restored(dataset, {.epochs = 2}, stepping.state());
    ASSERT_TRUE(restored) << restored.error();
    auto rest = outcomes(*restored);
    rest.resize(std::min(rest.size(), all.size() - 2 * taken));
    ASSERT_EQ(rest, std::vector(all.begin() + static_cast<std::ptrdiff_t>(2 * taken), all.end())) << "from " << taken;
    if (!stepping.next()) break;  // An error comes again after a restore.
  }
}

void keeps_contract(const Dataset& dataset) { EXPECT_EQ(sequence_violation(dataset, {.may_ignore_errors = true}), ""); }

TEST(OnError, KeepsTheContract) {
  keeps_contract(range(20) | doubting() | skipping());
  keeps_contract(range(20) | as_stream() | doubting() | skipping() | repeat(2));
  keeps_contract(range(20) | doubting() | skipping({.max_errors = 8, .max_error_share = 0.8, .window = 5}) | batch(3));
  keeps_contract(range(20) | doubting() | skipping() | shuffle(4));
  keeps_contract(range(20) | doubting() | skipping() | map([](int64_t x) { return x % 5; }) | unique());
  keeps_contract(range(20) | as_stream() | doubting() | substituting(-1) | batch(3));
  keeps_contract(range(20) | substituting(-1) | batch(3));
  keeps_contract(range(0) | skipping());
  check_restores(range(60) | doubting() | skipping({.max_errors = 9}));
  check_restores(range(60) | doubting() | substituting(-1, {.max_error_share = 0.3, .window = 12, .give_up_after = 3}));
}

TEST(OnError, ALimitThatWasExceededBesideOtherDatasetsStaysSo) {
  for (const OnErrorOptions& options :
       {OnErrorOptions{.max_errors = 2, .max_error_share = 1}, OnErrorOptions{.max_error_share = 0.2, .window = 5},
        OnErrorOptions{.max_error_share = 1, .give_up_after = 2}}) {
    const Dataset limited = range(40) | doubting() | skipping(options), others = range(1000, 1040);
    for (const Dataset& both : {concatenate({limited, others}), sample_from_datasets({limited, others}),
                                limited | interleave([](int64_t x) { return range(100 * x, 100 * x + 9); },
                                                     {.cycle_length = 4, .name = "hundreds"})}) {
      // The next ones of a run, and how many are errors.
      const auto texts = [](Sequence& sequence, int calls, int most_errors) {
        std::vector<std::string> all;
        for (int errors = 0; std::ssize(all) < calls && errors < most_errors;) {
          const auto next = sequence.next();
          errors += next ? 0 : 1;
          all.push_back(next ? to_string((*next)[0]) : next.error().message());
        }
        return all;
      };
      Sequence sequence(both);
      EXPECT_THAT(texts(sequence, 200, 2).back(), HasSubstr("on_error(")) << both.plan();
      auto restored = Sequence::restored(both, {}, sequence.state());
      ASSERT_TRUE(restored) << both.plan();
      // A state is taken after the last good element, so a restored run repeats the errors that followed it.
      const auto from_an_element = [](std::vector<std::string> all) {
        const auto first = std::ranges::find_if(all, [](const auto& one) { return !one.starts_with("on_error("); });
        all.erase(all.begin(), first);
        all.resize(std::min<size_t>(all.size(), 25));
        return all;
      };
      const auto rest = texts(*restored, 30, 30);
      EXPECT_EQ(from_an_element(rest), from_an_element(texts(sequence, 30, 30))) << both.plan();
      EXPECT_THAT(rest, testing::Contains(HasSubstr("on_error("))) << both.plan();
    }
  }
}

TEST(OnError, ASubstituteHasTheKeyOfWhatFailed) {
  const auto some = [](int64_t x) -> Result<Dataset> {
    if (x % 4 == 1) return fail(ErrorKind::DataLoss, "none");
    return range(x, x + 2);
  };
  const OnErrorOptions all = {.max_error_share = 1, .give_up_after = 1000};
  for (const Kind kind : {Kind::indexed, Kind::stream}) {
    const Dataset nested = range(12) |
                           flat_map(some, {.output = {{"", DType::i64, {}}}, .kind = kind, .name = "some"}) |
                           substituting(-1, all);
    std::set<uint64_t> keys;
    Sequence sequence(nested);
    for (auto next = sequence.next(); !at_end(next); next = sequence.next()) {
      if ((*next)[size_t{0}].item<int64_t>() == -1) keys.insert(next->key);
    }
    EXPECT_THAT(keys, SizeIs(3));
    keeps_contract(nested | shard(2, 0) | random_u32());
    keeps_contract(nested | shard(2, 1) | skip(1) | random_u32());
  }
  const Dataset choices = range(30) | map([](int64_t x) -> Result<int64_t> {
                            if (x % 5 == 2) return fail(ErrorKind::DataLoss, "no choice");
                            return x % 2;
                          });
  keeps_contract(choose_from_datasets({range(9), range(100, 120)}, choices) | substituting(-1, all) | shard(2, 1) |
                 random_u32());
}

// Operators that read their input again after a restore tell nothing twice.
TEST(OnError, TellsNothingTwiceAfterARestore) {
  const auto mod = map([](int64_t x) { return x % 9; });
  const Dataset some = range(40) | doubting() | skipping({.max_error_share = 1});
  for (const Dataset& dataset : {some, some | shuffle(4), some | mod | unique(), some | cache(), some | batch(4),
                                 some | batch(4) | rebatch(3), some | batch(4) | unbatch()}) {
    const auto count = [](Sequence& sequence, int calls) {
      int64_t skipped = 0;
      for (int i = 0; i < calls && sequence.next(); ++i) continue;
      for (const FailedCounts& one : sequence.failed()) skipped += one.skipped;
      return skipped;
    };
    Sequence whole(dataset);
    EXPECT_EQ(count(whole, 100), 14) << dataset.plan();
    for (int cut = 0; cut < 9; ++cut) {
      Sequence first(dataset);
      const int64_t before = count(first, cut);
      const Dataset fresh(dataset);
      auto second = Sequence::restored(fresh, {}, first.state());
      ASSERT_TRUE(second);
      if (dataset.node()->facts().role == Role::store) continue;  // The first run has filled the cache.
      EXPECT_EQ(before + count(*second, 100), 14) << dataset.plan() << cut;
    }
  }
}

}  // namespace
}  // namespace headpond::internal
