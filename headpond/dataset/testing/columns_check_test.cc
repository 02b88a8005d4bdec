// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/testing/columns_check_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

// The positions, as f32; may write one byte too many to columns or slots.
class Overrun final : public View {
 public:
  explicit Overrun(bool overruns) : overruns_(overruns) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    std::byte* const to = context.allocate_output(out, outputs, f32, {});
    write(i, to, overruns_ && !outputs.empty());
    out.key = static_cast<uint64_t>(i);
    return Got::value;
  }
  bool fill(std::span<const int64_t> positions, Context&, OutputSlots columns, uint64_t* keys) const override {
    for (size_t r = 0; r < positions.size(); ++r) {
      write(positions[r], columns[0].data + r * sizeof(float), overruns_ && r + 1 == positions.size());
      if (keys != nullptr) keys[r] = static_cast<uint64_t>(positions[r]);
    }
    return true;
  }

 private:
  static void write(int64_t i, std::byte* to, bool overruns) {
    const auto value = static_cast<float>(i);
    std::memcpy(to, &value, sizeof(value));
    if (overruns) to[sizeof(value)] = std::byte{0};
  }
  const bool overruns_;
};
class Overrunning final : public Node {
 public:
  explicit Overrunning(bool overruns)
      : Node({.op = "over", .spec = {{"", f32, {}}}, .slots = 300}), overruns_(overruns) {}
  std::shared_ptr<const View> bind(const Binding&) const override { return std::make_shared<Overrun>(overruns_); }

 private:
  const bool overruns_;
};

TEST(ColumnsCheck, FindsBytesAfterTheEndOfAColumnOrASlot) {
  const Overrunning good(false), bad(true);
  EXPECT_TRUE(fills(good));
  EXPECT_EQ(fill_difference(good, *good.bind({})), "");
  EXPECT_THAT(fill_difference(bad, *bad.bind({})), HasSubstr("written after its end"));
  Context context;
  Element element;
  ASSERT_EQ(good.bind({})->at(3, context, {}, element), Got::value);
  EXPECT_EQ(output_difference(*good.bind({}), good.spec(), 3, context, element), "");
  EXPECT_EQ(output_difference(*bad.bind({}), bad.spec(), 3, context, element),
            "at() writes after the end of an output slot");
  EXPECT_THAT(output_difference(*good.bind({}), good.spec(), 4, context, element),
              HasSubstr("gives '3 #3', and '4 #4'"));
}

TEST(ColumnsCheck, StreamsAndUnknownShapesDoNotFill) {
  EXPECT_FALSE(fills(*(range(3) | as_stream()).node()));
  EXPECT_FALSE(fills(*(range(3) | batch(2)).node()));
  EXPECT_TRUE(fills(*range(3).node()));
}

}  // namespace
}  // namespace headpond::internal
