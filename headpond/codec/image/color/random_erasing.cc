// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/random_erasing.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "headpond/base/math/half.h"
#include "headpond/base/math/portable.h"
#include "headpond/base/normal.h"

namespace headpond {
namespace {

constexpr int kErasingTries = 10;

[[noreturn]] void refuse_erasing(const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, "random_erasing: " + what));
}

struct ErasedBox {
  int64_t top, left, height, width;
};

// The sizes of an image of either layout.
struct ErasedImage {
  int64_t height, width, channels;
};
ErasedImage sizes_of(const Shape& shape, ImageLayout layout) {
  if (layout == ImageLayout::hwc) return {shape[0], shape[1], shape[2]};
  return {shape[1], shape[2], shape[0]};
}

// All words of a try are drawn, so that the next one does not depend on it.
std::optional<ErasedBox> draw_box(const ErasedImage& image, const RandomErasingOptions& options, Random& random) {
  const double area = static_cast<double>(image.height) * static_cast<double>(image.width);
  const double low = portable::log(options.ratio[0]), high = portable::log(options.ratio[1]);
  for (int i = 0; i < kErasingTries; ++i) {
    const auto share = static_cast<double>(random.uniform());
    const double erased = area * (options.scale[0] + (options.scale[1] - options.scale[0]) * share);
    const double ratio = portable::exp(low + (high - low) * static_cast<double>(random.uniform()));
    const uint32_t top = random.u32();
    const uint32_t left = random.u32();
    const double height = std::nearbyint(std::sqrt(erased * ratio));
    const double width = std::nearbyint(std::sqrt(erased / ratio));
    if (!(height < static_cast<double>(image.height) && width < static_cast<double>(image.width))) continue;
    const auto rows = static_cast<int64_t>(height), columns = static_cast<int64_t>(width);
    return ErasedBox{Random::one_of(image.height - rows + 1, top), Random::one_of(image.width - columns + 1, left),
                     rows, columns};
  }
  return std::nullopt;
}

