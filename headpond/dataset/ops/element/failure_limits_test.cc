// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <functional>

#include "headpond/dataset/ops/element/failure_limits_internal.h"
#include "headpond/dataset/run_state.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

const Error kBad(ErrorKind::DataLoss, "bad");

// The first failure that exceeds a limit, from 1; 0: none does.
int first_exceeding(FailureLimits limits, const std::function<bool(int64_t)>& fails, int64_t elements) {
  int failures = 0;
  for (int64_t i = 0; i < elements; ++i) {
    if (!fails(i)) {
      limits.count_good();
      continue;
    }
    ++failures;
    if (!limits.count_bad(kBad).empty()) return failures;
  }
  return 0;
}
const auto kEveryThird = [](int64_t i) { return i % 3 == 0; };

TEST(FailureLimits, AllowSoManyInAnEpoch) {
  EXPECT_EQ(first_exceeding(FailureLimits({.max_errors = 4, .max_error_share = 1}), kEveryThird, 300), 5);
  EXPECT_EQ(first_exceeding(FailureLimits({.max_errors = 0, .max_error_share = 1}), kEveryThird, 300), 1);
  EXPECT_EQ(first_exceeding(FailureLimits({.max_errors = 100, .max_error_share = 1}), kEveryThird, 300), 0);
  EXPECT_EQ(first_exceeding(FailureLimits({.max_error_share = 1}), kEveryThird, 3000), 0);
}

