// SPDX-License-Identifier: Apache-2.0
// Scenario 16: shards, threads and ranks that do not divide each other.
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "headpond/io/record/record_writer.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kRecords = 1003, kGlobalBatch = 24;

enum class Policy : uint8_t { drop, pad, uneven };
constexpr const char* kNames[] = {"drop", "pad", "uneven"};

struct Case {
  int64_t shards;
  int threads;
  int64_t ranks;
  bool shuffled;
  Policy policy;
};

std::string name_of(const Case& one) {
  return std::to_string(one.shards) + " shards, " + std::to_string(one.threads) + " threads, " +
         std::to_string(one.ranks) + " ranks, " + (one.shuffled ? "shuffled, " : "in order, ") +
         kNames[static_cast<size_t>(one.policy)];
}

std::string pattern(const Run& run, int64_t shards) { return run.place + "/" + std::to_string(shards) + "-shards"; }

// File f of n has about f + 1 parts of the records.
void write_shards_of(const Run& run, int64_t shards) {
  std::filesystem::create_directories(pattern(run, shards));
  int64_t number = 0;
  for (int64_t file = 0; file < shards; ++file) {
    const auto out = value_or_throw(RecordWriter::open(pattern(run, shards) + "/part-" + std::to_string(file)));
    const int64_t end = file + 1 == shards ? kRecords : number + kRecords * 2 * (file + 1) / (shards * (shards + 1));
    for (; number < end; ++number) value_or_throw(out->append(std::as_bytes(std::span(&number, 1))));
    value_or_throw(out->close());
  }
}

int64_t number_of(std::string_view record) {
  int64_t number = 0;
  std::memcpy(&number, record.data(), sizeof(number));
  return number;
}

Dataset ours(const Run& run, const Case& one, int64_t rank) {
  const Dataset records = tfrecord(pattern(run, one.shards) + "/part-*") | map(number_of, {.name = "number_of"});
  const Dataset ordered = one.shuffled ? records | shuffle() : records;
  switch (one.policy) {
    case Policy::drop:
      return ordered | batch(kGlobalBatch, {.drop_remainder = true}) | distribute(one.ranks, rank, UnevenBatch::drop);
    case Policy::pad:
      return ordered | batch(kGlobalBatch) |
             distribute(one.ranks, rank, {.uneven = UnevenBatch::pad, .mask_key = "valid"});
    case Policy::uneven:
      break;
  }
  return ordered | shard(one.ranks, rank) | batch(kGlobalBatch / one.ranks);
}

struct RankBatch {
  std::vector<int64_t> numbers = {};
  size_t padding = 0;  // Rows that are marked as such, not in `numbers`.
  size_t rows() const { return numbers.size() + padding; }
};
RankBatch batch_of(const Batch& batch) {
  const auto numbers = batch[0].as<int64_t>();
  if (batch.size() == 1) return {.numbers = {numbers.begin(), numbers.end()}};
  RankBatch found;
  const auto valid = batch["valid"].as<bool>();
  for (size_t row = 0; row < numbers.size(); ++row) {
    if (valid[row]) found.numbers.push_back(numbers[row]);
  }
  found.padding = numbers.size() - found.numbers.size();
  return found;
}

// One epoch of one rank.
using Batches = std::vector<RankBatch>;

// By rank, then by epoch.
std::vector<std::vector<Batches>> load(const Run& run, const Case& one) {
  std::vector<std::vector<Batches>> all;
  for (int64_t rank = 0; rank < one.ranks; ++rank) {
    Loader loader(ours(run, one, rank), {.epochs = 2, .seed = 6, .threads = one.threads, .pin_threads = false});
    std::vector<Batches> epochs(2);
    for (const Batch& batch : loader) epochs[static_cast<size_t>(batch.epoch())].push_back(batch_of(batch));
    all.push_back(std::move(epochs));
  }
  return all;
}

