// SPDX-License-Identifier: Apache-2.0
// Runs that fill a cache on disk are killed at any moment, and the next process goes on from the last state: each batch
// comes once, with the bytes that it has without a cache. By turns a second process fills the same cache at the same
// time. HEADPOND_CYCLES sets another number of kills.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>

#include "headpond/base/random.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "tests/test_files.h"

namespace headpond {
namespace {

constexpr int64_t kElements = 400, kBatch = 8, kValues = 300, kEpochs = 3;
constexpr int64_t kBatches = kElements / kBatch * kEpochs;

// What a killed process leaves to the next one: states alternate, so that one is always whole.
struct Shared {
  struct Slot {
    char bytes[4000];
    size_t size;
    int64_t batches;
  };
  Slot slots[2];
  std::atomic<int64_t> saved;  // How often; slot saved % 2 is the last one.
  std::atomic<int64_t> wrong, made;
};

Tensor prepared(int64_t x) {
  std::vector<int32_t> values(kValues);
  for (int64_t i = 0; i < kValues; ++i) values[static_cast<size_t>(i)] = static_cast<int32_t>(x * 1000 + i);
  return Tensor::from(values, {kValues});
}

Dataset dataset(const std::string& folder, Shared* shared) {
  const auto prepare = [shared](int64_t x) {
    if (shared != nullptr) ++shared->made;
    return prepared(x);
  };
  const Dataset made = range(kElements) |
                       map(prepare, {.output = {{"", i32, {kValues}}}, .name = "prepared", .version = 1}) |
                       random_u32();
  return (folder.empty() ? made | cache() : made | cache(folder)) | shuffle() | batch(kBatch);
}

uint64_t digest(const Element& batch) {
  uint64_t all = 0xcbf29ce484222325;
  for (size_t f = 0; f < batch.size(); ++f) {
    for (size_t i = 0; i < batch[f].byte_size(); ++i) {
      all = (all ^ static_cast<uint64_t>(batch[f].data()[i])) * 0x100000001b3;
    }
  }
  return all;
}

void run(const std::string& folder, const std::vector<uint64_t>& expected, Shared& shared) {
  const LoaderOptions options = {.epochs = kEpochs, .seed = 5, .threads = 1};
  const Dataset all = dataset(folder, &shared);
  const Shared::Slot& last = shared.slots[shared.saved % 2];
  auto loader = shared.saved == 0 ? Result<Loader>(Loader(all, options))
                                  : Loader::restored(all, options, std::string_view(last.bytes, last.size));
  if (!loader) _exit(3);
  for (int64_t i = shared.saved == 0 ? 0 : last.batches; i < kBatches; ++i) {
    const auto batch = loader->next();
    if (!batch || digest(batch->element()) != expected[static_cast<size_t>(i)]) {
      ++shared.wrong;
      _exit(4);
    }
    const std::string state = loader->state();
    Shared::Slot& slot = shared.slots[(shared.saved + 1) % 2];
    std::memcpy(slot.bytes, state.data(), state.size());
    slot.size = state.size();
    slot.batches = i + 1;
    ++shared.saved;
  }
  _exit(0);
}

std::vector<uint64_t> without_cache_on_disk() {
  std::vector<uint64_t> digests;
  Loader loader(dataset("", nullptr), {.epochs = kEpochs, .seed = 5, .threads = 0});
  while (auto batch = loader.next()) digests.push_back(digest(batch->element()));
  return digests;
}

[[noreturn]] void fill_beside(const std::string& folder) {
  Loader loader(dataset(folder, nullptr), {.seed = 5, .threads = 0});
  while (loader.next()) {
  }
  _exit(0);
}

// Starts the run, and perhaps a second process, and kills both. The run's exit code; -1: it was killed.
int run_and_kill(const std::string& folder, const std::vector<uint64_t>& expected, Shared& shared, Random& random) {
  const bool two = random.below(4) == 0;
  const pid_t other = two ? fork() : -1;
  if (other == 0) fill_beside(folder);
  const int64_t from = shared.made + shared.saved;
  const pid_t child = fork();
  if (child == 0) run(folder, expected, shared);
  // After some progress, whatever the machine's speed, and then at any moment.
  const auto progress = static_cast<int64_t>(random.below(60));
  int status = 0;
  pid_t ended = 0;
  while (ended == 0 && shared.made + shared.saved - from < progress) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    ended = waitpid(child, &status, WNOHANG);
  }
  std::this_thread::sleep_for(std::chrono::microseconds(random.below(1000)));
  if (ended == 0) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
  }
  if (two) {
    kill(other, SIGKILL);
    waitpid(other, nullptr, 0);
  }
  return WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
}

TEST(CacheKill, ARunGoesOnAfterAnyKill) {
  const char* const given = std::getenv("HEADPOND_CYCLES");
  const int64_t cycles = given != nullptr ? std::atoll(given) : 60;
  void* const memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  Shared& shared = *static_cast<Shared*>(memory);
  const std::vector<uint64_t> expected = without_cache_on_disk();
  ASSERT_EQ(expected.size(), static_cast<size_t>(kBatches));
  const test::TempFolder folder;
  Random random(RandomKey{17}, 1);
  int64_t ended = 0, killed = 0;
  for (int64_t cycle = 0; cycle < cycles && shared.wrong == 0; ++cycle) {
    const int code = run_and_kill(folder.path(), expected, shared, random);
    ASSERT_TRUE(code == -1 || code == 0) << "cycle " << cycle << " exits with " << code;
    ++(code == -1 ? killed : ended);
    if (code == -1) continue;
    shared.saved = 0;
    if (random.below(2) == 0) {  // Else the next run finds a warm cache.
      std::filesystem::remove_all(folder.path());
      std::filesystem::create_directory(folder.path());
    }
  }
  EXPECT_EQ(shared.wrong, 0);
  EXPECT_GT(killed, cycles / 2);
  EXPECT_GT(ended, cycles / 60) << "runs that were killed on the way came to the end";
  std::cout << cycles << " cycles: " << killed << " killed, " << ended << " came to the end, " << shared.made
            << " elements made\n";
  munmap(memory, sizeof(Shared));
}

}  // namespace
}  // namespace headpond
