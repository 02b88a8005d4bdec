// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/articles/digits/digits.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/base/log.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/tensor/tensor.h"
#include "headpond/train/articles/digits/draw_digit.h"

namespace headpond {
namespace {

namespace fs = std::filesystem;

constexpr const char* kManifest = "MANIFEST";
constexpr int64_t kImageBytes = int64_t{kDigitSide} * kDigitSide;
constexpr int64_t kImagesBetweenStops = 256;

// Name, size and checksum of each file, one a line.
Result<std::string> manifest_of(const std::string& folder) {
  std::string manifest;
  std::vector<std::byte> piece(size_t{1} << 18);
  for (const char* name : {kTrainImages, kTrainLabels, kTestImages, kTestLabels}) {
    auto reader = open_file_reader(fmt::format("{}/{}", folder, name));
    if (!reader) return fail(std::move(reader).error());
    const uint64_t size = (*reader)->left_at_most();
    uint32_t crc = 0;
    while ((*reader)->left_at_most() > 0) {
      const auto got = (*reader)->read(piece);
      if (!got) return fail(got.error());
      crc = crc32c_extend(crc, std::span(piece).first(*got));
    }
    manifest += fmt::format("{} {} {:08x}\n", name, size, crc);
  }
  return manifest;
}

std::string counts_line(const DigitSetOptions& options) {
  return fmt::format("digits-v1: {} train images, {} test images\n", options.train_images, options.test_images);
}

Result<void> check_whole(const std::string& folder, const DigitSetOptions& options) {
  constexpr uint64_t kLongest = 4096;
  const auto stored = read_file(fmt::format("{}/{}", folder, kManifest), kLongest);
  if (!stored) return fail(stored.error());
  const auto found = manifest_of(folder);
  if (!found) return fail(found.error());
  const std::string expected(reinterpret_cast<const char*>(stored->data()), stored->size());
  if (expected == counts_line(options) + *found) return {};
  return fail(ErrorKind::DataLoss, fmt::format("{}: expected by its {}:\n{}found:\n{}{}", folder, kManifest, expected,
                                               counts_line(options), *found));
}

Result<void> draw_files(const std::string& folder, const char* images_name, const char* labels_name, int64_t first,
                        int64_t count, const std::stop_token& stop) {
  Tensor images = Tensor::empty(u8, {count, kDigitSide, kDigitSide});
  Tensor labels = Tensor::empty(u8, {count});
  const auto pixels = images.mutable_as<uint8_t>(), names = labels.mutable_as<uint8_t>();
  for (int64_t i = 0; i < count; ++i) {
    if (i % kImagesBetweenStops == 0 && stop.stop_requested()) {
      return fail(ErrorKind::Cancelled, "asked to stop while the digit set was drawn");
    }
    const Digit digit = draw_digit(static_cast<uint64_t>(first + i));
    std::copy(digit.pixels.begin(), digit.pixels.end(), pixels.begin() + i * kImageBytes);
    names[static_cast<size_t>(i)] = digit.label;
  }
  HEADPOND_TRY(write_idx(fmt::format("{}/{}", folder, images_name), images));
  return write_idx(fmt::format("{}/{}", folder, labels_name), labels);
}

Result<void> draw_set(const std::string& folder, const DigitSetOptions& options) {
  HEADPOND_TRY(draw_files(folder, kTrainImages, kTrainLabels, 0, options.train_images, options.stop));
  HEADPOND_TRY(draw_files(folder, kTestImages, kTestLabels, options.train_images, options.test_images, options.stop));
  auto manifest = manifest_of(folder);
  if (!manifest) return fail(std::move(manifest).error());
  const std::string text = counts_line(options) + *manifest;
  return write_file_atomically(fmt::format("{}/{}", folder, kManifest), {std::as_bytes(std::span(text))});
}

void remove_quietly(const std::string& path) {
  std::error_code ignored;
  fs::remove_all(path, ignored);
}

// Temporary files of killed programs.
void remove_leftovers(const std::string& parent, const std::string& prefix) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    if (entry.path().string().starts_with(prefix)) remove_quietly(entry.path().string());
  }
}

Result<void> put_in_place(const std::string& temp, const std::string& folder, const DigitSetOptions& options) {
  std::error_code ignored;
  const std::string aside = temp + ".old";
  if (fs::exists(fs::symlink_status(folder, ignored))) HEADPOND_TRY(internal::rename_path(folder, aside));
  auto renamed = internal::rename_path(temp, folder);
  remove_quietly(aside);
  // Where the file system has no locks, another program may have been first.
  if (!renamed && check_whole(folder, options)) return {};
  return renamed;
}

// REQUIRES: the lock is held.
Result<void> replace_set(const std::string& parent, const std::string& folder, const DigitSetOptions& options) {
  std::string temp = folder + ".drawing.XXXXXX";
  HEADPOND_TRY(internal::make_unique_folder(temp));
  auto done = draw_set(temp, options);
  if (done) done = put_in_place(temp, folder, options);
  remove_quietly(temp);
  if (!done) return done;
  return internal::sync_folder(parent);
}

}  // namespace

Result<DigitSet> digit_set(const DigitSetOptions& options) {
  std::string folder = options.folder;
  if (folder.empty()) {
    auto cache = cache_folder();
    if (!cache) return fail(std::move(cache).error());
    folder = *cache + "/digits-v1";
  }
  std::error_code error;
  folder = fs::absolute(folder, error).string();
  if (error) return fail(internal::system_error("find the folder of", options.folder, error.value()));
  if (check_whole(folder, options)) return DigitSet{folder, false};

  const std::string parent = fs::path(folder).parent_path().string();
  HEADPOND_TRY(internal::make_folders(parent));
  auto lock = internal::lock_file(folder + ".lock", options.stop);
  if (!lock) return fail(std::move(lock).error());
  auto whole = check_whole(folder, options);
  if (whole) return DigitSet{folder, false};
  if (lock->locked) remove_leftovers(parent, folder + ".drawing.");
  if (fs::exists(folder, error)) {
    log(LogLevel::warning, fmt::format("the digit set is drawn again: {}", whole.error().to_string()));
  }
  HEADPOND_TRY(replace_set(parent, folder, options));
  return DigitSet{folder, true};
}

}  // namespace headpond
