// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/mnist/mnist_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/io/array/idx.h"
#include "headpond/train/articles/digits/digits.h"

namespace headpond {
namespace {

constexpr int64_t kSide = 28;
constexpr uint8_t kDigitClasses = 10;

Result<std::string> find(const std::string& folder, const std::string& name) {
  const std::string plain = (std::filesystem::path(folder) / name).string();
  std::error_code ignored;
  for (const std::string& path : {plain, plain + ".gz"}) {
    if (std::filesystem::exists(path, ignored)) return path;
  }
  return fail(ErrorKind::NotFound, fmt::format("{}: no such file, nor {}.gz", plain, plain));
}

Result<IdxPair> read_pair(const std::string& folder, const char* images, const char* labels) {
  const auto images_path = find(folder, images);
  if (!images_path) return fail(images_path.error());
  const auto labels_path = find(folder, labels);
  if (!labels_path) return fail(labels_path.error());
  auto pair = read_idx_pair(*images_path, *labels_path);
  if (!pair) return pair;
  const Tensor& pixels = pair->images;
  if (pixels.dtype() != DType::u8 || pixels.rank() != 3 || pixels.dim(1) != kSide || pixels.dim(2) != kSide) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: expected uint8 [n,{},{}], found {} {}", *images_path, kSide, kSide,
                            name(pixels.dtype()), pixels.shape().to_string()));
  }
  if (pair->labels.dtype() != DType::u8 || pair->labels.rank() != 1) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: expected uint8 [n], found {} {}", *labels_path,
                                                        name(pair->labels.dtype()), pair->labels.shape().to_string()));
  }
  const auto values = pair->labels.as<uint8_t>();
  const auto wrong = std::find_if(values.begin(), values.end(), [](uint8_t label) { return label >= kDigitClasses; });
  if (wrong != values.end()) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: label {} is {}, expected below {}", *labels_path,
                                                        wrong - values.begin(), *wrong, kDigitClasses));
  }
  return pair;
}

}  // namespace

Result<MnistData> load_mnist(const std::string& folder, const std::stop_token& stop) {
  MnistData data{.source = folder};
  if (folder.empty()) {
    DigitSetOptions options;
    options.stop = stop;
    const auto own = digit_set(options);
    if (!own) return fail(own.error());
    data.source = own->folder;
  }
  auto train = read_pair(data.source, kTrainImages, kTrainLabels);
  if (!train) return fail(train.error());
  auto test = read_pair(data.source, kTestImages, kTestLabels);
  if (!test) return fail(test.error());
  data.train_images = std::move(train->images);
  data.train_labels = std::move(train->labels);
  data.test_images = std::move(test->images);
  data.test_labels = std::move(test->labels);
  for (const Tensor* tensor : {&data.train_images, &data.train_labels, &data.test_images, &data.test_labels}) {
    data.digest = crc32c_extend(data.digest, {tensor->data(), tensor->byte_size()});
  }
  return data;
}

}  // namespace headpond
