// SPDX-License-Identifier: Apache-2.0
// Charts of a good queue and of a starved one, for TensorBoard: the same training step, fed by readers that are faster
// than it, and by one that is slower. The folder is the argument, or a new one. tools/draw_fullness.py draws the
// charts.
#include <headpond/headpond.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace hp = headpond;
using namespace std::chrono_literals;

namespace {

// Stands for a file of four samples that takes 9 to 15 ms to read.
hp::QueueRunner::Producer reader(const hp::FIFOQueue& queue, unsigned seed) {
  return [queue, random = std::mt19937(seed)](std::stop_token stop) mutable {
    std::this_thread::sleep_for(9ms + std::chrono::milliseconds(random() % 7));
    return queue.enqueue_many({hp::Tensor::empty(hp::f32, {4, 28, 28})}, {.stop = stop});
  };
}

// Takes `samples` one by one, with 2 ms of work for each, from a queue that `readers` fill.
hp::QueueSummary train(hp::QueueMonitor& monitor, const std::string& name, unsigned readers, int samples) {
  hp::FIFOQueue queue({.capacity = 32, .dtypes = {hp::f32}, .shapes = {{28, 28}}, .name = name});
  hp::Coordinator coordinator;
  std::vector<hp::QueueRunner::Producer> producers;
  for (unsigned seed = 0; seed < readers; ++seed) producers.push_back(reader(queue, seed));
  hp::QueueRunner(queue, producers).start(coordinator);

  const hp::QueueMonitor::Handle watched = monitor.watch(hp::queue_source(queue));
  for (int sample = 0; sample < samples; ++sample) {
    if (const hp::Result<hp::Element> taken = queue.dequeue(); !taken) throw hp::Exception(taken.error());
    std::this_thread::sleep_for(2ms);
  }
  return watched.summary();
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder = (std::filesystem::temp_directory_path() / "headpond_queue_charts").string();
  if (argc > 1) folder = argv[1];
  auto events = hp::EventWriter::open(folder);
  if (!events) throw hp::Exception(events.error());

  hp::QueueSummary good, starved;
  {
    hp::QueueMonitor monitor({.sample_every = 5ms, .write_every = 5ms, .events = events->get()});
    std::jthread beside([&] { good = train(monitor, "good", /*readers=*/4, 300); });
    starved = train(monitor, "starved", /*readers=*/1, 200);
  }
  if (const auto written = (*events)->close(); !written) throw hp::Exception(written.error());

  std::printf("good     on average %3.0f %% full\n", 100 * good.fraction_mean);
  std::printf("starved  on average %3.0f %% full\n", 100 * starved.fraction_mean);
  std::printf("tensorboard --logdir %s\n", folder.c_str());
  return good.fraction_mean > starved.fraction_mean ? 0 : 1;
}
