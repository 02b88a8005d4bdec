// SPDX-License-Identifier: Apache-2.0
// Scenario 17: texts of very different length under a budget of padded tokens.
#include <cmath>
#include <limits>
#include <optional>

#include "corpus.h"
#include "headpond/base/random.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/io/file/file.h"
#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kTexts = 100'000, kBudget = 16'384, kShapes = 24;
const Spec kTokens = {{"tokens", i32, {kUnknown}}};

Dataset texts(const Run& run) {
  return tfrecord(run.place + "/tokens-*.tfrecord") | shuffle() |
         map(text_tokens, {.output = kTokens, .name = "text_tokens"});
}

// Each a twelfth larger than the one before: what is padded is a small part then.
std::vector<int64_t> narrow_boundaries() {
  std::vector<int64_t> all;
  for (int64_t boundary = 24; boundary < kBudget; boundary += std::max<int64_t>(4, boundary / 12))
    all.push_back(boundary);
  return all;
}

// For each length how many texts have it.
std::vector<int64_t> lengths_of(int64_t first, int64_t step) {
  std::vector<int64_t> counts(kLongestText + 1);
  for (int64_t i = first; i < kTexts; i += step) ++counts[static_cast<size_t>(text_length(i))];
  return counts;
}

// The upper ends of `kShapes` shapes that pad all texts with the fewest tokens: dynamic programming over the lengths
// that occur.
std::vector<int64_t> best_shapes(const std::vector<int64_t>& counts) {
  std::vector<int64_t> lengths, texts_up_to = {0};
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    lengths.push_back(static_cast<int64_t>(i));
    texts_up_to.push_back(texts_up_to.back() + counts[i]);
  }
  const size_t n = lengths.size();
  std::vector<int64_t> cost(n + 1, std::numeric_limits<int64_t>::max() / 2);
  cost[0] = 0;
  std::vector<std::vector<uint32_t>> from(kShapes, std::vector<uint32_t>(n + 1));
  for (auto& step : from) {
    std::vector<int64_t> next(n + 1, std::numeric_limits<int64_t>::max() / 2);
    next[0] = 0;
    for (size_t end = 1; end <= n; ++end) {
      for (size_t begin = 0; begin < end; ++begin) {
        const int64_t all = cost[begin] + (texts_up_to[end] - texts_up_to[begin]) * lengths[end - 1];
        if (all < next[end]) {
          next[end] = all;
          step[end] = static_cast<uint32_t>(begin);
        }
      }
    }
    cost = std::move(next);
  }
  std::vector<int64_t> ends;
  for (size_t at = n, shape = kShapes; at > 0 && shape > 0; at = from[--shape][at]) ends.push_back(lengths[at - 1]);
  std::ranges::reverse(ends);
  return ends;
}

double padded_share(const std::vector<int64_t>& counts, const std::vector<int64_t>& ends) {
  int64_t padded = 0, real = 0;
  for (size_t length = 0; length < counts.size(); ++length) {
    const auto end = std::ranges::lower_bound(ends, static_cast<int64_t>(length));
    if (counts[length] == 0) continue;
    padded += counts[length] * *end;
    real += counts[length] * static_cast<int64_t>(length);
  }
  return 1 - static_cast<double>(real) / static_cast<double>(padded);
}

// Shapes from each twentieth text and the longest that may come, as a user would choose them.
std::vector<int64_t> chosen_shapes() {
  std::vector<int64_t> sample = lengths_of(0, 20);
  ++sample[kLongestText];
  return best_shapes(sample);
}

Step fixed_shapes() {
  std::vector<int64_t> boundaries, sizes;
  for (const int64_t end : chosen_shapes()) {
    boundaries.push_back(end + 1);
    sizes.push_back(kBudget / end);
  }
  sizes.push_back(1);
  return bucket_by_sequence_length("tokens", boundaries, sizes, {.pad_to_bucket_boundary = true});
}

