// SPDX-License-Identifier: Apache-2.0
// Maps of kernels on threads: equal bytes, rows written where they belong, and what a worker keeps.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "headpond/base/trace.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/dataset/testing/renamed_test_internal.h"
#include "headpond/engine/explain.h"
#include "headpond/engine/testing/contract.h"
#include "headpond/engine/testing/engine_test_internal.h"
#include "headpond/io/array/npy.h"
#include "headpond/tensor/rows_kernel.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::HasSubstr;

constexpr int64_t kKernelWidth = 24;

struct SeenByKernels {
  std::mutex mu;
  std::map<int64_t, const std::byte*> row_of;  // By the value of the image.
  std::atomic<int64_t> scratches = 0;
};

// A scalar becomes a row of it, with a draw after the first value.
class SpreadKernel final : public Kernel {
 public:
  explicit SpreadKernel(std::shared_ptr<SeenByKernels> seen)
      : Kernel({.title = "spread", .draws = "spread", .result = spread}), seen_(std::move(seen)) {}
  Result<void> run(KernelCall& call) const override {
    if (call.scratch<int64_t>()++ == 0) ++seen_->scratches;
    const int64_t x = call.in().item<int64_t>();
    const auto row = call.make<int64_t>(0, {kKernelWidth});
    Random random = call.random();
    for (int64_t& value : row) value = static_cast<int64_t>(random.below(1000));
    row[0] = x;
    const std::lock_guard lock(seen_->mu);
    seen_->row_of[x] = reinterpret_cast<const std::byte*>(row.data());
    return {};
  }

 private:
  static Spec spread(const Spec& in) { return {{in[0].name, DType::i64, {kKernelWidth}}}; }
  const std::shared_ptr<SeenByKernels> seen_;
};

// Gives the field as it is; two are one.
class PassKernel final : public Kernel {
 public:
  explicit PassKernel(std::string title = "pass") : Kernel({.title = std::move(title)}) {}
  Result<void> run(KernelCall&) const override { return {}; }
  KernelRef with(const KernelRef& next) const override {
    if (dynamic_cast<const PassKernel*>(next.get()) == nullptr) return nullptr;
    return std::make_shared<PassKernel>("nothing at all");
  }
  std::string why_not(const KernelRef&) const override { return "what follows draws"; }
};

Dataset spread_rows(const std::shared_ptr<SeenByKernels>& seen, int64_t count = 100) {
  return range(count) |
         map("", std::make_shared<PassKernel>(), std::make_shared<PassKernel>(), std::make_shared<SpreadKernel>(seen));
}

TEST(LoaderKernels, KeepTheContractOnThreads) {
  const auto seen = std::make_shared<SeenByKernels>();
  EXPECT_EQ(contract_violation(spread_rows(seen, 40) | batch(7)), "");
}

TEST(LoaderKernels, GiveTheBytesOfASequenceOnAnyThreads) {
  const auto seen = std::make_shared<SeenByKernels>();
  const Dataset dataset = spread_rows(seen) | shuffle() | batch(16);
  for (const int threads : {0, 1, 2, 8}) {
    Sequence sequence(dataset, {.seed = 3});
    Loader loader(dataset, {.seed = 3, .threads = threads});
    for (int64_t i = 0; i < 7; ++i) {
      const auto expected = sequence.next();
      const auto batch = loader.next();
      ASSERT_TRUE(expected && batch);
      EXPECT_EQ(to_string((*batch)[0]), to_string((*expected)[0])) << threads;
      EXPECT_TRUE(std::ranges::equal((*batch)[0].as<int64_t>(), (*expected)[0].as<int64_t>()));
    }
  }
}

TEST(LoaderKernels, DeliverWhatTheyMeanInEachEpoch) {
  const KernelRef spread = std::make_shared<SpreadKernel>(std::make_shared<SeenByKernels>());
  for (const int threads : {0, 2}) {
    Loader loader(range(20) | map("", spread), {.epochs = 3, .seed = 5, .threads = threads});
    std::set<std::vector<int64_t>> different;
    for (const Batch& batch : loader) {
      const Element& row = batch.element();
      const auto values = row[size_t{0}].as<int64_t>();
      const auto alone = run_kernels(std::span(&spread, 1), Tensor::scalar(static_cast<int64_t>(row.key)),
                                     {.seed = 5, .epoch = static_cast<uint64_t>(batch.epoch()), .key = row.key});
      ASSERT_TRUE(std::ranges::equal(values, alone->as<int64_t>())) << "epoch " << batch.epoch() << ", " << row.key;
      different.emplace(values.begin(), values.end());
    }
    EXPECT_EQ(different.size(), 60U) << "each epoch draws anew";
  }
}

