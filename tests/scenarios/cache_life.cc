// SPDX-License-Identifier: Apache-2.0
// Scenario 18: what a cache on disk saves, and that it never gives what is old. run.py starts the processes.
#include <atomic>
#include <csignal>
#include <cstring>
#include <set>

#include "corpus.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/io/cache/cache_folder.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kSide = 180;  // So an element has 97 KB.

Images images_of(const Run& run) { return {.count = run.full ? 8000 : 1600}; }

std::atomic<int64_t> decodes = 0;

// The image, cut or padded to a square, made brighter by a parameter: what is upstream of the cache.
Result<Element> decoded(std::string_view record, int64_t brighter, int64_t kill_at) {
  const auto image = image_record(record);
  if (!image) return fail(image.error());
  if (++decodes == kill_at) std::raise(SIGKILL);
  const auto jpeg = decode_jpeg(std::as_bytes(std::span(image->jpeg)));
  if (!jpeg) return fail(jpeg.error());
  Tensor pixels = Tensor::empty(u8, {kSide, kSide, 3});
  const auto from = jpeg->pixels.as<uint8_t>();
  const auto to = pixels.mutable_as<uint8_t>();
  std::ranges::fill(to, uint8_t{0});
  const int64_t width = jpeg->pixels.dim(1);
  for (int64_t y = 0; y < std::min(kSide, jpeg->pixels.dim(0)); ++y) {
    const auto row = from.subspan(static_cast<size_t>(3 * y * width), static_cast<size_t>(3 * std::min(kSide, width)));
    std::ranges::transform(row, to.begin() + 3 * y * kSide,
                           [=](uint8_t value) { return static_cast<uint8_t>(value + brighter); });
  }
  return Element{Tensor::scalar(image->number), pixels};
}

Dataset cached(const Run& run) {
  const int64_t brighter = run.number("brighter", 0), kill_at = run.number("kill_at", -1);
  const auto decode = [=](std::string_view record) { return decoded(record, brighter, kill_at); };
  const MapOptions options = {.output = {{"number", i64, {}}, {"pixels", u8, {kSide, kSide, 3}}},
                              .name = "decoded",
                              .version = static_cast<int>(run.number("version", 0))};
  return tfrecord(run.place + "/images-*.tfrecord") | map(decode, options) |
         cache({.folder = run.place + "/" + run.text("folder"), .disk = run.number("disk", -1)});
}

// Whether an element is what its number and the parameter make: the middles of tiles of one colour, which a JPEG keeps
// to a few steps of 255, and which all images have.
bool is_right(const Tensor& pixels, int64_t number, int64_t brighter) {
  const auto found = pixels.as<uint8_t>();
  for (const auto& [row, column] : {std::pair(0, 0), std::pair(0, 4), std::pair(3, 1), std::pair(5, 5)}) {
    const size_t at = 3 * static_cast<size_t>((row * kTile + kTile / 2) * kSide + column * kTile + kTile / 2);
    for (int64_t c = 0; c < 3; ++c) {
      const int64_t drawn = tile_value(number, row, column, c) + brighter;
      if (std::abs(int64_t{found[at + static_cast<size_t>(c)]} - drawn) > 4) return false;
    }
  }
  return true;
}

void epochs(const Run& run, JsonWriter& figures) {
  const int64_t brighter = run.number("brighter", 0), wanted = run.number("elements", -1);
  const LogLines log;
  MemoryOverTime memory;
  int64_t elements = 0, wrong = 0;
  uint64_t sum = 0;
  std::vector<int64_t> decodes_by_epoch;
  {
    Loader loader(cached(run) | shuffle() | batch(wanted > 0 ? 1 : 32),
                  {.epochs = run.number("epochs", 1),
                   .seed = static_cast<uint64_t>(run.number("seed", 1)),
                   .memory = run.number("memory", int64_t{1} << 30)});
    for (auto batch = loader.next(); batch && elements != wanted; batch = loader.next()) {
      decodes_by_epoch.resize(static_cast<size_t>(batch->epoch()) + 1);
      for (int64_t row = 0; row < (*batch)[0].dim(0); ++row, ++elements) {
        const int64_t number = (*batch)[0].as<int64_t>()[static_cast<size_t>(row)];
        wrong += is_right((*batch)[1].row(row), number, brighter) ? 0 : 1;
        sum += static_cast<uint64_t>(number);
      }
      decodes_by_epoch.back() = decodes.load();
    }
  }
  figures.member("elements", elements).member("wrong", wrong).member("sum", sum).member("decodes", decodes.load());
  member(figures, "decodes_by_epoch", decodes_by_epoch);
  member(figures, "log", log.lines());
  figures.member("peak_bytes", memory.peak_bytes());
}

}  // namespace

void cache_life(const Run& run, JsonWriter& figures) {
  if (run.mode == "corpus") {
    write_images(run.place, images_of(run));
    figures.member("images", images_of(run).count);
    return;
  }
  epochs(run, figures);
}

}  // namespace headpond::scenarios
