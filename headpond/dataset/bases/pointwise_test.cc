// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/bases/pointwise.h"

#include <set>

#include "headpond/dataset/source/slices_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Gives the value, from a key and a provenance that it spoils; a hole for 1; an error for 2, with a field half made;
// throws for 3.
class Odd final : public Pointwise {
 public:
  explicit Odd(const Node::Ref& input) : Pointwise(facts_of(input)) {}
  Got apply(Element& in, RandomKey, Context& context, OutputSlots, Element& out) const override {
    const int64_t value = in[size_t{0}].as<int64_t>()[0];
    out = std::move(in);
    out.key = 99;
    out.provenance = {};
    if (value == 2) return context.fail(Error(ErrorKind::DataLoss, "two"));
    if (value == 3) throw Exception(Error(ErrorKind::NotFound, "three"));
    return value == 1 ? Got::hole : Got::value;
  }

 private:
  static Facts facts_of(const Node::Ref& input) {
    Facts facts = facts_over(input, "odd", "a=1", input->spec());
    if (facts.kind == Kind::indexed) facts.kind = Kind::sparse;
    return facts;
  }
};
Step odd() {
  return [](const Dataset& input) { return Dataset(std::make_shared<Odd>(input.node())); };
}

// The random word that the first element of an epoch would draw.
class Draw final : public Pointwise {
 public:
  explicit Draw(const Node::Ref& input) : Pointwise(facts_of(input)) {}
  Got apply(Element& in, RandomKey random_key, Context&, OutputSlots, Element& out) const override {
    out.append(Tensor::scalar(static_cast<int64_t>(Random(random_key, in.key).u32())));
    return Got::value;
  }

 private:
  static Facts facts_of(const Node::Ref& input) {
    Facts facts = facts_over(input, "draw", "", {{"", DType::i64, {}}});
    facts.random_streams = {"dice"};
    return facts;
  }
};
Step draw() {
  return [](const Dataset& input) { return Dataset(std::make_shared<Draw>(input.node())); };
}

Dataset source() {
  const std::vector<int64_t> values = {0, 1, 2, 3, 4};
  return slices("rows", "", "pointwise_test_rows", {{"x", Tensor::from(std::span<const int64_t>(values), {5})}});
}

TEST(Pointwise, KeepsKeyAndOrigin) {
  for (const Dataset& dataset : {source() | odd(), source() | as_stream() | odd()}) {
    Sequence sequence(dataset);
    for (const uint64_t place : {0, 4}) {
      auto next = sequence.next();
      while (!next) next = sequence.next();
      EXPECT_EQ(next->key, place);
      EXPECT_EQ(next->provenance.record, place);
      EXPECT_EQ(text_of(*next), fmt::format("{}", place));
    }
  }
}

TEST(Pointwise, NamesOperatorElementAndPlaceOfAnError) {
  for (const Dataset& dataset : {source() | odd(), source() | as_stream() | odd()}) {
    EXPECT_THAT(elements(dataset),
                ElementsAre("0", HasSubstr("!DataLoss: odd(a=1), pointwise_test_rows, record 2: two"),
                            HasSubstr("!NotFound: odd(a=1), pointwise_test_rows, record 3: three"), "4"));
  }
  EXPECT_THAT(elements(range(2, 3) | odd()), ElementsAre(HasSubstr("odd(a=1), range, record 0: two")));
  EXPECT_THAT(elements(script({"2"}) | odd()), ElementsAre(HasSubstr("odd(a=1), element 2: two")))
      << "without a provenance: the key";
}

// Both mix into the key, which nobody could tell apart from another number.
TEST(Pointwise, NamesTheRecordBehindRepeatAndConcatenate) {
  const auto two = HasSubstr("odd(a=1), range, record 2: two");
  for (const Dataset& dataset : {range(3) | repeat(2), concatenate({range(3), range(3)})}) {
    EXPECT_THAT(elements(dataset | odd()), ElementsAre("0", two, "0", two));
    EXPECT_THAT(elements(dataset | as_stream() | odd()), ElementsAre("0", two, "0", two));
  }
}

TEST(Pointwise, LeavesNothingOfAFailedElement) {
  const Dataset dataset = source() | odd();
  const auto view = dataset.node()->bind({});
  Context context;
  for (const int64_t i : {2, 3}) {
    Element out;
    EXPECT_EQ(view->at(i, context, {}, out), Got::error);
    EXPECT_EQ(out.size(), 0U);
    ASSERT_NE(context.error.cause(), nullptr);
    EXPECT_EQ(context.error.cause()->message(), i == 2 ? "two" : "three");
  }
}

TEST(Pointwise, DrawsBySeedEpochAndElement) {
  const auto plain = elements(range(2) | draw(), {.seed = 1, .epochs = 2});
  EXPECT_EQ(elements(range(2) | as_stream() | draw(), {.seed = 1, .epochs = 2}), plain);
  EXPECT_EQ(std::set<std::string>(plain.begin(), plain.end()).size(), 4U);
  const Random first(random_key(1, "dice", 0, 0), 0);
  EXPECT_EQ(plain[0], fmt::format("{}", Random(first).u32()));
  EXPECT_NE(elements(range(2) | draw(), {.seed = 2}), elements(range(2) | draw(), {.seed = 1}));
  EXPECT_NE(elements(range(2) | draw() | draw()), elements(range(2) | draw())) << "the second of a name draws others";
}

TEST(Pointwise, ThatBlocksSaysSoInItsFactsAlone) {
  const auto any = [](int64_t) { return true; };
  const std::vector<std::pair<Step, Step>> pairs = {{map(any), map(any, {.blocking = true})},
                                                    {map("", any), map("", any, {.blocking = true})},
                                                    {filter(any), filter(any, {.blocking = true})}};
  for (const auto& [plain, waits] : pairs) {
    const Dataset one = range(2) | plain, other = range(2) | waits;
    EXPECT_FALSE(one.node()->facts().blocking);
    EXPECT_TRUE(other.node()->facts().blocking);
    EXPECT_EQ(one.plan(), other.plan());
    EXPECT_TRUE(Sequence::restored(other, {}, Sequence(one).state()));
  }
}

TEST(Pointwise, KeepsTheContract) {
  check_contract(range(2) | odd());
  check_contract(range(4) | draw());
  check_contract(range(4) | as_stream() | draw() | draw());
}

}  // namespace
}  // namespace headpond::internal
