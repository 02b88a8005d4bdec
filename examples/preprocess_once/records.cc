// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/records.h"

#include <tuple>
#include <utility>

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
  bytes.owner()->ref();
  return hp::Tensor::view(value.data(), hp::u8, shape, hp::BufferRef(bytes.owner()));
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

}  // namespace

hp::Result<uint64_t> write_prepared(const hp::Dataset& samples, const std::string& path) {
  auto writer = hp::RecordWriter::open(path, hp::RecordWriterOptions{});
  if (!writer) return hp::fail(writer.error());
  hp::Loader loader(samples);
  uint64_t bytes = 0;
  while (true) {
    const auto batch = loader.next();
    if (!batch) return hp::fail(batch.error());
    if (!*batch) break;
    const hp::Tensor &input = (**batch)["input"], &nuclei = (**batch)["nuclei"];
    const std::vector<int64_t> size = {nuclei.dim(0), nuclei.dim(1)};
    const std::vector<hp::NamedTensor> features = {
        {"input", input}, {"nuclei", nuclei}, {"size", hp::Tensor::from<int64_t>(size, {2})}};
    const auto example = hp::make_example(features);
    if (!example) return hp::fail(example.error());
    HEADPOND_TRY((*writer)->append(*example));
    bytes += example->size();
  }
  HEADPOND_TRY((*writer)->close());
  return bytes;
}

hp::Dataset read_prepared(const std::string& path) {
  return hp::tfrecord(path, {.keep_index = false})  //
         | hp::map(hp::parse_example(kFeatures))    //
         | hp::map(&as_sample, {.output = sample_fields(), .name = "as_sample"});
}

}  // namespace preprocess_once
