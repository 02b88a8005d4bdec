// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

using Pair = std::pair<Element, Element>;

// The sum so far; fails for 4, and gives a state of another dtype for 5.
Result<Pair> sum(const Element& state, const Element& in) {
  const int64_t value = in[size_t{0}].item<int64_t>();
  const int64_t total = state[size_t{0}].item<int64_t>() + value;
  if (value == 4) return fail(ErrorKind::DataLoss, "no four");
  if (value == 5) return Pair(Element{Tensor::scalar(1.5F)}, Element{Tensor::scalar(total)});
  if (value == 6) return Pair(Element{Tensor::scalar(total)}, Element{});
  if (value == 7) throw std::runtime_error("seven");
  return Pair(Element{Tensor::scalar(total)}, Element{Tensor::scalar(total)});
}
Step sums(int64_t initial = 0, const std::string& name = "sum") {
  return scan(Element{Tensor::scalar(initial)}, sum, {.output = {{"sum", i64, {}}}, .name = name});
}

TEST(Scan, CarriesAState) {
  EXPECT_THAT(elements(range(4) | sums(), {}, true), ElementsAre("0 #0", "1 #1", "3 #2", "6 #3"));
  EXPECT_THAT(elements(range(3) | sums(10), {.epochs = 2}), ElementsAre("10", "11", "13", "10", "11", "13"));
  EXPECT_THAT(elements(range(0) | sums()), IsEmpty());
  EXPECT_EQ(to_string((range(3) | sums()).spec()), "{'sum': int64[]}");
  EXPECT_THAT((range(3) | sums()).plan(), testing::StartsWith("range(start=0, stop=3, step=1)\n"
                                                              "scan(state={0: int64[]}, crc32c "));
}

TEST(Scan, AnErrorKeepsTheState) {
  EXPECT_THAT(answers(script({"1", "4", "pending", "bad", "2", "7", "3"}) | sums()),
              ElementsAre("1", HasSubstr("element 4: no four"), "pending", "!bad", "3", HasSubstr("element 7: seven"),
                          "6", "end"));
  EXPECT_THAT(
      answers(script({"1", "5", "6", "2"}) | sums()),
      ElementsAre("1", HasSubstr("element 5: the state does not fit: expected {0: int64[]}, found {0: float32[]}"),
                  HasSubstr("element 6: the element does not fit: expected {'sum': int64[]}, found {}"), "3", "end"));
}

// Keeps a text, three numbers and no values at all.
Step texts() {
  const Element initial{Tensor::scalar(""), Tensor::from(std::vector<float>{0, 0, 0}, {3}), Tensor::empty(u8, {0, 2})};
  const auto function = [](const Element& state, const Element& in) {
    const int64_t value = in[size_t{0}].item<int64_t>();
    const std::string text = std::string(state[size_t{0}].bytes_at(0)) + std::to_string(value);
    const auto before = state[1].as<float>();
    const Tensor next = Tensor::from(std::vector<float>{before[1], before[2], static_cast<float>(value)}, {3});
    const Tensor said = Tensor::scalar(std::string_view(text));
    return Pair(Element{said, next, state[2]}, Element{said, next});
  };
  return scan(initial, function, {.output = {{"text", bytes, {}}, {"last", f32, {3}}}, .name = "texts"});
}

TEST(Scan, KeepsTheContract) {
  check_contract(range(4) | sums());
  check_contract(range(9) | filter([](int64_t x) { return x < 4; }) | sums(3));
  check_contract(range(4) | as_stream() | sums() | batch(2));
  check_contract(range(0) | sums());
  check_contract(range(12) | texts());
  EXPECT_THAT(elements(range(3) | texts()), ElementsAre("'0', [0 0 0]", "'01', [0 0 1]", "'012', [0 1 2]"));
}

TEST(Scan, RefusesWhatDoesNotFit) {
  const Element initial{Tensor::scalar(int64_t{0})};
  EXPECT_THAT([&] { scan(initial, sum, {}); }, ThrowsMessage<Exception>(HasSubstr("scan: set MapOptions::output")));
  EXPECT_THROW(scan(initial, nullptr, {.output = {{"", i64, {}}}}), Exception);
  Sequence sequence(range(4) | sums());
  ASSERT_TRUE(sequence.next());
  EXPECT_TRUE(Sequence::restored(range(4) | sums(), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(range(4) | sums(0, "other"), {}, sequence.state()));
  EXPECT_FALSE(Sequence::restored(range(4) | sums(1), {}, sequence.state())) << "it began with another state";
}

}  // namespace
}  // namespace headpond::internal
