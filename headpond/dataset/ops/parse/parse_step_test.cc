// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <numeric>

#include "headpond/dataset/ops/parse/parse_step_internal.h"
#include "headpond/dataset/testing/dataset_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const Spec kFields = {{"number", DType::i64, {}}, {"twice", DType::i64, {2}}, {"text", DType::bytes, {}}};

// "17" as 17, twice that, and itself.
Result<void> parse_number(std::string_view text, std::span<std::byte* const> targets, std::span<Tensor> out) {
  int64_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) {
    return fail(ErrorKind::InvalidArgument, "no number");
  }
  const std::array<int64_t, 2> twice = {2 * number, 2 * number};
  std::memcpy(targets[0], &number, sizeof(number));
  std::memcpy(targets[1], twice.data(), sizeof(twice));
  if (out.size() > 2) out[2] = Tensor::scalar(text);
  return {};
}

// The first of them alone, and none.
Result<void> parse_number_only(std::string_view text, std::span<std::byte* const> targets, std::span<Tensor>) {
  std::array<std::byte, 16> twice;
  const std::array<std::byte*, 2> both = {targets[0], twice.data()};
  return parse_number(text, both, {});
}
Result<void> parse_number_of_none(std::string_view text, std::span<std::byte* const>, std::span<Tensor>) {
  std::array<std::byte, 8> number;
  const std::array<std::byte*, 1> one = {number.data()};
  return parse_number_only(text, one, {});
}

Dataset texts(const std::vector<std::string_view>& all) {
  return from_tensor_slices(Tensor::from(std::span<const std::string_view>(all), {static_cast<int64_t>(all.size())}));
}

Step numbers_only() { return parse_step("numbers", {kFields[0], kFields[1]}, parse_number); }

TEST(ParseStep, GivesFieldsAndKeepsKeys) {
  const Dataset dataset = texts({"1", "-5"}) | parse_step("numbers", kFields, parse_number);
  EXPECT_EQ(to_string(dataset.spec()), to_string(kFields));
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("1, [2 2], '1' #0", "-5, [-10 -10], '-5' #1"));
  EXPECT_THAT(dataset.plan(), HasSubstr("map(numbers)"));
  EXPECT_FALSE(fills(*dataset.node())) << "a text has no place in a column";
  check_contract(dataset | shuffle() | batch(2));
}

TEST(ParseStep, FillsColumnsOfNumbers) {
  std::vector<std::string> owned;
  for (int i = 0; i < 700; ++i) owned.push_back(std::to_string(i * 7));
  const Dataset dataset = texts({owned.begin(), owned.end()}) | shuffle() | numbers_only();
  EXPECT_TRUE(fills(*dataset.node()));
  EXPECT_EQ(fill_difference(*dataset.node(), *dataset.node()->bind({7, 0})), "");
  check_contract(texts({"1", "2", "3"}) | numbers_only() | batch(2));
  check_contract(texts({"1", "2", "3"}) | as_stream() | numbers_only());
}

// Fields before and after the text, both with the number of the row.
Dataset rows(const std::vector<std::string_view>& all) {
  std::vector<int64_t> numbers(all.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  const auto size = static_cast<int64_t>(all.size());
  const Tensor number = Tensor::from(std::span<const int64_t>(numbers), {size});
  return from_tensor_slices(
      {{"before", number}, {"text", Tensor::from(std::span<const std::string_view>(all), {size})}, {"after", number}});
}

TEST(ParseStep, PutsTheFieldsWhereTheTextWas) {
  const Dataset dataset = rows({"1", "-5"}) | parse_step("numbers", {kFields[0], kFields[1]}, parse_number, "text");
  EXPECT_EQ(to_string(dataset.spec()), "{'before': int64[], 'number': int64[], 'twice': int64[2], 'after': int64[]}");
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("0, 1, [2 2], 0 #0", "1, -5, [-10 -10], 1 #1"));
  EXPECT_THAT(dataset.plan(), HasSubstr("map(field=1, numbers)"));
  check_contract(dataset | shuffle() | batch(2));
  check_contract(rows({"1", "2", "3"}) | as_stream() | parse_step("numbers", kFields, parse_number, "text") | batch(2));
  EXPECT_THAT(elements(rows({"7"}) | parse_step("none", {}, parse_number_of_none, "text")), ElementsAre("0, 0"));
}

TEST(ParseStep, OfAFieldFillsTheColumnsOfAllFields) {
  std::vector<std::string> owned;
  for (int i = 0; i < 700; ++i) owned.push_back(std::to_string(i * 7));
  const std::vector<std::string_view> all(owned.begin(), owned.end());
  for (const Step& step : {parse_step("numbers", {kFields[0], kFields[1]}, parse_number, "text"),
                           parse_step("none", {}, parse_number_of_none, "text")}) {
    const Dataset dataset = rows(all) | shuffle() | step;
    EXPECT_TRUE(fills(*dataset.node()));
    EXPECT_EQ(fill_difference(*dataset.node(), *dataset.node()->bind({7, 0})), "");
  }
  EXPECT_FALSE(fills(*(rows(all) | parse_step("numbers", kFields, parse_number, "text")).node())) << "control";
}

