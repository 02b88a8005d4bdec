// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/reread_input.h"

#include "headpond/dataset/run_state.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;

// An input of `dataset`, with what it answers as text.
class Reading {
 public:
  explicit Reading(Dataset dataset, int64_t most_held = 10)
      : dataset_(std::move(dataset)), input_(open(*dataset_.node(), {}, feed_), most_held) {}
  std::string next() {
    Element out;
    const Got got = input_.next(context_, out);
    if (got == Got::value) return text_of(out);
    if (got == Got::error) return "!" + context_.error.message();
    return got == Got::hole ? "hole" : got == Got::pending ? "pending" : "end";
  }
  std::string state() {
    StateVisitor visitor;
    input_.visit_state(visitor);
    return visitor.saved();
  }
  bool restore(const std::string& state) {
    StateVisitor visitor = StateVisitor::restoring(state);
    input_.visit_state(visitor);
    return visitor.complete();
  }
  RereadInput& input() { return input_; }

 private:
  const Dataset dataset_;
  SequentialFeed feed_;
  Context context_;
  RereadInput input_;
};

TEST(RereadInput, ReadsFromTheBeginningWhatIsStillNeeded) {
  Reading reading(script({"1", "2", "pending", "3"}));
  for (const char* const answer : {"1", "2", "pending", "3"}) EXPECT_EQ(reading.next(), answer);
  EXPECT_EQ(reading.input().read(), 3);
  const std::string state = reading.state();

  Reading again(script({"1", "2", "pending", "3", "4"}));
  ASSERT_TRUE(again.restore(state));
  EXPECT_EQ(again.state(), state);
  EXPECT_EQ(again.input().read(), 0);
  for (const char* const answer : {"1", "2", "pending", "3"}) {
    EXPECT_TRUE(again.input().is_rereading());
    EXPECT_EQ(again.next(), answer);
  }
  EXPECT_FALSE(again.input().is_rereading());
  EXPECT_EQ(again.state(), state);
  EXPECT_EQ(again.next(), "4");
  EXPECT_EQ(again.next(), "end");
}

TEST(RereadInput, DoesNotDeliverAnErrorTwice) {
  Reading reading(script({"1", "bad", "2", "worse", "3"}));
  for (const char* const answer : {"1", "!bad", "2"}) EXPECT_EQ(reading.next(), answer);
  const std::string state = reading.state();
  Reading again(script({"1", "bad", "2", "worse", "3"}));
  ASSERT_TRUE(again.restore(state));
  for (const char* const answer : {"1", "hole", "2", "!worse", "3", "end"}) EXPECT_EQ(again.next(), answer);
}

TEST(RereadInput, AStateAfterAnErrorThatCameLastKnowsIt) {
  Reading reading(script({"1", "bad", "2"}));
  EXPECT_EQ(reading.next(), "1");
  EXPECT_EQ(reading.next(), "!bad");
  Reading again(script({"1", "bad", "2"}));
  ASSERT_TRUE(again.restore(reading.state()));
  EXPECT_EQ(again.next(), "1");
  EXPECT_TRUE(again.input().is_rereading());
  EXPECT_EQ(again.next(), "hole");
  EXPECT_FALSE(again.input().is_rereading());
  EXPECT_EQ(again.next(), "2");
}

TEST(RereadInput, StartsAtAMultipleOf256BeforeWhatIsNeeded) {
  Reading reading(range(1000) | as_stream());
  for (int64_t i = 0; i < 600; ++i) EXPECT_EQ(reading.next(), std::to_string(i));
  reading.input().release_before(511);
  Reading early(range(1000) | as_stream(), 600);
  ASSERT_TRUE(early.restore(reading.state()));
  EXPECT_EQ(early.next(), "256");
  reading.input().release_before(590);
  Reading late(range(1000) | as_stream());
  ASSERT_TRUE(late.restore(reading.state()));
  EXPECT_EQ(late.input().read(), 512);
  EXPECT_EQ(late.next(), "512");
}

TEST(RereadInput, RefusesAStateThatHoldsMoreThanItEverDoes) {
  Reading reading(range(1000) | as_stream());
  for (int64_t i = 0; i < 300; ++i) (void)reading.next();
  EXPECT_TRUE(Reading(range(1000) | as_stream(), 44).restore(reading.state()));
  EXPECT_FALSE(Reading(range(1000) | as_stream(), 43).restore(reading.state()));
  EXPECT_FALSE(Reading(range(1000) | as_stream()).restore("\1\2\3"));
}

class Throwing final : public Iterator {
 public:
  Got next(Context&, Element&) override { throw Exception(Error(ErrorKind::NotFound, "gone")); }
  void visit_state(StateVisitor&) override {}
};

TEST(RereadInput, AnExceptionIsAnError) {
  RereadInput input(std::make_unique<Throwing>(), 1);
  Context context;
  Element out;
  EXPECT_EQ(input.next(context, out), Got::error);
  EXPECT_EQ(context.error.message(), "gone");
}

}  // namespace
}  // namespace headpond::internal
