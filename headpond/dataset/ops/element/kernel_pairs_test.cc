// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <memory>
#include <new>

#include "headpond/dataset/ops/element/makes_together.h"
#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/tensor/rows_kernel.h"

namespace headpond::internal {
namespace {

struct PairCounts {
  std::atomic<int> pairs = 0, singles = 0;
};

// Adds a random number to a row of integers. A seven fails, a six has a defect, of an eight comes a shorter row, and a
// nine throws. As the second of two the sum is `more` larger.
class Adds final : public RowsKernel {
 public:
  Adds(std::shared_ptr<PairCounts> counts, int64_t more)
      : RowsKernel({.title = "adds", .draws = "adds"}), counts_(std::move(counts)), more_(more) {}
  bool takes_rows(const FieldSpec&) const override { return false; }
  void run_rows(const FieldSpec&, const std::byte*, size_t, std::byte*) const override {}
  Result<void> run(KernelCall& call) const override {
    ++counts_->singles;
    return add(call, 0);
  }
  bool takes_two() const override { return true; }
  std::array<Result<void>, 2> run_two(KernelCall& first, KernelCall& second) const override {
    ++counts_->pairs;
    return {add(first, 0), add(second, more_)};
  }

 private:
  static Result<void> add(KernelCall& call, int64_t more) {
    const auto from = call.in().as<int64_t>();
    if (from[0] == 7) return fail(ErrorKind::DataLoss, "a seven");
    if (from[0] == 6) call.note({1, "a six"});
    if (from[0] == 9) throw std::bad_alloc();
    const int64_t added = more + static_cast<int64_t>(call.random().below(1000));
    const auto to = call.make<int64_t>(0, {static_cast<int64_t>(from.size()) - (from[0] == 8 ? 1 : 0)});
    for (size_t i = 0; i < to.size(); ++i) to[i] = from[i] + added;
    return {};
  }

  const std::shared_ptr<PairCounts> counts_;
  const int64_t more_;
};

class KernelPairsTest : public testing::Test {
 protected:
  // Rows of three numbers, the first of which is also the label.
  Dataset rows(const std::vector<int64_t>& first, int64_t more = 0) {
    const auto count = static_cast<int64_t>(first.size());
    std::vector<int64_t> values;
    for (const int64_t value : first) values.insert(values.end(), {value, value + 1, value + 2});
    return from_tensor_slices({{"image", Tensor::from(values, {count, 3})}, {"label", Tensor::from(first, {count})}}) |
           map("image", std::make_shared<Adds>(counts_, more));
  }

  // Images, labels and keys that fill() gives; nothing if it is false.
  static std::vector<int64_t> filled(const Dataset& dataset, const std::vector<int64_t>& positions, Context& context) {
    std::vector<int64_t> images(3 * positions.size()), labels(positions.size());
    std::vector<uint64_t> keys(positions.size());
    const Spec& spec = dataset.spec();
    const std::vector<OutputSlot> columns = {{reinterpret_cast<std::byte*>(images.data()), &spec[0]},
                                             {reinterpret_cast<std::byte*>(labels.data()), &spec[1]}};
    const auto view = view_of(*dataset.node(), {.seed = 3});
    if (!view->fill(positions, context, columns, keys.data())) return {};
    images.insert(images.end(), labels.begin(), labels.end());
    images.insert(images.end(), keys.begin(), keys.end());
    return images;
  }

  // The same by at().
  static std::vector<int64_t> asked(const Dataset& dataset, const std::vector<int64_t>& positions) {
    Context context;
    std::vector<int64_t> images, labels, keys;
    const auto view = view_of(*dataset.node(), {.seed = 3});
    for (const int64_t position : positions) {
      Element out;
      EXPECT_EQ(view->at(position, context, {}, out), Got::value);
      const auto image = out[size_t{0}].as<int64_t>();
      images.insert(images.end(), image.begin(), image.end());
      labels.push_back(out[size_t{1}].item<int64_t>());
      keys.push_back(static_cast<int64_t>(out.key));
    }
    images.insert(images.end(), labels.begin(), labels.end());
    images.insert(images.end(), keys.begin(), keys.end());
    return images;
  }

  std::shared_ptr<PairCounts> counts_ = std::make_shared<PairCounts>();
  Context context_;
};

TEST_F(KernelPairsTest, HaveTheValuesOfOneByOne) {
  const Dataset dataset = rows({1, 2, 3, 4, 5});
  EXPECT_EQ(dynamic_cast<const MakesTogether&>(*dataset.node()).together(), 2);
  int pairs = 0, singles = 0;
  for (const std::vector<int64_t>& positions :
       std::vector<std::vector<int64_t>>{{0}, {3, 1}, {0, 1, 2, 3, 4}, {4, 4, 0, 2}}) {
    const std::vector<int64_t> expected = asked(dataset, positions);
    counts_->singles = singles;
    EXPECT_EQ(filled(dataset, positions, context_), expected);
    pairs += static_cast<int>(positions.size() / 2);
    singles += static_cast<int>(positions.size() % 2);
    EXPECT_EQ(counts_->pairs, pairs);
    EXPECT_EQ(counts_->singles, singles);
  }
  const Dataset broken = rows({1, 2, 3, 4, 5}, 1);
  EXPECT_NE(filled(broken, {0, 1}, context_), asked(broken, {0, 1})) << "the control";
}

TEST_F(KernelPairsTest, AreLeftToTheCallerWhereOneFails) {
  for (const int64_t bad : {6, 7, 8, 9}) {
    for (const std::vector<int64_t>& first : {std::vector<int64_t>{bad, 6}, {6, bad}, {6, 6, bad}, {6, 6, bad, 6}}) {
      std::vector<int64_t> positions;
      for (size_t i = 0; i < first.size(); ++i) positions.push_back(static_cast<int64_t>(i));
      EXPECT_TRUE(filled(rows(first), positions, context_).empty());
    }
  }
  EXPECT_EQ(context_.scratch().defects.count, 0) << "at() counts and tells those of a six";
  EXPECT_FALSE(filled(rows({1, 2, 3}), {0, 1, 2}, context_).empty()) << "the control";
}

TEST_F(KernelPairsTest, AreNotMadeBesideTexts) {
  const std::vector<std::string_view> texts = {"a", "bc", "def"};
  const auto adds = std::make_shared<Adds>(counts_, 0);
  const Dataset beside = from_tensor_slices({{"image", Tensor::from(std::vector<int64_t>{1, 2, 3, 4, 5, 6}, {3, 2})},
                                             {"text", Tensor::from(std::span<const std::string_view>(texts), {3})}}) |
                         map("image", adds);
  EXPECT_FALSE(fills(*beside.node()));
  const Dataset alone = rows({1, 2, 3}) | shuffle();
  EXPECT_TRUE(fills(*alone.node()));
  EXPECT_EQ(fill_difference(*alone.node(), *alone.node()->bind({.seed = 7})), "");
}

}  // namespace
}  // namespace headpond::internal
