// SPDX-License-Identifier: Apache-2.0
// A dataset says what is delivered, a Loader delivers it: digits drawn on the fly (the slow part), with noise, in
// batches, in a different order in each epoch. There are no thread counts and no buffer sizes. The run is stopped in
// the middle of an epoch and resumed in a new Loader at exactly the next batch. With --json the figures are one JSON
// object.
#include <headpond/headpond.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <thread>
#include <tuple>
#include <vector>

#include "headpond/train/articles/digits/draw_digit.h"

namespace hp = headpond;
using namespace std::chrono_literals;

namespace {

std::tuple<hp::Tensor, int64_t> draw(int64_t number) {
  const hp::Digit digit = hp::draw_digit(static_cast<uint64_t>(number));
  hp::Tensor image = hp::Tensor::empty(hp::f32, {28, 28});
  float* pixel = image.mutable_as<float>().data();
  for (const uint8_t value : digit.pixels) *pixel++ = static_cast<float>(value) / 255.0F;
  return {image, digit.label};
}

hp::Dataset digits() {
  const hp::MapOptions fields = {.output = {{"image", hp::f32, {28, 28}}, {"label", hp::i64, {}}}, .name = "draw"};
  return hp::range(2000)                            //
         | hp::shuffle()                            // the whole epoch, without a buffer
         | hp::map(&draw, fields)                   //
         | hp::add_noise(0.1F, {.field = "image"})  // other noise in each epoch
         | hp::batch(32, {.drop_remainder = true});
}

// Stands for the device: 4 ms a batch.
void train_step(const hp::Batch& batch, std::vector<uint64_t>& seen) {
  std::this_thread::sleep_for(4ms);
  uint64_t sum = batch["image"].byte_size();
  for (const int64_t label : batch["label"].as<int64_t>()) sum = sum * 31 + static_cast<uint64_t>(label);
  seen.push_back(sum);
}

}  // namespace

int main(int argc, char** argv) {
  const hp::Dataset dataset = digits();
  const hp::LoaderOptions options{.epochs = 2, .seed = 7};

  // The uninterrupted run.
  std::vector<uint64_t> whole, parts;
  hp::Loader loader(dataset, options);
  for (auto epoch : loader.epochs()) {
    for (const hp::Batch& batch : epoch) train_step(batch, whole);
  }
  const hp::LoaderStats stats = loader.stats();

  // The same, stopped after 70 batches, in the second epoch, and resumed.
  std::string state;
  {
    hp::Loader first(dataset, options);
    while (parts.size() < 70) train_step(*first.next(), parts);
    state = first.state();
  }
  auto second = hp::Loader::restored(dataset, options, state);
  if (!second) throw hp::Exception(second.error());
  for (const hp::Batch& batch : *second) train_step(batch, parts);

  const double waited_ms = 1e-6 * static_cast<double>(stats.wait_ns);
  if (argc > 1 && std::strcmp(argv[1], "--json") == 0) {
    std::printf("{\"batches\":%d,\"wait_ms\":%.2f,\"state_bytes\":%d,\"resumed_equal\":%s}\n",
                static_cast<int>(stats.batches), waited_ms, static_cast<int>(state.size()),
                whole == parts ? "true" : "false");
  } else {
    std::printf("%s\n", hp::explain(dataset).to_string().c_str());
    std::printf("%d batches, %.1f ms of waiting for them; a state has %d bytes; resumed: %s\n",
                static_cast<int>(stats.batches), waited_ms, static_cast<int>(state.size()),
                whole == parts ? "the same batches" : "other batches");
  }
  return whole == parts && stats.batches == 2 * (2000 / 32) ? 0 : 1;
}
