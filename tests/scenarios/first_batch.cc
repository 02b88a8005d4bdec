// SPDX-License-Identifier: Apache-2.0
// Scenario 8: how soon the first batch is there. Each mode is measured in a process of its own.
#include <filesystem>
#include <fstream>

#include "corpus.h"
#include "headpond/io/file/file.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kRecords = 1'000'000;

std::string small_files(const Run& run) { return run.place + "/small"; }
std::string manifest(const Run& run) { return run.place + "/manifest.txt"; }

// T, a folder of many small files, and the list of their names.
void write_corpus(const Run& run) {
  write_records(run.place + "/records", kRecords);
  std::filesystem::create_directories(small_files(run));
  std::ofstream list(manifest(run));
  for (int64_t i = 0; i < (run.full ? 100'000 : 20'000); ++i) {
    const std::string path = small_files(run) + "/file-" + std::to_string(1'000'000 + i);
    std::ofstream(path) << "content of " << i;
    list << path << '\n';
  }
}

// Calls of the system that read, and bytes that they gave, so far.
std::pair<int64_t, int64_t> reads() {
  std::ifstream in("/proc/self/io");
  std::pair<int64_t, int64_t> found;
  std::string name;
  for (int64_t value = 0; in >> name >> value;) {
    if (name == "rchar:") found.second = value;
    if (name == "syscr:") found.first = value;
  }
  return found;
}

Result<std::string> content(std::string_view path) {
  auto bytes = read_file(std::string(path));
  if (!bytes) return fail(bytes.error());
  return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

Dataset contents(const Dataset& paths) {
  return paths | map(content, {.name = "content", .blocking = false}) | batch(32);
}

Dataset dataset_of(const Run& run) {
  if (run.mode == "records") return tfrecord(run.place + "/records/records-*.tfrecord") | shuffle() | batch(256);
  if (run.mode == "manifest") return contents(text_lines(manifest(run)) | shuffle());
  return contents(list_files(small_files(run) + "/*", {.shuffle = false}));
}

// The names and sizes of all files, before anything else: what a program does that looks for its data itself.
std::vector<std::string> eager_listing(const Run& run) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(small_files(run))) {
    if (entry.file_size() > 0) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void first(const Dataset& dataset, const Run& run, int64_t began, JsonWriter& figures) {
  Loader loader(dataset, {.seed = 3, .threads = static_cast<int>(run.number("threads", -1))});
  const Batch batch = must_next(loader);
  figures.member("first_batch_s", ms_since(began) / 1e3).member("rows", batch[0].dim(0));
}

}  // namespace

void first_batch(const Run& run, JsonWriter& figures) {
  if (run.mode == "corpus") return write_corpus(run);
  if (run.mode == "start") return;
  const int64_t began = now_ns();
  if (run.mode == "listing") {
    figures.member("files", eager_listing(run).size()).member("listing_s", ms_since(began) / 1e3);
  } else if (run.mode == "eager") {
    const std::vector<std::string> paths = eager_listing(run);
    first(contents(from_tensor_slices(Tensor::from(paths, {static_cast<int64_t>(paths.size())}))), run, began, figures);
  } else {
    const auto none = reads(), before = reads();
    const Dataset dataset = dataset_of(run);
    const auto after = reads();
    figures.member("read_calls", (after.first - before.first) - (before.first - none.first));
    figures.member("read_bytes", (after.second - before.second) - (before.second - none.second));
    first(dataset, run, began, figures);
  }
}

}  // namespace headpond::scenarios
