// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <functional>
#include <utility>

#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/ops/parse.h"

namespace headpond {
namespace {

constexpr int64_t kMostSide = 0x7fffffff;

// The characters of a scalar as pixels: no copy, unless they lie in the tensor itself.
Tensor as_pixels(const Tensor& text, const Shape& shape) {
  const std::string_view characters = text.bytes_at(0);
  const auto* const begin = reinterpret_cast<const char*>(&text);
  const bool is_inside =
      std::less_equal<>()(begin, characters.data()) && std::less<>()(characters.data(), begin + sizeof text);
  if (is_inside || characters.empty()) {
    const auto* const values = reinterpret_cast<const uint8_t*>(characters.data());
    return Tensor::from(std::span<const uint8_t>(values, characters.size()), shape);
  }
  if (text.owner() != nullptr) text.owner()->ref();
  return Tensor::view(characters.data(), DType::u8, shape, BufferRef(text.owner()));
}

Result<Tensor> pixels_of(const Tensor& text, const Tensor& size, int channels) {
  const auto sides = size.as<int64_t>();
  const auto bytes = static_cast<int64_t>(text.bytes_at(0).size());
  const int64_t height = sides[0], width = sides[1];
  const bool is_valid = height > 0 && width > 0 && height <= kMostSide && width <= kMostSide;
  const int64_t pixels = is_valid ? height * width : 0;
  const int64_t found = is_valid && bytes % pixels == 0 ? bytes / pixels : 0;
  if (found < 1 || found > 4 || (channels != 0 && found != channels)) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{} bytes are no {} x {} pixels of {} channels", bytes, width,
                                                        height, channels == 0 ? "1 to 4" : fmt::to_string(channels)));
  }
  return as_pixels(text, {height, width, found});
}

}  // namespace

Step raw_image(const std::string& image, const std::string& size, int channels) {
  if (channels < 0 || channels > 4) refuse("raw_image", "channels must be 0 to 4");
  return [image, size, channels](const Dataset& input) {
    Spec spec = input.spec();
    const size_t i = field_index("raw_image", spec, image), s = field_index("raw_image", spec, size);
    if (spec[i].dtype != DType::bytes || spec[i].shape.rank() != 0) {
      refuse("raw_image", fmt::format("'{}' must be bytes[], not {}", image, to_string({spec[i]})));
    }
    if (spec[s].dtype != DType::i64 || spec[s].shape != Shape{2}) {
      refuse("raw_image", fmt::format("'{}' must be int64[2], not {}", size, to_string({spec[s]})));
    }
    spec[i] = {spec[i].name, DType::u8, {kUnknown, kUnknown, channels == 0 ? kUnknown : channels}};
    spec.erase(spec.begin() + static_cast<std::ptrdiff_t>(s));
    const auto decode = [i, s, channels](const Element& in) -> Result<Element> {
      auto pixels = pixels_of(in[i], in[s], channels);
      if (!pixels) return fail(std::move(pixels).error());
      Element out;
      for (size_t f = 0; f < in.size(); ++f) {
        if (f != s) out.append(f == i ? *pixels : in[f]);
      }
      return out;
    };
    const std::string name =
        fmt::format("raw_image({}, {}{})", image, size, channels == 0 ? "" : fmt::format(", channels={}", channels));
    return input | map(decode, {.output = spec, .name = name});
  };
}

}  // namespace headpond
