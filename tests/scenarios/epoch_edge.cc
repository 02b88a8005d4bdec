// SPDX-License-Identifier: Apache-2.0
// Scenario 7: an epoch's end costs nothing, is marked exactly, and can come early.
#include <optional>

#include "scenario.h"

namespace headpond::scenarios {
namespace {

constexpr int64_t kRows = 8, kBatches = 3;
constexpr int64_t kElementUs = 50'000 / kRows;

// One number per element of an epoch: the strength of an augmentation, which changes at epoch `change`.
Dataset strengths(int64_t count, uint64_t change) {
  const auto make = [count, change](uint64_t epoch) -> Generator {
    return [left = count, strength = int64_t{epoch >= change ? 2 : 1}]() mutable -> Result<std::optional<Element>> {
      if (left-- <= 0) return std::nullopt;
      return Element{Tensor::scalar(strength)};
    };
  };
  return from_generator(make, {{"strength", i64, {}}}, {.name = "strengths"});
}

Dataset augmented(int64_t batches, int64_t element_us, uint64_t change) {
  const auto work = [element_us](int64_t x, int64_t strength) {
    burn_us(element_us);
    return std::tuple(x, x * strength);
  };
  const int64_t count = batches * kRows;
  return zip({range(count) | shuffle(), strengths(count, change)}) | map(work, {.name = "augment"}) | batch(kRows);
}

// The control ends all threads at each edge and starts others.
class Epochs {
 public:
  Epochs(Dataset dataset, const LoaderOptions& options, bool rejoins)
      : dataset_(std::move(dataset)),
        options_(options),
        rejoins_(rejoins),
        loader_(std::in_place, dataset_, options_) {}
  Result<Batch> next_in_epoch() {
    auto batch = loader_->next_in_epoch();
    if (!batch && !batch.error().is_end()) throw Exception(batch.error());
    if (!batch && rejoins_) {
      const std::string state = loader_->state();
      loader_.reset();
      auto again = Loader::restored(dataset_, options_, state);
      if (!again) throw Exception(again.error());
      loader_.emplace(std::move(*again));
    }
    return batch;
  }
  void next_epoch() { loader_->next_epoch(); }

 private:
  const Dataset dataset_;
  const LoaderOptions options_;
  const bool rejoins_;
  std::optional<Loader> loader_;
};

// With a device step of 60 ms: the steps inside an epoch, and those that cross an edge.
void steps(int64_t epochs, int64_t batches, bool rejoins, JsonWriter& figures) {
  Epochs all(augmented(batches, kElementUs, UINT64_MAX), {.epochs = epochs, .seed = 1}, rejoins);
  std::vector<double> inside, edge;
  int64_t last = 0;
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    for (bool first = true; all.next_in_epoch(); first = false) {
      const int64_t now = now_ns();
      if (last != 0) (first ? edge : inside).push_back(static_cast<double>(now - last) / 1e6);
      last = now;
      sleep_us(60'000);
    }
  }
  member(figures, "step_ms", inside);
  member(figures, "edge_ms", edge);
}

// In turn, short epochs, and as many batches in one epoch, which has no edge.
void edges(const Run& run, JsonWriter& figures) {
  const int64_t epochs = run.full ? 100 : 12;
  figures.key("runs").begin_array();
  for (int round = 0; round < 3; ++round) {
    figures.begin_object().key("short").begin_object();
    steps(epochs, kBatches, run.control(), figures);
    figures.end_object().key("long").begin_object();
    steps(1, epochs * kBatches, false, figures);
    figures.end_object().end_object();
  }
  figures.end_array();
}

double seconds(int64_t epochs, int64_t batches, bool rejoins) {
  Epochs all(augmented(batches, kElementUs, UINT64_MAX), {.epochs = epochs, .seed = 1}, rejoins);
  const int64_t began = now_ns();
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    while (all.next_in_epoch()) sleep_us(10'000);
  }
  return static_cast<double>(now_ns() - began) / 1e9;
}

void rates(const Run& run, JsonWriter& figures) {
  const int64_t epochs = run.full ? 100 : 20;
  std::vector<double> short_s, long_s;
  for (int round = 0; round < (run.full ? 5 : 3); ++round) {
    short_s.push_back(seconds(epochs, kBatches, run.control()));
    long_s.push_back(seconds(1, epochs * kBatches, false));
  }
  member(figures, "short_epochs_s", short_s);
  member(figures, "long_epoch_s", long_s);
}

// A hundred epochs; the strength changes at 50; epoch 60 is left after two batches.
void marks(const Run& run, uint64_t seed, const char* name, JsonWriter& figures) {
  Epochs all(augmented(kBatches, 100, 50), {.epochs = 100, .seed = seed}, run.control());
  figures.key(name).begin_array();
  for (int64_t epoch = 0; epoch < 100; ++epoch) {
    std::vector<int64_t> marked, indices, order, strength;
    while (auto batch = all.next_in_epoch()) {
      marked.push_back(batch->epoch());
      indices.push_back(batch->index());
      const auto x = (*batch)[0].as<int64_t>(), y = (*batch)[1].as<int64_t>();
      order.insert(order.end(), x.begin(), x.end());
      for (size_t i = 0; i < x.size(); ++i) {
        if (x[i] > 0) strength.push_back(y[i] / x[i]);
      }
      if (epoch == 60 && indices.size() == 2) {
        all.next_epoch();
        break;
      }
    }
    figures.begin_object();
    member(figures, "epochs", marked);
    member(figures, "indices", indices);
    member(figures, "order", order);
    member(figures, "strength", strength);
    figures.end_object();
  }
  figures.end_array();
}

}  // namespace

void epoch_edge(const Run& run, JsonWriter& figures) {
  edges(run, figures);
  rates(run, figures);
  marks(run, 1, "marks", figures);
  marks(run, 1, "marks_again", figures);
}

}  // namespace headpond::scenarios
