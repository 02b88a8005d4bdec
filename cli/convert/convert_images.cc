// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/convert_images.h"

#include <fmt/format.h>

#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/jpeg_index.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/image_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"
#include "headpond/codec/image/png.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/ops.h"
#include "headpond/io/file/labelled_folder.h"

namespace headpond::cli {
namespace {

Dataset decoded(const Dataset& samples, int64_t size) {
  std::vector<KernelRef> kernels = {decode_image({.channels = 3})};
  if (size > 0) kernels.insert(kernels.end(), {resize(size), center_crop(size)});
  return samples | internal::map_kernels_step("file", kernels);
}

Result<Tensor> stored(const Tensor& pixels, const std::string& form) {
  if (form == "raw") {
    return Tensor::scalar(std::string_view(reinterpret_cast<const char*>(pixels.data()), pixels.byte_size()));
  }
  const auto file = form == "jpeg" ? encode_jpeg(pixels) : encode_png(pixels);
  if (!file) return fail(file.error());
  return Tensor::scalar(std::string_view(reinterpret_cast<const char*>(file->data()), file->size()));
}

}  // namespace

Dataset with_images(const Dataset& samples, const ImageForm& form) {
  if (form.image.empty()) return samples;
  const Dataset images = decoded(samples, form.size);
  const size_t file = field_index("convert", images.spec(), "file");
  Spec spec = images.spec();
  spec[file] = {form.field, DType::bytes, {}};
  const bool is_raw = form.image == "raw";
  if (is_raw) spec.push_back({"size", DType::i64, {2}});
  const auto store = [file, is_raw, image = form.image](const Element& sample) -> Result<Element> {
    auto bytes = stored(sample[file], image);
    if (!bytes) return fail(std::move(bytes).error());
    Element out;
    for (size_t f = 0; f < sample.size(); ++f) out.append(f == file ? *bytes : sample[f]);
    const std::vector<int64_t> sides = {sample[file].dim(0), sample[file].dim(1)};
    if (is_raw) out.append(Tensor::from(std::span<const int64_t>(sides), {2}));
    return out;
  };
  return images | map(store, {.output = spec, .name = fmt::format("store {}", form.image)});
}

Dataset with_jpeg_index(const Dataset& samples, const std::string& field, int64_t interval) {
  const size_t file = field_index("convert", samples.spec(), field);
  Spec spec = samples.spec();
  spec.push_back({fmt::format("{}/{}", field, kJpegIndexField), DType::bytes, {}});
  const auto add = [file, interval](const Element& sample) -> Result<Element> {
    const std::string_view content = sample[file].bytes_at(0);
    const auto index = jpeg_index(std::as_bytes(std::span(content)), interval);
    if (!index) return fail(index.error());
    Element with = sample;
    with.append(Tensor::scalar(std::string_view(reinterpret_cast<const char*>(index->data()), index->size())));
    return with;
  };
  return samples | map(add, {.output = spec, .name = fmt::format("jpeg_index {}", interval)});
}

Dataset image_rows(const Dataset& samples, int64_t size) {
  const Dataset images = decoded(samples, size);
  const size_t file = field_index("convert", images.spec(), "file");
  const auto alone = [file](const Element& sample) { return sample[file]; };
  return images | map(alone, {.output = {{"image", DType::u8, {size, size, 3}}}, .name = "the image alone"});
}

Dataset label_rows(const std::string& folder) {
  std::vector<int64_t> labels;
  for (const LabelledFile& file : value_or_throw(list_labelled_folder(folder)).files) labels.push_back(file.label);
  const auto count = static_cast<int64_t>(labels.size());
  return from_tensor_slices({{"label", Tensor::from(std::span<const int64_t>(labels), {count})}});
}

}  // namespace headpond::cli
