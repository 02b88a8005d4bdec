// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/torch_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>

#include "headpond/dataset/ops.h"
#include "headpond/train/torch_batch_test_internal.h"

namespace headpond {
namespace {

using internal::labels_of;
using internal::pairs;
using internal::thrown;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(TorchBatch, HasTheBytesOfTheBatchByNameAndNumber) {
  Loader loader(pairs(4), {.epochs = 2});
  (void)loader.next();
  const Batch batch = loader.next().value();
  const TorchBatch seen = as_torch(batch).value();
  EXPECT_EQ(seen["image"].data_ptr(), static_cast<const void*>(batch["image"].data()));
  EXPECT_EQ(seen[0].data_ptr(), seen["image"].data_ptr());
  EXPECT_EQ(seen["image"].sizes(), torch::IntArrayRef({2, 3}));
  EXPECT_THAT(labels_of(seen["label"]), ElementsAre(2, 3));
  EXPECT_THAT(seen.names(), ElementsAre("image", "label", "code"));
  EXPECT_EQ(seen.size(), 3U);
  EXPECT_EQ(seen.epoch(), 0);
  EXPECT_EQ(seen.index(), 1);
  EXPECT_NE(seen["image"].clone().data_ptr(), static_cast<const void*>(batch["image"].data())) << "control";
}

TEST(TorchBatch, WrongFieldsAreNamed) {
  Loader loader(pairs(2), {});
  const TorchBatch batch = as_torch(loader.next().value()).value();
  const Error unknown = thrown([&] { (void)batch["picture"]; });
  EXPECT_EQ(unknown.kind(), ErrorKind::InvalidArgument);
  EXPECT_THAT(unknown.message(), HasSubstr("no field 'picture'; there are: image, label, code"));
  EXPECT_EQ(thrown([&] { (void)batch[3]; }).kind(), ErrorKind::InvalidArgument);
  const Error lacking = thrown([&] { (void)batch["code"]; });
  EXPECT_EQ(lacking.kind(), ErrorKind::Unimplemented);
  EXPECT_THAT(lacking.message(), HasSubstr("field code: torch has no tensors of uint16"));
  EXPECT_EQ(batch.batch()["code"].as<uint16_t>()[1], 1) << "the values are there all the same";
}

TEST(TorchBatch, TextsStayInTheBatch) {
  const Dataset words = range(2) | map(
                                       [](const Element& e) -> Result<Element> {
                                         return Element{e[0], Tensor::scalar(std::string("word"))};
                                       },
                                       {.output = Spec{{"number", i64, {}}, {"word", bytes, {}}}, .name = "words"});
  Loader loader(words | batch(2), {});
  const TorchBatch batch = as_torch(loader.next().value()).value();
  EXPECT_EQ(batch["number"].numel(), 2);
  const Error lacking = thrown([&] { (void)batch["word"]; });
  EXPECT_EQ(lacking.kind(), ErrorKind::Unimplemented);
  EXPECT_THAT(lacking.message(), HasSubstr("field word: torch has no tensors of texts; before the batch, map() them"));
  EXPECT_EQ(batch.batch()["word"].bytes_at(1), "word");
}

TEST(TorchBatch, MemoryIsTheLoadersAgainAfterTheLastTensorOnAnyThread) {
  Loader loader(range(4) | map([](int64_t) { return 1.0F; }) | batch(2) |
                    map(
                        [](const Element&) -> Result<Element> {
                          return Element{Tensor::empty(f32, {2, 4096})};
                        },
                        {.output = Spec{{"", f32, {2, 4096}}}, .name = "large"}),
                {.threads = 0});
  const auto in_use = [&] { return loader.stats().memory_in_use; };
  std::optional<TorchBatch> batch = as_torch(loader.next().value()).value();
  torch::Tensor row = (*batch)[0][1];
  batch.reset();
  EXPECT_GE(in_use(), 4096 * 8) << "a part of a tensor holds all of it";
  std::thread([last = std::move(row)]() mutable { last.reset(); }).join();
  EXPECT_LT(in_use(), 4096 * 8);
}

TEST(TorchBatches, AreThoseOfTheLoader) {
  Loader loader(pairs(6), {.epochs = 2});
  std::vector<std::vector<int64_t>> seen;
  for (auto epoch : loader.epochs()) {
    for (const TorchBatch& batch : torch_batches(epoch)) {
      EXPECT_EQ(batch.epoch(), epoch.index());
      seen.push_back(labels_of(batch["label"]));
      if (epoch.index() == 0 && batch.index() == 1) break;
    }
  }
  EXPECT_THAT(
      seen, ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5)));
  loader.rewind();
  int64_t batches = 0;
  for (const TorchBatch& batch : torch_batches(loader)) batches += batch.size() > 0 ? 1 : 0;
  EXPECT_EQ(batches, 6);
}

TEST(TorchBatches, ErrorsAreThrown) {
  Loader loader(range(3) | map([](int64_t x) -> Result<int64_t> {
                  if (x == 1) return fail(ErrorKind::DataLoss, "a damaged one");
                  return x;
                }));
  const Error error = thrown([&] {
    for (const TorchBatch& batch : torch_batches(loader)) (void)batch;
  });
  EXPECT_THAT(error.message(), HasSubstr("a damaged one"));
}

}  // namespace
}  // namespace headpond
