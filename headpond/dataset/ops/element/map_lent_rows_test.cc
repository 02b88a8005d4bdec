// SPDX-License-Identifier: Apache-2.0
// Kernels over rows of npy files: where they are not copied, and what becomes of files that change meanwhile.
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/dataset/testing/renamed_test_internal.h"
#include "headpond/io/array/npy.h"
#include "headpond/tensor/rows_kernel.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Called {
  std::vector<const std::byte*> arguments;
  std::function<void()> then = [] {};
  bool refuses_zeros = false;
};

// Adds 1 where `changes`; else gives the first row of its argument, without a copy.
class Look final : public RowsKernel {
 public:
  Look(std::shared_ptr<Called> called, bool takes_lent, bool changes)
      : RowsKernel({.title = "look", .result = [changes](const Spec& in) { return changes ? in : top_of(in); }}),
        called_(std::move(called)),
        takes_lent_(takes_lent),
        changes_(changes) {}
  Result<void> run(KernelCall& call) const override {
    called_->arguments.push_back(call.in().data());
    called_->then();
    const auto from = call.in().as<float>();
    if (called_->refuses_zeros && std::ranges::count(from, 0) > 0) return fail(ErrorKind::InvalidArgument, "a zero");
    if (!changes_) {
      call.set(0, Tensor::view(call.in().data(), DType::f32, {1, call.in().dim(1)}));
      return {};
    }
    const auto to = call.make<float>(0, call.in().shape());
    for (size_t k = 0; k < from.size(); ++k) to[k] = from[k] + 1;
    return {};
  }
  bool takes_rows(const FieldSpec&) const override { return false; }
  void run_rows(const FieldSpec&, const std::byte*, size_t, std::byte*) const override {}
  bool takes_lent() const override { return takes_lent_; }

 private:
  static Spec top_of(const Spec& in) { return {{in[0].name, in[0].dtype, {1, in[0].shape[1]}}}; }
  const std::shared_ptr<Called> called_;
  const bool takes_lent_, changes_;
};

// Adds a half; two are one Look.
class Half final : public RowsKernel {
 public:
  Half(std::shared_ptr<Called> called, bool takes_lent)
      : RowsKernel({.title = "half"}), called_(std::move(called)), takes_lent_(takes_lent) {}
  Result<void> run(KernelCall& call) const override {
    const auto from = call.in().as<float>();
    const auto to = call.make<float>(0, call.in().shape());
    for (size_t k = 0; k < from.size(); ++k) to[k] = from[k] + 0.5F;
    return {};
  }
  KernelRef with(const KernelRef&) const override { return std::make_shared<Look>(called_, true, true); }
  bool takes_rows(const FieldSpec&) const override { return false; }
  void run_rows(const FieldSpec&, const std::byte*, size_t, std::byte*) const override {}
  bool takes_lent() const override { return takes_lent_; }

 private:
  const std::shared_ptr<Called> called_;
  const bool takes_lent_;
};

// Numbers 0, 8 and a third are a text of 8 bytes: offsets and characters, where they are.
class TextOf final : public RowsKernel {
 public:
  TextOf()
      : RowsKernel({.title = "text_of", .result = [](const Spec& in) -> Spec {
                      return {{in[0].name, DType::bytes, {1}}};
                    }}) {}
  Result<void> run(KernelCall& call) const override {
    call.set(0, Tensor::view(call.in().data(), DType::bytes, {1}));
    return {};
  }
  bool takes_rows(const FieldSpec&) const override { return false; }
  void run_rows(const FieldSpec&, const std::byte*, size_t, std::byte*) const override {}
  bool takes_lent() const override { return true; }
};

