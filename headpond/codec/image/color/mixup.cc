// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/image/color/mixup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "headpond/base/math/beta.h"

namespace headpond {
namespace {

struct BatchMix {
  const char* name;
  int64_t num_classes;
  double alpha;
};

[[noreturn]] void refuse_mix(const char* name, const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("{}: {}", name, what)));
}

std::string title_of(const BatchMix& mix, ImageLayout layout) {
  std::string title = fmt::format("{}({}", mix.name, mix.num_classes);
  if (mix.alpha != 1) title += fmt::format(", alpha={}", mix.alpha);
  if (layout != ImageLayout::chw) title += ", layout=hwc";
  return title + ")";
}

size_t row_before(size_t row, size_t rows) { return row == 0 ? rows - 1 : row - 1; }

// The spec with mixed labels; the image is for the caller to check.
Spec with_labels(const BatchMix& mix, Spec spec) {
  if (spec.size() != 2 || spec[1].name != name(FieldRole::labels)) {
    refuse_mix(mix.name, "takes an image and labels, map({.image = ..., .labels = ...}), and nothing else");
  }
  FieldSpec& labels = spec[1];
  const bool is_integer = labels.dtype == DType::i64 || labels.dtype == DType::i32 || labels.dtype == DType::u8;
  const bool are_numbers = is_integer && labels.shape.rank() == 1;
  const bool are_shares = labels.dtype == DType::f32 && labels.shape.rank() == 2 &&
                          (labels.shape[1] == kUnknown || labels.shape[1] == mix.num_classes);
  if (!are_numbers && !are_shares) {
    refuse_mix(mix.name, fmt::format("labels must be int64, int32 or uint8 [rows] or float32 [rows, {}], not {}{}; "
                                     "does it stand after batch?",
                                     mix.num_classes, name(labels.dtype), labels.shape.to_string()));
  }
  int64_t rows = spec[0].shape.rank() == 0 ? kUnknown : spec[0].shape[0];
  if (rows == kUnknown) rows = labels.shape[0];
  labels.dtype = DType::f32;
  labels.shape = Shape({rows, mix.num_classes});
  return spec;
}

template <class T>
Result<void> spread_numbers(const BatchMix& mix, const Tensor& labels, std::span<float> shares) {
  const auto numbers = labels.as<T>();
  const auto classes = static_cast<size_t>(mix.num_classes);
  std::ranges::fill(shares, 0.0F);
  for (size_t row = 0; row < numbers.size(); ++row) {
    const auto number = static_cast<int64_t>(numbers[row]);
    if (number < 0 || number >= mix.num_classes) {
      return fail(ErrorKind::InvalidArgument, fmt::format("{}: label {} in row {} of the batch: num_classes is {}",
                                                          mix.name, number, row, mix.num_classes));
    }
    shares[row * classes + static_cast<size_t>(number)] = 1;
  }
  return {};
}

// The labels as f32 [rows, classes].
Result<void> spread(const BatchMix& mix, const Tensor& labels, std::span<float> shares) {
  switch (labels.dtype()) {
    case DType::i64:
      return spread_numbers<int64_t>(mix, labels, shares);
    case DType::i32:
      return spread_numbers<int32_t>(mix, labels, shares);
    case DType::u8:
      return spread_numbers<uint8_t>(mix, labels, shares);
    default:
      std::ranges::copy(labels.as<float>(), shares.begin());
      return {};
  }
}

struct LabelMemory {
  std::vector<float> shares;
};

Result<void> mix_labels(const BatchMix& mix, KernelCall& call, double lambda) {
  const Tensor& labels = call.in(1);
  const auto classes = static_cast<size_t>(mix.num_classes);
  const auto rows = static_cast<size_t>(labels.dim(0));
  auto& own = call.scratch<LabelMemory>().shares;
  own.resize(rows * classes);
  if (auto done = spread(mix, labels, own); !done) return done;
  const auto out = call.make<float>(1, {labels.dim(0), mix.num_classes});
  const auto weight = static_cast<float>(lambda), rest = static_cast<float>(1 - lambda);
  for (size_t row = 0; row < rows; ++row) {
    const float* const other = own.data() + row_before(row, rows) * classes;
    for (size_t c = 0; c < classes; ++c) out[row * classes + c] = other[c] * rest + own[row * classes + c] * weight;
  }
  return {};
}

