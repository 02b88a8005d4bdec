// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/records.h"

#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace preprocess_once {
namespace {

const std::vector<hp::ExampleFeature> kFeatures = {{.key = "input", .dtype = hp::bytes},
                                                   {.key = "nuclei", .dtype = hp::bytes},
                                                   {.key = "size", .dtype = hp::i64, .shape = {2}}};

// The value of `bytes` as u8 of `shape`, in the same memory.
hp::Result<hp::Tensor> as_image(const hp::Tensor& bytes, const hp::Shape& shape) {
  const std::string_view value = bytes.bytes_at(0);
  if (const auto size = shape.size(); !size || static_cast<uint64_t>(*size) != value.size()) {
    return hp::fail(hp::ErrorKind::InvalidArgument,
                    std::to_string(value.size()) + " bytes for an image of " + shape.to_string());
  }
  // The copy's share of the buffer becomes the view's. There is a buffer: two offsets and a character are more than
  // lies inside a tensor, and parse_example() borrows nothing.
  hp::Tensor copy = bytes;
  return hp::Tensor::view(value.data(), hp::u8, shape, hp::BufferRef(std::move(copy).release().owner));
}

hp::Result<std::tuple<hp::Tensor, hp::Tensor>> as_sample(const hp::Tensor& input, const hp::Tensor& nuclei,
                                                         std::span<const int64_t> size) {
  if (size[0] <= 0 || size[1] <= 0) return hp::fail(hp::ErrorKind::InvalidArgument, "an image without pixels");
  auto image = as_image(input, {size[0], size[1], kChannels});
  if (!image) return hp::fail(image.error());
  auto target = as_image(nuclei, {size[0], size[1]});
  if (!target) return hp::fail(target.error());
  return std::tuple(std::move(*image), std::move(*target));
}

hp::Result<std::string> to_example(const hp::Tensor& input, const hp::Tensor& nuclei) {
  const std::vector<int64_t> size = {nuclei.dim(0), nuclei.dim(1)};
  const std::vector<hp::NamedTensor> features = {
      {"input", input}, {"nuclei", nuclei}, {"size", hp::Tensor::from<int64_t>(size, {2})}};
  return hp::make_example(features);
}

}  // namespace

hp::Result<hp::Shard> write_prepared(const hp::Dataset& samples, const std::string& folder, const GoOn& go_on,
                                     const std::string& made_from) {
  const auto written = hp::write_shards(
      samples | hp::map(&to_example, {.name = "to_example"}),
      {.folder = folder, .name = "prepared", .resume = !made_from.empty(), .made_from = made_from, .progress = go_on});
  if (!written) return hp::fail(written.error());
  return written->shards.front();
}

hp::Dataset read_prepared(const std::string& path) {
  return hp::tfrecord(path, {.keep_index = false})  //
         | hp::map(hp::parse_example(kFeatures))    //
         | hp::map(&as_sample, {.output = sample_fields(), .name = "as_sample"});
}

}  // namespace preprocess_once
