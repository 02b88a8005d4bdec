// SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/nuclei_data.h"

#include <fmt/format.h>

#include <filesystem>

#include "examples/preprocess_once/crops.h"
#include "examples/preprocess_once/nuclei.h"
#include "examples/preprocess_once/operators.h"
#include "examples/preprocess_once/records.h"
#include "headpond/base/crc32c.h"
#include "headpond/dataset/ops.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/locked_file.h"
#include "headpond/io/file/whole_folder.h"

namespace headpond::cli {
namespace {

constexpr int64_t kDrawn = 20;
constexpr int64_t kSamples = 4;  // Samples of a picture, each with other clicks.

Result<std::string> folder_of(const NucleiDataOptions& options, const std::string& cache) {
  if (!options.folder.empty()) return options.folder;
  std::string folder = cache + "/nuclei-drawn-v1";
  HEADPOND_TRY(make_whole_folder(
      folder, [](const std::string& partial) { return preprocess_once::draw_pictures(partial, kDrawn, 7); }));
  return folder;
}

// What samples follow from: pictures by path, size and time.
std::string made_from(const std::vector<preprocess_once::Picture>& pictures, const NucleiDataOptions& options) {
  uint32_t crc = 0;
  const auto add = [&](const std::string& path) {
    const auto time = std::filesystem::last_write_time(path).time_since_epoch().count();
    crc = crc32c_extend(
        crc,
        std::as_bytes(std::span<const char>(fmt::format("{} {} {}\n", path, std::filesystem::file_size(path), time))));
  };
  for (const preprocess_once::Picture& picture : pictures) {
    add(picture.image);
    for (const std::string& mask : picture.masks) add(mask);
  }
  return fmt::format("{} pictures {:08x}, {} samples each, seed {}, one {}, others {}", pictures.size(), crc, kSamples,
                     options.seed, options.one, options.others);
}

Result<Dataset> samples_of(const std::vector<preprocess_once::Picture>& pictures, const char* part,
                           const NucleiDataOptions& options, const std::string& cache) {
  const Dataset samples = preprocess_once::prepared(
      pictures, options.seed, {.one = options.one, .samples = kSamples, .others = options.others});
  if (options.in_the_loop) return samples;
  const std::string from = made_from(pictures, options);
  const std::string folder = cache + "/nuclei-v1";
  HEADPOND_TRY(make_folders(folder));
  const auto turn = LockedFile::wait_for(folder + "/.lock", options.stop);
  if (!turn) return fail(turn.error());
  const auto shard =
      preprocess_once::write_prepared(samples, fmt::format("{}/{}-{:08x}", folder, part, crc32c(from)), {}, from);
  if (!shard) return fail(shard.error());
  return preprocess_once::read_prepared(shard->path);
}

}  // namespace

Dataset NucleiData::train(bool clicks) const {
  return train_samples | shuffle() |
         preprocess_once::random_crops({.on_target = one, .clicks = clicks, .new_clicks = new_clicks}) |
         headpond::batch(batch, {.drop_remainder = true});
}

Dataset NucleiData::test(bool clicks) const {
  return test_samples | preprocess_once::whole_pictures(clicks) | headpond::batch(1);
}

Result<NucleiData> nuclei_data(const NucleiDataOptions& options) {
  const auto cache = cache_folder();
  if (!cache) return fail(cache.error());
  const auto folder = folder_of(options, *cache);
  if (!folder) return fail(folder.error());
  const auto pictures = preprocess_once::find_pictures(*folder);
  if (!pictures) return fail(pictures.error());
  const auto split = preprocess_once::split_by_name(*pictures);
  auto train = samples_of(split.train, "train", options, *cache),
       test = samples_of(split.test, "test", options, *cache);
  if (!train) return fail(train.error());
  if (!test) return fail(test.error());
  return NucleiData{.train_pictures = static_cast<int64_t>(split.train.size()),
                    .test_pictures = static_cast<int64_t>(split.test.size()),
                    .train_samples = *train,
                    .test_samples = *test,
                    .batch = options.batch,
                    .one = options.one,
                    .new_clicks = !options.one && !options.others};
}

}  // namespace headpond::cli
