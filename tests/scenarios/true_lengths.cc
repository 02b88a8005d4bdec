// SPDX-License-Identifier: Apache-2.0
// Scenario 19: splits that stay apart, numbers of elements that are true, shares of mixtures, runs of N steps.
#include <cmath>
#include <optional>
#include <set>

#include "headpond/base/random.h"
#include "headpond/engine/check/check.h"
#include "headpond/engine/explain.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kParts = 3;
constexpr int64_t kShares[kParts] = {80, 10, 10};

// By the record itself, so that nothing that is added moves it.
bool is_in(int64_t part, int64_t number) {
  auto place = static_cast<int64_t>(mix(19, static_cast<uint64_t>(number)) % 100);
  for (int64_t before = 0; before < part; ++before) place -= kShares[before];
  return place >= 0 && place < kShares[part];
}

Dataset split(int64_t count, int64_t part) {
  return range(count) | filter([part](int64_t number) { return is_in(part, number); }, {.name = "is_in"}) | shuffle();
}

// The control: the first eight tenths of an order that changes with each epoch, and so on.
Dataset split_by_take(int64_t count, int64_t part) {
  const int64_t ends[] = {0, count * 8 / 10, count * 9 / 10, count};
  return range(count) | shuffle() | skip(ends[part]) | take(ends[part + 1] - ends[part]);
}

// Whether explain and check say that the part has other elements in each epoch.
bool is_flagged(const Dataset& part) {
  const std::vector<MovingNote> notes = explain(part).moving;
  if (notes.empty()) return false;
  const std::string said = notes[0].what + ": " + notes[0].why;
  return std::ranges::count(check(part | batch(64), {.elements = 0}).findings, said) == 1;
}

std::vector<std::set<int64_t>> members(const Dataset& dataset, int64_t epochs) {
  std::vector<std::set<int64_t>> all(static_cast<size_t>(epochs));
  Loader loader(dataset | batch(64), {.epochs = epochs, .seed = 3});
  for (const Batch& batch : loader) {
    const auto numbers = batch[0].as<int64_t>();
    all[static_cast<size_t>(batch.epoch())].insert(numbers.begin(), numbers.end());
  }
  return all;
}

void splits(const Run& run, JsonWriter& figures) {
  const int64_t count = run.full ? 10'000 : 2000, epochs = 50;
  bool disjoint = true, complete = true, stays = true;
  int64_t flagged = 0;
  std::vector<std::vector<std::set<int64_t>>> of_parts, grown;
  for (int64_t part = 0; part < kParts; ++part) {
    flagged += is_flagged(run.control() ? split_by_take(count, part) : split(count, part)) ? 1 : 0;
    of_parts.push_back(members(run.control() ? split_by_take(count, part) : split(count, part), epochs));
    grown.push_back(
        members(run.control() ? split_by_take(count * 105 / 100, part) : split(count * 105 / 100, part), 1));
  }
  for (size_t a = 0; a < kParts; ++a) {
    std::set<int64_t> ever;
    for (const auto& epoch : of_parts[a]) ever.insert(epoch.begin(), epoch.end());
    complete = complete && ever == of_parts[a][0];
    stays = stays && std::ranges::includes(grown[a][0], ever);
    for (size_t b = 0; b < kParts; ++b) {
      if (a == b) continue;
      for (const auto& epoch : of_parts[b]) {
        for (const int64_t number : epoch) disjoint = disjoint && !ever.contains(number);
      }
    }
  }
  figures.member("splits_disjoint", disjoint).member("splits_complete", complete).member("old_records_stay", stays);
  figures.member("parts", kParts).member("flagged", flagged);
}

Dataset random_source(Random& random) {
  const auto count = static_cast<int64_t>(random.below(30));
  if (random.below(3) > 0) return range(count);
  const auto make = [count](uint64_t) -> Generator {
    return [next = int64_t{0}, count]() mutable -> Result<std::optional<Element>> {
      if (next == count) return std::nullopt;
      return Element{Tensor::scalar(next++)};
    };
  };
  return from_generator(make, {{"", i64, {}}}, {.name = "numbers"});
}

Dataset random_graph(Random& random, int depth);

Step random_step(Random& random) {
  const auto n = static_cast<int64_t>(random.below(12));
  switch (random.below(14)) {
    case 0:
      return filter([](int64_t x) { return x % 3 != 0; });
    case 1:
      return take(n);
    case 2:
      return skip(n);
    case 3:
      return shard(n + 1, n / 2);
    case 4:
      return repeat(n % 4);
    case 5:
      return shuffle(n + 1);
    case 6:
      return map([](int64_t x) { return x + 1; });
    case 7:
      return batch(n + 1, {.drop_remainder = n % 2 == 0}) | unbatch();
    case 8:
      return flat_map([n](int64_t x) { return range(x % (n + 1)); });
    case 9:
      return interleave([](int64_t x) { return range(x % 4); }, {.cycle_length = n + 1});
    case 10:
      return take_while([n](int64_t x) { return x < 3 * n; });
    case 11:
      return window(n + 1, {.shift = n % 3 + 1, .drop_remainder = n % 2 == 0}) | unbatch();
    case 12:
      return unique();
    default:
      return cache();
  }
}

