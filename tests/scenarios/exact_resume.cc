// SPDX-License-Identifier: Apache-2.0
// Scenario 9: a run that is killed goes on with exactly the next batch. run.py joins the parts of killed processes;
// what needs no kill is measured here.
#include <csignal>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include "corpus.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/io/file/file.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr Images kImages = {1600};
constexpr int kRatio = 8;  // Sides of 12 to 64 pixels.
constexpr int64_t kClips = 600, kEpochs = 2;
const Spec kFields = {{"id", i64, {1}}, {"values", f32, {kUnknown}}};

Result<Element> decoded_image(std::string_view record, Random& random) {
  const auto image = image_record(record);
  if (!image) return fail(image.error());
  const auto jpeg = decode_jpeg(std::as_bytes(std::span(image->jpeg)), {.channels = 1, .ratio = kRatio});
  if (!jpeg) return fail(jpeg.error());
  const auto from = jpeg->pixels.as<uint8_t>();
  Tensor values = Tensor::empty(f32, {jpeg->pixels.size()});
  const float gain = random.uniform();
  const auto to = values.mutable_as<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = gain * static_cast<float>(from[i]) + random.uniform();
  return Element{Tensor::from(std::vector{image->number}, {1}), values};
}

Result<Element> decoded_clip(std::string_view path, Random& random) {
  const auto file = read_file(std::string(path));
  if (!file) return fail(file.error());
  const auto number = std::stoll(std::string(path.substr(path.size() - 9, 5)));
  const auto wav = decode_wav(*file, {.desired_samples = 300 + number % 1500}, path);
  if (!wav) return fail(wav.error());
  Tensor values = Tensor::empty(f32, {wav->samples.size()});
  const float gain = random.uniform();
  std::ranges::transform(wav->samples.as<float>(), values.mutable_as<float>().begin(),
                         [=](float x) { return gain * x; });
  return Element{Tensor::from(std::vector{-1 - int64_t{number}}, {1}), values};
}

// Twelve files in turn, a shuffled order, decoding with random gains, 70 parts images and 30 parts sounds, and rows of
// similar length; or, for odd seeds, packed rows in batches.
Dataset everything(const Run& run, uint64_t seed, int64_t rows = 16) {
  const auto open = [](std::string_view path) { return tfrecord(std::string(path)); };
  const Dataset images = list_files(run.place + "/images-*.tfrecord", {.shuffle = false}) |
                         interleave(open, {.cycle_length = 12, .name = "open"}) | shuffle() |
                         random_map(decoded_image, {.output = kFields, .name = "decoded_image"});
  const Dataset sounds = list_files(run.place + "/clips/*.wav", {.shuffle = true}) |
                         random_map(decoded_clip, {.output = kFields, .name = "decoded_clip"});
  const Dataset both = mix({images, sounds}, {0.7, 0.3});
  if (seed % 2 == 1) return both | pack(4096, {.num_packing_bins = 16}) | batch(4) | prefetch(2);
  const std::vector<int64_t> boundaries = {400, 700, 1000, 1400, 1900};
  return both | bucket_by_sequence_length("values", boundaries, std::vector(boundaries.size() + 1, rows)) | prefetch(2);
}

