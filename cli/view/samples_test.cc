// SPDX-License-Identifier: Apache-2.0
#include "cli/view/samples.h"

#include <gmock/gmock.h>

#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/dataset/ops.h"

namespace headpond::cli {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Dataset images(int64_t count) {
  std::vector<uint8_t> values(static_cast<size_t>(count * 8 * 8 * 3));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 13);
  return from_tensor_slices(Tensor::from(values, {count, 8, 8, 3}));
}

TEST(ViewTiles, ShowTheSamplesBeforeTheBatches) {
  const auto tiles = view_tiles(images(10) | map("", random_horizontal_flip()) | batch(4), {.seed = 3, .batches = 2});
  ASSERT_TRUE(tiles);
  ASSERT_EQ(tiles->size(), 8U);
  EXPECT_EQ(tiles->at(7).key, 7U);
  EXPECT_EQ(tiles->at(0).shape, "uint8[8,8,3]");
  EXPECT_EQ(tiles->at(0).draws.size(), 1U);
  EXPECT_EQ(view_tiles(images(3) | batch(4), {})->size(), 3U) << "the end";
  EXPECT_TRUE(view_tiles(images(3) | take(0), {})->empty());
}

TEST(ViewTiles, AStepMayBeNamedAlsoOneOfBatches) {
  const Dataset dataset = images(6) | batch(2);
  const auto rows = view_tiles(dataset, {.batches = 2, .step = "batch"});
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->size(), 4U);
  EXPECT_EQ(rows->at(1).note, "row 1 of the batch");
  EXPECT_EQ(rows->at(1).pictures[0].second.rgb, view_tiles(dataset, {})->at(1).pictures[0].second.rgb);
  EXPECT_THAT([&] { (void)view_tiles(dataset, {.step = "nothing"}); },
              ThrowsMessage<Exception>(HasSubstr("no step 'nothing'")));
}

TEST(ViewTiles, BeforeShowsWhatIsKeptAndTheSameSample) {
  const Dataset dataset = images(4) | map("", crop(2, 3, {4, 4})) | batch(4);
  const auto before = view_tiles(dataset, {.before = true}), plain = view_tiles(dataset, {});
  ASSERT_TRUE(before);
  const Tile& tile = before->at(1);
  ASSERT_EQ(tile.pictures.size(), 2U);
  EXPECT_EQ(tile.pictures[1].second.rgb, plain->at(1).pictures[0].second.rgb);
  const Picture& decoded = tile.pictures[0].second;
  EXPECT_EQ(decoded.rgb[(2 * 8 + 3) * 3], 255) << "the corner of the outline";
  EXPECT_THAT([] { (void)view_tiles(images(2) | batch(2), {.before = true}); },
              ThrowsMessage<Exception>(HasSubstr("--before shows nothing")));
}

TEST(ViewTiles, DrawsShowOneSampleInManyEpochs) {
  const Dataset dataset = images(4) | map("", random_crop({4, 4})) | batch(4);
  const auto draws = view_tiles(dataset, {.seed = 5, .draws = 6});
  ASSERT_TRUE(draws);
  ASSERT_EQ(draws->size(), 6U);
  EXPECT_EQ(draws->at(5).epoch, 5);
  EXPECT_EQ(draws->at(5).key, draws->at(0).key);
  EXPECT_EQ(draws->at(0).pictures[0].second.rgb, view_tiles(dataset, {.seed = 5})->at(0).pictures[0].second.rgb);
  bool differ = false;
  for (const Tile& tile : *draws) differ = differ || tile.pictures[0].second.rgb != draws->at(0).pictures[0].second.rgb;
  EXPECT_TRUE(differ);
}

TEST(ViewTiles, AnElementThatFailsIsATile) {
  const auto broken = [](const Tensor&) -> Result<Tensor> { return fail(ErrorKind::DataLoss, "broken"); };
  const auto tiles = view_tiles(images(2) | map(broken, {.output = {{"", u8, {8, 8, 3}}}}), {});
  ASSERT_TRUE(tiles);
  ASSERT_EQ(tiles->size(), 2U);
  EXPECT_THAT(tiles->at(0).error, HasSubstr("broken"));
}

}  // namespace
}  // namespace headpond::cli
