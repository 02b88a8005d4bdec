// SPDX-License-Identifier: Apache-2.0
// Scenario 18: what a cache on disk saves, and that it never gives what is old. run.py starts the processes.
#include <atomic>
#include <csignal>
#include <cstring>
#include <set>

#include "corpus.h"
#include "headpond/codec/image/png.h"
#include "headpond/io/cache/cache_folder.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

// A decoded image has 96 to 130 KB.
Images images_of(const Run& run) { return {run.full ? 8000 : 1600, 180, 208}; }

std::atomic<int64_t> decodes = 0;

// Rows of the image, cut to a square, made brighter by a parameter: what is upstream of the cache.
Result<Element> decoded(std::string_view record, int64_t brighter, int64_t kill_at) {
  const auto image = image_record(record);
  if (!image) return fail(image.error());
  if (++decodes == kill_at) std::raise(SIGKILL);
  const auto png = decode_png(std::as_bytes(std::span(image->png)), {.channels = 3});
  if (!png) return fail(png.error());
  constexpr int64_t kSide = 180;
  Tensor pixels = Tensor::empty(u8, {kSide, kSide, 3});
  const auto from = png->pixels.as<uint8_t>(), to_row = from;
  const auto to = pixels.mutable_as<uint8_t>();
  const auto width = static_cast<size_t>(png->pixels.dim(1)) * 3, row = static_cast<size_t>(kSide) * 3;
  for (size_t y = 0; y < static_cast<size_t>(kSide); ++y) {
    for (size_t x = 0; x < row; ++x) to[y * row + x] = static_cast<uint8_t>(to_row[y * width + x] + brighter);
  }
  return Element{Tensor::scalar(image->number), pixels};
}

Dataset cached(const Run& run) {
  const int64_t brighter = run.number("brighter", 0), kill_at = run.number("kill_at", -1);
  const auto decode = [=](std::string_view record) { return decoded(record, brighter, kill_at); };
  const MapOptions options = {.output = {{"number", i64, {}}, {"pixels", u8, {180, 180, 3}}},
                              .name = "decoded",
                              .version = static_cast<int>(run.number("version", 0))};
  return tfrecord(run.place + "/images-*.tfrecord") | map(decode, options) |
         cache({.folder = run.place + "/" + run.text("folder"), .disk = run.number("disk", -1)});
}

// Whether an element is what its number and the parameter make.
bool is_right(const Tensor& pixels, int64_t number, int64_t brighter) {
  const auto found = pixels.as<uint8_t>();
  for (size_t at : {size_t{0}, size_t{3}, size_t{540}, found.size() - 3}) {
    const auto x = static_cast<int64_t>(at / 3 % 180);
    if (found[at] != static_cast<uint8_t>(x + number + brighter)) return false;
  }
  return true;
}

void epochs(const Run& run, JsonWriter& figures) {
  const int64_t brighter = run.number("brighter", 0), wanted = run.number("elements", -1);
  const LogLines log;
  PeakMemory memory;
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
  figures.member("peak_bytes", memory.bytes());
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