std::string in_hex(std::string_view bytes) {
  std::string text;
  for (const char byte : bytes) {
    text += "0123456789abcdef"[static_cast<uint8_t>(byte) >> 4];
    text += "0123456789abcdef"[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

std::string from_hex(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(std::string(text.substr(i, 2)), nullptr, 16));
  }
  return bytes;
}

Loader loader_at(const Dataset& dataset, const LoaderOptions& options, const std::string& state) {
  if (state.empty()) return Loader(dataset, options);
  return value_or_throw(Loader::restored(dataset, options, state));
}

// Takes batches and writes of each a line with epoch, digest and state, which the file has before the next one is
// taken; after `kill` batches the process is killed. With `producer` the state is that of the thread that reads ahead.
void part(const Run& run) {
  const auto seed = static_cast<uint64_t>(run.number("seed", 0));
  const int64_t kill = run.number("kill", -1);
  const size_t ahead = run.text("producer").empty() ? 0 : 4;
  std::string state;
  if (const std::string from = run.text("from"); !from.empty()) {
    std::ifstream in(from);
    state = from_hex(std::string(std::istreambuf_iterator<char>(in), {}));
  }
  Loader loader = loader_at(everything(run, seed), {.epochs = kEpochs, .seed = seed}, state);
  std::ofstream out(run.text("out"));
  std::deque<Batch> taken;
  for (int64_t count = 0;; ++count) {
    while (taken.size() <= ahead) {
      auto batch = loader.next();
      if (!batch && !batch.error().is_end()) throw Exception(batch.error());
      if (!batch) break;
      taken.push_back(std::move(*batch));
    }
    if (taken.empty()) return;
    const Batch batch = std::move(taken.front());
    taken.pop_front();
    out << batch.epoch() << ' ' << hex(digest(0, batch.element())) << ' ' << in_hex(loader.state()) << std::endl;
    if (count + 1 != kill) continue;
    sleep_us(run.number("later_us", 0));
    std::raise(SIGKILL);
  }
}

// Milliseconds from the restore to the next batch, saved at `share` of the epoch.
double restore_ms(const Run& run, const std::string& state) {
  const int64_t began = now_ns();
  Loader loader = loader_at(everything(run, 2), {.epochs = kEpochs, .seed = 2}, state);
  must_next(loader);
  return ms_since(began);
}

std::vector<std::string> states_of_an_epoch(const Run& run, uint64_t seed) {
  std::vector<std::string> states;
  Loader loader(everything(run, seed), {.seed = seed});
  while (loader.next()) states.push_back(loader.state());
  return states;
}

void restores(const Run& run, JsonWriter& figures) {
  const auto states = states_of_an_epoch(run, 2);
  std::vector<double> early, late;
  for (int round = -1; round < (run.full ? 25 : 9); ++round) {
    // Of neighbours, as how much is open in buckets differs from one batch to the next.
    const auto neighbour = static_cast<size_t>(round + 1) % 10;
    const double first = restore_ms(run, states[states.size() / 10 + neighbour]),
                 last = restore_ms(run, states[states.size() * 9 / 10 + neighbour]);
    if (round < 0) continue;
    early.push_back(first);
    late.push_back(last);
  }
  member(figures, "restore_at_10_ms", early);
  member(figures, "restore_at_90_ms", late);
  size_t most = 0;
  for (const uint64_t seed : {2, 3}) {
    for (const std::string& state : states_of_an_epoch(run, seed)) most = std::max(most, state.size());
  }
  figures.member("state_bytes", most);
}

// Steps of 20 ms, with and without a save after each; and the time in the calls themselves.
void saves(const Run& run, JsonWriter& figures) {
  constexpr int64_t kDeviceUs = 20'000;
  const int steps = run.full ? 150 : 60;
  std::vector<double> with, without, calls;
  for (int round = 0; round < 5; ++round) {
    for (const bool save : {false, true}) {
      Loader loader(everything(run, 2), {.epochs = -1, .seed = 2});
      step_ms(loader, 5, kDeviceUs);
      int64_t saving = 0;
      const int64_t began = now_ns();
      for (int step = 0; step < steps; ++step) {
        const Batch batch = must_next(loader);
        const int64_t before = now_ns();
        if (save) (void)loader.state();
        saving += now_ns() - before;
        sleep_us(kDeviceUs);
      }
      (save ? with : without).push_back(ms_since(began) / steps);
      if (save) calls.push_back(static_cast<double>(saving) / 1e6 / steps);
    }
  }
  member(figures, "step_with_saves_ms", with);
  member(figures, "step_ms", without);
  member(figures, "save_ms", calls);
}

std::string refusal(const std::string& state, const Dataset& other, uint64_t seed) {
  auto loader = Loader::restored(other, {.epochs = kEpochs, .seed = seed}, state);
  return loader ? "" : loader.error().to_string();
}

// A state that is given by a restored Loader before its first batch; a pipeline that was left early; others.
void edges(const Run& run, JsonWriter& figures) {
  const LoaderOptions options = {.epochs = kEpochs, .seed = 2};
  std::string state;
  {
    Loader loader(everything(run, 2), options);
    for (int i = 0; i < 10; ++i) must_next(loader);
    state = loader.state();
  }
  Loader again = loader_at(everything(run, 2), options, state);
  figures.member("same_state_after_restore", again.state() == state);
  must_next(again);
  again.next_epoch();
  const std::string at_epoch = again.state();
  Loader left = loader_at(everything(run, 2), options, at_epoch), fresh(everything(run, 2), options);
  fresh.next_epoch();
  figures.member("after_an_early_break", rest_of(left, 0) == rest_of(fresh, 0));
  figures.key("refused").begin_object();
  figures.member("16", refusal(state, everything(run, 2, 24), 2));
  figures.member("seed", refusal(state, everything(run, 2), 4));
  std::filesystem::rename(run.place + "/images-11.tfrecord", run.place + "/other-11.tfrecord");
  figures.member("files=12", refusal(state, everything(run, 2), 2));
  std::filesystem::rename(run.place + "/other-11.tfrecord", run.place + "/images-11.tfrecord");
  figures.end_object();
}

}  // namespace

void exact_resume(const Run& run, JsonWriter& figures) {
  if (run.mode == "part") return part(run);
  if (run.mode == "corpus") {
    write_images(run.place, kImages);
    return write_clips(run.place + "/clips", kClips);
  }
  restores(run, figures);
  saves(run, figures);
  edges(run, figures);
}

}  // namespace headpond::scenarios
