// SPDX-License-Identifier: Apache-2.0
// Tiny digit files for tests: digit d is a bright row 2 d + 4, so that a network learns it in a few steps.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "headpond/base/status.h"
#include "headpond/io/array/idx.h"
#include "headpond/tensor/tensor.h"
#include "headpond/train/articles/digits/digits.h"

namespace headpond::internal {

/// (i + shift) mod 10.
inline Tensor labels(int64_t n, int64_t shift) {
  Tensor labels = Tensor::empty(DType::u8, {n});
  for (int64_t i = 0; i < n; ++i)
    labels.mutable_as<uint8_t>()[static_cast<size_t>(i)] = static_cast<uint8_t>((i + shift) % 10);
  return labels;
}

inline Tensor images(int64_t n) {
  Tensor images = Tensor::empty(DType::u8, {n, 28, 28});
  const auto pixels = images.mutable_as<uint8_t>();
  for (size_t i = 0; i < pixels.size(); ++i) {
    const size_t digit = i / 784 % 10, row = i % 784 / 28;
    pixels[i] = row == 2 * digit + 4 ? 255 : static_cast<uint8_t>(i * 7 % 32);
  }
  return images;
}

/// The four files in their own folder, until the end of the scope.
class DigitFolder {
 public:
  DigitFolder(int64_t train, int64_t test) {
    static int count = 0;
    folder_ = std::filesystem::temp_directory_path() /
              ("headpond-train-test-" + std::to_string(::getpid()) + "-" + std::to_string(count++));
    std::filesystem::create_directories(folder_);
    write(kTrainImages, images(train));
    write(kTrainLabels, labels(train, 0));
    write(kTestImages, images(test));
    write(kTestLabels, labels(test, 0));
  }
  ~DigitFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  DigitFolder(const DigitFolder&) = delete;
  DigitFolder& operator=(const DigitFolder&) = delete;

  std::string path() const { return folder_.string(); }
  std::string path(const char* name) const { return (folder_ / name).string(); }

 private:
  void write(const char* name, const Tensor& tensor) {
    if (auto done = write_idx(path(name), tensor); !done) throw Exception(done.error());
  }
  std::filesystem::path folder_;
};

}  // namespace headpond::internal
