// SPDX-License-Identifier: Apache-2.0
#include "headpond/codec/sound/wav_kernel.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

namespace headpond {
namespace {

[[noreturn]] void refuse_wav(const std::string& what) {
  throw Exception(Error(ErrorKind::InvalidArgument, "decode_wav: " + what));
}

// The options that are not the default.
std::string title_of_wav(const WavOptions& options) {
  std::vector<std::string> parts;
  if (options.desired_channels >= 0) parts.push_back(fmt::format("desired_channels={}", options.desired_channels));
  if (options.desired_samples >= 0) parts.push_back(fmt::format("desired_samples={}", options.desired_samples));
  if (options.first_sample != 0) parts.push_back(fmt::format("first_sample={}", options.first_sample));
  if (options.lenient) parts.emplace_back("lenient=true");
  if (options.max_channels != WavOptions().max_channels) {
    parts.push_back(fmt::format("max_channels={}", options.max_channels));
  }
  return parts.empty() ? "decode_wav" : fmt::format("decode_wav({})", fmt::join(parts, ", "));
}

class DecodeWav final : public Kernel {
 public:
  explicit DecodeWav(const WavOptions& options)
      : Kernel({.title = title_of_wav(options), .result = [options](const Spec& in) { return samples(in, options); }}),
        options_(options) {}

  Result<void> run(KernelCall& call) const override {
    const std::string_view text = call.in().bytes_at(0);
    const std::span<const std::byte> file(reinterpret_cast<const std::byte*>(text.data()), text.size());
    const auto info = wav_info(file, file.size(), options_);
    if (!info) return fail(info.error());
    if (options_.first_sample > info->frames) {
      return fail(ErrorKind::InvalidArgument,
                  fmt::format("wav: first_sample {} of {} frames", options_.first_sample, info->frames));
    }
    const Shape shape = {options_.desired_samples < 0 ? info->frames - options_.first_sample : options_.desired_samples,
                         options_.desired_channels < 0 ? info->channels : options_.desired_channels};
    const auto to = call.make<float>(0, shape);
    const auto decoded = decode_wav_into(file, std::as_writable_bytes(to), options_);
    if (!decoded) return fail(decoded.error());
    return {};
  }

 private:
  static Spec samples(Spec spec, const WavOptions& options) {
    if (spec[0].dtype != DType::bytes || spec[0].shape.rank() != 0) {
      refuse_wav(fmt::format("takes bytes[], not {}{}", name(spec[0].dtype), spec[0].shape.to_string()));
    }
    spec[0].dtype = DType::f32;
    spec[0].shape = {options.desired_samples < 0 ? kUnknown : options.desired_samples,
                     options.desired_channels < 0 ? kUnknown : options.desired_channels};
    return spec;
  }

  const WavOptions options_;
};

}  // namespace

KernelRef decode_wav(const WavOptions& options) {
  if (options.desired_channels < -1 || options.desired_channels == 0) {
    refuse_wav("desired_channels must be -1 or at least 1");
  }
  if (options.desired_samples < -1) refuse_wav("desired_samples must be -1 or at least 0");
  if (options.first_sample < 0) refuse_wav("first_sample must be at least 0");
  return std::make_shared<DecodeWav>(options);
}

}  // namespace headpond
