// SPDX-License-Identifier: Apache-2.0
// Sequences batched by length, against a loop that pads the same batches. benchmarks/peers measures other libraries
// with the same parameters.
#include <algorithm>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "headpond/dataset/ops.h"
#include "headpond/engine/loader.h"

namespace headpond::cli {
namespace {

constexpr int64_t kLongest = 200, kWidth = 25, kBuckets = kLongest / kWidth,
                  kBucketRows = 64;  // Numbers; numbers; rows.

int64_t length_of(int64_t i) { return 1 + i * 7919 % kLongest; }

Tensor sequence_of(int64_t i) {
  Tensor made = Tensor::empty(DType::i64, {length_of(i)});
  for (int64_t& value : made.mutable_as<int64_t>()) value = i;
  return made;
}

Dataset buckets(int64_t elements) {
  std::vector<int64_t> boundaries;
  for (int64_t at = kWidth; at < kLongest; at += kWidth) boundaries.push_back(at);
  return range(elements) | map(&sequence_of, {.output = {{"", DType::i64, {kUnknown}}}, .name = "sequence"}) |
         bucket_by_sequence_length("", boundaries, std::vector<int64_t>(kBuckets, kBucketRows));
}

// Padding is 0, so that the xor of all batches is that of all sequences.
Result<uint64_t> by_loader(int64_t elements) {
  Loader loader(buckets(elements));
  uint64_t all = 0;
  while (true) {
    const auto batch = loader.next();
    if (at_end(batch)) return all;
    if (!batch) return fail(batch.error());
    all ^= xor_of(batch->element());
  }
}

// The numbers of the elements wait in their bucket; their sequences are written into the padded batch.
uint64_t by_hand(int64_t elements) {
  std::vector<std::vector<int64_t>> waiting(kBuckets);
  std::vector<int64_t> batch;
  uint64_t all = 0;
  const auto give = [&](std::vector<int64_t>& bucket) {
    int64_t width = 0;
    for (const int64_t i : bucket) width = std::max(width, length_of(i));
    batch.assign(bucket.size() * static_cast<size_t>(width), 0);
    for (size_t r = 0; r < bucket.size(); ++r) {
      std::fill_n(batch.begin() + static_cast<int64_t>(r) * width, length_of(bucket[r]), bucket[r]);
    }
    all ^= xor_of(std::as_bytes(std::span(batch)));
    bucket.clear();
  };
  for (int64_t i = 0; i < elements; ++i) {
    auto& bucket = waiting[static_cast<size_t>(std::min(length_of(i) / kWidth, kBuckets - 1))];
    bucket.push_back(i);
    if (bucket.size() == kBucketRows) give(bucket);
  }
  for (auto& bucket : waiting) give(bucket);
  return all;
}

}  // namespace

Bench ops_bucket_bench(const BenchSetup& setup) {
  const int64_t elements = std::max<int64_t>(1, 50'000 * setup.items / BenchSetup().items);
  Bench bench{.name = "ops.bucket", .consume = kXorName};
  for (const char* const system : {"headpond", "loop"}) {
    bench.rows.push_back(
        {.name = "sequences of 1 to 200 numbers in 8 buckets",
         .params = {{"elements", elements}, {"longest", kLongest}, {"width", kWidth}, {"batch", kBucketRows}},
         .system = system,
         .system_version = HEADPOND_VERSION,
         .metric = "ns_per_element",
         .unit = "ns"});
  }
  bench.ratios = {{0, 1}};
  const auto agree = std::make_shared<bool>(true);
  bench.cycle = [=](const std::stop_token&) -> Result<std::vector<BenchSample>> {
    std::vector<BenchSample> samples;
    std::vector<uint64_t> found;
    for (const bool hand : {false, true}) {
      Result<uint64_t> all = 0;
      samples.push_back(with_cpu_time([&] {
        const int64_t began = now_ns();
        all = hand ? Result<uint64_t>(by_hand(elements)) : by_loader(elements);
        return static_cast<double>(now_ns() - began) / static_cast<double>(elements);
      }));
      if (!all) return fail(all.error());
      found.push_back(*all);
    }
    *agree = *agree && found[0] == found[1];
    return samples;
  };
  bench.digest_equal = [agree] { return *agree; };
  return bench;
}

}  // namespace headpond::cli
