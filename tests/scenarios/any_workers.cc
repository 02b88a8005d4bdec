// SPDX-License-Identifier: Apache-2.0
// Scenario 10: the same data for any number of threads, and for any number of ranks from any place on.
#include <memory>
#include <optional>

#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kElements = 3000, kGlobalBatch = 24;

// Positions, a stream, draws, elements left out, uneven work, rows of uneven length.
Dataset everything() {
  const auto make = [](uint64_t epoch) -> Generator {
    return [next = int64_t{0}, epoch]() mutable -> Result<std::optional<Element>> {
      if (next == kElements) return std::nullopt;
      return Element{Tensor::scalar(static_cast<int64_t>(epoch) * kElements + next++)};
    };
  };
  const Dataset order = from_generator(make, {{"stream", i64, {}}}, {.name = "counting"}) | shuffle(200);
  const auto work = [](int64_t x, int64_t y, uint32_t drawn) {
    if (x % 50 == 0) burn_us(500);
    const std::vector<int64_t> row(static_cast<size_t>(1 + (x + y) % 7), x ^ static_cast<int64_t>(drawn));
    return Tensor::from(std::span<const int64_t>(row), {static_cast<int64_t>(row.size())});
  };
  return zip({range(kElements) | shuffle(), order}) |
         filter([](int64_t x, int64_t) { return x % 7 != 0; }, {.name = "others"}) | random_u32() |
         map(work, {.output = {{"row", i64, {kUnknown}}}, .name = "rows"}) | padded_batch(32);
}

// The control: each worker makes batches of its own share, and they are taken in turn.
uint64_t batched_per_worker(int64_t workers) {
  std::vector<std::unique_ptr<Loader>> all;
  for (int64_t w = 0; w < workers; ++w) {
    all.push_back(std::make_unique<Loader>(range(kElements) | shuffle() | shard(workers, w) | batch(32),
                                           LoaderOptions{.epochs = 2, .seed = 4, .threads = 1}));
  }
  uint64_t sum = 0;
  for (size_t ended = 0, w = 0; ended < all.size(); w = (w + 1) % all.size()) {
    if (all[w] == nullptr) continue;
    const auto taken = all[w]->next();
    if (taken) {
      sum = digest(sum, taken->element());
    } else {
      all[w] = nullptr;
      ++ended;
    }
  }
  return sum;
}

void workers(const Run& run, JsonWriter& figures) {
  figures.key("digests").begin_object();
  for (const int threads : {0, 1, 2, 4, 8}) {
    if (run.control()) {
      if (threads > 0) figures.member(std::to_string(threads), hex(batched_per_worker(threads)));
      continue;
    }
    Loader loader(everything(), {.epochs = 2, .seed = 4, .threads = threads});
    figures.member(std::to_string(threads), hex(rest_of(loader, 0)));
  }
  figures.end_object();
}

// What the ranks of a world hold: the rest of the run, or all of it without states.
struct World {
  std::vector<std::vector<int64_t>> batches = {};  // The members of each global batch, sorted.
  std::vector<std::string> states = {};            // Of each rank after batch `end`.
};

Dataset global(int64_t ranks, int64_t rank) {
  return range(kElements) | shuffle() | batch(kGlobalBatch) | distribute(ranks, rank);
}

// `ranks` ranks take `count` global batches each, from the states on that other ranks left. Rank r takes what rank r %
// states had left: any of them will do.
World train(int64_t ranks, int64_t count, const std::vector<std::string>& from) {
  World world;
  for (int64_t r = 0; r < ranks; ++r) {
    const LoaderOptions options = {.epochs = 2, .seed = 4, .threads = static_cast<int>(r % 3)};
    const size_t old = from.empty() ? 0 : static_cast<size_t>(r) % from.size();
    Loader loader = from.empty() ? Loader(global(ranks, r), options)
                                 : value_or_throw(Loader::restored(global(ranks, r), options, from[old]));
    for (size_t b = 0; b < static_cast<size_t>(count); ++b) {
      const Batch taken = must_next(loader);
      if (r == 0) world.batches.emplace_back();
      const auto values = taken[0].as<int64_t>();
      if (static_cast<int64_t>(values.size()) != kGlobalBatch / ranks) throw std::runtime_error("ranks differ in rows");
      world.batches[b].insert(world.batches[b].end(), values.begin(), values.end());
    }
    world.states.push_back(loader.state());
  }
  for (auto& members : world.batches) std::sort(members.begin(), members.end());
  return world;
}

// Four ranks for 50 global batches of epoch 1, then `ranks`: are the members those of four ranks all the way, each
// once?
void elastic(int64_t ranks, JsonWriter& figures) {
  constexpr int64_t kAll = kElements / kGlobalBatch;
  const World expected = train(4, 2 * kAll, {});
  World found = train(4, kAll + 50, {});
  const bool one_state = std::equal(found.states.begin() + 1, found.states.end(), found.states.begin());
  for (auto& members : train(ranks, kAll - 50, found.states).batches) found.batches.push_back(std::move(members));
  std::vector<int64_t> each;
  for (size_t b = kAll; b < found.batches.size(); ++b) {
    each.insert(each.end(), found.batches[b].begin(), found.batches[b].end());
  }
  std::sort(each.begin(), each.end());
  const bool once = std::adjacent_find(each.begin(), each.end()) == each.end() && each.size() == kElements;
  figures.begin_object().member("ranks", ranks).member("same_members", found.batches == expected.batches);
  figures.member("each_once", once).member("one_state", one_state).end_object();
}

}  // namespace

void any_workers(const Run& run, JsonWriter& figures) {
  workers(run, figures);
  if (run.control()) return;
  const LoaderOptions four{.epochs = 2, .seed = 4, .threads = 4}, one{.epochs = 2, .seed = 4, .threads = 1};
  figures.key("resumed").begin_array();
  for (const int at : {1, 30, 81, 82, 120}) figures.value(hex(resumed(everything(), at, four, one).sum));
  figures.end_array();
  figures.key("elastic").begin_array();
  for (const int64_t ranks : {1, 2, 3}) elastic(ranks, figures);
  figures.end_array();
}

}  // namespace headpond::scenarios
