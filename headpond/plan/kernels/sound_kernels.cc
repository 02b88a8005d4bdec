// SPDX-License-Identifier: Apache-2.0
// Decoders of sound, and kernels of its level and length.
#include <fmt/format.h>

#include <algorithm>

#include "headpond/codec/sound/augment/mix_noise.h"
#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/sound_kernel.h"
#include "headpond/codec/sound/wav_kernel.h"
#include "headpond/dataset/tensors_of.h"
#include "headpond/plan/kernels/plan_kernel.h"
#include "headpond/plan/named_fields.h"

namespace headpond::plan {
namespace {

// What decode_wav and decode_sound share.
template <class Options>
Options decoder_options(const PlanArguments& args) {
  Options options;
  options.desired_channels = args.integer("desired_channels", options.desired_channels);
  options.desired_samples = args.integer("desired_samples", options.desired_samples);
  options.first_sample = args.integer("first_sample", options.first_sample);
  options.lenient = args.flag("lenient", options.lenient);
  options.max_channels = int32_option(args, "max_channels", options.max_channels);
  options.mix = static_cast<SoundMix>(args.choice("mix", {"first", "mean"}));
  options.non_finite = static_cast<NonFinite>(args.choice("non_finite", {"keep", "reject", "zero"}));
  options.rate = int32_option(args, "rate", options.rate);
  options.sample_rate = int32_option(args, "sample_rate", options.sample_rate);
  return options;
}

KernelRef build_decode_wav(const PlanArguments& args) { return decode_wav(decoder_options<WavOptions>(args)); }

SoundOptions sound_options(const PlanArguments& args) {
  auto options = decoder_options<SoundOptions>(args);
  options.max_values = args.integer("max_values", options.max_values);
  return options;
}

KernelRef build_decode_sound(const PlanArguments& args) { return decode_sound(sound_options(args)); }
KernelRef build_sound_frames(const PlanArguments& args) { return sound_frames(sound_options(args)); }

KernelRef build_gain_db(const PlanArguments& args) {
  const std::vector<double> db = numbers_option(args, "db");
  if (db.size() == 1) return gain_db(db[0]);
  if (db.size() != 2) args.refuse("db", "must be a number, or a list of the lowest and the highest one");
  return gain_db({db[0], db[1]});
}

KernelRef build_speed(const PlanArguments& args) {
  const std::vector<double> factor = numbers_option(args, "factor");
  if (factor.size() == 1) return speed(factor[0]);
  if (factor.size() != 2) args.refuse("factor", "must be a number, or a list of the lowest and the highest one");
  return speed({.lo = factor[0], .hi = factor[1]});
}

// The field of the noise: the one that is named, or the only one of float32.
std::string noise_field(const PlanArguments& args, const Spec& spec) {
  if (args.has("noise_field")) return library_name(spec, args.text("noise_field"));
  const auto is_sound = [](const FieldSpec& field) { return field.dtype == DType::f32; };
  if (std::ranges::count_if(spec, is_sound) != 1) {
    args.refuse("noise", fmt::format("gives {}: noise_field must name the field of float32", to_string(spec)));
  }
  return std::ranges::find_if(spec, is_sound)->name;
}

KernelRef build_mix_noise(const PlanArguments& args) {
  const Dataset noise = args.chain("noise");
  MixNoiseOptions options;
  options.low_snr_db = number_option(args, "low_snr_db", options.low_snr_db);
  options.high_snr_db = number_option(args, "high_snr_db", options.high_snr_db);
  options.p = number_option(args, "p", options.p);
  return mix_noise(tensors_of(noise, noise_field(args, noise.spec())), options);
}

}  // namespace

const std::vector<PlanKernel>& sound_plan_kernels() {
  static const std::vector<PlanKernel> all = {
      {"decode_wav",
       {"desired_channels", "desired_samples", "first_sample", "lenient", "max_channels", "mix", "non_finite", "rate",
        "sample_rate"},
       build_decode_wav},
      {"decode_sound",
       {"desired_channels", "desired_samples", "first_sample", "lenient", "max_channels", "mix", "non_finite", "rate",
        "sample_rate", "max_values"},
       build_decode_sound},
      {"sound_frames",
       {"desired_channels", "desired_samples", "first_sample", "lenient", "max_channels", "mix", "non_finite", "rate",
        "sample_rate", "max_values"},
       build_sound_frames},
      {"mono", {}, [](const PlanArguments&) { return mono(); }},
      {"pad_or_trim", {"samples"}, [](const PlanArguments& args) { return pad_or_trim(args.integer("samples")); }},
      {"random_sound_crop",
       {"samples", "pad"},
       [](const PlanArguments& args) {
         return random_sound_crop(args.integer("samples"), {.pad = args.flag("pad", true)});
       }},
      {"gain_db", {"db"}, build_gain_db},
      {"peak_normalize",
       {"peak"},
       [](const PlanArguments& args) { return peak_normalize(number_option(args, "peak", 1)); }},
      {"speed", {"factor"}, build_speed},
      {"mix_noise", {"noise", "noise_field", "low_snr_db", "high_snr_db", "p"}, build_mix_noise},
  };
  return all;
}

}  // namespace headpond::plan
