// SPDX-License-Identifier: Apache-2.0
// TensorFlow 1's classic input: shuffled file names -> a reader -> shuffled batches -> a Coordinator that ends the
// threads. For programs that move from TensorFlow 1; 03_loader does the same without queues, threads or settings.
#include <headpond/headpond.h>

#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace hp = headpond;

namespace {

// Three files of ten lines: "<file> <line>".
std::vector<std::string> write_files(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  std::vector<std::string> names;
  for (int file = 0; file < 3; ++file) {
    names.push_back((folder / ("part-" + std::to_string(file) + ".txt")).string());
    std::ofstream out(names.back());
    for (int line = 0; line < 10; ++line) out << file << ' ' << line << '\n';
  }
  return names;
}

// Parses "<file> <line>".
hp::tf1::Source read_from(const hp::Queue& names, const hp::tf1::TextLineReader& reader) {
  return [reader, names](std::stop_token stop) -> hp::Result<hp::Element> {
    const hp::Result<hp::tf1::KeyValue> record = reader.read(names, {.stop = stop});
    if (!record) return hp::fail(record.error());
    int64_t file = 0, line = 0;
    if (std::sscanf(record->value.c_str(), "%" SCNd64 " %" SCNd64, &file, &line) != 2) {
      return hp::fail(hp::ErrorKind::InvalidArgument, record->key + ": expected two numbers");
    }
    return hp::Element{hp::Tensor::scalar(file), hp::Tensor::scalar(line)};
  };
}

// How often each line of each file was delivered.
using Seen = std::map<int64_t, std::map<int64_t, int>>;

bool print_table(const Seen& seen) {
  bool all = seen.size() == 3;
  std::printf("file  lines  each read\n");
  for (const auto& [file, lines] : seen) {
    bool twice = lines.size() == 10;
    for (const auto& [line, times] : lines) twice = twice && times == 2;
    std::printf("%4" PRId64 "  %5zu  %s\n", file, lines.size(), twice ? "twice" : "not twice");
    all = all && twice;
  }
  return all;
}

}  // namespace

int main() {
  const auto temp = std::filesystem::temp_directory_path();
  const auto folder = temp / ("headpond_input_producer_" + std::to_string(hp::entropy()));
  hp::tf1::InputProducer files = hp::tf1::string_input_producer(write_files(folder), {.num_epochs = 2, .seed = 7});
  const hp::tf1::TextLineReader reader;
  hp::tf1::Batcher batches =
      hp::tf1::shuffle_batch(read_from(files.queue(), reader), {.batch_size = 8,
                                                                .dtypes = {hp::i64, hp::i64},
                                                                .shapes = {{}, {}},
                                                                .capacity = 30,
                                                                .min_after_dequeue = 15,
                                                                .num_threads = 2,  // Each reads its own file.
                                                                .allow_smaller_final_batch = true});
  hp::Coordinator coordinator;
  files.start(coordinator);
  batches.start(coordinator);

  int batch_count = 0;
  Seen seen;
  while (const hp::Result<hp::Element> batch = batches.dequeue()) {
    const auto from = (*batch)[0].as<int64_t>(), lines = (*batch)[1].as<int64_t>();
    for (size_t i = 0; i < from.size(); ++i) ++seen[from[i]][lines[i]];
    ++batch_count;
  }
  const hp::Result<void> ended = coordinator.join();
  std::filesystem::remove_all(folder);
  if (!ended) std::fprintf(stderr, "%s\n", ended.error().to_string().c_str());

  const bool each_twice = print_table(seen);
  std::printf("%d batches, %" PRId64 " records of %" PRId64 " files\n", batch_count, reader.num_records_produced(),
              reader.num_work_units_completed());
  return ended && each_twice && batch_count == 8 ? 0 : 1;
}
