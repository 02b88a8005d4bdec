// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/gathering_internal.h"
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Pairs of even and of odd numbers, as their sum; a sum of 12 fails.
class Sums final : public Gathering {
 public:
  Sums(const Node::Ref& input, bool drop)
      : Gathering({.op = "sums", .spec = {{"", DType::i64, {}}}, .inputs = {input}}, drop) {}
  Result<Member> member(const Element& element) const override {
    return Member{.key = element[size_t{0}].item<int64_t>() % 2};
  }
  Error check(const Member&, const Group&, const Element&) const override { return {}; }
  bool takes(const Member&, const Group&) const override { return true; }
  bool is_full(int64_t, const Group& group) const override { return group.elements.size() == 2; }
  void stack(int64_t, std::span<const Element> rows, Context&, Element& out) const override {
    int64_t sum = 0;
    for (const Element& row : rows) sum += row[size_t{0}].item<int64_t>();
    if (sum == 12) throw std::runtime_error("twelve");
    out.append(Tensor::scalar(sum));
  }
};
Step sums(bool drop = false) {
  return [drop](const Dataset& input) { return Dataset(std::make_shared<Sums>(input.node(), drop)); };
}

TEST(Gathering, MakesAnElementOfEachGroup) {
  for (const Dataset& input : each_kind(range(7))) {
    EXPECT_THAT(elements(input | sums()), ElementsAre("2", "4", "10", "5"));
    EXPECT_THAT(elements(input | take(3) | sums(true)), ElementsAre("2"));
    EXPECT_THAT(elements(input | take(0) | sums()), testing::IsEmpty());
  }
  for (const Dataset& input : each_kind(range(6))) {
    check_contract(input | sums());
    check_contract(input | sums(true));
  }
  EXPECT_EQ((range(5) | sums()).node()->facts().role, Role::batch);
}

TEST(Gathering, GivesAnErrorForAGroupThatCannotBeStacked) {
  const Dataset dataset = range(8) | sums();
  EXPECT_THAT(elements(dataset), ElementsAre("2", "4", "10", HasSubstr("twelve")));
  check_errors_come_once(dataset);
  check_errors_come_once(range(9) | failing_at({0, 2, 5}) | sums());
  check_errors_come_once(range(9) | failing_at({0, 2, 5}) | as_stream() | sums());
}

TEST(IntegerFunctions, AreCheckedAndCalled) {
  const Element element{Tensor::scalar(int64_t{5})};
  const Function wide = make_function([](int64_t x) { return x * 2; });
  const Function narrow = make_function([](int64_t x) { return static_cast<int32_t>(-x); });
  const Function failing = make_function([](int64_t) -> Result<int64_t> { return fail(ErrorKind::DataLoss, "no"); });
  check_integer("op", "length", wide);
  check_integer("op", "length", narrow);
  EXPECT_THROW(check_integer("op", "length", make_function([](int64_t x) { return x * 0.5; })), Exception);
  EXPECT_EQ(*call_integer(wide, element), 10);
  EXPECT_EQ(*call_integer(narrow, element), -5);
  EXPECT_FALSE(call_integer(failing, element));
}

TEST(LengthOfField, IsItsFirstDimensionOrItsBytes) {
  const Spec spec = {{"a", DType::f32, {kUnknown, 2}}, {"b", DType::bytes, {}}, {"c", DType::i64, {}}};
  const Element element{Tensor::empty(DType::f32, {3, 2}), Tensor::scalar("four"), Tensor::scalar(int64_t{1})};
  EXPECT_EQ(*call_integer(length_of_field("op", spec, "a").function, element), 3);
  EXPECT_EQ(*call_integer(length_of_field("op", spec, "b").function, element), 4);
  EXPECT_EQ(length_of_field("op", spec, "b").label, "length of field 1");
  EXPECT_THROW(length_of_field("op", spec, "c"), Exception);
  EXPECT_THROW(length_of_field("op", spec, "d"), Exception);
}

}  // namespace
}  // namespace headpond::internal