// The fields of a call, which may have unknown dimensions in the spec.
Result<void> check_call(const BatchMix& mix, const Kernel& kernel, KernelCall& call) {
  Spec spec;
  for (size_t i = 0; i < call.size(); ++i) {
    spec.push_back({std::string(name(call.role(i))), call.in(i).dtype(), call.in(i).shape()});
  }
  try {
    (void)kernel.facts().result(spec);
  } catch (const Exception& wrong) {
    return fail(wrong.error());
  }
  if (call.in(0).dim(0) == call.in(1).dim(0)) return {};
  return fail(ErrorKind::InvalidArgument,
              fmt::format("{}: {} images and {} labels", mix.name, call.in(0).dim(0), call.in(1).dim(0)));
}

class MixUp final : public Kernel {
 public:
  explicit MixUp(const BatchMix& mix)
      : Kernel({.title = title_of(mix, ImageLayout::chw),
                .draws = "mixup",
                .result = [mix](const Spec& in) { return result(mix, in); }}),
        mix_(mix) {}

  Result<void> run(KernelCall& call) const override {
    if (auto fits = check_call(mix_, *this, call); !fits) return fits;
    Random random = call.random();
    const double lambda = draw_beta(random, mix_.alpha, mix_.alpha);
    if (auto done = mix_labels(mix_, call, lambda); !done) return done;
    const Tensor& image = call.in();
    if (image.dtype() == DType::f32) {
      mix_floats(image, call.make<float>(0, image.shape()), lambda);
    } else {
      mix_bytes(image, call.make<uint8_t>(0, image.shape()), lambda);
    }
    return {};
  }

 private:
  static Spec result(const BatchMix& mix, const Spec& in) {
    const FieldSpec& image = in[0];
    if ((image.dtype != DType::f32 && image.dtype != DType::u8) || image.shape.rank() < 1) {
      refuse_mix(mix.name, fmt::format("takes float32 or uint8 [rows, ...], not {}{}", name(image.dtype),
                                       image.shape.to_string()));
    }
    return with_labels(mix, in);
  }

  static void mix_floats(const Tensor& image, std::span<float> out, double lambda) {
    const auto in = image.as<float>();
    const auto rows = static_cast<size_t>(image.dim(0));
    const auto weight = static_cast<float>(lambda), rest = static_cast<float>(1 - lambda);
    const size_t size = rows == 0 ? 0 : in.size() / rows;
    for (size_t row = 0; row < rows; ++row) {
      const float* const own = in.data() + row * size;
      const float* const other = in.data() + row_before(row, rows) * size;
      for (size_t i = 0; i < size; ++i) out[row * size + i] = other[i] * rest + own[i] * weight;
    }
  }

  static void mix_bytes(const Tensor& image, std::span<uint8_t> out, double lambda) {
    const auto in = image.as<uint8_t>();
    const auto rows = static_cast<size_t>(image.dim(0));
    // NOLINTNEXTLINE(bugprone-incorrect-roundings): half up, the same bits everywhere.
    const auto weight = static_cast<uint32_t>(lambda * 65536 + 0.5), rest = 65536 - weight;
    const size_t size = rows == 0 ? 0 : in.size() / rows;
    for (size_t row = 0; row < rows; ++row) {
      const uint8_t* const own = in.data() + row * size;
      const uint8_t* const other = in.data() + row_before(row, rows) * size;
      for (size_t i = 0; i < size; ++i) {
        out[row * size + i] = static_cast<uint8_t>((other[i] * rest + own[i] * weight + 32768) >> 16);
      }
    }
  }

  const BatchMix mix_;
};

struct CutBox {
  int64_t left, top, right, bottom;
};

CutBox cut_box(int64_t height, int64_t width, double lambda, uint32_t column, uint32_t row) {
  const double half = 0.5 * std::sqrt(1 - lambda);
  const auto x = static_cast<int64_t>(static_cast<double>(column) * 0x1p-32 * static_cast<double>(width));
  const auto y = static_cast<int64_t>(static_cast<double>(row) * 0x1p-32 * static_cast<double>(height));
  const auto x_reach = static_cast<int64_t>(half * static_cast<double>(width));
  const auto y_reach = static_cast<int64_t>(half * static_cast<double>(height));
  return {std::max<int64_t>(x - x_reach, 0), std::max<int64_t>(y - y_reach, 0), std::min(x + x_reach, width),
          std::min(y + y_reach, height)};
}

