// SPDX-License-Identifier: Apache-2.0
// Kernels of images with any options and sizes: joined they give the bytes of one after the other, or both fail. The
// input is a list of numbers: the image's size, then kernels.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/flip_kernels.h"
#include "headpond/codec/image/kernels/normalize_kernel.h"
#include "headpond/codec/image/kernels/resize_kernel.h"

namespace {

class Numbers {
 public:
  Numbers(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  bool is_empty() const { return at_ >= size_; }
  int64_t next() { return is_empty() ? 1 : data_[at_++]; }
  int64_t below(int64_t n) { return next() % n; }

 private:
  const uint8_t* const data_;
  const size_t size_;
  size_t at_ = 0;
};

headpond::ImageSize size_of(Numbers& numbers) {
  if (numbers.below(3) == 0) return numbers.next();
  const int64_t height = numbers.next();
  return {height, numbers.next()};
}

headpond::KernelRef kernel_of(Numbers& numbers) {
  const auto filter = static_cast<headpond::ResizeFilter>(numbers.below(6));
  const auto mode = static_cast<headpond::PadMode>(numbers.below(4));
  const bool flag = numbers.below(2) == 0;
  switch (numbers.below(9)) {
    case 0:
      return headpond::crop(numbers.next() - 128, numbers.next() - 128, size_of(numbers));
    case 1:
      return headpond::center_crop(size_of(numbers));
    case 2:
      return headpond::random_crop(size_of(numbers),
                                   {.padding = {numbers.next()}, .pad_if_needed = flag, .mode = mode});
    case 3:
      return headpond::pad({numbers.next(), numbers.next()}, {.mode = mode});
    case 4:
      return headpond::resize(
          size_of(numbers),
          {.filter = filter, .antialias = flag, .max_size = numbers.below(4) == 0 ? numbers.next() : 0});
    case 5:
      return headpond::random_resized_crop(size_of(numbers), {.filter = filter, .antialias = flag});
    case 6:
      return headpond::random_horizontal_flip();
    case 7:
      return headpond::random_vertical_flip();
    default:
      return headpond::normalize({.mean = {0.5}, .std = {0.25}});
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Numbers numbers(data, size);
  const int64_t height = numbers.below(64), width = numbers.below(64), channels = 1 + numbers.below(4);
  std::vector<uint8_t> pixels;
  for (int64_t i = 0; i < height * width * channels; ++i) pixels.push_back(static_cast<uint8_t>(i * i));
  const headpond::Tensor image = headpond::Tensor::from(pixels, {height, width, channels});
  std::vector<headpond::KernelRef> chain;
  while (!numbers.is_empty() && chain.size() < 5) {
    try {
      chain.push_back(kernel_of(numbers));
    } catch (const headpond::Exception&) {  // An option out of range: the case goes on without this kernel.
    }
  }
  const auto joined = headpond::run_kernels(chain, image, {.seed = size});
  const auto alone = headpond::run_kernels(chain, image, {.seed = size, .joined = false});
  if (joined.has_value() != alone.has_value()) __builtin_trap();
  if (!joined) return 0;
  if (joined->shape() != alone->shape()) __builtin_trap();
  if (std::memcmp(joined->data(), alone->data(), joined->byte_size()) != 0) __builtin_trap();
  return 0;
}
