// SPDX-License-Identifier: Apache-2.0
// A region of a JPEG has the pixels of the whole image: of any file that decodes without lost pixels. Two regions that
// are decoded at once have those of each alone, or its error. The first bytes choose the region and the options.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/kernels/crop_kernels.h"
#include "headpond/codec/image/kernels/jpeg_kernel.h"
#include "headpond/tensor/rows_kernel.h"

namespace {

using headpond::KernelCall;
using headpond::Tensor;

struct Sample {
  explicit Sample(std::string_view file) : field(Tensor::scalar(file)) {}

  void end(KernelCall& call, const headpond::Result<void>& done) {
    if (done) call.finish();
    if (!done) error = done.error().message();
  }
  bool operator==(const Sample& other) const {
    if (error != other.error || !error.empty()) return error == other.error;
    return field.shape() == other.field.shape() &&
           std::memcmp(field.data(), other.field.data(), field.byte_size()) == 0;
  }

  Tensor field;
  std::string error;
};

void check_at_once(std::string_view file, const headpond::JpegOptions& options, const headpond::ImageSize& size) {
  const std::vector<headpond::KernelRef> kernels = {headpond::decode_jpeg(options), headpond::random_crop(size)};
  const headpond::KernelChain chain = headpond::join_kernels(kernels);
  const auto* const kernel = dynamic_cast<const headpond::RowsKernel*>(chain.kernels[0].get());
  if (kernel == nullptr || chain.kernels.size() != 1) __builtin_trap();
  const headpond::FieldSpec spec = {"", headpond::u8, {size.height, size.width, 3}};
  std::vector<std::byte> first_pixels(static_cast<size_t>(*spec.shape.size())), second_pixels(first_pixels.size());
  const headpond::OutputSlot first_slot = {first_pixels.data(), &spec}, second_slot = {second_pixels.data(), &spec};
  const std::vector<headpond::RandomKey> keys(2, headpond::random_key(1, "random_crop", 0, 0));
  headpond::KernelScratch scratch;
  constexpr int kRounds = 20;  // After some kilobytes the decoders have their tables for large files.
  for (int round = 0; round < kRounds; ++round) {
    Sample one(file), other(file), first(file), second(file);
    KernelCall one_call({&one.field, 1}, keys, 1, {}, scratch), other_call({&other.field, 1}, keys, 2, {}, scratch);
    one.end(one_call, kernel->run(one_call));
    other.end(other_call, kernel->run(other_call));
    KernelCall first_call({&first.field, 1}, keys, 1, {&first_slot, 1}, scratch),
        second_call({&second.field, 1}, keys, 2, {&second_slot, 1}, scratch);
    const auto done = kernel->run_two(first_call, second_call);
    first.end(first_call, done[0]);
    second.end(second_call, done[1]);
    if (first != one || second != other) __builtin_trap();
    if (!first.error.empty()) return;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kChoices = 6;
  if (size < kChoices) return 0;
  const auto file = std::as_bytes(std::span<const uint8_t>(data, size).subspan(kChoices));
  headpond::JpegOptions options = {.ratio = 1 << (data[4] % 4), .fancy_upscaling = data[5] % 2 == 0};
  options.max_pixels = 1 << 14;
  options.max_scans = 20;
  const auto whole = headpond::decode_jpeg(file, options, "fuzz");
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  check_at_once(text, options, {1 + data[2] % 40, 1 + data[3] % 40});
  if (!whole) return 0;
  const headpond::Tensor& pixels = whole->pixels;
  headpond::ImageWindow window = {data[0] % pixels.dim(0), data[1] % pixels.dim(1)};
  window.height = 1 + data[2] % (pixels.dim(0) - window.y);
  window.width = 1 + data[3] % (pixels.dim(1) - window.x);
  const auto part = headpond::decode_and_crop_jpeg(file, window, options, "fuzz");
  if (!part) __builtin_trap();
  const auto row = static_cast<size_t>(window.width * 3);
  for (int64_t y = 0; y < window.height; ++y) {
    const std::byte* const expected = pixels.data() + ((window.y + y) * pixels.dim(1) + window.x) * 3;
    if (std::memcmp(part->pixels.data() + static_cast<size_t>(y) * row, expected, row) != 0) __builtin_trap();
  }
  return 0;
}
