// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/operators.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <utility>

namespace preprocess_once {
namespace {

using Pictures = std::shared_ptr<const std::vector<Picture>>;

// The number, the image in colour, and the nuclei of all masks together.
hp::Result<std::tuple<int64_t, hp::Tensor, hp::Tensor>> decode(const Pictures& pictures, int64_t number) {
  const Picture& picture = (*pictures)[static_cast<size_t>(number)];
  auto image = read_image(picture);
  if (!image) return hp::fail(image.error());
  hp::Tensor nuclei = hp::Tensor::empty(hp::u8, {image->dim(0), image->dim(1)});
  const std::span<uint8_t> all = nuclei.mutable_as<uint8_t>();
  std::fill(all.begin(), all.end(), uint8_t{0});
  for (const std::string& path : picture.masks) {
    const auto mask = read_mask(path, *image);
    if (!mask) return hp::fail(mask.error());
    std::transform(all.begin(), all.end(), mask->as<uint8_t>().begin(), all.begin(),
                   [](uint8_t before, uint8_t value) { return value != 0 ? kNucleus : before; });
  }
  return std::tuple(number, std::move(*image), std::move(nuclei));
}

hp::Result<std::tuple<hp::Tensor, hp::Tensor>> add_clicks(uint64_t seed, int64_t number, const hp::Tensor& image,
                                                          const hp::Tensor& nuclei) {
  const int64_t height = nuclei.dim(0), width = nuclei.dim(1);
  hp::Tensor input = hp::Tensor::empty(hp::u8, {height, width, kChannels});
  const uint8_t* colours = image.as<uint8_t>().data();
  uint8_t* pixel = input.mutable_as<uint8_t>().data();
  for (const uint8_t* const end = colours + 3 * height * width; colours != end; colours += 3, pixel += kChannels) {
    std::copy_n(colours, 3, pixel);
  }
  HEADPOND_TRY(write_distances(draw_clicks(nuclei.as<uint8_t>(), width, seed, number), input));
  return std::tuple(std::move(input), nuclei);
}

}  // namespace

hp::Dataset prepared(const std::vector<Picture>& pictures, uint64_t seed) {
  const auto all = std::make_shared<const std::vector<Picture>>(pictures);
  const auto decode_number = [all](int64_t number) { return decode(all, number); };
  const auto add = [seed](int64_t number, const hp::Tensor& image, const hp::Tensor& nuclei) {
    return add_clicks(seed, number, image, nuclei);
  };
  const hp::Spec decoded = {{"number", hp::i64, {}},
                            {"image", hp::u8, {hp::kUnknown, hp::kUnknown, 3}},
                            {"nuclei", hp::u8, {hp::kUnknown, hp::kUnknown}}};
  return hp::range(static_cast<int64_t>(all->size()))                     //
         | hp::map(decode_number, {.output = decoded, .name = "decode"})  //
         | hp::map(add, {.output = sample_fields(), .name = "add_clicks"});
}

hp::Result<void> write_distances(const Clicks& clicks, hp::Tensor& input) {
  hp::ImageChannel channel{.image = {input.mutable_data(), input.byte_size()},
                           .height = input.dim(0),
                           .width = input.dim(1),
                           .channels = kChannels,
                           .index = 3,
                           .dtype = hp::u8};
  HEADPOND_TRY(hp::write_distance_map(clicks.inside, kDistanceLimit, channel));
  channel.index = 4;
  return hp::write_distance_map(clicks.outside, kDistanceLimit, channel);
}

}  // namespace preprocess_once
