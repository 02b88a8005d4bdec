// SPDX-License-Identifier: Apache-2.0
// Operators that take batches apart, or gather elements otherwise than one after the other: by key, in windows, in
// packed rows. Those that gather by length are in bucket.h.
//
// Some hold elements from one of their own elements to the next. A state has no element: over an input with positions
// it lists those of the held elements, one to three bytes each, and a restored run reads exactly these again; over any
// other input it has the input's state before the oldest one, and a restored run reads on from there. At most 16,384
// elements are held, so a state stays below 64 KiB; explain() says how many. What is held when the epoch ends is given
// before the end. An element that fails, or that fits nowhere, is an error in its place, and no other element is lost.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/function.h"
#include "headpond/dataset/ops/batch.h"

namespace headpond {

/// The rows of each batch as elements: each field without its first dimension. All fields of a batch have the same
/// number of rows; a batch in which they differ is one error in its place, a batch without rows gives nothing. Throws
/// for a field without rows. The key of a row is that of the batch, mixed with the row's number. If the spec tells how
/// many rows each batch has, and the input has positions, rows have positions (each of which makes its whole batch:
/// shuffle before batch rather than after unbatch). A state is the input's, and a number; a restored run reads the
/// batch that it was in again.
Step unbatch();

/// The rows of batches in batches of `batch_size`, or of each of `batch_sizes` in turn, again and again: what
/// unbatch | batch gives, without taking batches apart. The last batch may be smaller, and is dropped with
/// drop_remainder. A batch whose rows differ in shape from those gathered so far is an error and is left
/// out. Throws unless each size is at least 1. Has positions if the input has, and its spec tells how many rows
/// each batch has. Holds one batch of its own and one of the input. A state is the input's, and two numbers; a restored
/// run reads the batch that it was in again.
Step rebatch(int64_t batch_size, BatchOptions options = {});
Step rebatch(const std::vector<int64_t>& batch_sizes, BatchOptions options = {});

/// Given a key and the elements that have it, a dataset of at most window_size elements, returns a dataset of them:
/// often `window | batch(n)`. Pure. May throw.
using GroupReduce = std::function<Dataset(int64_t key, const Dataset& window)>;

struct GroupByWindowOptions {
  int64_t window_size = 0;                                         ///< Either this,
  std::function<int64_t(int64_t key)> window_size_func = nullptr;  ///< or this. Pure.
  /// If more elements are held, the window with the oldest one is given before it is full. 1 to 16,384.
  int64_t max_held = 16'384;
  Spec output = {};       ///< Fields of the datasets; empty: those that reduce gives for key 0 and an empty window.
  std::string name = "";  ///< Name of the functions: see MapOptions.
  int version = 0;
};

struct WindowOptions {
  std::optional<int64_t> shift =
      std::nullopt;             ///< From the first element of a window to that of the next; default: size.
  int64_t stride = 1;           ///< From an element of a window to the next one.
  bool drop_remainder = false;  ///< Only windows of `size` elements.
};

namespace internal {
Step group_by_window_step(const Function& key, const GroupReduce& reduce, const GroupByWindowOptions& options);
}  // namespace internal

/// Gathers elements by key, and gives the elements of what `reduce_func` makes of each window of window_size elements
/// of one key; at the end of the incomplete windows, from the lowest key on. `key_func` takes arguments as map's
/// function does and returns int64_t or int32_t, or a Result of it. Keys of elements are mixed with the number of their
/// window.
template <class F>
Step group_by_window(F key_func, const GroupReduce& reduce_func, const GroupByWindowOptions& options) {
  return internal::group_by_window_step(internal::make_function(std::move(key_func)), reduce_func, options);
}

/// Windows of `size` elements: window k begins with element k * shift, and has each stride-th one from there on. The
/// last windows have fewer elements, unless drop_remainder. Windows are stacked, as by batch(size), and so have
/// positions if the input has: this is tf.data's `window(...).flat_map(lambda w: w.batch(size))`.
///
/// tf.data gives each window as a dataset. Elements are tensors here, so `each` says what is made of that dataset, and
/// the elements of what it makes are given, one window after the other: tf.data's `window(...).flat_map(each)`. For
/// example `window(5, padded_batch(5), {.shift = 1})`. Unlike in tf.data, a window of several fields is one dataset,
/// and the error of an element that is in no window is given too.
Step window(int64_t size, const WindowOptions& options = {});
Step window(int64_t size, const Step& each, const WindowOptions& options = {});

struct RaggedBatchOptions {
  bool drop_remainder = false;
  DType row_splits_dtype = DType::i64;  ///< Or i32.
};

/// Like batch, for elements of different sizes without padding. A field with unknown dimensions becomes two: the values
/// of all rows one after the other, [values, ...], and "<field>.row_splits" [rows + 1], so that row i has the values
/// from row_splits[i] to below row_splits[i + 1]. If another dimension than the first is unknown, there is
/// "<field>.row_splits_1" with the splits of the rows' rows, and so on, as nested_row_splits in TensorFlow. Other
/// fields are stacked. If several fields have no name, each goes by its number: "0.row_splits". A state is like
/// batch's.
Step ragged_batch(int64_t batch_size, RaggedBatchOptions options = {});

/// tf.data's dense_to_sparse_batch: elements of one field, of different sizes, as a sparse tensor. The field becomes
/// three, named as those of a Sparse feature (io/example/example.h): "<field>.indices", int64 [values, rank + 1], the
/// row and the index in it of each value; "<field>.values" [values], zeros and empty texts too, row-major; and
/// "<field>.shape", int64 [rank + 1], the number of rows and then `row_shape`, where a dimension of kUnknown is the
/// largest one of the batch. An element that is larger than `row_shape` is an error, DataLoss. The last batch may be
/// smaller. Throws for several fields, and for a field of another rank than `row_shape`. A state is as batch's.
Step sparse_batch(int64_t batch_size, const Shape& row_shape);

/// Which bin a sequence goes into, of those with room for it; and which bin is given when none has room.
enum class PackFit : uint8_t {
  first_fit,  ///< The oldest one.
  best_fit,   ///< The one with the least room.
};

struct PackOptions {
  std::map<std::string, int64_t> lengths = {};  ///< By field, where it is not `length`.
  PackFit fit = PackFit::first_fit;
  int64_t num_packing_bins = 64;                       ///< Rows that are open at once, 1 to 4,096.
  int64_t max_sequences_per_bin = 0;                   ///< 0: as many as fit.
  std::map<std::string, PadWith> padding_values = {};  ///< By field; default 0.
};

/// Packs several sequences into rows of `length` values, as Grain does. Each field [n, ...] becomes three: its values,
/// one sequence after the other, [length, ...]; "<field>_segment_ids", int32 [length], 1 for the first sequence of the
/// row, 2 for the next, 0 for padding; and "<field>_positions", int32 [length], counting from 0 in each sequence. A
/// sequence has all its fields in one row. A row is given when it is full, or when no open one has room for the next
/// sequence; at the end the others are given, the oldest first. An element that is longer than a row, or has no values,
/// is an error. Throws for a field of bytes, without a first dimension, or with another one unknown. Fields without a
/// name go by their number, "0", in the options and, if there are several fields, in the names of the new ones.
Step pack(int64_t length, const PackOptions& options = {});

}  // namespace headpond
