// SPDX-License-Identifier: Apache-2.0
// What the sources of files share: they give records by their numbers, one file after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headpond/dataset/dataset.h"

namespace headpond::internal {

/// The records of one file, 0 <= i < size(). Immutable; any thread.
class SourceFile {
 public:
  virtual ~SourceFile() = default;
  virtual int64_t size() const = 0;
  /// As View::at, without key and provenance. An error names the file and the position in it. May throw.
  virtual Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const = 0;

  /// As View::fill for one record: writes the values to `targets`, one for each field; std::string_views for dtype
  /// bytes.
  virtual bool fill(int64_t /*i*/, Context& /*context*/, std::span<std::byte* const> /*targets*/) const {
    return false;
  }
  /// As View::fill without positions.
  virtual bool fills() const { return false; }
  /// Prefetches the record into the processor's caches.
  virtual void prefetch(int64_t /*i*/) const {}
};

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
/// Writes a text into a column.
inline void put_text(std::string_view text, std::byte* to) { std::memcpy(to, &text, sizeof(std::string_view)); }
/// The same for a text in a mapped file, whose last byte tells whether the text is still whole (Context::lend).
void put_mapped_text(std::string_view text, std::byte* to, Context& context);
/// False iff the last byte of a text in a mapped file proves that the text is whole; else check the file.
inline bool may_be_truncated(std::string_view text) { return !text.empty() && text.back() == '\0'; }

struct NamedSourceFile {
  std::string name;  ///< For errors.
  std::unique_ptr<const SourceFile> file;
};

/// All records of all files; their number is position and key. `facts` has op, args, spec and kind.
Dataset source_files(Node::Facts facts, std::vector<NamedSourceFile> files);

/// The files that `patterns` match (io/file/glob.h). Throws Exception, which names the operator; NotFound if there are
/// none.
std::vector<std::string> expand_or_throw(const std::string& op, std::span<const std::string> patterns);
/// Removes files that do not exist or may not be opened, with a warning for each. Throws Exception with the last error
/// if these are all files, and for a file that the system cannot open at the moment.
void leave_out_lost(const std::string& op, std::vector<std::string>& paths);
/// The description of files in a plan: "'train-*.tfrecord', files=3, digest=1c291ca3". The digest is of names, sizes,
/// and the first and last 4 KiB of each file. Throws Exception for a file that cannot be read.
std::string files_label(std::span<const std::string> patterns, std::span<const std::string> paths);

}  // namespace headpond::internal
