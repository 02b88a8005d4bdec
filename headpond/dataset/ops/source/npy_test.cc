// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/npy.h"

#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "headpond/dataset/testing/dataset_test_internal.h"
#include "headpond/tensor/rows_kernel.h"
#include "tests/test_files.h"

namespace headpond::internal {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class NpyFiles : public testing::Test {
 protected:
  std::string write(const std::string& name, const Shape& shape) {
    std::vector<float> values(static_cast<size_t>(*shape.size()));
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) / 2;
    EXPECT_TRUE(write_npy(folder_.file(name), Tensor::from(std::span<const float>(values), shape)));
    return folder_.file(name);
  }
  test::TempFolder folder_;
};

TEST_F(NpyFiles, AreRows) {
  const Dataset dataset = npy({write("1", {2, 2}), write("2", {0, 2}), write("3", {1, 2})});
  EXPECT_EQ(to_string(dataset.spec()), "{0: float32[2]}");
  EXPECT_THAT(elements(dataset, {}, true), ElementsAre("[0 0.5] #0", "[1 1.5] #1", "[0 0.5] #2"));
  EXPECT_TRUE(fills(*(dataset | shuffle()).node()));
  check_contract(dataset | shuffle() | batch(2));
}

TEST_F(NpyFiles, ThatDisagreeOrShrinkAreNamed) {
  const std::string path = write("1", {300, 20});
  EXPECT_FALSE(check(npy({path, write("2", {3, 21})})));
  EXPECT_THROW((void)npy(std::vector<std::string>()), Exception);
  EXPECT_THROW((void)npy(folder_.file("none")), Exception);
  const Dataset dataset = npy(path);
  ASSERT_TRUE(check(dataset));
  std::filesystem::resize_file(path, 200);
  EXPECT_THAT(elements(dataset | skip(299)), ElementsAre(HasSubstr("!DataLoss")));
}

struct Called {
  std::vector<const std::byte*> arguments;
  std::function<void()> then = [] {};
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
    if (!changes_) {
      call.set(0, Tensor::view(call.in().data(), DType::f32, {1, 2}));
      return {};
    }
    const auto from = call.in().as<float>();
    const auto to = call.make<float>(0, call.in().shape());
    for (size_t k = 0; k < from.size(); ++k) to[k] = from[k] + 1;
    return {};
  }
  bool takes_rows(const FieldSpec&) const override { return false; }
  void run_rows(const FieldSpec&, const std::byte*, size_t, std::byte*) const override {}
  bool takes_lent() const override { return takes_lent_; }

 private:
  static Spec top_of(const Spec& in) { return {{in[0].name, in[0].dtype, {1, 2}}}; }
  const std::shared_ptr<Called> called_;
  const bool takes_lent_, changes_;
};

class LentNpyRows : public NpyFiles {
 protected:
  Dataset looked_at(const Dataset& rows, bool takes_lent, bool changes) {
    return rows | map_kernels_step("", {std::make_shared<Look>(called_, takes_lent, changes)});
  }
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
    const auto& seen = called_->arguments;
    EXPECT_EQ(seen[1] == seen[0] + 24 && seen[2] == seen[1] + 24, takes_lent);
    check_contract(dataset | shuffle() | batch(2));
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

TEST_F(LentNpyRows, OfAFileThatIsCutMeanwhileAreNoResults) {
  for (const bool changes : {true, false}) {
    const std::string path = write("1", {300, 20, 2});
    const Dataset dataset = looked_at(npy(path), true, changes);
    const auto view = view_of(*dataset.node(), {});
    Context context;
    Element whole, cut;
    ASSERT_EQ(view->at(299, context, {}, whole), Got::value) << "control";
    called_->then = [&] { std::filesystem::resize_file(path, 200); };
    EXPECT_EQ(view->at(299, context, {}, cut), Got::error);
    EXPECT_EQ(context.error.kind(), ErrorKind::DataLoss) << context.error;
    called_->then = [] {};
  }
}

}  // namespace
}  // namespace headpond::internal
