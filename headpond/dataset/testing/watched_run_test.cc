// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "headpond/dataset/testing/structure_test_internal.h"
#include "headpond/dataset/testing/watched_run_internal.h"

namespace headpond::internal {
namespace {

using testing::Contains;
using testing::HasSubstr;

WatchedRun watched(const Dataset& dataset, Planted planted, size_t most = 100) {
  return watched_run(*dataset.node(), {}, planted, most);
}
int64_t errors_in(const WatchedRun& run) {
  return std::count_if(run.answers.begin(), run.answers.end(), [](const std::string& one) { return one[0] == '!'; });
}

TEST(WatchedRun, ElementsThatComeLaterAreTheSame) {
  for (const Dataset& dataset : {range(20), range(20) | as_stream() | shuffle(5), range(20) | evens() | batch(3)}) {
    const WatchedRun plain = watched(dataset, Planted::pending);
    EXPECT_EQ(plain.lost_error, "");
    EXPECT_FALSE(plain.stands_still);
    EXPECT_EQ(plain.answers.size(), elements(dataset).size());
  }
}

TEST(WatchedRun, PlantsErrorsInSourcesThatAreReadInAnyWay) {
  EXPECT_EQ(errors_in(watched(range(20), Planted::errors)), 5);
  EXPECT_EQ(errors_in(watched(range(20) | as_stream(), Planted::errors)), 5);
  EXPECT_EQ(errors_in(watched(range(20) | evens(), Planted::errors)), 5) << "at positions";
  EXPECT_EQ(errors_in(watched(concatenate({range(5), range(5)}), Planted::errors)), 4) << "0 and 2 of each";
  EXPECT_THAT(watched(range(20) | evens(), Planted::errors).answers, Contains("!DataLoss: range: planted error 2"));
}

TEST(WatchedRun, NamesTheOperatorThatKeepsAnErrorBack) {
  EXPECT_THAT(
      watched(range(20) | ignore_errors() | batch(2), Planted::errors).lost_error,
      HasSubstr("ignore_errors(): its input answered an error, and it did not: DataLoss: range: planted error 0"));
}

TEST(WatchedRun, MissesNoErrorOfARowThatAnotherInputEnds) {
  // All sources fail at 0 and 2. The first input is one ahead, so it fails in the row in which the other one ends.
  const WatchedRun run = watched(zip({range(5) | as_stream() | skip(1), range(1)}), Planted::errors);
  EXPECT_EQ(run.lost_error, "");
  EXPECT_EQ(errors_in(run), 1) << "of the first row; the other one is in no row";
}

// Ends where its input fails, as a zip does whose other input ends there.
class EndsAtErrors final : public Node {
 public:
  explicit EndsAtErrors(const Dataset& input)
      : Node({.op = "ends_at_errors", .spec = input.spec(), .kind = Kind::stream, .inputs = {input.node()}}) {}
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override {
    class Ending final : public Iterator {
     public:
      explicit Ending(std::unique_ptr<Iterator> input) : input_(std::move(input)) {}
      Got next(Context& context, Element& out) override {
        const Got got = input_->next(context, out);
        return got == Got::error ? Got::end : got;
      }
      void visit_state(StateVisitor& visitor) override { input_->visit_state(visitor); }

     private:
      const std::unique_ptr<Iterator> input_;
    };
    return std::make_unique<Ending>(feed.open(input(), binding));
  }
};

TEST(WatchedRun, NamesAnyOtherOperatorThatEndsInPlaceOfAnError) {
  const WatchedRun run = watched(Dataset(std::make_shared<EndsAtErrors>(range(5))), Planted::errors);
  EXPECT_THAT(run.lost_error, HasSubstr("ends_at_errors(): its input answered an error, and it did not"));
  EXPECT_EQ(errors_in(run), 0);
}

TEST(WatchedRun, TakesNoMoreThanItMay) {
  EXPECT_EQ(watched(range(3) | repeat(), Planted::pending, 40).answers.size(), 40U);
  EXPECT_TRUE(watched(script(std::vector<std::string>(6000, "pending")), Planted::pending).stands_still);
}

}  // namespace
}  // namespace headpond::internal