// The control: each worker of each rank reads the files that are its own, and makes batches of them.
std::vector<std::vector<Batches>> by_file(const Case& one) {
  std::vector<std::vector<Batches>> all;
  for (int64_t rank = 0; rank < one.ranks; ++rank) {
    Batches batches;
    for (int64_t worker = 0; worker < one.threads; ++worker) {
      std::vector<int64_t> numbers;
      int64_t first = 0;
      for (int64_t file = 0; file < one.shards; ++file) {
        const int64_t end =
            file + 1 == one.shards ? kRecords : first + kRecords * 2 * (file + 1) / (one.shards * (one.shards + 1));
        for (; first < end; ++first) {
          if (file % (one.ranks * one.threads) == rank * one.threads + worker) numbers.push_back(first);
        }
      }
      const size_t rows = static_cast<size_t>(kGlobalBatch / one.ranks);
      for (size_t at = 0; at < numbers.size(); at += rows) {
        batches.push_back(
            {.numbers = {numbers.begin() + static_cast<std::ptrdiff_t>(at),
                         numbers.begin() + static_cast<std::ptrdiff_t>(std::min(numbers.size(), at + rows))}});
      }
    }
    all.push_back({batches, batches});
  }
  return all;
}

// Rows that are marked as padding; only the last batch may have some.
std::optional<size_t> padding_of(const std::vector<const Batches*>& ranks) {
  size_t padding = 0;
  for (const Batches* batches : ranks) {
    for (size_t b = 0; b < batches->size(); ++b) {
      const size_t more = (*batches)[b].padding;
      if (more > 0 && b + 1 < batches->size()) return std::nullopt;
      padding += more;
    }
  }
  return padding;
}

// What is wrong with one epoch of all ranks; "" if nothing is.
std::string fault(const Case& one, const std::vector<const Batches*>& ranks) {
  std::vector<int64_t> times(kRecords);
  for (const Batches* batches : ranks) {
    if (one.policy != Policy::uneven && batches->size() != ranks[0]->size()) return "ranks differ in steps";
    for (size_t b = 0; b < batches->size(); ++b) {
      if (one.policy != Policy::uneven && (*batches)[b].rows() != (*ranks[0])[b].rows()) return "ranks differ in rows";
      for (const int64_t number : (*batches)[b].numbers) ++times[static_cast<size_t>(number)];
    }
  }
  const int64_t missing = std::ranges::count(times, 0), tail = kRecords % kGlobalBatch;
  if (missing != (one.policy == Policy::drop ? tail : 0)) return "missing: " + std::to_string(missing);
  if (std::ranges::any_of(times, [](int64_t count) { return count > 1; })) return "twice, and not marked as padding";
  const int64_t expected = one.policy == Policy::pad ? (tail + one.ranks - 1) / one.ranks * one.ranks - tail : 0;
  const auto padding = padding_of(ranks);
  if (!padding || std::cmp_not_equal(*padding, expected)) return "rows that are marked as padding";
  return "";
}

std::vector<Case> cases(const Run& run) {
  if (run.control()) return {{3, 8, 2, false, Policy::pad}};
  std::vector<Case> all;
  for (const int64_t shards : {1, 2, 3, 5, 7}) {
    for (const int threads : {0, 1, 2, 8}) {
      for (const int64_t ranks : {1, 2, 3, 4}) {
        for (const bool shuffled : {false, true}) {
          for (const Policy policy : {Policy::drop, Policy::pad, Policy::uneven}) {
            const bool in_short_form = shards % 2 == 1 && shards != 5 && threads != 1;
            if (run.full || in_short_form) all.push_back({shards, threads, ranks, shuffled, policy});
          }
        }
      }
    }
  }
  return all;
}

void combinations(const Run& run, JsonWriter& figures) {
  std::vector<std::string> faults;
  std::map<std::pair<int64_t, Policy>, std::set<std::vector<size_t>>> steps;
  int64_t count = 0;
  for (const Case& one : cases(run)) {
    const auto all = run.control() ? by_file(one) : load(run, one);
    std::vector<size_t> of_ranks;
    for (size_t epoch = 0; epoch < 2; ++epoch) {
      std::vector<const Batches*> ranks;
      ranks.reserve(all.size());
      for (const auto& epochs : all) ranks.push_back(&epochs[epoch]);
      if (const std::string what = fault(one, ranks); !what.empty()) faults.push_back(name_of(one) + ": " + what);
      of_ranks.clear();
      for (const Batches* batches : ranks) of_ranks.push_back(batches->size());
      steps[{one.ranks, one.policy}].insert(of_ranks);
    }
    ++count;
  }
  size_t most = 0;
  for (const auto& [key, kinds] : steps) most = std::max(most, kinds.size());
  figures.member("combinations", count).member("steps_of_a_kind", most);
  member(figures, "faults", faults);
}