TEST(FailureLimits, AllowAShareOfTheLastElements) {
  const auto with = [](double share, int64_t window) {
    return FailureLimits({.max_error_share = share, .window = window});
  };
  for (const int percent : {1, 7, 14, 28, 29, 55, 56, 57, 58, 99}) {
    const double share = percent / 100.0;
    FailureLimits limits({.max_error_share = share, .window = 100, .give_up_after = 0});
    EXPECT_EQ(first_exceeding(
                  std::move(limits), [](int64_t) { return true; }, 300),
              percent + 1)
        << share;
  }
  EXPECT_EQ(first_exceeding(with(0.33, 9), kEveryThird, 300), 3) << "floor(2.97) are allowed";
  EXPECT_EQ(first_exceeding(with(0.34, 9), kEveryThird, 300), 0);
  EXPECT_EQ(first_exceeding(with(0, 9), kEveryThird, 300), 1);
  EXPECT_EQ(first_exceeding(with(0.01, 10'000), kEveryThird, 300), 0) << "100 are allowed before the window is full";
  EXPECT_EQ(first_exceeding(with(0.01, 10'000), kEveryThird, 400), 101);
  // Two failures with `distance` between their numbers: in one window of 10 if that is below 10.
  for (const int64_t distance : {9, 10}) {
    EXPECT_EQ(first_exceeding(
                  with(0.1, 10), [=](int64_t i) { return i == 5 || i == 5 + distance; }, 30),
              distance == 9 ? 2 : 0);
  }
}

TEST(FailureLimits, GiveUpAfterSoManyInARow) {
  const auto from_5 = [](int64_t i) { return i >= 5; };
  const auto all_but_one = [](int64_t i) { return i % 10 != 9; };
  EXPECT_EQ(first_exceeding(FailureLimits(OnErrorOptions{}), from_5, 100), 10);
  EXPECT_EQ(first_exceeding(FailureLimits({.max_error_share = 1}), all_but_one, 1000), 0);
  EXPECT_EQ(first_exceeding(FailureLimits({.max_error_share = 1, .give_up_after = 9}), all_but_one, 1000), 9);
  EXPECT_EQ(first_exceeding(FailureLimits({.give_up_after = 1}), from_5, 100), 1);
}

TEST(FailureLimits, TellTheCommonCause) {
  const auto cause_of = [](const std::vector<Error>& errors) {
    FailureStreak streak;
    for (const Error& error : errors) streak.add(error);
    return streak.common_cause();
  };
  const auto read = [](int record, ErrorKind kind, const std::string& what) {
    return Error(kind, "map(f), record " + std::to_string(record) + ": " + what, Error(kind, what));
  };
  using enum ErrorKind;
  EXPECT_EQ(cause_of({read(1, DataLoss, "at 17: cut"), read(2, DataLoss, "at 2345: cut")}),
            "all with DataLoss: 'at #: cut'");
  EXPECT_EQ(cause_of({read(1, DataLoss, "cut"), read(2, DataLoss, "torn")}), "all with DataLoss");
  EXPECT_EQ(cause_of({read(1, DataLoss, "cut"), read(2, Unknown, "cut")}), "with errors of several kinds");
  EXPECT_LT(cause_of({Error(Unknown, std::string(100'000, 'x'))}).size(), 300U) << "it is part of the state";
}

TEST(FailureLimits, DecideTheSameAfterARestore) {
  const OnErrorOptions options{.max_errors = 40, .max_error_share = 0.5, .window = 40, .give_up_after = 4};
  const auto fails = [](int64_t i) { return i * i % 7 == 1 || i > 100; };
  const auto run = [&](int64_t restore_every) {
    auto limits = std::make_unique<FailureLimits>(options);
    std::string all;
    for (int64_t i = 0; i < 110; ++i) {
      std::string said;
      if (fails(i)) {
        said = limits->count_bad(Error(ErrorKind::DataLoss, "at " + std::to_string(i)));
      } else {
        limits->count_good();
      }
      if (!said.empty()) return all + std::to_string(i) + ": " + said;
      StateVisitor saving;
      limits->visit_state(saving);
      if (restore_every > 0) all += saving.saved() + "\n";
      if (restore_every != 1) continue;
      limits = std::make_unique<FailureLimits>(options);
      StateVisitor restoring = StateVisitor::restoring(saving.saved());
      limits->visit_state(restoring);
      EXPECT_TRUE(restoring.complete()) << i;
    }
    return all;
  };
  EXPECT_EQ(run(1), run(2));
  EXPECT_THAT(run(0), HasSubstr("4 elements in a row failed, all with DataLoss: 'at #'"));
}

TEST(FailureLimits, RefuseImpossibleStates) {
  FailureLimits limits({.max_error_share = 0.5, .window = 4});
  for (int i = 0; i < 2; ++i) {
    limits.count_good();
    (void)limits.count_bad(kBad);
  }
  StateVisitor saving;
  limits.visit_state(saving);
  int accepted = 0;
  for (size_t at = 0; at < saving.saved().size(); ++at) {
    std::string damaged = saving.saved();
    damaged[at] = '\x7e';
    FailureLimits restored({.max_error_share = 0.5, .window = 4});
    StateVisitor restoring = StateVisitor::restoring(damaged);
    restored.visit_state(restoring);
    accepted += restoring.complete() ? 1 : 0;
  }
  EXPECT_LE(accepted, 4) << "only the number of elements and characters of the text may be anything";
}

TEST(IsBadData, IsNotWhatAnotherRunMightNotHave) {
  using enum ErrorKind;
  for (const ErrorKind kind :
       {OutOfRange, InvalidArgument, DataLoss, NotFound, ResourceExhausted, Unimplemented, Unknown})
    EXPECT_TRUE(is_bad_data(Error(kind, "x"))) << to_string(kind);
  for (const ErrorKind kind : {Cancelled, DeadlineExceeded, FailedPrecondition})
    EXPECT_FALSE(is_bad_data(Error(kind, "x"))) << to_string(kind);
  for (const int number : {ESTALE, ETIMEDOUT, ENOTCONN, EIO, ENOMEM, EMFILE})
    EXPECT_FALSE(is_bad_data(Error(DataLoss, "outer", Error::of_system(DataLoss, "inner", number)))) << number;
  EXPECT_TRUE(is_bad_data(Error::of_system(NotFound, "x", ENOENT)));
  try {
    throw std::bad_alloc();
  } catch (...) {
    EXPECT_FALSE(is_bad_data(current_exception_error())) << "no memory at this moment";
  }
}

}  // namespace
}  // namespace headpond::internal
