// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/operators.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>

namespace preprocess_once {
namespace {

using Pictures = std::shared_ptr<const std::vector<Picture>>;

const Picture& picture_of(const Pictures& pictures, int64_t number) { return (*pictures)[static_cast<size_t>(number)]; }

// The number, and the bytes of the image's file.
hp::Result<std::tuple<int64_t, hp::Tensor>> read(const Pictures& pictures, int64_t number) {
  const auto file = hp::read_file(picture_of(pictures, number).image);
  if (!file) return hp::fail(file.error());
  return std::tuple(number,
                    hp::Tensor::scalar(std::string_view(reinterpret_cast<const char*>(file->data()), file->size())));
}

// The nuclei of all masks together.
hp::Result<hp::Tensor> read_nuclei(const Picture& picture, const hp::Tensor& image) {
  hp::Tensor nuclei = hp::Tensor::empty(hp::u8, {image.dim(0), image.dim(1)});
  const std::span<uint8_t> all = nuclei.mutable_as<uint8_t>();
  std::fill(all.begin(), all.end(), uint8_t{0});
  for (const std::string& path : picture.masks) {
    const auto mask = read_mask(path, image);
    if (!mask) return hp::fail(mask.error());
    std::transform(all.begin(), all.end(), mask->as<uint8_t>().begin(), all.begin(),
                   [](uint8_t before, uint8_t value) { return value != 0 ? kNucleus : before; });
  }
  return nuclei;
}

// Rows of x and y in the middle of their pixels; those that are missing are no numbers.
hp::Tensor as_points(const Clicks& clicks) {
  std::vector<float> rows(size_t{2} * 2 * kClicks, std::numeric_limits<float>::quiet_NaN());
  auto* row = rows.data();
  for (const auto* const kind : {&clicks.inside, &clicks.outside}) {
    for (size_t i = 0; i < kClicks; ++i, row += 2) {
      if (i >= kind->size()) continue;
      row[0] = static_cast<float>((*kind)[i].x) + 0.5F;
      row[1] = static_cast<float>((*kind)[i].y) + 0.5F;
    }
  }
  return hp::Tensor::from(rows, {2 * kClicks, 2});
}

// The image, the nuclei and the clicks.
hp::Result<std::tuple<hp::Tensor, hp::Tensor, hp::Tensor>> add_clicks(const Picture& picture, uint64_t seed,
                                                                      int64_t number, const hp::Tensor& image) {
  auto nuclei = read_nuclei(picture, image);
  if (!nuclei) return hp::fail(nuclei.error());
  hp::Tensor clicks = as_points(draw_clicks(nuclei->as<uint8_t>(), nuclei->dim(1), seed, number));
  return std::tuple(image, *std::move(nuclei), std::move(clicks));
}

std::tuple<hp::Tensor, hp::Tensor> without_clicks(const hp::Tensor& input, const hp::Tensor& nuclei,
                                                  const hp::Tensor& /*clicks*/) {
  return {input, nuclei};
}

}  // namespace

hp::Dataset prepared(const std::vector<Picture>& pictures, uint64_t seed) {
  const auto all = std::make_shared<const std::vector<Picture>>(pictures);
  const auto read_number = [all](int64_t number) { return read(all, number); };
  const auto add = [all, seed](int64_t number, const hp::Tensor& image) {
    return add_clicks(picture_of(all, number), seed, number, image);
  };
  const hp::Spec files = {{"number", hp::i64, {}}, {"input", hp::bytes, {}}};
  const hp::Spec clicked = {{"input", hp::u8, {hp::kUnknown, hp::kUnknown, 3}},
                            {"nuclei", hp::u8, {hp::kUnknown, hp::kUnknown}},
                            {"clicks", hp::f32, {2 * kClicks, 2}}};
  return hp::range(static_cast<int64_t>(all->size()))                         //
         | hp::map(read_number, {.output = files, .name = "read"})            //
         | hp::map("input", hp::decode_png({.channels = 3}))                  //
         | hp::map(add, {.output = clicked, .name = "add_clicks"})            //
         | hp::map({.image = "input", .mask = "nuclei", .points = "clicks"},  //
                   hp::distance_map({.limit = kDistanceLimit, .groups = 2}))  //
         | hp::map(&without_clicks, {.output = sample_fields(), .name = "without_clicks"});
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
