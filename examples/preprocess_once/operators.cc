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

// All that samples follow from.
struct Samples {
  std::vector<Picture> pictures;
  uint64_t seed;
  Task task;
  int64_t count() const { return static_cast<int64_t>(pictures.size()) * task.samples; }
  const Picture& picture(int64_t number) const { return pictures[static_cast<size_t>(number / task.samples)]; }
};

// The number, and the bytes of the image's file.
hp::Result<std::tuple<int64_t, hp::Tensor>> read(const Samples& samples, int64_t number) {
  const auto file = hp::read_file(samples.picture(number).image);
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

// The target of a sample.
hp::Result<hp::Tensor> read_target(const Samples& samples, int64_t number, const hp::Tensor& image) {
  const Picture& picture = samples.picture(number);
  if (!samples.task.one) return read_nuclei(picture, image);
  hp::Random random(hp::random_key(samples.seed, "nucleus", 0, 0), static_cast<uint64_t>(number));
  return read_nuclei({picture.image, {picture.masks[random.below(picture.masks.size())]}}, image);
}

// As those of the picture's own nuclei, but drawn on the nuclei of the next picture.
hp::Result<Clicks> clicks_of_another(const Samples& samples, int64_t number, const hp::Tensor& image) {
  const int64_t other = (number + samples.task.samples) % samples.count();
  const auto other_image = read_image(samples.picture(other));
  if (!other_image) return hp::fail(other_image.error());
  const auto nuclei = read_target(samples, other, *other_image);
  if (!nuclei) return hp::fail(nuclei.error());
  Clicks clicks = draw_clicks(nuclei->as<uint8_t>(), nuclei->dim(1), samples.seed, other);
  for (auto* const kind : {&clicks.inside, &clicks.outside}) {
    for (hp::ImagePoint& point : *kind) {
      point.y %= static_cast<int32_t>(image.dim(0));
      point.x %= static_cast<int32_t>(image.dim(1));
    }
  }
  return clicks;
}

// The image, the nuclei and the clicks.
hp::Result<std::tuple<hp::Tensor, hp::Tensor, hp::Tensor>> add_clicks(const Samples& samples, int64_t number,
                                                                      const hp::Tensor& image) {
  auto nuclei = read_target(samples, number, image);
  if (!nuclei) return hp::fail(nuclei.error());
  const auto clicks = samples.task.others ? clicks_of_another(samples, number, image)
                                          : draw_clicks(nuclei->as<uint8_t>(), nuclei->dim(1), samples.seed, number);
  if (!clicks) return hp::fail(clicks.error());
  return std::tuple(image, *std::move(nuclei), as_points(*clicks));
}

std::tuple<hp::Tensor, hp::Tensor> without_clicks(const hp::Tensor& input, const hp::Tensor& nuclei,
                                                  const hp::Tensor& /*clicks*/) {
  return {input, nuclei};
}

}  // namespace

hp::Dataset prepared(const std::vector<Picture>& pictures, uint64_t seed, const Task& task) {
  const auto all = std::make_shared<const Samples>(Samples{pictures, seed, task});
  const auto read_number = [all](int64_t number) { return read(*all, number); };
  const auto add = [all](int64_t number, const hp::Tensor& image) { return add_clicks(*all, number, image); };
  const hp::Spec files = {{"number", hp::i64, {}}, {"input", hp::bytes, {}}};
  const hp::Spec clicked = {{"input", hp::u8, {hp::kUnknown, hp::kUnknown, 3}},
                            {"nuclei", hp::u8, {hp::kUnknown, hp::kUnknown}},
                            {"clicks", hp::f32, {2 * kClicks, 2}}};
  return hp::range(all->count())                                              //
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
