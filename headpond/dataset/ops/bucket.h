// SPDX-License-Identifier: Apache-2.0
// Operators that make batches of elements of similar length. Some read an element to know its length, and hold elements
// meanwhile: regroup.h says how many, and what a state then has. Others know all lengths before (lengths.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/function.h"
#include "headpond/dataset/ops/batch.h"
#include "headpond/dataset/ops/lengths.h"

namespace headpond {

struct BucketOptions {
  std::map<std::string, Shape> padded_shapes = {};     ///< See padded_batch.
  std::map<std::string, PadWith> padding_values = {};  ///< The same.
  /// Pad unknown dimensions to the longest element that the bucket may have, its boundary - 1, rather than to the
  /// longest one of the batch. Then an element beyond the last boundary is an error.
  bool pad_to_bucket_boundary = false;
  bool no_padding = false;  ///< All elements of a bucket have the same shapes.
  bool drop_remainder = false;
  std::string name = "";  ///< Name of the length function: see MapOptions.
  int version = 0;
};

struct BatchBySizeOptions {
  /// The size of a batch is the sum of the sizes of its elements; else their number times the largest one, which is
  /// what it takes when it is padded.
  bool sum_of_sizes = false;
  int64_t max_elements = 0;  ///< Most elements of a batch; 0: as many as fit.
  std::vector<int64_t> bucket_boundaries =
      {};  ///< A batch has elements of one bucket, as in bucket_by_sequence_length.
  std::map<std::string, Shape> padded_shapes = {};
  std::map<std::string, PadWith> padding_values = {};
  bool no_padding = false;
  bool drop_remainder = false;
  std::string name = "";  ///< Name of the size function: see MapOptions.
  int version = 0;
};

struct DynamicBucketOptions {
  /// The longest element of a batch times their number is at most this, in the unit of the lengths. Either this,
  int64_t max_padded = 0;
  /// or these: seconds, and lengths per second.
  double max_padded_seconds = 0;
  int64_t rate = 0;
  int64_t max_elements = 0;  ///< Most elements of a batch; 0: as many as fit.
  int64_t buckets = 30;      ///< A batch has elements of one of them, which have about as many elements. 1 to 10,000.
  int64_t window = 10'000;  ///< A batch has elements of so many in a row; at its end all buckets are given. At least 1.
  std::map<std::string, Shape> padded_shapes = {};  ///< See padded_batch.
  std::map<std::string, PadWith> padding_values = {};
};

namespace internal {
Step bucket_step(const Function& length, const std::vector<int64_t>& boundaries, const std::vector<int64_t>& sizes,
                 const BucketOptions& options);
Step batch_by_size_step(int64_t max_size, const Function& size, const BatchBySizeOptions& options);
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

/// Padded batches of elements of similar length, chosen by `lengths` alone: nothing is read to choose them, each
/// element is read once, when its batch is made, and a state has positions only. The bounds of the buckets are
/// quantiles of all lengths.
///
/// Lengths belong to the elements of `source` in `source | shuffle() | map(...) | dynamic_bucket(...)`: the first
/// dataset below operators that map one element to one (map), reorder or select by position (shuffle, skip, take,
/// shard, select), or are hints. An element that fails is an error in its place, and its batch is smaller; an
/// element that is by itself longer than max_padded is such an error too. The plan of an epoch, about 12 bytes an
/// element, is made when it begins.
///
/// Throws Exception(InvalidArgument) unless the input has positions without holes, and an end. A run fails with
/// FailedPrecondition if there are more or fewer lengths than elements, or if the files of `source` are others than
/// write_lengths read, or were written since.
Step dynamic_bucket(const Lengths& lengths, const DynamicBucketOptions& options);

}  // namespace headpond
