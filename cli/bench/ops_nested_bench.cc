// SPDX-License-Identifier: Apache-2.0
// flat_map and interleave, against loops that only write the batches. benchmarks/peers measures other libraries with
// the same parameters.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <system_error>
#include <vector>

#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_writer.h"

namespace headpond::cli {
namespace {

constexpr int64_t kCycle = 16, kBlock = 1;
constexpr int64_t kInts = 50, kIntBatch = 1000;  // Elements of a dataset; rows of a batch.
constexpr int64_t kRows = 64, kPixels = 784, kRowBatch = 256;
constexpr int64_t kShards = 16, kRecordBytes = 1024;

struct NestedCase {
  std::string name;
  int64_t elements;
  std::vector<std::pair<std::string, std::variant<int64_t, std::string>>> params;
  std::function<Dataset(const std::string& op)> make;
  std::function<Result<uint64_t>()> by_hand;  // The xor of all values.
};

// All values: numbers as they lie in memory, texts without their offsets.
uint64_t xor_of_values(const Element& element) {
  if (element[0].dtype() != DType::bytes) return xor_of(element);
  uint64_t all = 0;
  for (int64_t i = 0; i < element[0].size(); ++i) all ^= xor_of(std::as_bytes(std::span(element[0].bytes_at(i))));
  return all;
}

Result<uint64_t> by_loader(const Dataset& dataset) {
  Loader loader(dataset);
  uint64_t all = 0;
  while (true) {
    const auto batch = loader.next();
    if (at_end(batch)) return all;
    if (!batch) return fail(batch.error());
    all ^= xor_of_values(batch->element());
  }
}

template <class F>
Step nested(const std::string& op, F function) {
  if (op == "flat_map") return flat_map(function);
  return interleave(function, {.cycle_length = kCycle, .block_length = kBlock});
}

NestedCase ints_case(int64_t datasets) {
  return {.name = "a range for each number",
          .elements = datasets * kInts,
          .params = {{"datasets", datasets}, {"elements_each", kInts}, {"batch", kIntBatch}},
          .make =
              [datasets](const std::string& op) {
                return range(datasets) | nested(op, [](int64_t x) { return range(x, x + kInts); }) | batch(kIntBatch);
              },
          .by_hand = [datasets]() -> Result<uint64_t> {
            std::vector<int64_t> rows(kIntBatch);
            uint64_t all = 0;
            size_t filled = 0;
            for (int64_t x = 0; x < datasets * kInts; ++x) {
              rows[filled++] = x / kInts + x % kInts;
              if (filled < rows.size()) continue;
              all ^= xor_of(std::as_bytes(std::span(rows)));
              filled = 0;
            }
            return all ^ xor_of(std::as_bytes(std::span(rows).first(filled)));
          }};
}

// Rows of a block of numbers: the copy of each row is what costs.
NestedCase rows_case(int64_t datasets) {
  std::vector<float> values(kRows * kPixels);
  std::iota(values.begin(), values.end(), 0.5F);
  const Tensor block = Tensor::from(values, {kRows, kPixels});
  return {.name = "64 rows of 784 floats for each number",
          .elements = datasets * kRows,
          .params = {{"datasets", datasets}, {"elements_each", kRows}, {"floats", kPixels}, {"batch", kRowBatch}},
          .make =
              [=](const std::string& op) {
                return range(datasets) | nested(op, [block](int64_t) { return from_tensor_slices(block); }) |
                       batch(kRowBatch);
              },
          .by_hand = [=]() -> Result<uint64_t> {
            std::vector<float> rows(kRowBatch * kPixels);
            uint64_t all = 0;
            for (int64_t row = 0; row < datasets * kRows; ++row) {
              const int64_t at = row % kRowBatch;
              std::memcpy(&rows[static_cast<size_t>(at * kPixels)], block.data() + row % kRows * kPixels * 4,
                          kPixels * 4);
              const bool is_last = row + 1 == datasets * kRows;
              if (at + 1 == kRowBatch || is_last) {
                all ^= xor_of(std::as_bytes(std::span(rows).first(static_cast<size_t>((at + 1) * kPixels))));
              }
            }
            return all;
          }};
}

// Record files in a folder that goes with the last owner.
class Shards {
 public:
  explicit Shards(int64_t records) {
    std::string path = (std::filesystem::temp_directory_path() / "headpond-shards-XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::system_error(errno, std::generic_category(), path);
    folder_ = path;
    std::vector<uint64_t> record(kRecordBytes / 8);
    for (int64_t shard = 0; shard < kShards; ++shard) {
      paths_.push_back(folder_ / fmt::format("{:03}.tfrecord", shard));
      auto writer = value_or_throw(RecordWriter::open(paths_.back()));
      for (int64_t i = 0; i < records; ++i) {
        std::iota(record.begin(), record.end(), static_cast<uint64_t>(shard * records + i));
        throw_error(writer->append(std::as_bytes(std::span(record))));
      }
      throw_error(writer->close());
    }
  }
  ~Shards() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  const std::vector<std::string>& paths() const { return paths_; }
  std::string folder() const { return folder_.string(); }

 private:
  static void throw_error(const Result<void>& done) {
    if (!done) throw Exception(done.error());
  }
  template <class T>
  static T value_or_throw(Result<T> made) {
    if (!made) throw Exception(made.error());
    return *std::move(made);
  }
  std::filesystem::path folder_;
  std::vector<std::string> paths_;
};

NestedCase shards_case(int64_t records) {
  const auto shards = std::make_shared<const Shards>(records);
  return {
      .name = "records of 1 KiB from 16 files",
      .elements = kShards * records,
      .params = {{"files", kShards}, {"records_each", records}, {"record_bytes", kRecordBytes}, {"batch", kRowBatch}},
      .make =
          [shards](const std::string& op) {
            // Nothing is left in the cache folder, so the files are counted each time.
            const auto records_of = [](std::string_view path) {
              return tfrecord(std::string(path), {.keep_index = false});
            };
            return list_files(shards->paths(), {.shuffle = false}) | nested(op, records_of) | batch(kRowBatch);
          },
      .by_hand = [shards]() -> Result<uint64_t> {
        uint64_t all = 0;
        for (const std::string& path : shards->paths()) {
          auto reader = RecordReader::open(path);
          if (!reader) return fail(reader.error());
          while (true) {
            const auto record = (*reader)->next();
            if (!record) return fail(record.error());
            if (!*record) break;
            all ^= xor_of(**record);
          }
        }
        return all;
      }};
}

struct Nested {
  std::string op;
  std::vector<NestedCase> cases;
  bool agree = true;
};

Result<std::vector<BenchSample>> cycle(Nested& nested) {
  std::vector<BenchSample> samples;
  for (const NestedCase& one : nested.cases) {
    std::vector<uint64_t> found;
    for (const bool by_hand : {false, true}) {
      Result<uint64_t> all = 0;
      samples.push_back(with_cpu_time([&] {
        const int64_t begin = now_ns();
        all = by_hand ? one.by_hand() : by_loader(one.make(nested.op));
        return static_cast<double>(now_ns() - begin) / static_cast<double>(one.elements);
      }));
      if (!all) return fail(all.error());
      found.push_back(*all);
    }
    nested.agree = nested.agree && found[0] == found[1];
  }
  return samples;
}

Bench nested_bench(const std::string& op, const BenchSetup& setup) {
  const auto scaled = [&](int64_t count) { return std::max<int64_t>(1, count * setup.items / BenchSetup().items); };
  const auto nested = std::make_shared<Nested>(Nested{.op = op, .cases = {}});
  // An odd number of equal datasets, so that not all of their values cancel out.
  nested->cases = {ints_case(scaled(20'000)), rows_case(scaled(1000) | 1), shards_case(scaled(4000))};
  Bench bench{.name = "ops." + op, .consume = kXorName};
  for (const NestedCase& one : nested->cases) {
    auto params = one.params;
    if (op == "interleave") params.insert(params.end(), {{"cycle_length", kCycle}, {"block_length", kBlock}});
    for (const char* system : {"headpond", "loop"}) {
      bench.rows.push_back({.name = one.name,
                            .params = params,
                            .system = system,
                            .system_version = HEADPOND_VERSION,
                            .metric = "ns_per_element",
                            .unit = "ns"});
    }
    bench.ratios.push_back({bench.rows.size() - 2, bench.rows.size() - 1});
  }
  bench.cycle = [nested](const std::stop_token&) { return cycle(*nested); };
  bench.digest_equal = [nested] { return nested->agree; };
  return bench;
}

}  // namespace

Bench ops_flat_map_bench(const BenchSetup& setup) { return nested_bench("flat_map", setup); }
Bench ops_interleave_bench(const BenchSetup& setup) { return nested_bench("interleave", setup); }

}  // namespace headpond::cli
