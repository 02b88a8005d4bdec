// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/spectrum/spectrum.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>

#include "headpond/codec/sound/spectrum/lanes_internal.h"

namespace headpond {
namespace {

// Values are at least the largest one less `range`.
void limit_range(std::span<float> values, float range) {
  if (values.empty()) return;
  std::array<float, 16> largest_of;  // Each is the largest of every sixteenth value.
  largest_of.fill(values[0]);
  const size_t whole = values.size() / largest_of.size() * largest_of.size();
  for (size_t i = 0; i < whole; i += largest_of.size()) {
    for (size_t k = 0; k < largest_of.size(); ++k) {
      largest_of[k] = values[i + k] > largest_of[k] ? values[i + k] : largest_of[k];
    }
  }
  float largest = values[0];
  for (const float value : largest_of) largest = value > largest ? value : largest;
  for (const float value : values.subspan(whole)) largest = value > largest ? value : largest;
  const float least = largest - range;
  for (float& value : values) value = value > least ? value : least;
}

void finish_log(const spectrum_internal::Settings& settings, std::span<float> values) {
  if (settings.log == SpectrumLog::decibel && settings.top_db > 0) {
    limit_range(values, static_cast<float>(settings.top_db));
  }
  if (settings.log != SpectrumLog::whisper) return;
  limit_range(values, 8);
  for (float& value : values) value = (value + 4) * 0.25F;
}

// The cosine transform of [frames, mels].
void transform_mels(const Spectrum::Tables& tables, std::span<const float> mels, std::span<float> out) {
  const auto width = static_cast<size_t>(tables.settings.mels);
  const auto count = static_cast<size_t>(tables.options.coefficients);
  const size_t frames = mels.size() / width;
  std::vector<float> sums(count);
  for (size_t frame = 0; frame < frames; ++frame) {
    std::ranges::fill(sums, 0.0F);
    for (size_t mel = 0; mel < width; ++mel) {
      const float value = mels[frame * width + mel];
      const float* const row = tables.dct.data() + mel * count;
      for (size_t k = 0; k < count; ++k) sums[k] += row[k] * value;
    }
    for (size_t k = 0; k < count; ++k)
      out[tables.options.mels_first ? k * frames + frame : frame * count + k] = sums[k];
  }
}

// scratch, grown to `size`.
std::span<float> room_in(std::vector<float>& scratch, size_t size) {
  if (scratch.size() < size) scratch.resize(size);
  return std::span(scratch).first(size);
}

template <class Enum>
std::string_view name_at(std::initializer_list<std::string_view> names, Enum value) {
  return names.begin()[static_cast<size_t>(value)];
}

Result<Tensor> spectrum_of(SpectrumKind kind, const Tensor& samples, const SpectrumOptions& options) {
  return Spectrum(kind, options)(samples);
}

}  // namespace

std::string_view name(SpectrumPreset preset) { return name_at({"torchaudio", "librosa", "whisper", "kaldi"}, preset); }
std::string_view name(SpectrumWindow window) { return name_at({"hann", "hamming", "povey", "rectangular"}, window); }
std::string_view name(SpectrumEdges edges) { return name_at({"reflect", "zeros", "snip"}, edges); }
std::string_view name(MelScale scale) { return name_at({"htk", "slaney", "kaldi"}, scale); }
std::string_view name(SpectrumLog log) { return name_at({"decibel", "ln", "ln_offset", "whisper"}, log); }
std::string_view name(SpectrumKind kind) {
  return name_at({"stft", "spectrogram", "mel_spectrogram", "log_mel", "mfcc"}, kind);
}

Spectrum::Spectrum(SpectrumKind kind, const SpectrumOptions& options)
    : tables_(std::make_unique<const Tables>(kind, options)) {}
Spectrum::~Spectrum() = default;
Spectrum::Spectrum(Spectrum&&) noexcept = default;
Spectrum& Spectrum::operator=(Spectrum&&) noexcept = default;

SpectrumKind Spectrum::kind() const { return tables_->kind; }

Shape Spectrum::shape(int64_t n) const {
  const int64_t frames = n == kUnknown ? kUnknown : tables_->frames(n);
  const bool first = tables_->options.mels_first;
  const int64_t width = kind() == SpectrumKind::mfcc ? tables_->options.coefficients : tables_->width();
  if (kind() == SpectrumKind::stft) return first ? Shape{width / 2, frames, 2} : Shape{frames, width / 2, 2};
  return first ? Shape{width, frames} : Shape{frames, width};
}

Result<void> Spectrum::into(std::span<const float> samples, std::span<float> out, std::vector<float>& scratch) const {
  const auto n = static_cast<int64_t>(samples.size());
  const Tables& tables = *tables_;
  if (tables.settings.edges == SpectrumEdges::reflect && n <= tables.settings.fft / 2) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: {} samples are too few to mirror {} at the edges",
                                                        name(kind()), n, tables.settings.fft / 2));
  }
  const int64_t frames = tables.frames(n);
  const size_t mels = kind() == SpectrumKind::mfcc ? static_cast<size_t>(frames * tables.settings.mels) : 0;
  const std::span<float> all = room_in(scratch, spectrum_internal::scratch_floats(tables) + mels);
  const std::span<float> to = kind() == SpectrumKind::mfcc ? all.first(mels) : out;
  const bool mels_first = tables.options.mels_first && kind() != SpectrumKind::mfcc;
  spectrum_internal::run_lanes({&tables, samples.data(), n, frames, to.data(), mels_first, all.data() + mels});
  if (kind() >= SpectrumKind::log_mel) finish_log(tables.settings, to);
  if (kind() == SpectrumKind::mfcc) transform_mels(tables, to, out);
  return {};
}

Result<Tensor> Spectrum::operator()(const Tensor& samples) const {
  const bool fits = samples.rank() == 1 || (samples.rank() == 2 && samples.dim(1) == 1);
  if (samples.dtype() != DType::f32 || !fits) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: takes float32 [frames] or [frames,1], not {}{}", headpond::name(kind()),
                            headpond::name(samples.dtype()), samples.shape().to_string()));
  }
  Tensor out = Tensor::empty(DType::f32, shape(samples.size()));
  std::vector<float> scratch;
  if (auto done = into(samples.as<float>(), out.mutable_as<float>(), scratch); !done) return fail(done.error());
  return out;
}

Result<Tensor> stft(const Tensor& samples, const SpectrumOptions& options) {
  return spectrum_of(SpectrumKind::stft, samples, options);
}
Result<Tensor> spectrogram(const Tensor& samples, const SpectrumOptions& options) {
  return spectrum_of(SpectrumKind::spectrogram, samples, options);
}
Result<Tensor> mel_spectrogram(const Tensor& samples, const SpectrumOptions& options) {
  return spectrum_of(SpectrumKind::mel_spectrogram, samples, options);
}
Result<Tensor> log_mel(const Tensor& samples, const SpectrumOptions& options) {
  return spectrum_of(SpectrumKind::log_mel, samples, options);
}
Result<Tensor> mfcc(const Tensor& samples, const SpectrumOptions& options) {
  return spectrum_of(SpectrumKind::mfcc, samples, options);
}

}  // namespace headpond
