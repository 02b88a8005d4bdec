// SPDX-License-Identifier: Apache-2.0
#include "cli/view/samples.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "headpond/codec/image/geometry/geometry_kernels.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/sound/augment/mask.h"
#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/spectrum/delta.h"
#include "headpond/codec/sound/spectrum/spectrum_kernels.h"
#include "headpond/codec/sound/wav_kernel.h"
#include "headpond/dataset/ops.h"
#include "headpond/io/record/record_writer.h"

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

// What is kept of a turned image is an octagon of its picture: the corners of the frame lie outside.
TEST(ViewTiles, TheOutlineOfATurnedFrameIsCutAtThePicture) {
  const Dataset dark = from_tensors(Tensor::from(std::vector<uint8_t>(size_t{64 * 64 * 3}, 0), {64, 64, 3}));
  const auto tiles = view_tiles(dark | map("", rotate(45)) | batch(1), {.before = true});
  ASSERT_TRUE(tiles);
  const Picture& decoded = tiles->at(0).pictures.at(0).second;
  const auto is_drawn = [&decoded](int64_t x, int64_t y) { return decoded.rgb[(y * decoded.width + x) * 3] == 255; };
  const auto is_drawn_near = [&](int64_t x, int64_t y) {
    return is_drawn(x, y) || is_drawn(x - 1, y) || is_drawn(x + 1, y);
  };
  EXPECT_TRUE(is_drawn_near(54, 9)) << "32 from the middle";
  EXPECT_TRUE(is_drawn_near(9, 54));
  EXPECT_TRUE(is_drawn(32, 0));
  EXPECT_FALSE(is_drawn_near(48, 16)) << "where corners that are moved to the edge would have the outline";
  EXPECT_FALSE(is_drawn(0, 0));
}

// "image" all 50, normalized, and "mask" with one pixel.
Dataset normalized_with_mask() {
  std::vector<uint8_t> inside(64, 0);
  inside[27] = 1;
  const Dataset both = from_tensors(
      {{"mask", Tensor::from(inside, {8, 8})}, {"image", Tensor::from(std::vector<uint8_t>(192, 50), {8, 8, 3})}});
  return both | map({.image = "image", .mask = "mask"}, normalize());
}

TEST(ViewTiles, FindFieldsByNameAfterStepsThatMoveThem) {
  const auto shown = view_tiles(normalized_with_mask(), {})->at(0);
  ASSERT_EQ(shown.shape, "float32[3,8,8]");
  const auto swapped = [](const Element& in) { return Element{{in[size_t{1}], in[size_t{0}]}}; };
  const auto moved =
      view_tiles(normalized_with_mask() | map(swapped, {.output = {{"image", f32, {3, 8, 8}}, {"mask", u8, {8, 8}}}}),
                 {})
          ->at(0);
  EXPECT_EQ(moved.shape, "float32[3,8,8]");
  EXPECT_EQ(moved.pictures[0].second.rgb, shown.pictures[0].second.rgb) << "the mask's contour on the same pixels";
}

TEST(ViewTiles, StopAtTheKernelsIfAFieldIsGoneUnlessAStepIsNamed) {
  const auto alone = [](const Element& in) { return in[size_t{0}]; };
  const Dataset dataset = normalized_with_mask() | map(alone, {.output = {{"mask", u8, {8, 8}}}});
  EXPECT_EQ(view_tiles(dataset, {})->at(0).shape, "float32[3,8,8]");
  EXPECT_EQ(view_tiles(dataset, {.step = "map"})->at(0).shape, "uint8[8,8]");
}

TEST(ViewTiles, BeforeIsForImages) {
  const Dataset sounds = from_tensor_slices(Tensor::from(std::vector<float>(4000), {2, 2000, 1}));
  EXPECT_THAT([&] { (void)view_tiles(sounds | map("", log_mel()) | batch(2), {.before = true}); },
              ThrowsMessage<Exception>(HasSubstr("has kernels of images, so --before shows nothing")));
  const auto tiles = view_tiles(sounds | map("", gain_db(3)) | batch(2), {.before = true});
  ASSERT_TRUE(tiles);
  for (const auto& [label, picture] : tiles->at(0).pictures) EXPECT_NE(label, "decoded");
  EXPECT_EQ(view_tiles(sounds | map("", log_mel({.hop = 100})), {})->at(0).pictures[0].second.width, 21 + 6);
  const Dataset turned = sounds | map("", log_mel({.hop = 100, .mels_first = true}));
  const auto upright = view_tiles(sounds | map("", log_mel({.hop = 100})), {}), turned_back = view_tiles(turned, {});
  EXPECT_EQ(turned_back->at(0).pictures[0].second.rgb, upright->at(0).pictures[0].second.rgb);
}

TEST(ViewTiles, ASoundIsHeardAtTheRateThatItsDecoderGives) {
  const auto file = encode_wav(Tensor::from(std::vector<float>(8000, 0.25F), {8000, 1}), 44100).value();
  const Dataset files = from_tensor_slices(
      Tensor::from(std::vector<std::string>{{reinterpret_cast<const char*>(file.data()), file.size()}}, {1}));
  const auto rate_of = [&](const WavOptions& options) {
    const auto tiles = view_tiles(files | map("", decode_wav(options)), {});
    return wav_info(tiles->at(0).wav, tiles->at(0).wav.size())->rate;
  };
  EXPECT_EQ(rate_of({.rate = 44100}), 44100) << "control";
  EXPECT_EQ(rate_of({.sample_rate = 22050}), 22050);
  EXPECT_EQ(rate_of({.rate = 44100, .sample_rate = 22050}), 22050);
}

