// SPDX-License-Identifier: Apache-2.0
#include "examples/preprocess_once/nuclei.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <utility>

namespace preprocess_once {
namespace {

namespace fs = std::filesystem;

struct Size {
  int64_t height, width;
};
constexpr std::array<Size, 5> kSizes = {{{256, 256}, {256, 320}, {360, 360}, {512, 640}, {520, 696}}};
constexpr int kBlobs = 20;

struct Blob {
  float y, x, height, width;  // Of an ellipse: the centre, half the axes.
  bool has(int64_t at_y, int64_t at_x) const {
    const float dy = (static_cast<float>(at_y) - y) / height, dx = (static_cast<float>(at_x) - x) / width;
    return dy * dy + dx * dx <= 1;
  }
};

hp::Result<void> write_png(const fs::path& path, const hp::Tensor& image) {
  const auto bytes = hp::encode_png(image);
  if (!bytes) return hp::fail(bytes.error());
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes->data()), static_cast<std::streamsize>(bytes->size()));
  if (!out.flush()) return hp::fail(hp::ErrorKind::ResourceExhausted, path.string() + ": not written");
  return {};
}

std::vector<Blob> draw_blobs(const Size& size, hp::Random& random) {
  std::vector<Blob> blobs;
  for (int i = 0; i < kBlobs; ++i) {
    const float y = random.uniform() * static_cast<float>(size.height);
    const float x = random.uniform() * static_cast<float>(size.width);
    blobs.push_back({y, x, 6 + 12 * random.uniform(), 6 + 12 * random.uniform()});
  }
  return blobs;
}

// RGBA, as the real ones are.
hp::Tensor draw_image(const Size& size, const std::vector<Blob>& blobs, hp::Random& random) {
  hp::Tensor image = hp::Tensor::empty(hp::u8, {size.height, size.width, 4});
  uint8_t* pixel = image.mutable_as<uint8_t>().data();
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x) {
      const bool bright = std::any_of(blobs.begin(), blobs.end(), [&](const Blob& blob) { return blob.has(y, x); });
      const auto grey = static_cast<uint8_t>((bright ? 120 : 10) + random.below(8));
      for (const uint8_t value : {grey, grey, grey, uint8_t{255}}) *pixel++ = value;
    }
  }
  return image;
}

hp::Tensor draw_mask(const Size& size, const Blob& blob) {
  hp::Tensor mask = hp::Tensor::empty(hp::u8, {size.height, size.width});
  uint8_t* pixel = mask.mutable_as<uint8_t>().data();
  for (int64_t y = 0; y < size.height; ++y) {
    for (int64_t x = 0; x < size.width; ++x) *pixel++ = blob.has(y, x) ? kNucleus : 0;
  }
  return mask;
}

std::string with_zeros(int64_t number) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits;
}

hp::Result<void> draw_picture(const fs::path& folder, int64_t number, uint64_t seed) {
  const Size& size = kSizes[static_cast<size_t>(number) % kSizes.size()];
  hp::Random random(hp::random_key(seed, "blobs", 0, 0), static_cast<uint64_t>(number));
  const auto blobs = draw_blobs(size, random);
  const std::string name = with_zeros(number);
  fs::create_directories(folder / name / "images");
  fs::create_directories(folder / name / "masks");
  HEADPOND_TRY(write_png(folder / name / "images" / (name + ".png"), draw_image(size, blobs, random)));
  for (size_t i = 0; i < blobs.size(); ++i) {
    const std::string mask = with_zeros(static_cast<int64_t>(i)) + ".png";
    HEADPOND_TRY(write_png(folder / name / "masks" / mask, draw_mask(size, blobs[i])));
  }
  return {};
}

hp::Result<hp::Tensor> read_png(const std::string& path, int channels) {
  const auto file = hp::read_file(path);
  if (!file) return hp::fail(file.error());
  auto image = hp::decode_png(*file, {.channels = channels}, path);
  if (!image) return hp::fail(image.error());
  return std::move(image->pixels);
}

// Sorted; none if there is no such folder.
std::vector<std::string> pngs_of(const fs::path& folder) {
  std::vector<std::string> found;
  if (!fs::is_directory(folder)) return found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const bool is_hidden = entry.path().filename().string().starts_with('.');
    if (!is_hidden && entry.path().extension() == ".png" && !entry.is_directory())
      found.push_back(entry.path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace

hp::Result<std::vector<Picture>> find_pictures(const std::string& folder) try {
  if (!fs::is_directory(folder)) return hp::fail(hp::ErrorKind::NotFound, folder + ": no such folder");
  std::vector<Picture> pictures;
  for (const auto& entry : fs::directory_iterator(folder)) {
    for (const std::string& image : pngs_of(entry.path() / "images")) {
      const auto place = entry.path() / "masks";
      pictures.push_back({image, pngs_of(place)});
      if (pictures.back().masks.empty()) return hp::fail(hp::ErrorKind::NotFound, place.string() + ": no masks");
    }
  }
  if (pictures.empty()) return hp::fail(hp::ErrorKind::NotFound, folder + ": no <id>/images/*.png");
  std::sort(pictures.begin(), pictures.end(), [](const Picture& a, const Picture& b) { return a.image < b.image; });
  return pictures;
} catch (...) {
  return hp::fail(hp::current_exception_error());
}

Split split_by_name(const std::vector<Picture>& pictures) {
  std::vector<std::pair<uint32_t, size_t>> order;
  for (size_t i = 0; i < pictures.size(); ++i)
    order.emplace_back(hp::crc32c(fs::path(pictures[i].image).filename().string()), i);
  std::sort(order.begin(), order.end());
  std::vector<bool> is_test(pictures.size(), false);
  for (size_t i = 0; i < std::max<size_t>(1, pictures.size() / 5) && i < order.size(); ++i)
    is_test[order[i].second] = true;
  Split split;
  for (size_t i = 0; i < pictures.size(); ++i) (is_test[i] ? split.test : split.train).push_back(pictures[i]);
  return split;
}

hp::Result<void> draw_pictures(const std::string& folder, int64_t count, uint64_t seed, const GoOn& go_on) try {
  for (int64_t number = 0; number < count; ++number) {
    HEADPOND_TRY(draw_picture(folder, number, seed));
    HEADPOND_TRY(ask(go_on, number + 1));
  }
  return {};
} catch (...) {
  return hp::fail(hp::current_exception_error());
}

hp::Result<hp::Tensor> read_image(const Picture& picture) { return read_png(picture.image, 3); }

hp::Result<hp::Tensor> read_mask(const std::string& path, const hp::Tensor& image) {
  auto mask = read_png(path, 1);
  if (mask && (mask->dim(0) != image.dim(0) || mask->dim(1) != image.dim(1))) {
    return hp::fail(hp::ErrorKind::InvalidArgument,
                    path + ": " + mask->shape().to_string() + ", but its image is " + image.shape().to_string());
  }
  return mask;
}

}  // namespace preprocess_once
