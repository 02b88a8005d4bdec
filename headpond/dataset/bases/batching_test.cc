// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/batching.h"

#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Fails for the given numbers; those after them are good.
Step failing_at(const std::vector<int64_t>& bad) {
  return map([bad](int64_t x) -> Result<int64_t> {
    if (std::find(bad.begin(), bad.end(), x) != bad.end()) return fail(ErrorKind::DataLoss, "bad");
    return x;
  });
}

// Values as they are; "!" for an error.
std::vector<std::string> outline(const Dataset& dataset) {
  std::vector<std::string> all = elements(dataset);
  for (std::string& line : all) line = line.starts_with('!') ? "!" : line;
  return all;
}

TEST(Batching, GivesAnErrorInPlaceOfItsBatchAndLosesNoNeighbour) {
  struct Case {
    std::vector<int64_t> bad;
    bool drop;
    std::vector<std::string> expected;
  };
  const std::vector<Case> cases = {
      {{0}, false, {"!", "[1 2]", "[3 4]", "[5 6]"}},
      {{3}, false, {"[0 1]", "!", "[2 4]", "[5 6]"}},
      {{2, 3}, false, {"[0 1]", "!", "!", "[4 5]", "[6]"}},
      {{6}, false, {"[0 1]", "[2 3]", "[4 5]", "!"}},
      {{5}, true, {"[0 1]", "[2 3]", "!", "[4 6]"}},
      {{5, 6}, true, {"[0 1]", "[2 3]", "!", "!"}},
      {{0, 1, 2, 3, 4, 5, 6}, false, {"!", "!", "!", "!", "!", "!", "!"}},
  };
  for (const Case& c : cases) {
    const BatchOptions options = {.drop_remainder = c.drop};
    const PaddedBatchOptions padded = {.drop_remainder = c.drop};
    EXPECT_EQ(outline(range(7) | failing_at(c.bad) | batch(2, options)), c.expected);
    EXPECT_EQ(outline(range(7) | as_stream() | failing_at(c.bad) | batch(2, options)), c.expected);
    EXPECT_EQ(outline(range(7) | failing_at(c.bad) | padded_batch(2, padded)), c.expected);
  }
}

// What looks at a pipeline, as explain does, asks for the role and knows no operator's name.
TEST(Batching, HasARoleWhateverItsName) {
  class Pairs final : public Batching {
   public:
    explicit Pairs(const Node::Ref& input) : Batching("pairs", "", input, input->spec(), 2, false) {}
    Error check(const Element*, int64_t, const Element&) const override { return {}; }
    void stack(std::span<const Element>, Context&, OutputSlots, Element&) const override {}
  };
  EXPECT_EQ(Pairs(range(4).node()).facts().role, Role::batch);
  EXPECT_EQ((range(4) | batch(2)).node()->facts().role, Role::batch);
  EXPECT_EQ((range(4) | padded_batch(2)).node()->facts().role, Role::batch);
  EXPECT_EQ(range(4).node()->facts().role, Role::other);
}

TEST(Batching, StaysBeforeAnErrorInItsState) {
  const Dataset dataset = range(7) | failing_at({3}) | batch(2);
  Sequence sequence(dataset);
  EXPECT_EQ(text_of(*sequence.next()), "[0 1]");
  const std::string before = sequence.state();
  EXPECT_FALSE(sequence.next());
  EXPECT_EQ(sequence.state(), before);
  EXPECT_EQ(text_of(*sequence.next()), "[2 4]");
  auto after = Sequence::restored(dataset, {}, sequence.state());
  EXPECT_EQ(text_of(*after->next()), "[5 6]");
  auto again = Sequence::restored(dataset, {}, before);
  EXPECT_FALSE(again->next());
  EXPECT_EQ(text_of(*again->next()), "[2 4]");
}

TEST(Batching, IsStrictByPosition) {
  for (const Step& step : {batch(2), padded_batch(2)}) {
    const Dataset dataset = range(7) | failing_at({3}) | step;
    const auto view = dataset.node()->bind({});
    Context context;
    for (int64_t k = 0; k < 4; ++k) {
      Element out;
      EXPECT_EQ(view->at(k, context, {}, out), k == 1 ? Got::error : Got::value);
      EXPECT_EQ(out.size(), k == 1 ? 0U : 1U);
      if (k != 1) {
        EXPECT_EQ(out.key, batch_key(k));
      }
    }
    EXPECT_THAT(context.error.message(), HasSubstr("range, record 3: bad"));
  }
}

// pending before each element, and one that fails between.
class Slow final : public Node {
 public:
  Slow() : Node({.op = "slow", .spec = {{"", DType::i32, {}}}, .kind = Kind::stream, .slots = kEndless}) {}
  std::unique_ptr<Iterator> iterate(const Binding&, Feed&) const override {
    class SlowIterator final : public Iterator {
      Got next(Context& context, Element& out) override {
        ++calls_;
        if (calls_ % 2 == 1) return Got::pending;
        if (calls_ == 4) return context.fail({ErrorKind::DataLoss, "bad"});
        if (calls_ > 10) return Got::end;
        out.append(Tensor::scalar(calls_));
        return Got::value;
      }
      void visit_state(StateVisitor&) override {}
      int calls_ = 0;
    };
    return std::make_unique<SlowIterator>();
  }
};

class NoFeed final : public Feed {
 public:
  std::unique_ptr<Iterator> open(const Node& input, const Binding& binding) override {
    return input.iterate(binding, *this);
  }
};

TEST(Batching, GivesLaterAtOnceAndKeepsWhatItGathered) {
  const Dataset dataset = Dataset(std::make_shared<Slow>()) | batch(3);
  NoFeed feed;
  Context context;
  const auto iterator = open(*dataset.node(), {}, feed);
  std::vector<std::string> seen;
  for (Got got = Got::pending; got != Got::end;) {
    Element out;
    got = iterator->next(context, out);
    seen.push_back(got == Got::value ? text_of(out) : got == Got::pending ? "pending" : got == Got::end ? "end" : "!");
  }
  EXPECT_THAT(seen, ElementsAre("pending", "pending", "!", "pending", "pending", "[2 6 8]", "pending", "pending",
                                "[10]", "pending", "end"));
}

TEST(Batching, HasItsNumberAsOriginWhateverMakesIt) {
  const auto fails_at_4 = [](const Tensor& rows) -> Result<Tensor> {
    if (rows.as<int64_t>()[0] == 4) return fail(ErrorKind::DataLoss, "bad");
    return rows;
  };
  const Step then = map(fails_at_4, {.output = {{"", DType::i64, {kUnknown}}}});
  for (const Dataset& numbers : {range(7), range(7) | as_stream()}) {
    for (const Step& step : {batch(2), padded_batch(2)}) {
      EXPECT_THAT(elements(numbers | step | then),
                  ElementsAre("[0 1]", "[2 3]", HasSubstr("map(opaque), batch, record 2: bad"), "[6]"));
    }
  }
}

TEST(Batching, CountsRowsOfTheLastBatch) {
  const Dataset dataset = range(7) | batch(3);
  const auto& node = dynamic_cast<const Batching&>(*dataset.node());
  EXPECT_EQ(node.rows_at(0), 3);
  EXPECT_EQ(node.rows_at(2), 1);
}

}  // namespace
}  // namespace headpond::internal