// The bytes of a value.
uint32_t stored(float value, DType dtype) {
  uint32_t bits = 0;
  if (dtype == DType::u8) return static_cast<uint32_t>(value);
  if (dtype == DType::f16) return to_f16(value);
  if (dtype == DType::bf16) return to_bf16(value);
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

// Writes T, which has the bits of a value, to the box, in the order of memory. `next(c)`: the next one of channel c.
template <class T, class Next>
void erase(T* out, const ErasedImage& image, const ErasedBox& box, ImageLayout layout, Next next) {
  if (layout == ImageLayout::chw) {
    for (int64_t c = 0; c < image.channels; ++c) {
      for (int64_t y = box.top; y < box.top + box.height; ++y) {
        T* const row = out + (c * image.height + y) * image.width + box.left;
        for (int64_t x = 0; x < box.width; ++x) row[x] = static_cast<T>(next(c));
      }
    }
    return;
  }
  for (int64_t y = box.top; y < box.top + box.height; ++y) {
    T* const row = out + (y * image.width + box.left) * image.channels;
    for (int64_t x = 0; x < box.width; ++x) {
      for (int64_t c = 0; c < image.channels; ++c) row[x * image.channels + c] = static_cast<T>(next(c));
    }
  }
}

class RandomErasing final : public Kernel {
 public:
  explicit RandomErasing(const RandomErasingOptions& options)
      : Kernel({.title = title_of(options),
                .draws = "random_erasing",
                .result =
                    [options](const Spec& in) {
                      const std::string problem = problem_of(options, in[0].dtype, in[0].shape);
                      if (!problem.empty()) refuse_erasing(problem);
                      return in;
                    }}),
        options_(options) {}

  Result<void> run(KernelCall& call) const override {
    const Tensor& image = call.in();
    const Shape shape = image.shape();
    if (const std::string problem = problem_of(options_, image.dtype(), shape); !problem.empty()) {
      return fail(ErrorKind::InvalidArgument, "random_erasing: " + problem);
    }
    Random random = call.random();
    if (!(static_cast<double>(random.uniform()) < options_.p)) return {};
    const RandomKey noise = {random.u64()};
    const ErasedImage sizes = sizes_of(shape, options_.layout);
    const auto box = draw_box(sizes, options_, random);
    if (!box) return {};
    std::byte* const out = call.make(0, image.dtype(), shape);
    std::memcpy(out, image.data(), image.byte_size());
    switch (item_size(image.dtype())) {
      case 1:
        erase_box(reinterpret_cast<uint8_t*>(out), sizes, *box, image.dtype(), noise);
        break;
      case 2:
        erase_box(reinterpret_cast<uint16_t*>(out), sizes, *box, image.dtype(), noise);
        break;
      default:
        erase_box(reinterpret_cast<uint32_t*>(out), sizes, *box, image.dtype(), noise);
    }
    return {};
  }

 private:
  template <class T>
  void erase_box(T* out, const ErasedImage& sizes, const ErasedBox& box, DType dtype, RandomKey noise) const {
    if (options_.random_value) {
      std::vector<float> numbers(static_cast<size_t>(box.height * box.width * sizes.channels));
      fill_normal(numbers, noise, 0);
      size_t i = 0;
      erase(out, sizes, box, options_.layout, [&](int64_t) { return stored(numbers[i++], dtype); });
      return;
    }
    std::array<uint32_t, 4> bits{};
    const auto& values = options_.value.channels;
    for (size_t c = 0; c < bits.size(); ++c) {
      bits[c] = stored(static_cast<float>(values[values.size() == 1 || c >= values.size() ? 0 : c]), dtype);
    }
    erase(out, sizes, box, options_.layout, [&](int64_t c) { return bits[static_cast<size_t>(c)]; });
  }

  static std::string title_of(const RandomErasingOptions& options) {
    const RandomErasingOptions usual;
    std::vector<std::string> parts;
    if (options.p != usual.p) parts.push_back(fmt::format("p={}", options.p));
    if (options.scale != usual.scale) parts.push_back(fmt::format("scale=[{}]", fmt::join(options.scale, ",")));
    if (options.ratio != usual.ratio) parts.push_back(fmt::format("ratio=[{}]", fmt::join(options.ratio, ",")));
    const auto& values = options.value.channels;
    if (options.random_value) {
      parts.emplace_back("random_value=true");
    } else if (values != usual.value.channels) {
      parts.push_back(values.size() == 1 ? fmt::format("value={}", values[0])
                                         : fmt::format("value=[{}]", fmt::join(values, ",")));
    }
    if (options.layout != usual.layout) parts.emplace_back("layout=hwc");
    return parts.empty() ? "random_erasing" : fmt::format("random_erasing({})", fmt::join(parts, ", "));
  }

  // Why an image can't be taken; "" if it can. Dimensions may be unknown.
  static std::string problem_of(const RandomErasingOptions& options, DType dtype, const Shape& shape) {
    const char* const layout = options.layout == ImageLayout::chw ? "[channels, height, width] (layout=chw)"
                                                                  : "[height, width, channels] (layout=hwc)";
    const bool is_float = dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16;
    const int64_t channels = shape.rank() == 3 ? sizes_of(shape, options.layout).channels : 0;
    if ((dtype != DType::u8 && !is_float) || (channels != kUnknown && (channels < 1 || channels > 4))) {
      return fmt::format("takes uint8 or a float dtype {} with 1 to 4 channels, not {}{}", layout, name(dtype),
                         shape.to_string());
    }
    const auto& values = options.value.channels;
    if (channels != kUnknown && values.size() != 1 && static_cast<int64_t>(values.size()) != channels) {
      return fmt::format("value has {} numbers for {} channels", values.size(), channels);
    }
    if (is_float) return "";
    if (options.random_value) return "random_value needs a float dtype";
    const bool fits = std::ranges::all_of(
        values, [](double value) { return value >= 0 && value <= 255 && value == std::floor(value); });
    return fits ? "" : "value must be whole numbers of 0 to 255 for uint8";
  }

  const RandomErasingOptions options_;
};

}  // namespace

KernelRef random_erasing(const RandomErasingOptions& options) {
  const auto& [low, high] = options.scale;
  if (!(options.p >= 0 && options.p <= 1)) refuse_erasing(fmt::format("p must be 0 to 1, not {}", options.p));
  if (!(low >= 0 && low <= high && high <= 1)) refuse_erasing("scale must be two increasing numbers of 0 to 1");
  const auto& [flat, tall] = options.ratio;
  if (!(flat >= 1e-6 && flat <= tall && tall <= 1e6)) {
    refuse_erasing("ratio must be two increasing numbers of 1e-6 to 1e6");
  }
  const auto& values = options.value.channels;
  if (values.empty() || values.size() > 4) refuse_erasing("value must have 1 to 4 numbers");
  if (!std::ranges::all_of(values, [](double value) { return std::isfinite(value); })) {
    refuse_erasing("value must be finite");
  }
  return std::make_shared<RandomErasing>(options);
}

}  // namespace headpond
