// SPDX-License-Identifier: Apache-2.0
// Scenario 13: what is thrown arrives, in its place and whole; a stop at any moment is soon over.
#include <atomic>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <optional>
#include <stdexcept>
#include <thread>

#include "headpond/io/file/file.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kBad = 1234, kBatch = 10;

// What a program sees until the first error, and after it.
void see(Loader& loader, JsonWriter& figures) {
  int64_t good = 0;
  bool in_order = true;
  for (;;) {
    const int64_t began = now_ns();
    auto batch = loader.next();
    if (batch) {
      for (const int64_t x : (*batch)[0].as<int64_t>()) in_order = in_order && x == good++;
      continue;
    }
    figures.member("good_before", good).member("in_order", in_order).member("failed", !batch.error().is_end());
    figures.member("seconds", static_cast<double>(now_ns() - began) / 1e9);
    if (!batch.error().is_end()) figures.member("error", batch.error().to_string());
    break;
  }
  const auto after = loader.next();
  figures.member("goes_on", after.has_value());
}

// The control's function keeps the exception to itself.
void thrown(const Run& run, JsonWriter& figures) {
  const auto work = [swallows = run.control()](int64_t x) -> int64_t {
    if (x % 100 == 0) burn_us(300);
    if (x == kBad && !swallows) throw std::runtime_error("the lens is dirty");
    return x;
  };
  Loader loader(range(3000) | map(work, {.name = "look"}) | batch(kBatch), {.threads = 8});
  figures.key("thrown").begin_object();
  see(loader, figures);
  figures.end_object();
}

void removed_file(const Run& run, JsonWriter& figures) {
  const auto path = [folder = run.place](int64_t i) { return folder + "/record" + std::to_string(i); };
  for (int64_t i = 0; i < 3000; ++i) std::ofstream(path(i)) << "x";
  const auto read = [path](int64_t i) -> Result<int64_t> {
    const auto bytes = read_file(path(i));
    if (!bytes) return fail(bytes.error());
    return i;
  };
  Loader loader(range(3000) | map(read, {.name = "read"}) | batch(kBatch), {.threads = 2, .run_ahead = 8});
  for (int i = 0; i < 5; ++i) must_next(loader);
  std::filesystem::remove(path(2000));
  std::string error;
  for (;;) {
    const auto batch = loader.next();
    if (batch) continue;
    if (!batch.error().is_end()) error = batch.error().to_string();
    break;
  }
  figures.member("removed", path(2000)).member("removed_error", error);
  for (int64_t i = 0; i < 3000; ++i) std::filesystem::remove(path(i));
}

// How soon the log says that a function does not return, while the program waits for it.
void blocked(JsonWriter& figures) {
  std::atomic<int64_t> since = 0;
  std::atomic<bool> is_let_go = false;
  const auto stays = [&](int64_t x) {
    if (x == 150) {
      since = now_ns();
      is_let_go.wait(false);
    }
    burn_us(1000);
    return x;
  };
  const LogLines log;
  Loader loader(range(1000) | map(stays, {.name = "stays"}) | batch(kBatch));
  std::thread program([&] {
    for (int i = 0; i < 20; ++i) must_next(loader);
  });
  const int64_t began = now_ns();
  while (log.lines().empty() && ms_since(began) < 20'000) sleep_us(1000);
  std::string text;
  for (const std::string& line : log.lines()) text += line + "\n";
  figures.member("blocked_s", ms_since(since == 0 ? began : since.load()) / 1e3).member("blocked_log", text);
  is_let_go = true;
  is_let_go.notify_all();
  program.join();
}

double drop_seconds(std::optional<Loader>& loader) {
  const int64_t began = now_ns();
  loader.reset();
  return static_cast<double>(now_ns() - began) / 1e9;
}

// A full pipeline of which only one batch was taken; then one whose function never returns.
void dropped(JsonWriter& figures) {
  std::optional<Loader> full(std::in_place, range(1'000'000) | map([](int64_t x) {
                                              burn_us(200);
                                              return x;
                                            }) | batch(kBatch),
                             LoaderOptions{});
  must_next(*full);
  sleep_us(200'000);
  figures.member("drop_full_s", drop_seconds(full));
  const auto blocks = [](int64_t x) {
    if (x >= 150) std::this_thread::sleep_for(std::chrono::hours(1));
    burn_us(1000);
    return x;
  };
  const LoaderOptions options{.threads = 2, .consumer_helps = false, .abandon_after = std::chrono::seconds(1)};
  std::optional<Loader> blocked(std::in_place, range(1000) | map(blocks, {.name = "blocks"}) | batch(kBatch), options);
  for (int i = 0; i < 10; ++i) must_next(*blocked);
  sleep_us(500'000);
  figures.member("drop_blocked_s", drop_seconds(blocked));
}

volatile std::sig_atomic_t interrupted = 0;

// Trains for ever until it is interrupted; then ends as a program should.
void victim(JsonWriter& figures) {
  std::signal(SIGINT, [](int) { interrupted = 1; });
  const auto work = [](int64_t x) {
    burn_us(x % 64 == 0 ? 5000 : 100);
    return x;
  };
  Loader loader(range(100'000) | shuffle() | map(work) | shuffle(1000) | batch(32), {.epochs = -1});
  int64_t batches = 0;
  std::cerr << "ready\n";
  for (; interrupted == 0; ++batches) must_next(loader);
  figures.member("batches", batches);
}

}  // namespace

void errors_and_stops(const Run& run, JsonWriter& figures) {
  if (run.mode == "victim") return victim(figures);
  thrown(run, figures);
  if (run.control()) return;
  removed_file(run, figures);
  blocked(figures);
  dropped(figures);
}

}  // namespace headpond::scenarios