// How many elements each thread made.
class Tally {
 public:
  void add() {
    const std::lock_guard lock(mu_);
    ++made_[std::this_thread::get_id()];
  }
  // Those of the busiest of two over half of all.
  double most_over_mean() const {
    const std::lock_guard lock(mu_);
    int64_t most = 0, sum = 0;
    for (const auto& [thread, count] : made_) {
      most = std::max(most, count);
      sum += count;
    }
    return static_cast<double>(most) / (static_cast<double>(sum) / 2);
  }

 private:
  mutable std::mutex mu_;
  std::map<std::thread::id, int64_t> made_;
};

// Of an epoch that costs; in turn with two bare threads that take the next element when they are free, which tells how
// even the machine is.
void loads(const Run& run, JsonWriter& figures) {
  std::vector<double> ours, bare;
  for (int round = 0; round < 5; ++round) {
    Tally of_loader, of_bare;
    const auto work = [&](std::string_view record) {
      burn_us(300);
      of_loader.add();
      return number_of(record);
    };
    Loader loader(tfrecord(pattern(run, 3) + "/part-*") | map(work) | batch(kGlobalBatch),
                  {.threads = 2, .consumer_helps = false});
    rest_of(loader, 0);
    bare_seconds(kRecords, [&](int64_t) {
      burn_us(300);
      of_bare.add();
    });
    ours.push_back(of_loader.most_over_mean());
    bare.push_back(of_bare.most_over_mean());
  }
  member(figures, "load_most_over_mean", ours);
  member(figures, "bare_most_over_mean", bare);
}

// The largest file is all that one of eight workers reads, and most workers have none.
void file_loads(JsonWriter& figures) {
  const int64_t largest = kRecords - kRecords * 2 / 12 - kRecords * 4 / 12;
  member(figures, "load_most_over_mean", std::vector{8.0 * static_cast<double>(largest) / kRecords});
  member(figures, "bare_most_over_mean", std::vector{1.0});
}

// What a rank gets; whether it is refused when its Loader is made.
std::pair<std::string, bool> outcome(const Dataset& dataset) {
  try {
    Loader loader(dataset, {.epochs = 2});
    int64_t batches = 0;
    auto batch = loader.next();
    for (; batch; batch = loader.next()) ++batches;
    return {batch.error().is_end() ? std::to_string(batches) + " batches" : batch.error().to_string(), false};
  } catch (const Exception& thrown) {
    return {thrown.what(), thrown.error().kind() == ErrorKind::FailedPrecondition};
  }
}

// Four ranks and three records.
void without_data(JsonWriter& figures) {
  constexpr int64_t kRanks = 4;
  const std::map<std::string, std::function<Dataset(int64_t)>> all = {
      {"shard", [](int64_t rank) { return range(3) | shard(kRanks, rank) | batch(6); }},
      {"distribute, drop",
       [](int64_t rank) { return range(3) | batch(24) | distribute(kRanks, rank, UnevenBatch::drop); }},
      {"distribute, pad",
       [](int64_t rank) { return range(3) | batch(24) | distribute(kRanks, rank, UnevenBatch::pad); }}};
  figures.key("rank_without_data").begin_object();
  for (const auto& [name, of_rank] : all) {
    const int64_t began = now_ns();
    int64_t refused = 0;
    std::string what;
    for (int64_t rank = 0; rank < kRanks; ++rank) {
      bool is_refused = false;
      std::tie(what, is_refused) = outcome(of_rank(rank));
      refused += is_refused ? 1 : 0;
    }
    figures.key(name).begin_object().member("what", what).member("refused", refused).member("ms", ms_since(began));
    figures.end_object();
  }
  figures.end_object();
}

}  // namespace

void uneven_shards(const Run& run, JsonWriter& figures) {
  if (run.mode == "corpus") {
    for (const int64_t shards : {1, 2, 3, 5, 7}) write_shards_of(run, shards);
    return;
  }
  combinations(run, figures);
  if (run.control()) return file_loads(figures);
  loads(run, figures);
  without_data(figures);
}

}  // namespace headpond::scenarios