TEST(ParseStep, OfAFieldTellsTheElementThatDoesNotFit) {
  const Dataset dataset = rows({"1", "x", "3"}) | parse_step("numbers", {kFields[0]}, parse_number_only, "text");
  EXPECT_THAT(elements(dataset), ElementsAre("0, 1, 0", HasSubstr("record 1: no number"), "2, 3, 2"));
  EXPECT_THAT(elements(dataset | batch(3)), ElementsAre(HasSubstr("no number"), "[0 2], [1 3], [0 2]"));
}

TEST(ParseStep, OfAFieldIsRefusedWhereThatCannotBe) {
  const auto refusal = [](const Step& step) -> std::string {
    try {
      (void)(rows({"1"}) | step);
    } catch (const Exception& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_THAT(refusal(parse_step("p", kFields, parse_number, "none")), HasSubstr("no field 'none'"));
  EXPECT_THAT(refusal(parse_step("p", kFields, parse_number, "after")), HasSubstr("not field 'after'"));
  EXPECT_THAT(refusal(parse_step("p", {{"after", DType::i64, {}}}, parse_number_only, "text")),
              HasSubstr("two fields named 'after'"));
}

TEST(ParseStep, TellsTheElementThatDoesNotFit) {
  const Dataset dataset = texts({"1", "x", "3"}) | numbers_only();
  EXPECT_THAT(elements(dataset), ElementsAre("1, [2 2]", HasSubstr("record 1: no number"), "3, [6 6]"));
  EXPECT_THAT(elements(dataset | batch(3)), ElementsAre(HasSubstr("no number"), HasSubstr("[1 3]")));
}

TEST(ParseStep, IsRefusedOverAnythingButOneText) {
  for (const Dataset& input : {range(3), texts({"1"}) | enumerate(), texts({"1"}) | batch(1)}) {
    EXPECT_THROW((void)(input | numbers_only()), Exception);
  }
}

// Lends what its input fills, with `tail` as its end.
class Lending final : public Node {
 public:
  Lending(const Node::Ref& input, std::span<const std::byte> tail)
      : Node({.op = "lending", .spec = input->spec(), .slots = input->facts().slots, .inputs = {input}}), tail_(tail) {}
  std::shared_ptr<const View> bind(const Binding& binding) const override;

 private:
  const std::span<const std::byte> tail_;
};
class TextLendingView final : public View {
 public:
  TextLendingView(std::shared_ptr<const View> input, std::span<const std::byte> tail)
      : input_(std::move(input)), tail_(tail) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    return input_->at(i, context, outputs, out);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    if (!positions.empty()) context.lend(tail_);
    return input_->fill(positions, context, columns, keys);
  }

 private:
  const std::shared_ptr<const View> input_;
  const std::span<const std::byte> tail_;
};
std::shared_ptr<const View> Lending::bind(const Binding& binding) const {
  return std::make_shared<TextLendingView>(input().bind(binding), tail_);
}

TEST(ParseStep, DoesNotTrustTextsWhoseEndsAreGoneAfterwards) {
  std::array<std::byte, 2> tail = {std::byte{0}, std::byte{1}};
  const Dataset lending(std::make_shared<Lending>(texts({"1", "2", "3"}).node(), tail));
  const Dataset dataset = lending | numbers_only();
  const auto view = dataset.node()->bind({});
  std::array<int64_t, 2> numbers{};
  std::array<int64_t, 4> twice{};
  const std::array<OutputSlot, 2> columns = {OutputSlot{reinterpret_cast<std::byte*>(numbers.data()), &kFields[0]},
                                             OutputSlot{reinterpret_cast<std::byte*>(twice.data()), &kFields[1]}};
  const std::vector<int64_t> positions = {0, 1};
  Context context;
  EXPECT_TRUE(view->fill({}, context, columns, nullptr));
  EXPECT_TRUE(view->fill(positions, context, columns, nullptr)) << "control";
  tail[1] = std::byte{0};
  EXPECT_FALSE(view->fill(positions, context, columns, nullptr));
  tail[1] = std::byte{1};
  EXPECT_TRUE(view->fill(positions, context, columns, nullptr)) << "what was lent before is forgotten";
}

TEST(ParseStep, LeavesNothingLentAfterAFillThatFails) {
  const std::array<std::byte, 1> gone = {std::byte{0}};
  const Dataset lending(std::make_shared<Lending>(texts({"1", "x"}).node(), gone));
  const Dataset dataset = lending | numbers_only();
  const auto view = dataset.node()->bind({});
  std::array<int64_t, 2> numbers{};
  std::array<int64_t, 4> twice{};
  const std::array<OutputSlot, 2> columns = {OutputSlot{reinterpret_cast<std::byte*>(numbers.data()), &kFields[0]},
                                             OutputSlot{reinterpret_cast<std::byte*>(twice.data()), &kFields[1]}};
  const std::vector<int64_t> positions = {0, 1};
  Context context;
  context.lend(gone);
  EXPECT_FALSE(context.lent_is_whole()) << "control";
  EXPECT_FALSE(view->fill(positions, context, columns, nullptr));
  EXPECT_TRUE(context.lent_is_whole()) << "nothing is lent";
}

}  // namespace
}  // namespace headpond::internal