class CutMix final : public Kernel {
 public:
  CutMix(const BatchMix& mix, ImageLayout layout)
      : Kernel({.title = title_of(mix, layout),
                .draws = "cutmix",
                .result = [mix, layout](const Spec& in) { return result(mix, layout, in); }}),
        mix_(mix),
        layout_(layout) {}

  Result<void> run(KernelCall& call) const override {
    if (auto fits = check_call(mix_, *this, call); !fits) return fits;
    const Tensor& image = call.in();
    const bool planar = layout_ == ImageLayout::chw;
    const int64_t height = image.dim(planar ? 2 : 1), width = image.dim(planar ? 3 : 2);
    Random random = call.random();
    const uint32_t column = random.u32();
    const uint32_t row = random.u32();
    const CutBox box = cut_box(height, width, draw_beta(random, mix_.alpha, mix_.alpha), column, row);
    const double area = static_cast<double>(height) * static_cast<double>(width);
    const auto cut = static_cast<double>((box.right - box.left) * (box.bottom - box.top));
    if (auto done = mix_labels(mix_, call, area == 0 ? 1 : 1 - cut / area); !done) return done;
    std::byte* const out = call.make(0, image.dtype(), image.shape());
    std::memcpy(out, image.data(), image.byte_size());
    paste(image, out, box);
    return {};
  }

 private:
  static Spec result(const BatchMix& mix, ImageLayout layout, const Spec& in) {
    const FieldSpec& image = in[0];
    const bool has_rank = image.shape.rank() == 4 && image.dtype != DType::bytes;
    const int64_t channels = has_rank ? image.shape[layout == ImageLayout::chw ? 1 : 3] : 0;
    if (channels != kUnknown && (channels < 1 || channels > 4)) {
      const char* const dims = layout == ImageLayout::chw ? "[rows, channels, height, width] (layout=chw)"
                                                          : "[rows, height, width, channels] (layout=hwc)";
      refuse_mix(mix.name, fmt::format("takes numbers {} with 1 to 4 channels, not {}{}", dims, name(image.dtype),
                                       image.shape.to_string()));
    }
    return with_labels(mix, in);
  }

  // Rows of pixels from the images before. A plane of chw is an image of one channel.
  void paste(const Tensor& image, std::byte* out, const CutBox& box) const {
    const bool planar = layout_ == ImageLayout::chw;
    const auto rows = static_cast<size_t>(image.dim(0));
    const auto planes = static_cast<size_t>(planar ? image.dim(1) : 1);
    const int64_t height = image.dim(planar ? 2 : 1), width = image.dim(planar ? 3 : 2);
    const size_t pixel = item_size(image.dtype()) * static_cast<size_t>(planar ? 1 : image.dim(3));
    if (box.right <= box.left) return;
    for (size_t row = 0; row < rows; ++row) {
      for (size_t plane = 0; plane < planes; ++plane) {
        const size_t to = (row * planes + plane) * static_cast<size_t>(height * width);
        const size_t from = (row_before(row, rows) * planes + plane) * static_cast<size_t>(height * width);
        for (int64_t y = box.top; y < box.bottom; ++y) {
          const auto at = static_cast<size_t>(y * width + box.left);
          std::memcpy(out + (to + at) * pixel, image.data() + (from + at) * pixel,
                      static_cast<size_t>(box.right - box.left) * pixel);
        }
      }
    }
  }

  const BatchMix mix_;
  const ImageLayout layout_;
};

BatchMix checked(const char* name, int64_t num_classes, double alpha) {
  if (num_classes < 1 || num_classes > 1'000'000) {
    refuse_mix(name, fmt::format("num_classes must be 1 to 1,000,000, not {}", num_classes));
  }
  if (!(alpha >= 1e-6 && alpha <= 1e6)) refuse_mix(name, fmt::format("alpha must be 1e-6 to 1e6, not {}", alpha));
  return {name, num_classes, alpha};
}

}  // namespace

KernelRef mixup(int64_t num_classes, double alpha) {
  return std::make_shared<MixUp>(checked("mixup", num_classes, alpha));
}

KernelRef cutmix(int64_t num_classes, double alpha, ImageLayout layout) {
  return std::make_shared<CutMix>(checked("cutmix", num_classes, alpha), layout);
}

}  // namespace headpond
