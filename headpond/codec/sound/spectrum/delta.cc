// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/spectrum/delta.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

namespace headpond {
namespace {

std::string problem_of(const DeltaOptions& options) {
  const bool fits = options.width >= 3 && options.width <= 1001 && options.width % 2 == 1;
  return fits ? "" : "delta: width must be odd, 3 to 1001";
}

bool is_features(DType dtype, const Shape& shape) { return dtype == DType::f32 && shape.rank() == 2; }

std::string refusal_of_features(DType dtype, const Shape& shape) {
  return fmt::format("delta: takes float32 of rank 2, not {}{}", name(dtype), shape.to_string());
}

Shape shape_of_delta(const Shape& shape, const DeltaOptions& options) {
  const auto grown = [&](int axis) {
    const bool grows = options.append && axis == (options.mels_first ? 0 : 1) && shape[axis] != kUnknown;
    return grows ? 2 * shape[axis] : shape[axis];
  };
  return {grown(0), grown(1)};
}

/// Values of one feature: `stride` apart in the input and in the output.
struct Column {
  const float* from;
  int64_t stride;
  float* to;
  int64_t to_stride;
};

void take_differences(const Column& column, int64_t frames, int64_t width) {
  const int64_t reach = width / 2;
  const auto squares = reach * (reach + 1) * (2 * reach + 1) / 3;
  const auto whole = static_cast<float>(squares);
  const auto at = [&](int64_t t) { return column.from[std::clamp<int64_t>(t, 0, frames - 1) * column.stride]; };
  for (int64_t t = 0; t < frames; ++t) {
    float sum = 0;
    for (int64_t k = 1; k <= reach; ++k) sum += static_cast<float>(k) * (at(t + k) - at(t - k));
    column.to[t * column.to_stride] = sum / whole;
  }
}

void delta_into(const Tensor& in, const DeltaOptions& options, std::span<float> out) {
  const int64_t frames = in.dim(options.mels_first ? 1 : 0), features = in.dim(options.mels_first ? 0 : 1);
  const float* const from = in.as<float>().data();
  const int64_t columns = options.append ? 2 * features : features;
  const int64_t first = columns - features;  // of the differences
  if (options.append && options.mels_first) std::copy_n(from, frames * features, out.data());
  for (int64_t t = 0; options.append && !options.mels_first && t < frames; ++t) {
    std::copy_n(from + t * features, features, out.data() + t * columns);
  }
  for (int64_t i = 0; i < features; ++i) {
    const Column column = options.mels_first ? Column{from + i * frames, 1, out.data() + (first + i) * frames, 1}
                                             : Column{from + i, features, out.data() + first + i, columns};
    take_differences(column, frames, options.width);
  }
}

std::string title_of_delta(const DeltaOptions& options) {
  std::vector<std::string> parts;
  if (options.width != DeltaOptions().width) parts.push_back(fmt::format("width={}", options.width));
  if (options.mels_first) parts.emplace_back("mels_first=true");
  if (options.append) parts.emplace_back("append=true");
  return parts.empty() ? "delta" : fmt::format("delta({})", fmt::join(parts, ", "));
}

class Delta final : public Kernel {
 public:
  explicit Delta(const DeltaOptions& options)
      : Kernel(
            {.title = title_of_delta(options), .result = [options](const Spec& in) { return result_of(in, options); }}),
        options_(options) {}

  Result<void> run(KernelCall& call) const override {
    const Tensor& in = call.in();
    if (!is_features(in.dtype(), in.shape())) {
      return fail(ErrorKind::InvalidArgument, refusal_of_features(in.dtype(), in.shape()));
    }
    delta_into(in, options_, call.make<float>(0, shape_of_delta(in.shape(), options_)));
    return {};
  }

 private:
  static Spec result_of(Spec spec, const DeltaOptions& options) {
    if (!is_features(spec[0].dtype, spec[0].shape)) {
      throw Exception(Error(ErrorKind::InvalidArgument, refusal_of_features(spec[0].dtype, spec[0].shape)));
    }
    spec[0].shape = shape_of_delta(spec[0].shape, options);
    return spec;
  }

  const DeltaOptions options_;
};

}  // namespace

Result<Tensor> delta(const Tensor& features, const DeltaOptions& options) {
  if (const std::string problem = problem_of(options); !problem.empty()) {
    return fail(ErrorKind::InvalidArgument, problem);
  }
  if (!is_features(features.dtype(), features.shape())) {
    return fail(ErrorKind::InvalidArgument, refusal_of_features(features.dtype(), features.shape()));
  }
  Tensor out = Tensor::empty(DType::f32, shape_of_delta(features.shape(), options));
  delta_into(features, options, out.mutable_as<float>());
  return out;
}

KernelRef delta(const DeltaOptions& options) {
  if (const std::string problem = problem_of(options); !problem.empty()) {
    throw Exception(Error(ErrorKind::InvalidArgument, problem));
  }
  return std::make_shared<Delta>(options);
}

}  // namespace headpond
