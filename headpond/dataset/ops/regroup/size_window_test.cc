// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/regroup/regroup_test_internal.h"
#include "headpond/dataset/ops/regroup/size_window_internal.h"

namespace headpond::internal {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(SizeWindow, GivesTheOldestWithWhatIsNextInSize) {
  for (const Dataset& input : each_kind(sequences({2, 1, 3, 1, 1, 6, 0, 2}))) {
    const Dataset dataset = input | batch_by_size(6, "", {.window = 4});
    EXPECT_THAT(elements(dataset), ElementsAre("[3,2][1 2 11 0 31 0]", "[2,3][21 22 23 41 0 0]",
                                               "[1,6][51 52 53 54 55 56]", "[2,2][0 0 71 72]"));
    check_contract(dataset);
    check_contract(input | batch_by_size(6, "", {.window = 1}));
    check_contract(input | batch_by_size(6, "", {.window = 99}));
  }
}

TEST(SizeWindow, KeepsTheLimitsOfABatch) {
  const auto size = [](int64_t x) { return x; };
  EXPECT_THAT(elements(range(7) | batch_by_size(6, size, {.sum_of_sizes = true, .window = 3, .name = "value"})),
              ElementsAre("[0 1 2]", "[3]", "[4]", "[5]", "[6]"));
  EXPECT_THAT(elements(range(5) | batch_by_size(99, size, {.max_elements = 2, .window = 4, .name = "value"})),
              ElementsAre("[0 1]", "[2 3]", "[4]"));
}

// Each element comes once, and none is overtaken for ever.
TEST(SizeWindow, PadsLittleAndLetsNoElementWait) {
  std::vector<int64_t> lengths;
  Random random(7);
  for (int i = 0; i < 3000; ++i) lengths.push_back(1 + static_cast<int64_t>(random.below(500)));
  const auto share_of_padding = [&](const BatchBySizeOptions& options) {
    int64_t all = 0, real = 0;
    std::vector<int> times(lengths.size());
    Sequence sequence(sequences(lengths) | batch_by_size(4000, "", options));
    while (auto batch = sequence.next()) {
      const Tensor& rows = (*batch)[size_t{0}];
      all += rows.size();
      EXPECT_LE(rows.size(), 4000);
      for (const int64_t value : rows.as<int64_t>()) real += value != 0 ? 1 : 0;
      for (int64_t row = 0; row < rows.dim(0); ++row) {
        ++times[static_cast<size_t>(rows.as<int64_t>()[static_cast<size_t>(row * rows.dim(1))] / 10)];
      }
    }
    EXPECT_THAT(times, testing::Each(1));
    return 1 - static_cast<double>(real) / static_cast<double>(all);
  };
  EXPECT_LT(share_of_padding({.window = 1000}), 0.06);
  EXPECT_GT(share_of_padding({}), 0.3) << "control: batches in the order of the input";
}

TEST(SizeWindow, AnElementThatFitsNoBatchIsOneError) {
  const Dataset dataset = sequences({2, 9, 1}) | batch_by_size(6, "", {.window = 2});
  EXPECT_THAT(elements(dataset),
              ElementsAre(HasSubstr("range, record 1: a size of 9, where a batch has at most 6"), "[2,2][1 2 21 0]"));
  check_errors_come_once(dataset);
  const Dataset unlike = sequences({2, 1, 2, 1, 2}) | batch_by_size(6, "", {.window = 4, .no_padding = true});
  EXPECT_THAT(elements(unlike),
              ElementsAre(AllOf(HasSubstr("!InvalidArgument"), HasSubstr("record 3")),
                          AllOf(HasSubstr("!InvalidArgument"), HasSubstr("record 1")), "[3,2][1 2 21 22 41 42]"));
  check_errors_come_once(unlike);
  check_errors_come_once(range(9) | failing_at({0, 2, 5}) | as_stream() |
                         batch_by_size(9, [](int64_t x) { return x; }, {.window = 3, .name = "value"}));
}

}  // namespace
}  // namespace headpond::internal