class LentNpyRows : public testing::Test {
 protected:
  // 0, 1/2, 1, ... in the order of the file.
  std::string write(const std::string& name, const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(*shape.size()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 2;
    EXPECT_TRUE(write_npy(folder_.file(name), Tensor::from(std::span<const float>(values), shape)));
    return folder_.file(name);
  }
  Dataset looked_at(const Dataset& rows, bool takes_lent, bool changes) {
    return rows | map_kernels_step(rows.spec()[0].name, {std::make_shared<Look>(called_, takes_lent, changes)});
  }
  // Whether rows of `bytes` bytes were where a file has them, one after the other.
  bool were_in_a_file(size_t bytes) const {
    for (size_t i = 1; i < called_->arguments.size(); ++i) {
      if (called_->arguments[i] != called_->arguments[0] + i * bytes) return false;
    }
    return called_->arguments.size() > 1;
  }
  test::TempFolder folder_;
  const std::shared_ptr<Called> called_ = std::make_shared<Called>();
};

TEST_F(LentNpyRows, AreNotCopiedForKernelsThatTakeThem) {
  const std::string path = write("1", {4, 3, 2});
  for (const bool takes_lent : {true, false}) {
    called_->arguments.clear();
    const Dataset dataset = looked_at(npy(path) | skip(1), takes_lent, true);
    const auto view = view_of(*dataset.node(), {});
    Context context;
    for (int64_t i = 0; i < 3; ++i) {
      Element out;
      ASSERT_EQ(view->at(i, context, {}, out), Got::value);
      EXPECT_EQ(out.key, static_cast<uint64_t>(i + 1));
      EXPECT_EQ(out[0].as<float>()[5], static_cast<float>(6 * i + 11) / 2 + 1);
    }
    EXPECT_EQ(were_in_a_file(24), takes_lent);
    check_contract(dataset | shuffle() | batch(2));
  }
}

// After an error of the joined kernel the others run on the same arguments.
TEST_F(LentNpyRows, AreCopiedUnlessEachKernelOfAJointTakesThem) {
  const std::string path = write("1", {4, 3, 2});
  for (const bool take_lent : {true, false}) {
    called_->arguments.clear();
    const KernelRef half = std::make_shared<Half>(called_, take_lent);
    const Dataset dataset = npy(path) | map_kernels_step("", {half, half});
    const auto view = view_of(*dataset.node(), {});
    Context context;
    for (int64_t i = 0; i < 4; ++i) {
      Element out;
      ASSERT_EQ(view->at(i, context, {}, out), Got::value);
      EXPECT_EQ(out[0].as<float>()[0], static_cast<float>(6 * i) / 2 + 1);
    }
    EXPECT_EQ(were_in_a_file(24), take_lent);
  }
}

TEST_F(LentNpyRows, AreCopiedWhereTheyLeaveTheKernel) {
  const Dataset dataset = looked_at(npy(write("1", {4, 3, 2})), true, false);
  const auto view = view_of(*dataset.node(), {});
  std::array<float, 2> row = {};
  const FieldSpec spec = {"", DType::f32, {1, 2}};
  const OutputSlot slot = {reinterpret_cast<std::byte*>(row.data()), &spec};
  Context context;
  Element in_slot, own;
  ASSERT_EQ(view->at(1, context, OutputSlots(&slot, 1), in_slot), Got::value);
  EXPECT_EQ(in_slot[0].data(), slot.data);
  EXPECT_THAT(row, ElementsAre(3, 3.5));
  ASSERT_EQ(view->at(1, context, {}, own), Got::value);
  EXPECT_NE(own[0].data(), called_->arguments.back());
  EXPECT_THAT(own[0].as<float>(), ElementsAre(3, 3.5));
  EXPECT_EQ(own.key, 1U);
}

TEST_F(LentNpyRows, AreCopiedWhereTheyLeaveTheKernelAsTexts) {
  const std::vector<int64_t> values = {0, 8, 0x6161616161616161, 0, 8, 0x6262626262626262};
  ASSERT_TRUE(write_npy(folder_.file("1"), Tensor::from(values, {2, 3})));
  const Dataset dataset = npy(folder_.file("1")) | map_kernels_step("", {std::make_shared<TextOf>()});
  const auto view = view_of(*dataset.node(), {});
  Context context;
  Element out;
  ASSERT_EQ(view->at(1, context, {}, out), Got::value) << context.error;
  EXPECT_EQ(out[0].bytes_at(0), "bbbbbbbb");
  EXPECT_NE(out[0].owner(), nullptr);
}

TEST_F(LentNpyRows, ForWhichThereIsNoMemoryAreAnErrorOfAnOperator) {
  const Dataset dataset = looked_at(npy(write("1", {4, 3, 20})), true, false);
  const auto view = view_of(*dataset.node(), {});
  BufferPool pool({.allocate = [](size_t) -> void* { return nullptr; }, .release = [](void*, size_t) {}});
  Context context(pool);
  Element out;
  ASSERT_EQ(view->at(1, context, {}, out), Got::error);
  EXPECT_EQ(called_->arguments.size(), 1U) << "control: memory was needed after the kernel";
  EXPECT_EQ(out.key, 1U);
  EXPECT_EQ(context.error.kind(), ErrorKind::ResourceExhausted) << context.error;
  EXPECT_THAT(context.error.place().op, HasSubstr("npy"));
}

TEST_F(LentNpyRows, OfAFileThatIsCutMeanwhileAreNoResults) {
  // 48,128 bytes: the second cut is in the last page, whose end then reads as zeros without a signal.
  for (const uintmax_t cut : {200, 48'000}) {
    for (const bool changes : {true, false}) {
      for (const bool refuses_zeros : {true, false}) {
        called_->refuses_zeros = refuses_zeros;
        const std::string path = write("1", {300, 20, 2});
        const Dataset dataset = looked_at(npy(path), true, changes);
        const auto view = view_of(*dataset.node(), {});
        Context context;
        Element whole, cut_off;
        ASSERT_EQ(view->at(299, context, {}, whole), Got::value) << "control";
        called_->then = [&] { std::filesystem::resize_file(path, cut); };
        EXPECT_EQ(view->at(299, context, {}, cut_off), Got::error);
        EXPECT_EQ(context.error.kind(), ErrorKind::DataLoss) << context.error;
        called_->then = [] {};
      }
    }
  }
}

class ZippedLentRows : public LentNpyRows {
 protected:
  Dataset with_labels(const std::string& images, const std::string& labels) {
    return zip({renamed(npy(images), "image"), renamed(npy(labels), "label"), renamed(npy(write("n", {300})), "n")});
  }
};

TEST_F(ZippedLentRows, AreNotCopiedButTheLabels) {
  const std::string images = write("images", {300, 3, 8}), labels = write("labels", {300, 5});
  for (const bool takes_lent : {true, false}) {
    called_->arguments.clear();
    const Dataset dataset = looked_at(with_labels(images, labels), takes_lent, true);
    const auto view = view_of(*dataset.node(), {});
    Context context;
    for (int64_t i = 0; i < 10; ++i) {
      Element out;
      ASSERT_EQ(view->at(i, context, {}, out), Got::value);
      EXPECT_EQ(out.key, static_cast<uint64_t>(i));
      EXPECT_EQ(out[0].as<float>()[23], static_cast<float>(24 * i + 23) / 2 + 1);
      EXPECT_EQ(out[1].as<float>()[4], static_cast<float>(5 * i + 4) / 2);
      EXPECT_NE(out[1].owner(), nullptr) << "a label that is no memory of the file";
      EXPECT_EQ(out[2].item<float>(), static_cast<float>(i) / 2);
    }
    EXPECT_EQ(were_in_a_file(96), takes_lent);
    check_contract(dataset | take(9) | shuffle() | batch(2));
  }
}

TEST_F(ZippedLentRows, WhoseLabelsAreCutAreNoResults) {
  for (const std::string shrinks : {"images", "labels"}) {
    const std::string images = write("images", {300, 3, 8}), labels = write("labels", {300, 5});
    const Dataset dataset = looked_at(with_labels(images, labels), true, true);
    const auto view = view_of(*dataset.node(), {});
    Context context;
    Element whole, cut;
    ASSERT_EQ(view->at(299, context, {}, whole), Got::value) << "control";
    called_->then = [&] { std::filesystem::resize_file(folder_.file(shrinks), 200); };
    EXPECT_EQ(view->at(299, context, {}, cut), Got::error);
    EXPECT_EQ(context.error.kind(), ErrorKind::DataLoss) << context.error;
    EXPECT_THAT(context.error.message(), HasSubstr(shrinks));
    called_->then = [] {};
  }
}

TEST_F(ZippedLentRows, OfMoreFilesThanALoanHasAreCopied) {
  std::vector<Dataset> all;
  for (const char* const name : {"a", "b", "c", "d", "e", "f"}) {
    all.push_back(renamed(npy(write(name, {4, 1, 5})), name));
  }
  const Dataset dataset = zip(all) | map_kernels_step("f", {std::make_shared<Look>(called_, true, true)});
  const auto view = view_of(*dataset.node(), {});
  Context context;
  Element out;
  ASSERT_EQ(view->at(3, context, {}, out), Got::value);
  for (size_t field = 0; field < 6; ++field) {
    EXPECT_EQ(out[field].as<float>()[4], 9.5 + (field == 5 ? 1 : 0));
    EXPECT_NE(out[field].owner(), nullptr);
  }
}

}  // namespace
}  // namespace headpond::internal
