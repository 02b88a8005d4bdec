// SPDX-License-Identifier: Apache-2.0
// A training program that may be killed at any moment: it takes batches for ever, writes what it got into a ledger, and
// from time to time, whole or not at all, a state with the ledger's length. Started again it cuts the ledger back to
// what the state covers and goes on. tests/slow/soak.py kills it.
//
//   soak_driver run FOLDER THREADS BATCHES_PER_STATE
//   soak_driver check FOLDER     the ledger is the sequential meaning, from the first line on; prints what it covers
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>

#include "headpond/dataset/ops.h"
#include "headpond/dataset/sequence.h"
#include "headpond/engine/loader.h"

namespace hp = headpond;

namespace {

constexpr uint64_t kSeed = 11;
constexpr int64_t kElements = 4000;

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << "soak_driver: " << why << '\n';
  std::exit(1);
}

// Some elements take a while, so that what is made later is often ready first.
hp::Dataset pipeline(bool pauses) {
  const auto work = [pauses](int64_t x) {
    if (pauses && x % 40 == 0) std::this_thread::sleep_for(std::chrono::microseconds(500));
    return x;
  };
  const hp::Dataset positions = hp::range(kElements) | hp::shuffle();
  const hp::Dataset order = hp::from_generator(
      [](uint64_t epoch) -> hp::Generator {
        return [next = int64_t{0}, epoch]() mutable -> hp::Result<std::optional<hp::Element>> {
          if (next == kElements) return std::nullopt;
          return hp::Element{hp::Tensor::scalar(kElements + next++ + static_cast<int64_t>(epoch % 7) * kElements)};
        };
      },
      {{"", hp::i64, {}}}, {.name = "counting"});
  return hp::zip({positions | hp::map(work, {.name = "work"}), order | hp::shuffle(100)}) |
         hp::filter([](int64_t x, int64_t) { return x % 7 != 0; }, {.name = "others"}) | hp::random_u32() |
         hp::batch(16);
}

std::string line_of(int64_t epoch, int64_t index, const hp::Element& batch) {
  std::string line = std::to_string(epoch) + " " + std::to_string(index);
  for (const int64_t x : batch[size_t{0}].as<int64_t>()) line += " " + std::to_string(x);
  for (const int64_t x : batch[size_t{1}].as<int64_t>()) line += " " + std::to_string(x);
  line += " " + std::to_string(batch[size_t{2}].as<uint32_t>()[0]);
  return line;
}

struct Files {
  explicit Files(const std::string& folder)
      : ledger(folder + "/ledger"), state(folder + "/state"), next_state(folder + "/state.next") {}
  std::string ledger, state, next_state;
};

// The ledger's length, then the loader's state.
void write_state(const Files& files, uint64_t length, const std::string& state) {
  std::string content(reinterpret_cast<const char*>(&length), sizeof(length));
  content += state;
  std::ofstream out(files.next_state, std::ios::binary | std::ios::trunc);
  if (!(out << content).flush()) give_up("cannot write the state");
  out.close();
  std::filesystem::rename(files.next_state, files.state);
}

std::string cut_back(const Files& files) {
  std::ifstream in(files.state, std::ios::binary);
  const std::string content(std::istreambuf_iterator<char>(in), {});
  uint64_t length = 0;
  if (in.is_open()) {
    if (content.size() < sizeof(length)) give_up("the state file is not whole");
    std::memcpy(&length, content.data(), sizeof(length));
  }
  std::ofstream(files.ledger, std::ios::app).close();
  if (std::filesystem::file_size(files.ledger) < length) give_up("the ledger is shorter than its state says");
  std::filesystem::resize_file(files.ledger, length);
  return in.is_open() ? content.substr(sizeof(length)) : "";
}

hp::Loader loader_from(const std::string& state, int threads) {
  const hp::LoaderOptions options{.epochs = -1, .seed = kSeed, .threads = threads, .memory = 1 << 20};
  if (state.empty()) return hp::Loader(pipeline(true), options);
  auto restored = hp::Loader::restored(pipeline(true), options, state);
  if (!restored) give_up(restored.error().to_string());
  return std::move(*restored);
}

int run(const std::string& folder, int threads, int64_t batches_per_state) {
  const Files files(folder);
  hp::Loader loader = loader_from(cut_back(files), threads);
  std::ofstream ledger(files.ledger, std::ios::binary | std::ios::app);
  for (int64_t count = 1;; ++count) {
    const auto next = loader.next();
    if (hp::at_end(next)) give_up("the end of what has none");
    if (!next) give_up(next.error().to_string());
    ledger << line_of(next->epoch(), next->index(), next->element()) << '\n';
    if (!ledger.flush()) give_up("cannot write the ledger");
    if (count % batches_per_state == 0) write_state(files, static_cast<uint64_t>(ledger.tellp()), loader.state());
    if (count % 4 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

int check(const std::string& folder) {
  const Files files(folder);
  cut_back(files);
  hp::Sequence sequence(pipeline(false), {.seed = kSeed, .epochs = -1});
  std::ifstream ledger(files.ledger, std::ios::binary);
  int64_t lines = 0;
  for (std::string line; std::getline(ledger, line); ++lines) {
    const auto next = sequence.next();
    if (!next) give_up("the sequential meaning ends");
    const std::string expected = line_of(sequence.epoch(), sequence.index(), *next);
    if (line == expected) continue;
    std::cerr << "batch " << lines << " differs\nexpected " << expected << "\nfound    " << line << '\n';
    return 1;
  }
  std::cout << lines << " batches, " << sequence.epoch() << " epochs\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string verb = argc > 2 ? argv[1] : "";
  if (verb == "run" && argc == 5) return run(argv[2], std::atoi(argv[3]), std::atoll(argv[4]));
  if (verb == "check" && argc == 3) return check(argv[2]);
  std::cerr << "soak_driver run FOLDER THREADS BATCHES_PER_STATE | check FOLDER\n";
  return 2;
}
