// SPDX-License-Identifier: Apache-2.0
// Preparing images in the training loop, against preparing them once. Images of nuclei and their masks become samples
// for interactive segmentation (preprocess_once/sample.h) in three ways, with equal bytes:
//
//   straightforward   decoded and measured in the loop, on its thread      preprocess_once/straightforward.cc
//   operators         in the loop too, by a dataset that a Loader runs     preprocess_once/operators.cc
//   tfrecord          written once, and read back by a Loader              preprocess_once/records.cc
//
// The third way uses write_shards(), as `headpond convert` does (docs/converting.md).
//
// An article that trains such a network went from 2.4 to 50 images/s by the last way. Here the loop only reads each
// byte, one image a step, and the files are in the page cache from the round before.
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stop_token>
#include <string>

#include "examples/preprocess_once/arguments.h"
#include "examples/preprocess_once/report.h"

namespace {

enum : int { kOk = 0, kFailed = 1, kUsageError = 2, kTargetMissed = 3, kInterrupted = 130 };

std::atomic<bool> g_is_interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free);

// After the first signal the program ends at the next sample and removes its folder; a second signal ends it at once.
void on_signal(int) {
  if (g_is_interrupted.exchange(true)) std::_Exit(kInterrupted);
}

int finish(const preprocess_once::Arguments& arguments, const preprocess_once::Measured& measured) {
  arguments.json ? print_json(stdout, measured) : print(stdout, measured);
  if (!measured.bytes_equal) return kFailed;
  return !arguments.check || print_missed(stderr, measured) ? kOk : kTargetMissed;
}

}  // namespace

int main(int argc, char** argv) {
  auto arguments = preprocess_once::parse_arguments(std::span(argv, static_cast<size_t>(argc)).subspan(1));
  if (!arguments) {
    std::fprintf(stderr, "%s\n%s", arguments.error().message().c_str(), preprocess_once::kUsage);
    return kUsageError;
  }
  if (arguments->help) {
    std::printf("%s", preprocess_once::kUsage);
    return kOk;
  }
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::stop_source stop;
  arguments->options.stop = stop.get_token();
  arguments->options.progress = [&](const preprocess_once::Progress& progress) {
    if (!progress.line.empty()) std::fprintf(stderr, "%s\n", std::string(progress.line).c_str());
    if (g_is_interrupted) stop.request_stop();
  };
  const auto measured = preprocess_once::measure(arguments->options);
  if (!measured) {
    std::fprintf(stderr, "%s\n", g_is_interrupted ? "interrupted" : measured.error().to_string().c_str());
    return g_is_interrupted ? kInterrupted : kFailed;
  }
  return finish(*arguments, *measured);
}
