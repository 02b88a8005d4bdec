// SPDX-License-Identifier: Apache-2.0
// Spectra of sound: short-time Fourier transforms, mel spectrograms and their logarithms, mel-frequency cepstral
// coefficients, as torchaudio, librosa, Whisper and Kaldi compute them. Values have the same bits on every processor:
// f32, and f64 in the first stages of transforms, in a fixed order without fused multiply-add, own sine and logarithm.
// Pure functions, thread-safe.
//
// Samples are f32 [frames] or [frames, 1]; several channels are mixed or chosen before. Below, n is their number, and a
// frame is one row of the spectrum. Accuracy against the formulas in f64, for speech: mel spectrograms 2e-6 of the
// largest value, log-mel 1e-3 dB from 80 dB below the largest on, MFCC 1e-3.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "headpond/base/status.h"
#include "headpond/tensor/tensor.h"

namespace headpond {

/// Whose numbers are used where an option is not given.
///
///              window, hop                  edges          mel                                   logarithm
/// torchaudio   Hann 400, half of it         reflect        128, htk, 0 Hz to half the rate       decibel, floor 1e-10
/// librosa      Hann 2048, a quarter of it   zeros          128, slaney with equal areas          the same, top_db 80
/// whisper      Hann 400, 160                reflect, the   80, slaney with equal areas           whisper, floor 1e-10
///                                           last dropped
/// kaldi        povey, 25 and 10 ms          snip           80, kaldi, 20 Hz to half the rate     ln, floor 2^-23
///
/// kaldi also multiplies samples by 32768, takes the mean of each frame away, and has pre_emphasis 0.97.
enum class SpectrumPreset : uint8_t { torchaudio, librosa, whisper, kaldi };
/// Hann and Hamming windows are periodic: their last value is not their first. povey: a symmetric Hann window to the
/// power 0.85.
enum class SpectrumWindow : uint8_t { hann, hamming, povey, rectangular };
/// reflect, zeros: frame t is centred at sample t hop, there are 1 + n / hop frames (for an odd fft 1 + (n - 1) / hop),
/// and samples outside are mirrored at the first and last one, or 0. snip: frame t begins at sample t hop, and there
/// are 1 + (n - window_length) / hop frames, 0 if n is less than window_length.
enum class SpectrumEdges : uint8_t { reflect, zeros, snip };
/// The mels of a frequency f. htk: 2595 log10(1 + f / 700). slaney: linear below 1000 Hz. kaldi: 1127 ln(1 + f / 700),
/// and filters are triangles in mels, not in Hz.
enum class MelScale : uint8_t { htk, slaney, kaldi };
/// decibel: 10 log10(max(x, floor)), 20 log10 of it for power 1. ln: ln(max(x, floor)). ln_offset: ln(x + floor).
/// whisper: l = log10(max(x, floor)), then (max(l, the clip's largest - 8) + 4) / 4.
enum class SpectrumLog : uint8_t { decibel, ln, ln_offset, whisper };
/// "torchaudio", "hann", "reflect", "htk", "decibel": the names above.
std::string_view name(SpectrumPreset preset);
std::string_view name(SpectrumWindow window);
std::string_view name(SpectrumEdges edges);
std::string_view name(MelScale scale);
std::string_view name(SpectrumLog log);

struct SpectrumOptions {
  SpectrumPreset preset = SpectrumPreset::torchaudio;
  int64_t sample_rate = 16000;
  /// Points of the transform, window_length to 65536; without it 400, 2048, 400, or kaldi's next power of two, or
  /// window_length if that is more. Products of 2, 3 and 5 are fast: a transform costs fft times its prime factors.
  std::optional<int64_t> fft = {};
  std::optional<int64_t> window_length = {};  ///< Without it: fft, for kaldi 25 ms. In the middle of fft but for snip.
  std::optional<int64_t> hop = {};
  std::optional<SpectrumWindow> window = {};
  std::optional<SpectrumEdges> edges = {};
  std::optional<bool> drop_last = {};  ///< Leaves the last frame out.
  std::optional<int64_t> power = {};   ///< 1: magnitudes. 2: their squares.
  std::optional<double> scale = {};    ///< Samples are multiplied by it.
  std::optional<bool> remove_mean = {};
  std::optional<double> pre_emphasis = {};  ///< In a frame, x[i] - pre_emphasis x[i - 1], where x[-1] = x[0]; 0 to 1.
  std::optional<int64_t> mels = {};         ///< 1 to 4096.
  std::optional<MelScale> mel_scale = {};
  std::optional<bool> equal_areas = {};  ///< Divides each filter by half its width in Hz.
  std::optional<double> low_hz = {};
  std::optional<double> high_hz = {};  ///< At most half the rate.
  std::optional<SpectrumLog> log = {};
  std::optional<double> floor = {};   ///< 1e-37 to 1e37.
  std::optional<double> top_db = {};  ///< decibel: values are at least the clip's largest - top_db; 0: no limit.
  int64_t coefficients = 40;          ///< Coefficients of MFCC, 1 to mels.
  bool mels_first = false;            ///< [mels, frames] instead of [frames, mels]; likewise of bins and coefficients.

  friend bool operator==(const SpectrumOptions&, const SpectrumOptions&) = default;
};

/// Bins are 0 to fft / 2.
enum class SpectrumKind : uint8_t {
  stft,             ///< [frames, bins, 2]: real and imaginary parts.
  spectrogram,      ///< [frames, bins]: to the power.
  mel_spectrogram,  ///< [frames, mels]
  log_mel,          ///< [frames, mels]
  mfcc,             ///< [frames, coefficients]: the orthonormal DCT-II of log_mel in decibel with top_db 80.
};
/// "log_mel".
std::string_view name(SpectrumKind kind);

/// A spectrum's tables: windows, factors, filters. It takes about 1 ms to make; make one for many clips. Immutable.
class Spectrum {
 public:
  /// Throws Exception(InvalidArgument) iff an option is out of range.
  explicit Spectrum(SpectrumKind kind, const SpectrumOptions& options = {});
  ~Spectrum();
  Spectrum(Spectrum&&) noexcept;
  Spectrum& operator=(Spectrum&&) noexcept;

  SpectrumKind kind() const;
  /// The shape of the spectrum of n samples. n may be kUnknown.
  Shape shape(int64_t n) const;
  /// InvalidArgument iff `samples` has another dtype or shape, or edges are mirrored and n <= fft / 2. A frame that
  /// holds samples that are not finite has undefined values.
  Result<Tensor> operator()(const Tensor& samples) const;
  /// The same into `out`, whose size is that of shape(). `scratch` keeps memory from call to call: about fft times 200
  /// bytes, with log_mel's values for MFCC.
  Result<void> into(std::span<const float> samples, std::span<float> out, std::vector<float>& scratch) const;

  struct Tables;
  const Tables& tables() const { return *tables_; }

 private:
  std::unique_ptr<const Tables> tables_;
};

/// A clip's spectrum: Spectrum(kind, options)(samples).
Result<Tensor> stft(const Tensor& samples, const SpectrumOptions& options = {});
Result<Tensor> spectrogram(const Tensor& samples, const SpectrumOptions& options = {});
Result<Tensor> mel_spectrogram(const Tensor& samples, const SpectrumOptions& options = {});
Result<Tensor> log_mel(const Tensor& samples, const SpectrumOptions& options = {});
Result<Tensor> mfcc(const Tensor& samples, const SpectrumOptions& options = {});

}  // namespace headpond
