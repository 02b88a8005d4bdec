// SPDX-License-Identifier: Apache-2.0
// What the sources have in common that give the records of files by their numbers: one file behind the other.
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
  /// As View::at, which adds key and provenance. An error names the file and the place in it. May throw.
  virtual Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const = 0;

  /// As View::fill for one record: values to `targets`, one per field; std::string_views for dtype bytes.
  virtual bool fill(int64_t /*i*/, Context& /*context*/, std::span<std::byte* const> /*targets*/) const {
    return false;
  }
  /// As View::fill without positions.
  virtual bool fills() const { return false; }
  /// Brings the record nearer to the processor.
  virtual void prefetch(int64_t /*i*/) const {}
};

inline std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
/// Writes a text into a column.
inline void put_text(std::string_view text, std::byte* to) { std::memcpy(to, &text, sizeof(std::string_view)); }
/// The same of a text in a mapped file, whose last byte tells whether it is still there (Context::lend).
void put_mapped_text(std::string_view text, std::byte* to, Context& context);
/// False iff the last byte of a text in a mapped file says that nothing of it was cut off; else ask the file.
inline bool may_be_cut(std::string_view text) { return !text.empty() && text.back() == '\0'; }

struct NamedSourceFile {
  std::string name;  ///< For errors.
  std::unique_ptr<const SourceFile> file;
};

/// All records of all files, whose number in all is position and key. `facts` with op, args, spec and kind.
Dataset source_files(Node::Facts facts, std::vector<NamedSourceFile> files);

/// The files that `patterns` mean (io/file/glob.h). Throws Exception with its error, the operator named; NotFound for
/// none.
std::vector<std::string> expand_or_throw(const std::string& op, std::span<const std::string> patterns);
/// Takes out those that are not there or not for this program, with a warning for each. Throws Exception with the last
/// error for all, and for one that the system cannot open just now.
void leave_out_lost(const std::string& op, std::vector<std::string>& paths);
/// What a plan says of files: "'train-*.tfrecord', files=3, digest=1c291ca3", of names, sizes, and the first and the
/// last 4 KiB. Throws Exception for a file that cannot be read.
std::string files_label(std::span<const std::string> patterns, std::span<const std::string> paths);

}  // namespace headpond::internal