TEST(LoaderKernels, WriteIntoTheRowOfTheBatch) {
  for (const int threads : {0, 1, 2, 8}) {
    const auto seen = std::make_shared<SeenByKernels>();
    Loader loader(spread_rows(seen) | batch(16), {.threads = threads});
    int64_t in_place = 0;
    for (const Batch& batch : loader) {
      const Tensor& rows = batch[size_t{0}];
      const std::lock_guard lock(seen->mu);
      for (int64_t r = 0; r < rows.dim(0); ++r) {
        const int64_t* const row = rows.as<int64_t>().data() + r * kKernelWidth;
        in_place += seen->row_of.at(row[0]) == reinterpret_cast<const std::byte*>(row) ? 1 : 0;
      }
    }
    EXPECT_EQ(in_place, 100) << threads;
  }
}

// Passes over a defect of each third number.
class TolerantKernel final : public Kernel {
 public:
  TolerantKernel() : Kernel({.title = "tolerant"}) {}
  Result<void> run(KernelCall& call) const override {
    if (call.in().item<int64_t>() % 3 == 0) call.note({1, "a third"});
    return {};
  }
};

TEST(LoaderKernels, DefectsAreCountedOnAnyThreads) {
  const Dataset mapped = range(90) | map("", std::make_shared<TolerantKernel>());
  const auto even = [](int64_t x) { return x % 2 == 0; };
  const std::vector<std::pair<Dataset, int64_t>> all = {
      {mapped | batch(7), 30},
      {mapped, 30},
      {range(90) | filter(even) | map("", std::make_shared<TolerantKernel>()), 15}};
  for (const auto& [dataset, defects] : all) {
    for (const int threads : {0, 1, 4}) {
      Loader loader(dataset, {.epochs = 2, .threads = threads});
      EXPECT_EQ(loader.stats().defects, 0);
      while (loader.next()) {
      }
      EXPECT_EQ(loader.stats().defects, 2 * defects) << threads;
    }
  }
}

TEST(LoaderKernels, AWorkerKeepsItsScratchFromEpochToEpoch) {
  const auto seen = std::make_shared<SeenByKernels>();
  constexpr int kThreads = 2, kConsumers = 1;
  Loader loader(spread_rows(seen) | batch(4), {.epochs = 20, .threads = kThreads});
  while (loader.next()) {
  }
  EXPECT_GE(seen->scratches, 1);
  EXPECT_LE(seen->scratches, kThreads + kConsumers);
}

TEST(LoaderKernels, ExplainSaysWhatIsJoined) {
  const auto seen = std::make_shared<SeenByKernels>();
  const std::string text = explain(spread_rows(seen) | batch(4)).to_string();
  EXPECT_THAT(text, HasSubstr("map(0: pass > pass > spread)"));
  EXPECT_THAT(text, HasSubstr("applied joined: nothing at all: pass > pass"));
  EXPECT_THAT(text, HasSubstr("not applied joined: pass > spread: what follows draws"));
}

// Adds a draw to each value of a row that may be lent.
class AddDrawn final : public RowsKernel {
 public:
  AddDrawn() : RowsKernel({.title = "add_drawn", .draws = "add_drawn"}) {}
  Result<void> run(KernelCall& call) const override {
    const auto from = call.in().as<int64_t>();
    const auto to = call.make<int64_t>(0, call.in().shape());
    const auto drawn = static_cast<int64_t>(call.random().below(1000));
    for (size_t k = 0; k < from.size(); ++k) to[k] = from[k] + drawn;
    return {};
  }
  bool takes_rows(const FieldSpec&) const override { return false; }
  void run_rows(const FieldSpec&, const std::byte*, size_t, std::byte*) const override {}
  bool takes_lent() const override { return true; }
};

TEST(LoaderKernels, GiveTheBytesOfASequenceOverRowsOfAMappedFile) {
  const test::TempFolder folder;
  std::vector<int64_t> values(50 * 30);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int64_t>(i * 1000);
  ASSERT_TRUE(write_npy(folder.file("rows"), Tensor::from<int64_t>(values, {50, 30})));
  const Dataset dataset = npy(folder.file("rows")) | shuffle() | map("", std::make_shared<AddDrawn>()) | batch(7);
  EXPECT_EQ(contract_violation(dataset), "");
  for (const int threads : {0, 1, 2, 8}) {
    Sequence sequence(dataset, {.seed = 3});
    Loader loader(dataset, {.seed = 3, .threads = threads});
    for (int64_t i = 0; i < 8; ++i) {
      const auto expected = sequence.next();
      const auto batch = loader.next();
      ASSERT_TRUE(expected && batch);
      const Tensor& rows = batch->element()[0];
      ASSERT_EQ(rows.shape(), (*expected)[0].shape());
      EXPECT_EQ(std::memcmp(rows.data(), (*expected)[0].data(), rows.byte_size()), 0);
    }
  }
}

constexpr int64_t kLentWidth = 2048;  // 16 KiB: elements of this size have an account.

struct SeenRows {
  std::mutex mu;
  std::map<int64_t, std::set<const std::byte*>> at;  // By the first value of a row.
};

