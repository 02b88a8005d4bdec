// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/held_input_internal.h"
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"
#include "headpond/dataset/run_state.h"
#include "headpond/tensor/memory_account.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Counts how often its elements are made.
class Counted final : public Node {
 public:
  explicit Counted(int64_t slots) : Node({.op = "counted", .spec = {{"", DType::i64, {}}}, .slots = slots}) {}
  std::shared_ptr<const View> bind(const Binding&) const override {
    class CountedView final : public View {
     public:
      explicit CountedView(int& made) : made_(made) {}
      Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
        ++made_;
        if (i == 3) return context.fail({ErrorKind::DataLoss, "bad"});
        out.append(Tensor::scalar(i));
        out.key = static_cast<uint64_t>(i);
        return Got::value;
      }

     private:
      int& made_;
    };
    return std::make_shared<CountedView>(made);
  }
  mutable int made = 0;
};

// What an input gives, elements held if they are in `hold`, up to `until` answers; then its state.
struct Reading {
  Reading(const Node& node, const std::string& state = "") : input(node, {}, feed) {
    if (state.empty()) return;
    StateVisitor visitor = StateVisitor::restoring(state);
    input.visit_state(visitor, 100);
    EXPECT_TRUE(visitor.complete());
  }
  std::string next() {
    Element out;
    const Got got = input.next(context, out, ticket);
    if (got == Got::value) return text_of(out);
    return got == Got::end ? "end" : got == Got::pending ? "pending" : "!" + context.error.message();
  }
  // Takes `answers` and holds the elements in `hold`.
  void run(int answers, const std::vector<std::string>& hold) {
    for (int i = 0; i < answers; ++i) {
      const std::string answer = next();
      if (answer[0] == '!' || answer == "pending" || answer == "end") continue;
      if (std::find(hold.begin(), hold.end(), answer) == hold.end()) input.release(ticket);
    }
  }
  std::vector<std::string> rest() {
    std::vector<std::string> all;
    while (all.empty() || all.back() != "end") all.push_back(next());
    return all;
  }
  std::string state() {
    StateVisitor visitor;
    input.visit_state(visitor, 100);
    return visitor.saved();
  }

  PlainFeed feed;
  Context context;
  int64_t ticket = 0;
  HeldInput input;
};

TEST(HeldInput, GivesHeldElementsAgainBeforeNewOnes) {
  const Dataset counted(std::make_shared<Counted>(8));
  for (const Dataset& dataset : {counted, counted | as_stream(), counted | filter([](int64_t) { return true; })}) {
    Reading before(*dataset.node());
    before.run(6, {"1", "4"});
    const std::string state = before.state();
    Reading after(*dataset.node(), state);
    EXPECT_EQ(after.state(), state) << "saved at once";
    EXPECT_EQ(after.next(), "1");
    EXPECT_EQ(after.state(), state) << "saved while elements are read again";
    EXPECT_THAT(after.rest(), ElementsAre("4", "6", "7", "end")) << "the error at 3 came before";
  }
}

TEST(HeldInput, ReadsNothingButHeldElementsByPosition) {
  const auto node = std::make_shared<const Counted>(1'000);
  const Dataset dataset(node);
  Reading before(*dataset.node());
  before.run(901, {"0", "900"});
  Reading after(*dataset.node(), before.state());
  node->made = 0;
  EXPECT_EQ(after.next(), "0");
  EXPECT_EQ(after.next(), "900");
  EXPECT_EQ(node->made, 2);
  EXPECT_LT(before.state().size(), 12U) << "numbers, no elements";
  // In order, what lies between them is read too.
  const Dataset stream = dataset | as_stream();
  Reading first(*stream.node());
  first.run(901, {"0", "900"});
  Reading second(*stream.node(), first.state());
  node->made = 0;
  EXPECT_EQ(second.next(), "0");
  EXPECT_EQ(second.next(), "900");
  EXPECT_EQ(node->made, 901);
}

TEST(HeldInput, HasAStateWithoutHeldElementsToo) {
  for (const Dataset& dataset : each_kind(range(4))) {
    Reading before(*dataset.node());
    before.run(2, {});
    Reading after(*dataset.node(), before.state());
    EXPECT_EQ(after.state(), before.state());
    EXPECT_THAT(after.rest(), ElementsAre("2", "3", "end"));
    Reading at_end(*dataset.node());
    at_end.run(9, {"2"});
    EXPECT_THAT(Reading(*dataset.node(), at_end.state()).rest(), ElementsAre("2", "end"));
  }
}

// Memory of a function of another language, which nobody else has, is copied into a pool that counts it.
TEST(HeldInput, CountsWhatItGives) {
  static const std::vector<uint8_t> values(1000);
  const auto foreign = [](int64_t) {
    Tensor tensor = Tensor::from_memory(values.data(), DType::u8, {1000}, [] {});
    MemoryAccount::set_only_user(*tensor.owner());
    return tensor;
  };
  for (const Dataset& input : each_kind(range(3))) {
    const Dataset dataset = input | map(foreign, {.output = {{"", DType::u8, {1000}}}});
    MemoryAccount account;
    const MemoryAccount::Scope scope(&account);
    PlainFeed feed;
    HeldInput held(*dataset.node(), {}, feed);
    Context context;
    Element out;
    int64_t ticket = 0;
    ASSERT_EQ(held.next(context, out, ticket), Got::value);
    EXPECT_EQ(account.bytes(), 1000 + 64);
  }
}

TEST(HeldInput, PassesOnPending) {
  const Dataset dataset = script({"pending", "1", "bad", "pending", "2", "pending", "3"});
  Reading before(*dataset.node());
  before.run(6, {"1", "2"});
  Reading after(*dataset.node(), before.state());
  EXPECT_THAT(after.rest(), ElementsAre("pending", "1", "pending", "2", "pending", "3", "end"));
}

TEST(HeldInput, RefusesStatesThatCannotBe) {
  const Dataset dataset = range(9);
  Reading before(*dataset.node());
  before.run(6, {"1", "4"});
  const std::string state = before.state();  // 6; 2; 1, 3
  const auto restores = [&](std::string changed, int64_t most) {
    Reading after(*dataset.node());
    StateVisitor visitor = StateVisitor::restoring(changed);
    after.input.visit_state(visitor, most);
    return visitor.complete();
  };
  EXPECT_TRUE(restores(state, 2));
  EXPECT_FALSE(restores(state, 1)) << "too many";
  std::string beyond = state;
  beyond[3] = 10;  // 1 + 5
  EXPECT_FALSE(restores(beyond, 2)) << "not read yet";
  std::string same = state;
  same[3] = 0;
  EXPECT_FALSE(restores(same, 2)) << "twice the same";
}

TEST(HeldInput, SaysThatAnElementCannotBeReadAgain) {
  const Dataset long_one = script({"1", "2", "3"}), short_one = script({"1"}), failing = script({"1", "bad", "3"});
  Reading before(*long_one.node());
  before.run(3, {"1", "2"});
  Reading shorter(*short_one.node(), before.state());
  EXPECT_EQ(shorter.next(), "1");
  for (int i = 0; i < 2; ++i) EXPECT_THAT(shorter.next(), HasSubstr("it has become shorter"));
  Reading worse(*failing.node(), before.state());
  EXPECT_EQ(worse.next(), "1");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(worse.next(), "!bad");
}

}  // namespace
}  // namespace headpond::internal
