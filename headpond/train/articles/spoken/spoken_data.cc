// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/spoken/spoken_data.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <tuple>

#include "headpond/codec/sound/level/level_kernels.h"
#include "headpond/codec/sound/spectrum/spectrum_kernels.h"
#include "headpond/codec/sound/wav_kernel.h"
#include "headpond/dataset/ops.h"
#include "headpond/io/file/file.h"

namespace headpond {
namespace {

constexpr int64_t kRate = 8000, kSamples = 8000;
constexpr int64_t kTestIndices = 5;

struct Name {
  int64_t digit, index;
  std::string_view speaker;
};

// "3_george_12" as its parts; nothing for another name.
std::optional<Name> parsed(std::string_view stem) {
  const size_t first = stem.find('_'), last = stem.rfind('_');
  if (first != 1 || last <= first + 1 || stem[0] < '0' || stem[0] > '9') return std::nullopt;
  Name name{stem[0] - '0', 0, stem.substr(first + 1, last - first - 1)};
  const std::string_view index = stem.substr(last + 1);
  const auto [end, error] = std::from_chars(index.data(), index.data() + index.size(), name.index);
  if (error != std::errc() || end != index.data() + index.size()) return std::nullopt;
  return name;
}

Result<std::string> read(ReadCounts& counts, const std::string& path) {
  const auto bytes = read_file(path);
  if (!bytes) return fail(bytes.error());
  ++counts.files;
  counts.bytes += static_cast<int64_t>(bytes->size());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

// A second, with the sound at a place of it.
Element placed(const Element& in, Random* random) {
  const auto all = in[0].as<float>();
  const auto sound = all.first(std::min<size_t>(all.size(), kSamples));
  const auto left = static_cast<uint32_t>(kSamples - sound.size());
  Tensor out = Tensor::empty(f32, {kSamples});
  const auto values = out.mutable_as<float>();
  std::fill(values.begin(), values.end(), 0.0F);
  std::copy(sound.begin(), sound.end(), values.begin() + (random != nullptr ? random->below(left + 1) : left / 2));
  return {std::move(out), in[1]};
}

// The files' bytes.
Dataset contents(const SpokenFiles& files, bool shuffled, const std::shared_ptr<ReadCounts>& counts) {
  const Shape shape = {static_cast<int64_t>(files.paths.size())};
  const Dataset slices =
      from_tensor_slices({{"sound", Tensor::from(files.paths, shape)}, {"label", Tensor::from(files.labels, shape)}});
  const auto read_one = [counts](std::string_view path) { return read(*counts, std::string(path)); };
  return (shuffled ? slices | shuffle() : slices) | map("sound", read_one, {.name = "read"});
}

Dataset sounds(const SpokenFiles& files, bool shuffled, const std::shared_ptr<ReadCounts>& counts) {
  return contents(files, shuffled, counts) | map("sound", decode_wav({.desired_channels = 1, .rate = kRate}));
}

Step paced(const std::function<void()>& prepare) {
  const auto size = [prepare](std::string_view bytes, int64_t label) {
    prepare();
    return std::tuple(static_cast<int64_t>(bytes.size()), label);
  };
  return map(size, {.output = {{"bytes", DType::i64, {}}, {"label", DType::i64, {}}}, .name = "prepare"});
}

KernelRef spectra() { return log_mel({.sample_rate = kRate, .fft = 256, .window_length = 200, .hop = 80, .mels = 40}); }

const Spec kPlaced = {{"sound", DType::f32, {kSamples}}, {"label", DType::i64, {}}};

}  // namespace

Result<SpokenSets> find_spoken(const std::string& folder, const std::string& leave_speaker) {
  std::error_code error;
  std::vector<std::string> paths;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".wav") paths.push_back(at->path().string());
  }
  if (error) return fail(file_error("list", folder, error.value()));
  std::sort(paths.begin(), paths.end());
  SpokenSets sets;
  for (const std::string& path : paths) {
    const std::string stem = std::filesystem::path(path).stem().string();
    const auto name = parsed(stem);
    if (!name) return fail(ErrorKind::InvalidArgument, path + ": expected <digit>_<speaker>_<index>.wav");
    const bool is_test = leave_speaker.empty() ? name->index < kTestIndices : name->speaker == leave_speaker;
    SpokenFiles& set = is_test ? sets.test : sets.train;
    set.paths.push_back(path);
    set.labels.push_back(name->digit);
  }
  for (const auto& [set, what] : {std::pair{&sets.train, "training"}, {&sets.test, "test"}}) {
    if (set->paths.empty()) {
      return fail(ErrorKind::NotFound,
                  fmt::format("{}: no file for the {} among {} WAV files{}", folder, what, paths.size(),
                              leave_speaker.empty() ? "" : " without the speaker " + leave_speaker));
    }
  }
  return sets;
}

Dataset spoken_training(const SpokenFiles& files, int64_t batch_size, const std::shared_ptr<ReadCounts>& counts) {
  const auto anywhere = [](const Element& in, Random& random) { return placed(in, &random); };
  return sounds(files, true, counts) | random_map(anywhere, {.output = kPlaced, .name = "place"}) |
         map("sound", gain_db(DecibelRange{-6, 6}), spectra()) | batch(batch_size);
}

Dataset spoken_test(const SpokenFiles& files, int64_t batch_size, const std::shared_ptr<ReadCounts>& counts) {
  const auto middle = [](const Element& in) { return placed(in, nullptr); };
  return sounds(files, false, counts) | map(middle, {.output = kPlaced, .name = "place"}) | map("sound", spectra()) |
         cache() | batch(batch_size);
}

Dataset paced_training(const SpokenFiles& files, int64_t batch_size, const std::function<void()>& prepare,
                       const std::shared_ptr<ReadCounts>& counts) {
  return contents(files, true, counts) | paced(prepare) | batch(batch_size);
}

Dataset paced_test(const SpokenFiles& files, int64_t batch_size, const std::function<void()>& prepare,
                   const std::shared_ptr<ReadCounts>& counts) {
  return contents(files, false, counts) | paced(prepare) | cache() | batch(batch_size);
}

}  // namespace headpond
