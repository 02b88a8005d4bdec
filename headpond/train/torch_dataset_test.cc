// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/torch_dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "headpond/train/torch_batch_test_internal.h"

namespace headpond {
namespace {

using internal::labels_of;
using internal::pairs;
using internal::thrown;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(TorchDataset, LoopsOverTorchsLoaderStayAsTheyAre) {
  for (const size_t workers : {size_t{0}, size_t{2}}) {
    Loader loader(pairs(6), {.epochs = 2});
    auto options = torch::data::DataLoaderOptions().workers(workers);
    auto data_loader = torch::data::make_data_loader(torch_dataset(loader), options);
    std::vector<int64_t> labels, batches_of_pass;
    for (int pass = 0; pass < 3; ++pass) {
      batches_of_pass.push_back(0);
      for (auto& batch : *data_loader) {
        EXPECT_EQ(batch.data.sizes(), torch::IntArrayRef({2, 3}));
        EXPECT_TRUE(batch.fields["label"].is_same(batch.target));
        for (const int64_t label : labels_of(batch.target)) labels.push_back(label);
        ++batches_of_pass.back();
      }
    }
    EXPECT_THAT(batches_of_pass, ElementsAre(3, 3, 0)) << workers;
    ASSERT_EQ(labels.size(), 12U);
    if (workers > 1) {  // One may have its batch before the other, and hand it over after.
      std::sort(labels.begin(), labels.begin() + 6);
      std::sort(labels.begin() + 6, labels.end());
    }
    EXPECT_THAT(labels, ElementsAre(0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5)) << workers;
  }
}

TEST(TorchDataset, APassThatIsLeftEarlyEndsItsEpoch) {
  Loader loader(pairs(6), {.epochs = 2});
  auto data_loader = torch::data::make_data_loader(torch_dataset(loader));
  for (auto& batch : *data_loader) {
    EXPECT_THAT(labels_of(batch.target), ElementsAre(0, 1));
    break;
  }
  int64_t batches = 0;
  for (auto& batch : *data_loader) {
    EXPECT_EQ(batch.fields.epoch(), 1);
    ++batches;
  }
  EXPECT_EQ(batches, 3);
}

TEST(TorchDataset, FieldsAreChosenByName) {
  Loader loader(pairs(2), {});
  auto dataset = torch_dataset(loader, {.data = "label", .target = "image"});
  const auto example = dataset.get_batch(1);
  EXPECT_EQ(example->data.scalar_type(), torch::kI64);
  EXPECT_EQ(example->target.scalar_type(), torch::kF32);
  loader.rewind();
  auto wrong = torch_dataset(loader, {.data = "picture"});
  EXPECT_THAT(thrown([&] { (void)wrong.get_batch(1); }).message(), HasSubstr("there are: image, label, code"));
}

TEST(TorchDataset, APositionGoesThroughATorchArchive) {
  Loader first(pairs(8), {.epochs = 2});
  auto before = torch_dataset(first);
  before.reset();
  (void)before.get_batch(1);
  (void)before.get_batch(1);
  std::ostringstream written;
  torch::serialize::OutputArchive out;
  out << before;
  out.save_to(written);
  Loader second(pairs(8), {.epochs = 2});
  auto after = torch_dataset(second);
  std::istringstream read(written.str());
  torch::serialize::InputArchive in;
  in.load_from(read);
  in >> after;
  after.reset();
  EXPECT_THAT(labels_of(after.get_batch(1)->target), ElementsAre(4, 5));
  Loader other(pairs(6), {.epochs = 2});
  auto foreign = torch_dataset(other);
  EXPECT_EQ(thrown([&] { in >> foreign; }).kind(), ErrorKind::FailedPrecondition);
}

}  // namespace
}  // namespace headpond
