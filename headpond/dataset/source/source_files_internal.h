// SPDX-License-Identifier: Apache-2.0
// What the sources of files share: they give records by their numbers, one file after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/views/lending.h"
#include "headpond/io/file/file.h"
#include "headpond/io/record/index/record_index.h"

namespace headpond::internal {

class FileSet;

struct FileSetOptions;

/// The begin of an element that is a file of its own.
struct ElementHead {
  std::string path;
  FileHead head;
};

/// A view whose elements may be files of their own.
class HeadsOfFiles {
 public:
  virtual ~HeadsOfFiles() = default;
  /// Reads the first bytes of the file that is element i into `to`; nullopt if it is none. May throw.
  virtual std::optional<Result<ElementHead>> head(int64_t i, std::span<std::byte> to) const = 0;
};

/// The records of one file, 0 <= i < size(). Immutable; any thread.
class SourceFile : public Lender {
 public:
  virtual ~SourceFile() = default;
  virtual int64_t size() const = 0;
  /// Like View::at, without key and provenance. An error names the file and the position in it. May throw.
  virtual Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const = 0;

  /// Like View::fill for one record: writes the values to `targets`, one for each field; std::string_views for dtype
  /// bytes.
  virtual bool fill(int64_t /*i*/, Context& /*context*/, std::span<std::byte* const> /*targets*/) const {
    return false;
  }
  /// Like View::fill without positions.
  virtual bool fills() const { return false; }
  /// Appends the fields of record i where the file has them, and adds their memory to `loan`, which has room. False:
  /// nothing was done, ask at(). May throw before it adds anything.
  virtual bool lend(int64_t /*i*/, Element& /*out*/, Loan& /*loan*/) const { return false; }
  /// REQUIRES: lend() gave record i.
  bool is_whole(int64_t /*i*/) const override { return true; }
  /// The number of the source whose records these are (Provenance). `path`: the file's.
  virtual uint64_t source(const std::string& path) const { return register_source(path, true); }
  /// See HeadsOfFiles::head.
  virtual std::optional<Result<ElementHead>> head(int64_t /*i*/, std::span<std::byte> /*to*/) const {
    return std::nullopt;
  }
  /// Prefetches the record into the processor's caches, if it is in memory.
  virtual void prefetch(int64_t /*i*/) const noexcept {}

  /// What tells the content apart from others, if that is known already; else the file is opened once more for it.
  virtual std::optional<FileMark> mark() const { return std::nullopt; }
  /// Where its records are, if the file could be opened sooner with that: it may outlive this, and stays in memory when
  /// the file is closed.
  virtual std::shared_ptr<const RecordIndex> offsets() const { return nullptr; }
  /// Where record i begins in the file, inflated if it is compressed; nullopt if it is not known, or cannot be read.
  virtual std::optional<uint64_t> offset_of(int64_t i) const {
    const auto all = offsets();
    return all != nullptr && std::cmp_less(i, all->size()) ? std::optional(all->offset(static_cast<uint64_t>(i)))
                                                           : std::nullopt;
  }
  /// True iff a part of a mapped file could not be read: from then on only another object for the file may have it.
  virtual bool is_lost() const { return false; }
  /// What of the file cannot be read and is left out, as a clause for the log; "": nothing.
  virtual std::string left_out() const { return ""; }
  /// Throws Exception unless this file may follow `before`, which is of the same class.
  virtual void check_follows(const SourceFile& /*before*/) const {}
};

/// What the check of a mapped file says if a part of it could not be read.
inline bool is_lost(const Result<void>& checked) { return !checked && checked.error().is_transient(); }

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
/// Writes a text into a column.
inline void put_text(std::string_view text, std::byte* to) { std::memcpy(to, &text, sizeof(std::string_view)); }
/// The same for a text in a mapped file, whose last byte tells whether the text is still whole (Context::lend).
void put_mapped_text(std::string_view text, std::byte* to, Context& context);
/// False iff the last byte of a text in a mapped file proves that the text is whole; else check the file.
inline bool may_be_truncated(std::string_view text) { return !text.empty() && text.back() == '\0'; }

/// The stamp of its files (Node::Facts::stamp): when they were written, a semicolon, and "at=... changed=...",
/// digests of their absolute paths and of the times when the system noted their last changes.
std::string stamp_of_set(const FileSet& set);
/// `stamp` up to the semicolon: what copies have too.
std::string_view without_place(std::string_view stamp);

/// "written=5d1a2b3c paths=0f62ab01": digests of sizes and times of last writes and changes, and of absolute paths, for
/// sources whose elements are paths (Node::Facts::stamp). A file that cannot be examined counts as such.
inline constexpr std::string_view kPaths = " paths=";
std::string stamp_of_paths(const std::vector<std::string>& paths);

/// How many files are read in turn, for TFRecordOptions::num_parallel_reads; if more than one, args get the
/// number. Throws Exception(InvalidArgument) for another one than -1 and 1 or more.
int64_t take_turns(std::optional<int64_t> num_parallel_reads, Node::Facts& facts);

/// All records of all files of `options.patterns`; their number is the key, and the position unless files take turns.
/// `facts` has op, args, spec and kind.
Dataset source_files(Node::Facts facts, FileSetOptions options,
                     std::optional<int64_t> num_parallel_reads = std::nullopt);

}  // namespace headpond::internal