// The first value and the sum of a row.
class SumOfRow final : public RowsKernel {
 public:
  SumOfRow(std::shared_ptr<SeenRows> seen, bool takes_lent)
      : RowsKernel({.title = "sum",
                    .result = [](const Spec& in) -> Spec {
                      return {{in[0].name, in[0].dtype, {2}}};
                    }}),
        seen_(std::move(seen)),
        takes_lent_(takes_lent) {}
  Result<void> run(KernelCall& call) const override {
    const auto from = call.in().as<int64_t>();
    const auto to = call.make<int64_t>(0, {2});
    to[0] = from[0];
    to[1] = std::accumulate(from.begin(), from.end(), int64_t{0});
    const std::lock_guard lock(seen_->mu);
    seen_->at[from[0]].insert(call.in().data());
    return {};
  }
  bool takes_rows(const FieldSpec&) const override { return false; }
  void run_rows(const FieldSpec&, const std::byte*, size_t, std::byte*) const override {}
  bool takes_lent() const override { return takes_lent_; }

 private:
  const std::shared_ptr<SeenRows> seen_;
  const bool takes_lent_;
};

class LoaderOfLentRows : public testing::Test {
 protected:
  // Row i of the images begins with i, and each of the labels is i.
  void SetUp() override {
    std::vector<int64_t> images(kRows * kLentWidth), labels(kRows * 3);
    for (size_t k = 0; k < images.size(); ++k) {
      const auto row = static_cast<int64_t>(k) / kLentWidth, column = static_cast<int64_t>(k) % kLentWidth;
      images[k] = column == 0 ? row : row * column;
    }
    for (size_t k = 0; k < labels.size(); ++k) labels[k] = static_cast<int64_t>(k) / 3;
    ASSERT_TRUE(write_npy(folder_.file("images"), Tensor::from(images, {kRows, kLentWidth})));
    ASSERT_TRUE(write_npy(folder_.file("labels"), Tensor::from(labels, {kRows, 3})));
  }
  Dataset summed(const std::shared_ptr<SeenRows>& seen, bool takes_lent) {
    const Dataset images = npy(folder_.file("images")) | skip(1), labels = npy(folder_.file("labels")) | skip(1);
    return zip({renamed(images, "image"), renamed(labels, "label")}) | shuffle() |
           map("image", std::make_shared<SumOfRow>(seen, takes_lent)) | batch(4);
  }
  static void expect_values(const Dataset& dataset, int threads) {
    Loader loader(dataset, {.epochs = 4, .threads = threads});
    int64_t rows = 0;
    for (const Batch& batch : loader) {
      const auto sums = batch[size_t{0}].as<int64_t>(), labels = batch[size_t{1}].as<int64_t>();
      for (size_t r = 0; r < labels.size() / 3; ++r, ++rows) {
        const int64_t row = sums[2 * r];
        EXPECT_EQ(sums[2 * r + 1], row + row * kLentWidth * (kLentWidth - 1) / 2);
        EXPECT_THAT(labels.subspan(3 * r, 3), testing::Each(row));
      }
    }
    EXPECT_EQ(rows, 4 * (kRows - 1));
  }
  // Whether each row was always where it is in one mapping.
  static bool were_in_a_mapping(const SeenRows& seen) {
    const std::byte* const first = *seen.at.begin()->second.begin() - seen.at.begin()->first * kRowBytes;
    return std::ranges::all_of(seen.at, [&](const auto& row) {
      return row.second.size() == 1 && *row.second.begin() == first + row.first * kRowBytes;
    });
  }

  static constexpr int64_t kRows = 100, kRowBytes = kLentWidth * 8;
  const test::TempFolder folder_;
};

TEST_F(LoaderOfLentRows, GivesKernelsNoCopiesOnAnyThreads) {
  for (const int threads : {0, 1, 2}) {
    for (const bool takes_lent : {true, false}) {
      const auto seen = std::make_shared<SeenRows>();
      expect_values(summed(seen, takes_lent), threads);
      EXPECT_EQ(seen->at.size(), kRows - 1U);
      EXPECT_EQ(were_in_a_mapping(*seen), takes_lent) << threads;
    }
  }
}

TEST_F(LoaderOfLentRows, GivesKernelsNoCopiesWhereOperatorsAreMeasured) {
  trace::start();
  trace::internal::probes_every = true;
  for (const bool takes_lent : {true, false}) {
    const auto seen = std::make_shared<SeenRows>();
    expect_values(summed(seen, takes_lent), 2);
    EXPECT_EQ(were_in_a_mapping(*seen), takes_lent);
  }
  trace::internal::probes_every = false;
  trace::stop();
}

TEST_F(LoaderOfLentRows, KeepsTheContract) {
  EXPECT_EQ(contract_violation(summed(std::make_shared<SeenRows>(), true)), "");
}

}  // namespace
}  // namespace headpond::internal
