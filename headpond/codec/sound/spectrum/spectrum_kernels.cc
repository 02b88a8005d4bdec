// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/spectrum/spectrum_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace headpond {
namespace {

void add_value(std::vector<std::string>& parts, const char* option, const std::optional<int64_t>& value) {
  if (value) parts.push_back(fmt::format("{}={}", option, *value));
}
void add_value(std::vector<std::string>& parts, const char* option, const std::optional<double>& value) {
  if (value) parts.push_back(fmt::format("{}={}", option, *value));
}
void add_value(std::vector<std::string>& parts, const char* option, const std::optional<bool>& value) {
  if (value) parts.push_back(fmt::format("{}={}", option, *value));
}
template <class Enum>
void add_name(std::vector<std::string>& parts, const char* option, const std::optional<Enum>& value) {
  if (value) parts.push_back(fmt::format("{}={}", option, name(*value)));
}

// The options that are given.
std::string title_of_spectrum(SpectrumKind kind, const SpectrumOptions& options) {
  const SpectrumOptions usual;
  std::vector<std::string> parts;
  if (options.preset != usual.preset) parts.emplace_back(name(options.preset));
  if (options.sample_rate != usual.sample_rate) parts.push_back(fmt::format("sample_rate={}", options.sample_rate));
  add_value(parts, "fft", options.fft);
  add_value(parts, "window_length", options.window_length);
  add_value(parts, "hop", options.hop);
  add_name(parts, "window", options.window);
  add_name(parts, "edges", options.edges);
  add_value(parts, "drop_last", options.drop_last);
  add_value(parts, "power", options.power);
  add_value(parts, "scale", options.scale);
  add_value(parts, "remove_mean", options.remove_mean);
  add_value(parts, "pre_emphasis", options.pre_emphasis);
  add_value(parts, "mels", options.mels);
  add_name(parts, "mel_scale", options.mel_scale);
  add_value(parts, "equal_areas", options.equal_areas);
  add_value(parts, "low_hz", options.low_hz);
  add_value(parts, "high_hz", options.high_hz);
  add_name(parts, "log", options.log);
  add_value(parts, "floor", options.floor);
  add_value(parts, "top_db", options.top_db);
  if (options.coefficients != usual.coefficients) parts.push_back(fmt::format("coefficients={}", options.coefficients));
  if (options.mels_first) parts.emplace_back("mels_first=true");
  return parts.empty() ? std::string(name(kind)) : fmt::format("{}({})", name(kind), fmt::join(parts, ", "));
}

/// Memory that a worker keeps for its next spectrum.
struct SpectrumScratch {
  std::vector<float> values;
};

class SpectrumKernel final : public Kernel {
 public:
  SpectrumKernel(SpectrumKind kind, const SpectrumOptions& options, std::shared_ptr<const Spectrum> spectrum)
      : Kernel({.title = title_of_spectrum(kind, options),
                .result = [spectrum](const Spec& in) { return result_of(in, *spectrum); }}),
        spectrum_(std::move(spectrum)) {}

  Result<void> run(KernelCall& call) const override {
    const Tensor& samples = call.in();
    if (samples.dtype() != DType::f32 || !is_mono(samples.shape())) {
      return fail(ErrorKind::InvalidArgument, refusal(spectrum_->kind(), samples.dtype(), samples.shape()));
    }
    const auto to = call.make<float>(0, spectrum_->shape(samples.size()));
    return spectrum_->into(samples.as<float>(), to, call.scratch<SpectrumScratch>().values);
  }

 private:
  static bool is_mono(const Shape& shape) {
    return shape.rank() == 1 || (shape.rank() == 2 && (shape[1] == 1 || shape[1] == kUnknown));
  }

  static std::string refusal(SpectrumKind kind, DType dtype, const Shape& shape) {
    return fmt::format("{}: takes float32[frames] or [frames,1], not {}{}", headpond::name(kind), headpond::name(dtype),
                       shape.to_string());
  }

  static Spec result_of(Spec spec, const Spectrum& spectrum) {
    FieldSpec& field = spec[0];
    if (field.dtype != DType::f32 || !is_mono(field.shape)) {
      throw Exception(Error(ErrorKind::InvalidArgument, refusal(spectrum.kind(), field.dtype, field.shape)));
    }
    field.shape = spectrum.shape(field.shape[0]);
    return spec;
  }

  const std::shared_ptr<const Spectrum> spectrum_;
};

KernelRef kernel_of_spectrum(SpectrumKind kind, const SpectrumOptions& options) {
  return std::make_shared<SpectrumKernel>(kind, options, std::make_shared<const Spectrum>(kind, options));
}

}  // namespace

KernelRef stft(const SpectrumOptions& options) { return kernel_of_spectrum(SpectrumKind::stft, options); }
KernelRef spectrogram(const SpectrumOptions& options) { return kernel_of_spectrum(SpectrumKind::spectrogram, options); }
KernelRef mel_spectrogram(const SpectrumOptions& options) {
  return kernel_of_spectrum(SpectrumKind::mel_spectrogram, options);
}
KernelRef log_mel(const SpectrumOptions& options) { return kernel_of_spectrum(SpectrumKind::log_mel, options); }
KernelRef mfcc(const SpectrumOptions& options) { return kernel_of_spectrum(SpectrumKind::mfcc, options); }

}  // namespace headpond
