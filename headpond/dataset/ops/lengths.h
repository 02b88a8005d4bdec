// SPDX-License-Identifier: Apache-2.0
// Batches of elements whose lengths are known before they are read, so that only integers decide what goes together:
//
//   write_lengths(clips, sound_frames(), "train.npy");  // once; reads the heads of files only
//   auto batches = clips | shuffle() | map("file", decode_sound()) |
//                  dynamic_bucket(lengths("train.npy"), {.max_padded_seconds = 400, .rate = 16'000});
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/lazy.h"
#include "headpond/dataset/ops/batch.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// The length of each element of a dataset, by position, each at least 0. Immutable, thread-safe; copies share the
/// numbers.
class Lengths {
 public:
  /// In memory. Throws Exception(InvalidArgument) for a length below 0.
  explicit Lengths(std::vector<int64_t> numbers);
  /// What `read` gives when it is first asked for; it may throw.
  struct Content {
    std::vector<int64_t> numbers = {};
    uint64_t source = 0;  ///< mark_of_source() of the dataset that they belong to; 0: not known.
    uint64_t digest = 0;  ///< XXH3 of the numbers.
  };
  Lengths(std::string path, Lazy<Content> content) : path_(std::move(path)), content_(std::move(content)) {}

  const std::vector<int64_t>& numbers() const { return content_.get().numbers; }
  const Content& content() const { return content_.get(); }
  const std::string& path() const { return path_; }  ///< "": in memory.

 private:
  std::string path_;
  Lazy<Content> content_;
};

/// Those of the file at `path`, which is opened when they are needed: one that write_lengths made, or an int64 array of
/// one dimension that another program wrote, of which only the number of elements is compared with the dataset. Errors
/// then: those of read_npy(), and InvalidArgument for another array or a length below 0.
Lengths lengths(const std::string& path);
void lengths(internal::ListOfNames) = delete;

/// Stands for all that decides which elements `node` has, and for when its files were written: what a file of lengths
/// is compared by. Never 0. May open files and throw.
uint64_t mark_of_source(const Node& node);
/// The bytes of a file of lengths: an npy file, and after it a line with the mark, which numpy.load() leaves out.
std::string lengths_file(const std::vector<int64_t>& numbers, uint64_t source);
/// Writes the file of the lengths of `source`, atomically: `length` makes one int64 of each element, on this thread.
/// The first element that fails ends the call. Throws Exception(InvalidArgument) unless `source` has positions, and is
/// one that lengths belong to (see dynamic_bucket), and `length` gives one int64 for each element.
Result<void> write_lengths(const Dataset& source, const Step& length, const std::string& path);
void write_lengths(const Dataset&, const Step&, internal::ListOfNames) = delete;
/// The same with `length` on `field`; "": the field "file", or the only one. Of the files of a folder() a HeadKernel,
/// as sound_frames(), gets the first bytes only, more of them where it asks for more.
Result<void> write_lengths(const Dataset& source, const KernelRef& length, const std::string& path,
                           const std::string& field = "");
void write_lengths(const Dataset&, const KernelRef&, internal::ListOfNames, const std::string& = "") = delete;

struct DynamicBucketOptions {
  /// The longest element of a batch times their number is at most this, in the unit of the lengths. Either this,
  int64_t max_padded = 0;
  /// or these: seconds, and lengths per second.
  double max_padded_seconds = 0;
  int64_t rate = 0;
  int64_t max_elements = 0;  ///< Of a batch; 0: as many as fit.
  int64_t buckets = 30;      ///< A batch has elements of one of them, which have about as many elements. 1 to 10,000.
  int64_t window = 10'000;  ///< A batch has elements of so many in a row; at its end all buckets are given. At least 1.
  std::map<std::string, Shape> padded_shapes = {};  ///< As in padded_batch.
  std::map<std::string, PadWith> padding_values = {};
};

/// Padded batches of elements of similar length, chosen by `lengths` alone: nothing is read to choose them, each
/// element is read once, when its batch is made, and a state has positions only. The bounds of the buckets are
/// quantiles of all lengths.
///
/// Lengths belong to the elements of `source` in `source | shuffle() | map(...) | dynamic_bucket(...)`: the first
/// dataset below operators that map one element to one (map), reorder or select by position (shuffle, skip, take,
/// shard, select), or are hints. An element that fails is an error in its place, and its batch is smaller; so is one
/// that is longer than max_padded by itself. The plan of an epoch, about 12 bytes an element, is made when it begins.
///
/// Throws Exception(InvalidArgument) unless the input has positions without holes, and an end. A run fails with
/// FailedPrecondition if there are more or fewer lengths than elements, or if the files of `source` are others than
/// write_lengths read, or were written since.
Step dynamic_bucket(const Lengths& lengths, const DynamicBucketOptions& options);

}  // namespace headpond