// One epoch, as the check saw it.
struct Seen {
  int64_t batches = 0, violations = 0, padded = 0, real = 0, wrong = 0;
  std::vector<uint8_t> times = std::vector<uint8_t>(kTexts);

  // The tokens of one text.
  void add(std::span<const int32_t> text) {
    const int64_t number = text[0];
    real += std::ssize(text);
    ++times[static_cast<size_t>(number)];
    for (size_t i = 0; i < text.size(); ++i) wrong += text[i] == token(number, static_cast<int64_t>(i)) ? 0 : 1;
  }
  void write(JsonWriter& figures) const {
    const bool once = std::ranges::all_of(times, [](uint8_t count) { return count == 1; });
    figures.begin_object().member("batches", batches).member("violations", violations).member("padded", padded);
    figures.member("real", real).member("wrong", wrong).member("exactly_once", once).end_object();
  }
};

void see_rows(const Batch& batch, Seen& seen) {
  const int64_t rows = batch[0].dim(0), width = batch[0].dim(1);
  const auto all = batch[0].as<int32_t>();
  ++seen.batches;
  seen.padded += rows * width;
  seen.violations += rows * width > kBudget ? 1 : 0;
  for (int64_t row = 0; row < rows; ++row) {
    const auto text = all.subspan(static_cast<size_t>(row * width), static_cast<size_t>(width));
    const int64_t length = text_length(text[0]);
    if (length > width || std::ranges::any_of(text.subspan(static_cast<size_t>(std::min(length, width))),
                                              [](int32_t t) { return t != 0; })) {
      ++seen.wrong;
    }
    seen.add(text.first(static_cast<size_t>(std::min(length, width))));
  }
}

// One packed row: texts by their segment numbers.
void see_packed(const Batch& batch, Seen& seen) {
  const auto tokens = batch["tokens"].as<int32_t>(), segments = batch["tokens_segment_ids"].as<int32_t>();
  ++seen.batches;
  seen.padded += std::ssize(tokens);
  seen.violations += std::ssize(tokens) > kBudget ? 1 : 0;
  for (size_t at = 0; at < tokens.size() && segments[at] != 0;) {
    size_t end = at;
    while (end < tokens.size() && segments[end] == segments[at]) ++end;
    seen.add(tokens.subspan(at, end - at));
    at = end;
  }
}

using See = void (*)(const Batch&, Seen&);

void epochs(const char* name, const Dataset& dataset, See see, JsonWriter& figures) {
  const int64_t began = now_ns();
  Loader loader(dataset, {.epochs = 2, .seed = 8});
  std::optional<double> first;
  figures.key(name).begin_object().key("epochs").begin_array();
  for (const auto epoch : loader.epochs()) {
    Seen seen;
    for (const Batch& batch : epoch) {
      if (!first) first = ms_since(began) / 1e3;
      see(batch, seen);
    }
    seen.write(figures);
  }
  figures.end_array().member("first_batch_s", first.value_or(-1));
}

// Whether runs that are interrupted after some batches, in the middle of buckets, go on exactly.
void resumes(const Dataset& dataset, JsonWriter& figures) {
  const LoaderOptions options = {.seed = 8};
  Loader whole(dataset, options);
  const uint64_t expected = rest_of(whole, 0);
  bool exact = true;
  size_t most = 0;
  for (const int at : {1, 100, 701, 1400}) {
    const Resumed run = resumed(dataset, at, options, options);
    most = std::max(most, run.state_bytes);
    exact = exact && run.sum == expected;
  }
  figures.member("resumes_exact", exact).member("state_bytes", most).end_object();
}

void mode(const char* name, const Dataset& dataset, See see, JsonWriter& figures) {
  epochs(name, dataset, see, figures);
  resumes(dataset, figures);
}