TEST(ViewTiles, ASpectrumHasTheSoundThatItWasMadeOf) {
  std::vector<float> samples;
  for (size_t i = 0; i < 12'000; ++i) samples.push_back(i < 6'000 ? 0.25F : -0.5F);
  const Dataset sounds = from_tensor_slices(Tensor::from(samples, {3, 4000, 1}));
  const auto kernels = map("", gain_db({-6, 6}), log_mel({.sample_rate = 8000, .mels = 20}), spec_augment());
  const auto gained = view_tiles(sounds | map("", gain_db({-6, 6})), {.seed = 4});
  for (const Dataset& spectra : {sounds | kernels | batch(2), sounds | kernels | map("", delta()) | batch(2)}) {
    const auto tiles = view_tiles(spectra, {.seed = 4, .batches = 2});
    ASSERT_EQ(tiles->size(), 3U);
    for (size_t i = 0; i < 3; ++i) {
      const Tile& tile = tiles->at(i);
      ASSERT_EQ(tile.pictures.size(), 2U);
      EXPECT_EQ(tile.pictures[0].first, "spectrum");
      EXPECT_EQ(tile.pictures[1].second.rgb, gained->at(i).pictures[0].second.rgb) << "the waveform";
      EXPECT_EQ(wav_info(tile.wav, tile.wav.size())->rate, 8000);
      EXPECT_EQ(tile.shape, "float32[21,20]");
    }
  }
  const auto drawn = view_tiles(sounds | kernels | batch(2), {.seed = 4, .draws = 2});
  EXPECT_EQ(drawn->at(0).wav, view_tiles(sounds | kernels, {.seed = 4})->at(0).wav);
  EXPECT_NE(drawn->at(0).wav, drawn->at(1).wav) << "of another epoch";
  EXPECT_TRUE(view_tiles(sounds | kernels | shuffle(), {.seed = 4})->at(0).wav.empty()) << "of another element";
}

TEST(ViewTiles, AreAtMost256HoweverManyBatchesAreAskedFor) {
  const Dataset many = images(1) | repeat(300) | batch(1'000'000'000);
  EXPECT_EQ(view_tiles(many, {.batches = INT64_MAX})->size(), 256U);
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
  EXPECT_EQ(tiles->at(1).key, 1U);
}

TEST(ViewTiles, AFileThatCannotBeDecodedIsNamed) {
  const std::filesystem::path folder_path = std::filesystem::path(testing::TempDir()) / "view_of_damaged_files";
  std::filesystem::create_directories(folder_path / "a");
  const auto sound = encode_wav(Tensor::from(std::vector<float>(500, 0.25F), {500, 1}), 8000).value();
  std::ofstream(folder_path / "a" / "0.wav", std::ios::binary)
      .write(reinterpret_cast<const char*>(sound.data()), std::ssize(sound));
  std::ofstream(folder_path / "a" / "1.wav", std::ios::binary) << "no sound";
  const auto tiles = view_tiles(folder(folder_path.string()) | map("file", decode_wav()) | batch(2), {});
  std::filesystem::remove_all(folder_path);
  ASSERT_EQ(tiles->size(), 2U);
  EXPECT_EQ(tiles->at(0).error, "");
  EXPECT_EQ(tiles->at(1).source, (folder_path / "a" / "1.wav").string());
  EXPECT_TRUE(tiles->at(1).is_whole) << "no record of it is named";
  EXPECT_EQ(tiles->at(1).key, 1U);
}

TEST(ViewTiles, ARecordOfAFileInTheFolderOfAFolderIsNamed) {
  const std::filesystem::path folder_path = std::filesystem::path(testing::TempDir()) / "view_of_records";
  std::filesystem::create_directories(folder_path / "a");
  std::ofstream(folder_path / "a" / "0.wav", std::ios::binary) << "no sound";
  const std::string records = (folder_path / "a.tfrecord").string();
  {
    auto writer = RecordWriter::open(records).value();
    for (const char* text : {"one", "two"}) ASSERT_TRUE(writer->append(std::string(text)));
    ASSERT_TRUE(writer->close());
  }
  const auto content = [](const Element& in) { return Element{{in[1]}}; };
  const Dataset files = folder(folder_path.string()) | map(content, {.output = {{"", bytes, {}}}});
  const auto tiles = view_tiles(concatenate({files, tfrecord(records)}) | map("", decode_wav()) | batch(3), {});
  std::filesystem::remove_all(folder_path);
  ASSERT_EQ(tiles->size(), 3U);
  EXPECT_TRUE(tiles->at(0).is_whole) << "control";
  for (const size_t i : {size_t{1}, size_t{2}}) {
    EXPECT_EQ(tiles->at(i).source, records);
    EXPECT_EQ(tiles->at(i).record, static_cast<int64_t>(i - 1));
    EXPECT_FALSE(tiles->at(i).is_whole) << i;
  }
}

}  // namespace
}  // namespace headpond::cli
