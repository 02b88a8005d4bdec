// SPDX-License-Identifier: Apache-2.0
// Operators that stack elements.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/function.h"

namespace headpond {

struct BatchOptions {
  /// Drop the last elements if they are fewer than batch_size. Errors of theirs are given all the same; tf.data never
  /// compares the shapes of elements that it drops.
  bool drop_remainder = false;
};

/// Stacks `batch_size` elements along a new first dimension; the last batch may be smaller. The shapes of a field must
/// agree: an element of another shape is an error, and the next call gives its batch without it. Only with
/// drop_remainder does the spec tell how many rows a batch has, as elements that fail make the last one smaller.
Step batch(int64_t batch_size, BatchOptions options = {});

/// A padding value: a number, or a text for a field of bytes: `{{"tokens", -1}, {"words", "<pad>"}}`.
class PadWith {
 public:
  using Value = std::variant<int64_t, uint64_t, double, std::string>;  ///< uint64_t: from 2^63 on.
  PadWith() = default;                                                 ///< 0.
  template <class T>
    requires std::is_arithmetic_v<T>
  PadWith(T number) : value_(exact(number)) {}
  template <class T>
    requires std::is_convertible_v<const T&, std::string_view>
  PadWith(const T& text) : value_(std::string(std::string_view(text))) {}

  const Value& value() const { return value_; }

 private:
  template <class T>
  static Value exact(T number) {
    if constexpr (std::is_floating_point_v<T>) {
      return static_cast<double>(number);
    } else if constexpr (std::is_signed_v<T>) {
      return int64_t{number};
    } else {
      const uint64_t value = number;
      return std::in_range<int64_t>(value) ? Value(static_cast<int64_t>(value)) : Value(value);
    }
  }
  Value value_ = int64_t{0};
};

struct PaddedBatchOptions {
  bool drop_remainder = false;
  /// By field. A dimension of kUnknown is padded to the longest one of the batch, as are the unknown dimensions of a
  /// field that is not listed.
  std::map<std::string, Shape> padded_shapes = {};
  std::map<std::string, PadWith> padding_values = {};  ///< By field; default 0, of bytes "".
};

/// Like batch, for elements of different sizes: each is written at the beginning of its row, and the rest of the row is
/// padding. An element that is longer than a fixed padded shape, or of another rank, is an error. A field without a
/// name is called by its number: "0", "1".
Step padded_batch(int64_t batch_size, PaddedBatchOptions options = {});

/// How to treat a batch whose rows cannot be shared evenly: each rank has as many rows as the others.
enum class UnevenBatch : uint8_t {
  /// Its last rows are left out; a batch with fewer rows than ranks is left out by all. If it is known that there are
  /// fewer elements than ranks, but not none, a Loader refuses that, FailedPrecondition: no rank would get a batch.
  drop,
  pad,   ///< Its last row is given several times.
  wrap,  ///< Its first rows are given once more.
};

/// The rows of each batch that rank `rank` of `world_size` trains with: the first ranks have the first rows. The
/// batches of the input are those of all ranks together (global batches), so the batch size of one rank is that of the
/// input divided by world_size. A state belongs to global batches: a run saved by 4 ranks goes on with 3, and every
/// rank may restore the same state. All ranks agree on the rows of a batch even if elements fail or are filtered,
/// because each of them makes all rows; where that costs too much and no element fails, use shard() before the costly
/// step instead. Random operators after it draw the same numbers on every rank, as draws follow from the global batch:
/// put them before it. Throws unless 0 <= rank < world_size.
Step distribute(int64_t world_size, int64_t rank, UnevenBatch uneven = UnevenBatch::wrap);

struct DistributeOptions {
  UnevenBatch uneven = UnevenBatch::wrap;
  /// The field with a number for each row, at least 0: what the row costs, such as its length or its pixels. A field
  /// without a name is called by its number. "": the first ranks have the first rows.
  std::string cost_field = "";
  /// A field of this name (bool), after the others, is true for the rows of the batch, and false for those that `pad`
  /// and `wrap` add, which are the last rows of a rank: as that of pad_to_cardinality (structure.h). "": none. Throws
  /// if there is a field of that name.
  std::string mask_key = "";
  std::string name = "";  ///< Name of the cost function: see MapOptions.
  int version = 0;
};

namespace internal {
Step distribute_step(int64_t world_size, int64_t rank, const std::optional<Function>& cost,
                     const DistributeOptions& options);
}  // namespace internal

/// The same. With costs the rows of a batch are shared so that ranks need about the same time: each has as many rows as
/// without, the costliest row comes first, and each row goes to the rank that costs least so far. Among equals the
/// first row and the lowest rank come first, so all ranks agree. A rank has its rows in the order of the batch. A row
/// whose cost is below 0, infinite or NaN is an error of its batch. Throws also for a field that is no number for each
/// row.
Step distribute(int64_t world_size, int64_t rank, const DistributeOptions& options);
/// The same with `cost` for what a row costs. It takes the fields of a row as map's function does, without their first
/// dimension, and returns a number or a Result of it; pure. `distribute(8, rank, [](std::span<const int64_t> tokens) {
/// return tokens.size() * tokens.size(); })`.
template <class F>
  requires(!std::is_same_v<F, DistributeOptions> && !std::is_same_v<F, UnevenBatch>)
Step distribute(int64_t world_size, int64_t rank, F cost, const DistributeOptions& options = {}) {
  return internal::distribute_step(world_size, rank, internal::make_function(std::move(cost)), options);
}

}  // namespace headpond