Dataset random_graph(Random& random, int depth) {
  if (depth == 0) return random_source(random);
  const Dataset below = random_graph(random, depth - 1);
  switch (random.below(6)) {
    case 0:
      return concatenate({below, random_graph(random, depth - 1)});
    case 1:
      return zip({below, random_graph(random, depth / 2)}) | map([](int64_t a, int64_t b) { return a + b; });
    case 2:
      return mix({below, random_graph(random, depth / 2)}, {0.6, 0.4});
    default:
      return below | random_step(random);
  }
}

// Graphs whose number of elements is known, and among these the ones that do not have it.
void graphs(const Run& run, JsonWriter& figures) {
  int64_t known = 0, unknown = 0, refused = 0;
  std::vector<std::string> wrong;
  for (uint64_t i = 0; i < (run.full ? 2000U : 200U); ++i) {
    Random random(RandomKey{23}, i);
    const Dataset graph = random_graph(random, 1 + static_cast<int>(i % 5));
    const auto said = graph.cardinality();
    std::optional<Loader> loader;
    try {
      loader.emplace(graph, LoaderOptions{.seed = i});
    } catch (const Exception& thrown) {  // More shards than elements.
      if (thrown.error().kind() != ErrorKind::FailedPrecondition) throw;
      ++refused;
      continue;
    }
    ++(said ? known : unknown);
    int64_t count = 0;
    for (auto element = loader->next(); element; element = loader->next()) ++count;
    if (said && *said != count)
      wrong.push_back(std::to_string(*said) + " said, " + std::to_string(count) + " given:\n" + graph.plan());
  }
  figures.member("known", known).member("unknown", unknown).member("refused", refused);
  member(figures, "wrong", wrong);
}

constexpr int64_t kSizes[] = {1000, 10'000, 100'000};
const std::vector<double> kWeights = {0.7, 0.2, 0.1};

std::vector<Dataset> sources(bool shuffled) {
  std::vector<Dataset> all;
  for (int64_t s = 0; s < 3; ++s) {
    const Dataset numbers = range(kSizes[s]) | map([s](int64_t i) { return s * 1'000'000 + i; }, {.name = "numbers"});
    all.push_back(shuffled ? numbers | shuffle() : numbers);
  }
  return all;
}

// Counts until the first source has given all that it has, and at the end.
void mixture(const std::string& name, const Dataset& dataset, JsonWriter& figures) {
  std::vector<int64_t> counts(3), at_first_end;
  std::set<int64_t> seen;
  int64_t total = 0;
  const LogLines log;
  Loader loader(dataset | batch(50), {.seed = 31});
  for (const Batch& batch : loader) {
    for (const int64_t number : batch[0].as<int64_t>()) {
      const auto source = static_cast<size_t>(number / 1'000'000);
      ++counts[source];
      ++total;
      seen.insert(number);
      if (at_first_end.empty() && counts[source] == kSizes[source]) at_first_end = counts;
    }
  }
  figures.key(name).begin_object().member("total", total).member("twice", total - std::ssize(seen));
  member(figures, "counts", counts);
  member(figures, "at_first_end", at_first_end);
  member(figures, "log", log.lines());
  figures.end_object();
}

void mixtures(JsonWriter& figures) {
  figures.key("mixtures").begin_object();
  for (const bool shuffled : {false, true}) {
    const std::string with = shuffled ? ", shuffled" : "";
    const auto all = sources(shuffled);
    mixture("exact shares" + with, mix(all, kWeights), figures);
    mixture("until one ends" + with, sample_from_datasets(all, kWeights, {.stop_on_empty_dataset = true}), figures);
    mixture("until all end" + with, sample_from_datasets(all, kWeights), figures);
  }
  figures.end_object();
}

// N steps of a run over epochs of seven batches, with prefetch; and whether each edge is seen.
void steps(JsonWriter& figures) {
  constexpr int64_t kSteps = 5000;
  const Dataset epoch = range(100) | shuffle() | batch(15) | prefetch(4);
  Loader loader(epoch, {.epochs = -1, .seed = 1});
  int64_t taken = 0, edges = 0, last = 0;
  for (; taken < kSteps; ++taken) {
    const Batch batch = must_next(loader);
    edges += batch.epoch() == last ? 0 : 1;
    if (batch.index() != taken % 7 || batch.epoch() != taken / 7) break;
    last = batch.epoch();
  }
  int64_t repeated = 0;
  Loader endless(epoch | repeat() | take(kSteps) | prefetch(2), {.seed = 1});
  while (endless.next()) ++repeated;
  figures.member("steps", taken).member("edges", edges).member("repeated_steps", repeated);
}

}  // namespace

void true_lengths(const Run& run, JsonWriter& figures) {
  splits(run, figures);
  if (run.control()) return;
  graphs(run, figures);
  mixtures(figures);
  steps(figures);
}

}  // namespace headpond::scenarios
