// SPDX-License-Identifier: Apache-2.0
// A dataset that is slow to make is written once as files, which every training reads as another dataset. With a folder
// as its argument the files stay there.
#include <headpond/headpond.h>

#include <array>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

namespace hp = headpond;

namespace {

std::tuple<hp::Tensor, int64_t> draw(int64_t number) {  // Stands for slow work.
  std::array<uint8_t, 28 * 28> pixels;
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * static_cast<size_t>(number));
  return {hp::Tensor::from<uint8_t>(pixels, {28, 28}), number % 10};
}

hp::Result<std::string> to_example(const hp::Tensor& image, int64_t label) {
  const std::vector<hp::NamedTensor> features = {{"image", image}, {"label", hp::Tensor::scalar(label)}};
  return hp::make_example(features);
}

}  // namespace

int main(int argc, char** argv) {
  const auto temp = std::filesystem::temp_directory_path();
  const std::string folder =
      argc > 1 ? argv[1] : (temp / ("headpond_digits_" + std::to_string(hp::entropy()))).string();

  // Once. With .resume = true it continues an interrupted call.
  const hp::Dataset digits =
      hp::range(1000) | hp::map(&draw, {.output = {{"image", hp::u8, {28, 28}}, {"label", hp::i64, {}}}});
  const auto written =
      hp::write_shards(digits | hp::map(&to_example, {.name = "to_example"}), {.folder = folder, .shards = 4});
  if (!written) throw hp::Exception(written.error());

  // In every training.
  const hp::Dataset train = hp::tfrecord(folder + "/data-*.tfrecord") | hp::shuffle() |
                            hp::map(hp::parse_example({{"image", hp::u8, {28, 28}}, {"label", hp::i64}})) |
                            hp::batch(32);
  int64_t images = 0;
  hp::Loader loader(train);
  for (const hp::Batch& batch : loader) images += batch["label"].size();

  std::printf("%zu shards of %" PRId64 " records; %" PRId64 " images read\n", written->shards.size(), written->records,
              images);
  if (argc < 2) std::filesystem::remove_all(folder);
  return images == 1000 ? 0 : 1;
}
