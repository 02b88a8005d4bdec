// SPDX-License-Identifier: Apache-2.0
#include "headpond/tf1/input_producers.h"

#include <fmt/format.h>

#include <atomic>
#include <memory>
#include <numeric>

#include "headpond/base/permutation.h"
#include "headpond/tf1/rows_internal.h"

namespace headpond::tf1 {
namespace {

using internal::refuse;

void check_epochs(const std::string& function, std::optional<int64_t> num_epochs) {
  if (num_epochs && *num_epochs < 1)
    refuse(function, fmt::format("num_epochs is {}, at least 1 is needed", *num_epochs));
}

tl::unexpected<Error> epochs_are_over(int64_t num_epochs) {
  return fail(ErrorKind::OutOfRange, fmt::format("reached the limit of {} epochs", num_epochs));
}

Tensor shuffled(const Tensor& rows, uint64_t seed, uint64_t epoch) {
  const Permutation order(random_key(seed, "input_producer", 0, epoch), rows.dim(0));
  std::vector<int64_t> numbers(static_cast<size_t>(rows.dim(0)));
  std::iota(numbers.begin(), numbers.end(), 0);
  order.apply(numbers, numbers.data());
  return internal::gather_rows(rows, numbers);
}

QueueRunner::Producer epochs_of(const FIFOQueue& queue, const Tensor& rows, const InputProducerOptions& options) {
  return [queue, rows, num_epochs = options.num_epochs, shuffle = options.shuffle, seed = options.seed,
          epoch = int64_t{0}](const std::stop_token& stop) mutable -> Result<void> {
    if (num_epochs && epoch >= *num_epochs) return epochs_are_over(*num_epochs);
    const Tensor all = shuffle ? shuffled(rows, seed, static_cast<uint64_t>(epoch)) : rows;
    HEADPOND_TRY(queue.enqueue_many({all}, {.stop = stop}));
    ++epoch;
    return {};
  };
}

InputProducer produce(const std::string& function, const Tensor& rows, const InputProducerOptions& options,
                      InputProducer::Lookup lookup = {}) {
  if (rows.rank() == 0) refuse(function, "a scalar has no rows");
  if (rows.dim(0) == 0) refuse(function, "a list without rows gives nothing, epoch after epoch");
  check_epochs(function, options.num_epochs);
  const Shape row = rows.shape().row();
  if (options.element_shape && !options.element_shape->admits(row)) {
    refuse(function,
           fmt::format("rows have shape {}, element_shape is {}", row.to_string(), options.element_shape->to_string()));
  }
  const FIFOQueue queue({.capacity = options.capacity,
                         .dtypes = {rows.dtype()},
                         .shapes = {row},
                         .name = options.name,
                         .shared_name = options.shared_name,
                         .default_name = "input_producer"});
  QueueRunner runner(queue, {epochs_of(queue, rows, options)}, {.cancel_op = options.cancel_op});
  return InputProducer(queue, std::move(runner), options.summary_name, std::move(lookup));
}

Tensor numbers_below(const std::string& function, int64_t limit) {
  if (limit < 1) refuse(function, fmt::format("a limit of {} leaves no number", limit));
  Tensor numbers = Tensor::empty(DType::i64, {limit});
  const auto values = numbers.mutable_as<int64_t>();
  std::iota(values.begin(), values.end(), 0);
  return numbers;
}

// The rows `number` of all.
Result<Element> slice(const Element& tensors, int64_t number) {
  const int64_t rows = tensors[0].dim(0);
  if (number < 0 || number >= rows)
    return fail(ErrorKind::InvalidArgument,
                fmt::format("slice_input_producer: there is no row {} of {}", number, rows));
  Element slice;
  slice.reserve(tensors.size());
  for (size_t field = 0; field < tensors.size(); ++field) slice.append(tensors[field].row(number));
  slice.set_names(tensors.names());
  slice.key = static_cast<uint64_t>(number);
  return slice;
}

Result<Element> looked_up(Result<Element> row, const InputProducer::Lookup& lookup) try {
  return row && lookup ? lookup(*row) : row;
} catch (...) {
  return fail(current_exception_error());
}

}  // namespace

InputProducer::InputProducer(FIFOQueue queue, QueueRunner runner, std::string summary_name, Lookup lookup)
    : queue_(std::move(queue)),
      runner_(std::move(runner)),
      summary_name_(std::move(summary_name)),
      lookup_(std::move(lookup)) {}

Result<Element> InputProducer::dequeue(Wait wait) const { return looked_up(queue_.dequeue(std::move(wait)), lookup_); }

Source InputProducer::source() const {
  return [queue = queue_, lookup = lookup_](std::stop_token stop) {
    return looked_up(queue.dequeue({.stop = std::move(stop)}), lookup);
  };
}

Source limit_epochs(Element example, std::optional<int64_t> num_epochs) {
  check_epochs("limit_epochs", num_epochs);
  const auto used = std::make_shared<std::atomic<int64_t>>(0);
  return [example = std::move(example), num_epochs, used](const std::stop_token&) -> Result<Element> {
    if (!num_epochs) return example;
    for (int64_t before = *used; before < *num_epochs;) {
      if (used->compare_exchange_weak(before, before + 1)) return example;
    }
    return epochs_are_over(*num_epochs);
  };
}

InputProducer input_producer(const Tensor& rows, const InputProducerOptions& options) {
  return produce("input_producer", rows, options);
}

InputProducer string_input_producer(const std::vector<std::string>& strings, const InputProducerOptions& options) {
  const std::vector<std::string_view> views(strings.begin(), strings.end());
  const auto count = static_cast<int64_t>(views.size());
  return produce("string_input_producer", Tensor::from(std::span<const std::string_view>(views), {count}), options);
}

InputProducer range_input_producer(int64_t limit, const InputProducerOptions& options) {
  return produce("range_input_producer", numbers_below("range_input_producer", limit), options);
}

InputProducer slice_input_producer(Element tensors, const InputProducerOptions& options) {
  const std::string function = "slice_input_producer";
  if (tensors.size() == 0) refuse(function, "no tensors");
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (tensors[i].rank() == 0) refuse(function, fmt::format("component {} is a scalar and has no rows", i));
    if (tensors[i].dim(0) == tensors[0].dim(0)) continue;
    refuse(function,
           fmt::format("component 0 has {} rows, component {} has {}", tensors[0].dim(0), i, tensors[i].dim(0)));
  }
  const Tensor numbers = numbers_below(function, tensors[0].dim(0));
  return produce(function, numbers, options, [tensors = std::move(tensors)](const Element& number) {
    return slice(tensors, number[0].as<int64_t>()[0]);
  });
}

}  // namespace headpond::tf1
