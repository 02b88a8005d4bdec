// SPDX-License-Identifier: Apache-2.0
// Operators that take batches apart, or gather elements otherwise than one after the other: by length, by key, in
// windows, in packed rows.
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
#include "headpond/dataset/ops/lengths.h"

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

struct BucketOptions {
  std::map<std::string, Shape> padded_shapes = {};     ///< As in padded_batch.
  std::map<std::string, PadWith> padding_values = {};  ///< The same.
  /// Pad unknown dimensions to the longest element that the bucket may have, its boundary - 1, rather than to the
  /// longest one of the batch. Then an element beyond the last boundary is an error.
  bool pad_to_bucket_boundary = false;
  bool no_padding = false;  ///< All elements of a bucket have the same shapes.
  bool drop_remainder = false;
  std::string name = "";  ///< Of the length function: see MapOptions.
  int version = 0;
};

struct BatchBySizeOptions {
  /// The size of a batch is the sum of the sizes of its elements; else their number times the largest one, which is
  /// what it takes when it is padded.
  bool sum_of_sizes = false;
  int64_t max_elements = 0;  ///< Of a batch; 0: as many as fit.
  std::vector<int64_t> bucket_boundaries =
      {};  ///< A batch has elements of one bucket, as in bucket_by_sequence_length.
  std::map<std::string, Shape> padded_shapes = {};
  std::map<std::string, PadWith> padding_values = {};
  bool no_padding = false;
  bool drop_remainder = false;
  std::string name = "";  ///< Of the size function: see MapOptions.
  int version = 0;
};

/// Given a key and the elements that have it, a dataset of at most window_size elements, returns a dataset of them:
/// often `window | batch(n)`. Pure. May throw.
using GroupReduce = std::function<Dataset(int64_t key, const Dataset& window)>;

struct GroupByWindowOptions {
  int64_t window_size = 0;                                         ///< Either this,
  std::function<int64_t(int64_t key)> window_size_func = nullptr;  ///< or this. Pure.
  /// If more elements are held, the window with the oldest one is given before it is full. 1 to 16,384.
  int64_t max_held = 16'384;
  Spec output = {};       ///< Fields of the datasets; empty: those that reduce gives for key 0 and an empty window.
  std::string name = "";  ///< Of the functions: see MapOptions.
  int version = 0;
};

struct WindowOptions {
  std::optional<int64_t> shift =
      std::nullopt;             ///< From the first element of a window to that of the next; default: size.
  int64_t stride = 1;           ///< From an element of a window to the next one.
  bool drop_remainder = false;  ///< Only windows of `size` elements.
};

namespace internal {
Step bucket_step(const Function& length, const std::vector<int64_t>& boundaries, const std::vector<int64_t>& sizes,
                 const BucketOptions& options);
Step batch_by_size_step(int64_t max_size, const Function& size, const BatchBySizeOptions& options);
Step group_by_window_step(const Function& key, const GroupReduce& reduce, const GroupByWindowOptions& options);
}  // namespace internal

/// Batches of elements of similar length. Bucket i has those from bucket_boundaries[i - 1] to below
/// bucket_boundaries[i], and gives a batch when it has bucket_batch_sizes[i]; at the end the others are given, the
/// shortest first, unless drop_remainder. `element_length_func` takes arguments as map's function does and returns
/// int64_t or int32_t, or a Result of it. Throws unless there is one size more than boundaries, boundaries rise, and
/// the sizes are at least 1 and together small enough to be held.
template <class F>
Step bucket_by_sequence_length(F element_length_func, const std::vector<int64_t>& bucket_boundaries,
                               const std::vector<int64_t>& bucket_batch_sizes, const BucketOptions& options = {}) {
  return internal::bucket_step(internal::make_function(std::move(element_length_func)), bucket_boundaries,
                               bucket_batch_sizes, options);
}
/// The length is the first dimension of a field; of a text its bytes. "": of the only field.
Step bucket_by_sequence_length(const std::string& field, const std::vector<int64_t>& bucket_boundaries,
                               const std::vector<int64_t>& bucket_batch_sizes, const BucketOptions& options = {});
inline Step bucket_by_sequence_length(const char* field, const std::vector<int64_t>& bucket_boundaries,
                                      const std::vector<int64_t>& bucket_batch_sizes,
                                      const BucketOptions& options = {}) {
  return bucket_by_sequence_length(std::string(field), bucket_boundaries, bucket_batch_sizes, options);
}

/// The length is that of lengths.h, which says to which elements lengths belong: integers alone choose the elements of
/// a batch, nothing is read for that, and buckets may be of any size. A batch is smaller where an element fails. `name`
/// and `version` are not allowed. A run fails as that of dynamic_bucket().
Step bucket_by_sequence_length(const Lengths& element_length, const std::vector<int64_t>& bucket_boundaries,
                               const std::vector<int64_t>& bucket_batch_sizes, const BucketOptions& options = {});

/// Batches of as many elements as stay within `max_size`, in tokens, milliseconds or whatever `size_func` counts; it is
/// as a length function of bucket_by_sequence_length. A batch is given when the next element does not fit, or none can.
/// An element that is larger than `max_size` is an error. If 16,384 elements are held, the batch with the oldest one is
/// given. Batches are padded as by padded_batch.
template <class F>
Step batch_by_size(int64_t max_size, F size_func, const BatchBySizeOptions& options = {}) {
  return internal::batch_by_size_step(max_size, internal::make_function(std::move(size_func)), options);
}
/// The size is the length of a field, as in bucket_by_sequence_length.
Step batch_by_size(int64_t max_size, const std::string& field, const BatchBySizeOptions& options = {});
inline Step batch_by_size(int64_t max_size, const char* field, const BatchBySizeOptions& options = {}) {
  return batch_by_size(max_size, std::string(field), options);
}

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
/// example `window(5, padded_batch(5), {.shift = 1})`. Unlike in tf.data, a window of several fields is one dataset, and
/// the error of an element between two windows is given too.
Step window(int64_t size, const WindowOptions& options = {});
Step window(int64_t size, const Step& each, const WindowOptions& options = {});

struct RaggedBatchOptions {
  bool drop_remainder = false;
  DType row_splits_dtype = DType::i64;  ///< Or i32.
};

/// As batch, for elements of different sizes without padding. A field with unknown dimensions becomes two: the values
/// of all rows one after the other, [values, ...], and "<field>.row_splits" [rows + 1], so that row i has the values
/// from row_splits[i] to below row_splits[i + 1]. If another dimension than the first is unknown, there is
/// "<field>.row_splits_1" with the splits of the rows' rows, and so on, as nested_row_splits in TensorFlow. Other
/// fields are stacked. Of several fields without a name, each goes by its number: "0.row_splits". A state is as
/// batch's.
Step ragged_batch(int64_t batch_size, RaggedBatchOptions options = {});

/// tf.data's dense_to_sparse_batch: elements of one field, of different sizes, as a sparse tensor. The field becomes
/// three, named as those of a Sparse feature (io/example/example.h): "<field>.indices", int64 [values, rank + 1], the
/// row and the place in it of each value; "<field>.values" [values], zeros and empty texts too, row-major; and
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
