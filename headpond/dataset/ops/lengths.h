// SPDX-License-Identifier: Apache-2.0
// Lengths of elements that are known before the elements are read, so that only integers decide what goes together in a
// batch (bucket.h):
//
//   write_lengths(clips, sound_frames(), "train.npy");  // once; reads the heads of files only
//   auto batches = clips | shuffle() | map("file", decode_sound()) |
//                  dynamic_bucket(lengths("train.npy"), {.max_padded_seconds = 400, .rate = 16'000});
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "headpond/base/list_of_names.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/lazy.h"
#include "headpond/tensor/kernel.h"

namespace headpond {

/// The length of each element of a dataset, by position, each at least 0. Immutable, thread-safe; copies share the
/// numbers.
class Lengths {
 public:
  /// In memory. Throws Exception(InvalidArgument) for a length below 0.
  explicit Lengths(std::vector<int64_t> numbers);
  /// The content, which `read` returns when it is first needed; it may throw.
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

/// The lengths in the file at `path`, opened when they are needed: one that write_lengths made, or an int64 array of
/// one dimension that another program wrote, of which only the number of elements is compared with the dataset. Errors
/// then: those of read_npy(), and InvalidArgument for another array or a length below 0.
Lengths lengths(const std::string& path);
void lengths(internal::ListOfNames) = delete;

/// A digest of all that decides which elements `node` has, and of when its files were written. A file of lengths keeps
/// it, and is compared by it. Never 0. May open files and throw.
uint64_t mark_of_source(const Node& node);
/// The bytes of a file of lengths: an npy file, and after it a line with the mark, which numpy.load() leaves out.
std::string lengths_file(const std::vector<int64_t>& numbers, uint64_t source);
/// Writes the file of the lengths of `source`, atomically: `length` makes one int64 of each element, on this thread.
/// The first element that fails ends the call; Cancelled if the thread's InterruptLook says so. Throws
/// Exception(InvalidArgument) unless `source` has positions, and is one that lengths belong to (see dynamic_bucket in
/// bucket.h), and `length` gives one int64 for each element.
Result<void> write_lengths(const Dataset& source, const Step& length, const std::string& path);
void write_lengths(const Dataset&, const Step&, internal::ListOfNames) = delete;
/// The same with `length` on `field`; "": the field "file", or the only one. Of the files of a folder() a HeadKernel,
/// as sound_frames(), gets the first bytes only, more of them where it asks for more.
Result<void> write_lengths(const Dataset& source, const KernelRef& length, const std::string& path,
                           const std::string& field = "");
void write_lengths(const Dataset&, const KernelRef&, internal::ListOfNames, const std::string& = "") = delete;

}  // namespace headpond
