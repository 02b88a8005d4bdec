// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/spectrum/spectrum_kernels.h"

#include "headpond/codec/sound/augment/mask.h"
#include "headpond/codec/sound/resample/resample.h"
#include "headpond/codec/sound/spectrum/delta.h"
#include "headpond/plan/kernels/plan_kernel.h"

namespace headpond::plan {
namespace {

const std::vector<std::string> kSpectrumOptions = {
    "preset",  "sample_rate", "fft",         "window_length", "hop",          "window",    "edges",       "drop_last",
    "power",   "scale",       "remove_mean", "pre_emphasis",  "mels",         "mel_scale", "equal_areas", "low_hz",
    "high_hz", "log",         "floor",       "top_db",        "coefficients", "mels_first"};

// The value that `name` gives, of those up to `last`.
template <class Enum>
void read_name(const PlanArguments& from, const std::string& option, Enum last, std::optional<Enum>& to) {
  if (!from.has(option)) return;
  std::vector<std::string> words;
  for (int i = 0; i <= static_cast<int>(last); ++i) words.emplace_back(name(static_cast<Enum>(i)));
  to = static_cast<Enum>(from.choice(option, words));
}
void read_number(const PlanArguments& from, const std::string& option, std::optional<double>& to) {
  if (from.has(option)) to = from.number(option);
}
void read_integer(const PlanArguments& from, const std::string& option, std::optional<int64_t>& to) {
  if (from.has(option)) to = from.integer(option);
}
void read_flag(const PlanArguments& from, const std::string& option, std::optional<bool>& to) {
  if (from.has(option)) to = from.flag(option, false);
}

SpectrumOptions spectrum_options(const PlanArguments& from) {
  SpectrumOptions to;
  std::optional<SpectrumPreset> preset;
  read_name(from, "preset", SpectrumPreset::kaldi, preset);
  to.preset = preset.value_or(to.preset);
  to.sample_rate = from.integer("sample_rate", to.sample_rate);
  read_integer(from, "fft", to.fft);
  read_integer(from, "window_length", to.window_length);
  read_integer(from, "hop", to.hop);
  read_name(from, "window", SpectrumWindow::rectangular, to.window);
  read_name(from, "edges", SpectrumEdges::snip, to.edges);
  read_flag(from, "drop_last", to.drop_last);
  read_integer(from, "power", to.power);
  read_number(from, "scale", to.scale);
  read_flag(from, "remove_mean", to.remove_mean);
  read_number(from, "pre_emphasis", to.pre_emphasis);
  read_integer(from, "mels", to.mels);
  read_name(from, "mel_scale", MelScale::kaldi, to.mel_scale);
  read_flag(from, "equal_areas", to.equal_areas);
  read_number(from, "low_hz", to.low_hz);
  read_number(from, "high_hz", to.high_hz);
  read_name(from, "log", SpectrumLog::whisper, to.log);
  read_number(from, "floor", to.floor);
  read_number(from, "top_db", to.top_db);
  to.coefficients = from.integer("coefficients", to.coefficients);
  to.mels_first = from.flag("mels_first", to.mels_first);
  return to;
}

KernelRef build_stft(const PlanArguments& options) { return stft(spectrum_options(options)); }
KernelRef build_spectrogram(const PlanArguments& options) { return spectrogram(spectrum_options(options)); }
KernelRef build_mel_spectrogram(const PlanArguments& options) { return mel_spectrogram(spectrum_options(options)); }
KernelRef build_log_mel(const PlanArguments& options) { return log_mel(spectrum_options(options)); }
KernelRef build_mfcc(const PlanArguments& options) { return mfcc(spectrum_options(options)); }

KernelRef build_delta(const PlanArguments& options) {
  DeltaOptions to;
  to.width = options.integer("width", to.width);
  to.mels_first = options.flag("mels_first", to.mels_first);
  to.append = options.flag("append", to.append);
  return delta(to);
}

KernelRef build_resample(const PlanArguments& options) {
  ResampleOptions to = {.from = options.integer("from"), .to = options.integer("to")};
  to.method = static_cast<ResampleMethod>(options.choice("method", {"sinc_hann", "sinc_kaiser", "soxr_hq"}));
  to.width = options.integer("width", to.width);
  to.rolloff = number_option(options, "rolloff", to.rolloff);
  to.beta = number_option(options, "beta", to.beta);
  return resample(to);
}

MaskFill fill_option(const PlanArguments& options) {
  return options.choice("fill", {"zero", "mean"}) == 1 ? MaskFill::mean : MaskFill::zero;
}

MaskOptions mask_options(const PlanArguments& options) {
  return {.width = options.integer("width"),
          .count = options.integer("count", 1),
          .p = number_option(options, "p", 1),
          .fill = fill_option(options),
          .mels_first = options.flag("mels_first", false)};
}
KernelRef build_time_mask(const PlanArguments& options) { return time_mask(mask_options(options)); }
KernelRef build_frequency_mask(const PlanArguments& options) { return frequency_mask(mask_options(options)); }

KernelRef build_spec_augment(const PlanArguments& options) {
  SpecAugmentOptions to;
  to.frequency_width = options.integer("frequency_width", to.frequency_width);
  to.frequency_masks = options.integer("frequency_masks", to.frequency_masks);
  to.time_width = options.integer("time_width", to.time_width);
  to.time_masks = options.integer("time_masks", to.time_masks);
  to.p = number_option(options, "p", to.p);
  to.fill = fill_option(options);
  to.mels_first = options.flag("mels_first", to.mels_first);
  return spec_augment(to);
}

}  // namespace

const std::vector<PlanKernel>& spectrum_plan_kernels() {
  static const std::vector<std::string> mask = {"width", "count", "p", "fill", "mels_first"};
  static const std::vector<PlanKernel> all = {
      {"stft", kSpectrumOptions, build_stft},
      {"spectrogram", kSpectrumOptions, build_spectrogram},
      {"mel_spectrogram", kSpectrumOptions, build_mel_spectrogram},
      {"log_mel", kSpectrumOptions, build_log_mel},
      {"mfcc", kSpectrumOptions, build_mfcc},
      {"delta", {"width", "mels_first", "append"}, build_delta},
      {"resample", {"from", "to", "method", "width", "rolloff", "beta"}, build_resample},
      {"time_mask", mask, build_time_mask},
      {"frequency_mask", mask, build_frequency_mask},
      {"spec_augment",
       {"frequency_width", "frequency_masks", "time_width", "time_masks", "p", "fill", "mels_first"},
       build_spec_augment},
  };
  return all;
}

}  // namespace headpond::plan
