// SPDX-License-Identifier: Apache-2.0
#include <optional>

#include "headpond/dataset/bases/interleave_order_internal.h"
#include "headpond/dataset/testing/structure_test_internal.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// tf.data's sequential interleave, step by step: "dataset:offset" of each element.
std::vector<std::string> stepwise(const std::vector<int64_t>& lengths, int64_t cycle, int64_t block) {
  struct Open {
    size_t dataset;
    int64_t next = 0;
  };
  std::vector<std::optional<Open>> slots(static_cast<size_t>(cycle));
  std::vector<std::string> all;
  size_t turn = 0, input = 0, open = 0;
  int64_t given = 0;
  const auto pass = [&] {
    turn = (turn + 1) % slots.size();
    given = 0;
  };
  while (input < lengths.size() || open > 0) {
    std::optional<Open>& slot = slots[turn];
    if (!slot && input < lengths.size()) {
      slot = Open{input++};
      ++open;
    } else if (!slot) {
      pass();
    } else if (slot->next == lengths[slot->dataset]) {
      slot.reset();
      --open;
      pass();
    } else {
      all.push_back(fmt::format("{}:{}", slot->dataset, slot->next++));
      if (++given == block) pass();
    }
  }
  return all;
}

std::vector<std::string> computed(const std::vector<int64_t>& lengths, int64_t cycle, int64_t block) {
  const InterleaveOrder order(lengths, cycle, block);
  std::vector<std::string> all;
  for (int64_t i = 0; i < order.size(); ++i) {
    const auto [dataset, offset] = order.at(i);
    all.push_back(fmt::format("{}:{}", dataset, offset));
  }
  return all;
}

TEST(InterleaveOrder, IsThatOfTheStepsOfTfData) {
  Random random(RandomKey{11});
  for (int round = 0; round < 400; ++round) {
    std::vector<int64_t> lengths(random.below(12));
    const uint64_t most = 1 + random.below(9);
    for (int64_t& length : lengths) length = static_cast<int64_t>(random.below(most));
    const auto cycle = static_cast<int64_t>(1 + random.below(6)), block = static_cast<int64_t>(1 + random.below(5));
    ASSERT_EQ(computed(lengths, cycle, block), stepwise(lengths, cycle, block))
        << "cycle " << cycle << ", block " << block << ", " << lengths.size() << " datasets";
  }
}

TEST(InterleaveOrder, OfOneSlotIsOneAfterTheOther) {
  EXPECT_THAT(computed({2, 0, 3}, 1, kEndless), ElementsAre("0:0", "0:1", "2:0", "2:1", "2:2"));
  EXPECT_THAT(computed({}, 1, kEndless), IsEmpty());
  EXPECT_THAT(computed({0, 0}, 3, 2), IsEmpty());
}

TEST(InterleaveOrder, OfHugeDatasetsIsComputedToo) {
  const InterleaveOrder order({kHuge, 5, kHuge / 2}, 2, 3);
  EXPECT_EQ(order.size(), kHuge + 5 + kHuge / 2);
  const auto [dataset, offset] = order.at(order.size() - 1);
  EXPECT_EQ(dataset, 0U);
  EXPECT_EQ(offset, kHuge - 1);
}

TEST(InterleaveOrder, HasNoEndIfADatasetHasNone) {
  const InterleaveOrder one({3, kEndless, 5}, 1, kEndless);
  EXPECT_EQ(one.size(), kEndless);
  EXPECT_EQ(one.at(3 + kHuge).dataset, 1U);
  EXPECT_EQ(one.at(3 + kHuge).offset, kHuge);
  const InterleaveOrder two({kEndless, 1, 2}, 2, 1);
  EXPECT_EQ(two.size(), kEndless);
  EXPECT_EQ(two.at(1).dataset, 1U);
  EXPECT_EQ(two.at(kHuge).dataset, 0U);
  EXPECT_EQ(two.at(kHuge).offset, kHuge - 3);
}

}  // namespace
}  // namespace headpond::internal