// A text of 20,000 tokens among others: what comes for it, and whether the others stay.
void oversized(JsonWriter& figures) {
  const auto make = [](int64_t i) {
    return Tensor::from(std::vector<int32_t>(i == 70 ? 20'000 : 100, static_cast<int32_t>(i)),
                        {i == 70 ? 20'000 : 100});
  };
  const Dataset all = range(200) | map(make, {.output = kTokens, .name = "make"});
  const std::map<std::string, Dataset> modes = {{"bucket", all | batch_by_size(kBudget, "tokens")},
                                                {"shapes", all | fixed_shapes()},
                                                {"pack", all | pack(kBudget)}};
  figures.key("oversized").begin_object();
  for (const auto& [name, dataset] : modes) {
    Loader loader(dataset);
    int64_t errors = 0, tokens = 0;
    std::string text;
    for (auto batch = loader.next(); !at_end(batch); batch = loader.next()) {
      if (batch) {
        const auto values = (*batch)[0].as<int32_t>();
        tokens += std::ranges::count_if(values, [](int32_t value) { return value != 0; });
      } else {
        ++errors;
        text = batch.error().to_string();
      }
    }
    figures.key(name)
        .begin_object()
        .member("errors", errors)
        .member("tokens", tokens)
        .member("text", text)
        .end_object();
  }
  figures.end_object();
}

int64_t clips(const Run& run) { return run.full ? 3000 : 300; }

// W within a minute of padded sound a batch.
void sounds(const Run& run, JsonWriter& figures) {
  const int64_t count = clips(run), budget = 60 * kClipRate;
  const auto read = [](std::string_view path) -> Result<Tensor> {
    auto file = read_file(std::string(path));
    if (!file) return fail(file.error());
    auto wav = decode_wav(*file, {}, path);
    if (!wav) return fail(wav.error());
    return wav->samples;
  };
  Loader loader(
      list_files(run.place + "/clips/*.wav") | map(read, {.output = {{"sound", f32, {kUnknown, 1}}}, .name = "read"}) |
      batch_by_size(budget, "sound", {.bucket_boundaries = {16'000, 24'000, 32'000, 40'000, 48'000, 56'000}}));
  int64_t violations = 0, rows = 0, batches = 0;
  for (const Batch& batch : loader) {
    violations += batch[0].dim(0) * batch[0].dim(1) > budget ? 1 : 0;
    rows += batch[0].dim(0);
    ++batches;
  }
  figures.key("sounds").begin_object().member("violations", violations).member("rows", rows).member("count", count);
  figures.member("batches", batches).end_object();
}

// What a driver in another language needs.
void describe(JsonWriter& figures) {
  std::vector<int64_t> lengths(kTexts);
  for (int64_t i = 0; i < kTexts; ++i) lengths[static_cast<size_t>(i)] = text_length(i);
  const auto counts = lengths_of(0, 1);
  member(figures, "lengths", lengths);
  member(figures, "shapes", chosen_shapes());
  member(figures, "boundaries", narrow_boundaries());
  figures.member("best_shapes_waste", padded_share(counts, best_shapes(counts)));
}

}  // namespace

void token_budget(const Run& run, JsonWriter& figures) {
  if (run.mode == "corpus") {
    write_tokens(run.place, kTexts);
    write_clips(run.place + "/clips", clips(run));
    return describe(figures);
  }
  const Dataset all = texts(run);
  if (run.control()) {  // A budget of the texts' own tokens.
    epochs("bucket", all | batch_by_size(kBudget, "tokens", {.sum_of_sizes = true}), see_rows, figures);
    figures.end_object();
    return;
  }
  const auto counts = lengths_of(0, 1);
  figures.member("best_shapes_waste", padded_share(counts, best_shapes(counts)));
  mode("bucket", all | batch_by_size(kBudget, "tokens", {.bucket_boundaries = narrow_boundaries()}), see_rows, figures);
  mode("shapes", all | fixed_shapes(), see_rows, figures);
  mode("pack", all | pack(kBudget, {.fit = PackFit::best_fit, .num_packing_bins = 32}), see_packed, figures);
  oversized(figures);
  sounds(run, figures);
}

}  // namespace headpond::scenarios
