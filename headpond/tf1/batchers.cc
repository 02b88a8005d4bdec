// SPDX-License-Identifier: Apache-2.0
#include "headpond/tf1/batchers.h"

#include <fmt/format.h>

#include <memory>

#include "headpond/queue/padding_fifo_queue.h"
#include "headpond/tf1/rows_internal.h"

namespace headpond::tf1 {
namespace {

using internal::refuse;

constexpr int64_t kMostThreads = 1024;

// What a producer does with the examples of its source.
struct Feed {
  Queue queue;
  Source source;
  KeepInput keep;  // Empty: all.
  bool rows;

  Result<void> operator()(const std::stop_token& stop) const;
};

Result<void> bad_mask(const std::string& why) { return fail(ErrorKind::InvalidArgument, "keep_input: " + why); }

// Leaves the rows of `example` for which `mask` is true.
Result<void> keep_rows(const Tensor& mask, Element& example) {
  std::vector<int64_t> kept;
  const auto keeps = mask.as<bool>();
  for (size_t i = 0; i < keeps.size(); ++i) {
    if (keeps[i]) kept.push_back(static_cast<int64_t>(i));
  }
  for (size_t field = 0; field < example.size(); ++field) {
    const Tensor& rows = example[field];
    if (rows.rank() == 0 || rows.dim(0) != mask.dim(0)) {
      return bad_mask(
          fmt::format("a mask of {} rows for component {} of shape {}", mask.dim(0), field, rows.shape().to_string()));
    }
    example[field] = internal::gather_rows(rows, kept);
  }
  return {};
}

// False iff nothing of the example is kept.
Result<bool> choose(const KeepInput& keep, bool rows, Element& example) {
  const auto mask = keep(example);
  if (!mask) return fail(mask.error());
  if (mask->dtype() != DType::boolean || mask->rank() > (rows ? 1 : 0)) {
    HEADPOND_TRY(
        bad_mask(fmt::format("expected a boolean scalar{}, received {} of shape {}",
                             rows ? " or one boolean a row" : "", name(mask->dtype()), mask->shape().to_string())));
  }
  if (mask->rank() == 0) return mask->as<bool>()[0];
  HEADPOND_TRY(keep_rows(*mask, example));
  return true;
}

Result<void> Feed::operator()(const std::stop_token& stop) const {
  auto example = source(stop);
  if (!example) return fail(example.error());
  if (keep) {
    const auto kept = choose(keep, rows, *example);
    if (!kept) return fail(kept.error());
    if (!*kept) return {};
  }
  return rows ? queue.enqueue_many(std::move(*example), {.stop = stop})
              : queue.enqueue(std::move(*example), {.stop = stop});
}

void check_batch_size(const std::string& function, int64_t batch_size) {
  if (batch_size < 1) refuse(function, fmt::format("batch_size is {}, at least 1 is needed", batch_size));
}

template <class Options>
QueueOptions queue_options(const std::string& function, const Options& options, bool joins) {
  check_batch_size(function, options.batch_size);
  if (options.num_threads < 1 || options.num_threads > kMostThreads) {
    refuse(function, fmt::format("num_threads is {}: must be 1 to {}", options.num_threads, kMostThreads));
  }
  if (joins && options.num_threads != 1) {
    refuse(function, fmt::format("num_threads is {}, but each source has a thread of its own", options.num_threads));
  }
  if (options.shapes.size() != options.dtypes.size() || options.dtypes.empty()) {
    refuse(function, fmt::format("{} dtypes and {} shapes: give one of each for every component", options.dtypes.size(),
                                 options.shapes.size()));
  }
  return {.capacity = options.capacity,
          .dtypes = options.dtypes,
          .shapes = options.shapes,
          .names = options.names,
          .name = options.name,
          .shared_name = options.shared_name,
          .default_name = function};
}

template <class Options>
Batcher make(const std::string& function, const Queue& queue, std::vector<Source> sources, const KeepInput& keep,
             const Options& options) {
  if (sources.empty()) refuse(function, "no sources");
  std::vector<QueueRunner::Producer> producers;
  for (Source& source : sources) {
    if (!source) refuse(function, "an empty source");
    const auto feed = std::make_shared<const Feed>(Feed{queue, std::move(source), keep, options.enqueue_many});
    for (int64_t i = 0; i < options.num_threads; ++i) {
      producers.emplace_back([feed](const std::stop_token& stop) { return (*feed)(stop); });
    }
  }
  return {queue, QueueRunner(queue, std::move(producers)), options.batch_size, options.allow_smaller_final_batch};
}

std::vector<Source> one(Source source) {
  std::vector<Source> sources;
  sources.push_back(std::move(source));
  return sources;
}

Batcher in_order(const std::string& function, std::vector<Source> sources, const KeepInput& keep,
                 const BatchOptions& options, bool joins) {
  QueueOptions of_queue = queue_options(function, options, joins);
  if (options.dynamic_pad) {
    return make(function, PaddingFIFOQueue(std::move(of_queue)), std::move(sources), keep, options);
  }
  return make(function, FIFOQueue(std::move(of_queue)), std::move(sources), keep, options);
}

Batcher mixed(const std::string& function, std::vector<Source> sources, const KeepInput& keep,
              const ShuffleBatchOptions& options, bool joins) {
  const RandomShuffleQueue queue(queue_options(function, options, joins), options.min_after_dequeue, options.seed);
  return make(function, queue, std::move(sources), keep, options);
}

KeepInput checked(const std::string& function, KeepInput keep_input) {
  if (!keep_input) refuse(function, "an empty keep_input");
  return keep_input;
}

}  // namespace

Batcher::Batcher(Queue queue, QueueRunner runner, int64_t batch_size, bool allow_smaller_final_batch)
    : queue_(std::move(queue)),
      runner_(std::move(runner)),
      batch_size_(batch_size),
      allow_smaller_final_batch_(allow_smaller_final_batch) {
  check_batch_size("Batcher", batch_size);
}

Result<Element> Batcher::dequeue(Wait wait) const {
  return allow_smaller_final_batch_ ? queue_.dequeue_up_to(batch_size_, std::move(wait))
                                    : queue_.dequeue_many(batch_size_, std::move(wait));
}

Batcher batch(Source source, const BatchOptions& options) {
  return in_order("batch", one(std::move(source)), {}, options, false);
}
Batcher batch_join(std::vector<Source> sources, const BatchOptions& options) {
  return in_order("batch_join", std::move(sources), {}, options, true);
}
Batcher shuffle_batch(Source source, const ShuffleBatchOptions& options) {
  return mixed("shuffle_batch", one(std::move(source)), {}, options, false);
}
Batcher shuffle_batch_join(std::vector<Source> sources, const ShuffleBatchOptions& options) {
  return mixed("shuffle_batch_join", std::move(sources), {}, options, true);
}

// In TensorFlow, too, their queues have the names of those that keep everything.
Batcher maybe_batch(Source source, KeepInput keep_input, const BatchOptions& options) {
  return in_order("batch", one(std::move(source)), checked("maybe_batch", std::move(keep_input)), options, false);
}
Batcher maybe_batch_join(std::vector<Source> sources, KeepInput keep_input, const BatchOptions& options) {
  return in_order("batch_join", std::move(sources), checked("maybe_batch_join", std::move(keep_input)), options, true);
}
Batcher maybe_shuffle_batch(Source source, KeepInput keep_input, const ShuffleBatchOptions& options) {
  return mixed("shuffle_batch", one(std::move(source)), checked("maybe_shuffle_batch", std::move(keep_input)), options,
               false);
}
Batcher maybe_shuffle_batch_join(std::vector<Source> sources, KeepInput keep_input,
                                 const ShuffleBatchOptions& options) {
  return mixed("shuffle_batch_join", std::move(sources), checked("maybe_shuffle_batch_join", std::move(keep_input)),
               options, true);
}

}  // namespace headpond::tf1
