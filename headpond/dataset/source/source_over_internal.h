// SPDX-License-Identifier: Apache-2.0
// The part of a SourceFile that is the same for every reader of io: how many records, where they are, what tells the
// file apart.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "headpond/dataset/source/source_files_internal.h"

namespace headpond::internal {

/// A SourceFile over a reader with size() and, if it has them, mark(), index(), offset_of() and check().
template <class File>
class SourceOver : public SourceFile {
 public:
  explicit SourceOver(std::unique_ptr<File> file) : file_(std::move(file)) {}
  const File& file() const { return *file_; }

  int64_t size() const override { return static_cast<int64_t>(file().size()); }
  std::optional<FileMark> mark() const override {
    if constexpr (requires(const File& has) { has.mark(); }) return file().mark();
    return SourceFile::mark();
  }
  std::shared_ptr<const RecordIndex> offsets() const override {
    if constexpr (requires(const File& has) { has.index(); }) return file().index();
    return SourceFile::offsets();
  }
  std::optional<uint64_t> offset_of(int64_t i) const override {
    if constexpr (requires(const File& has) { has.offset_of(i); }) {
      const auto offset = file().offset_of(i);
      return offset ? std::optional(*offset) : std::nullopt;
    }
    return SourceFile::offset_of(i);
  }
  bool is_lost() const override {
    if constexpr (requires(const File& has) { has.check(); }) return internal::is_lost(file().check());
    return SourceFile::is_lost();
  }

 private:
  const std::unique_ptr<File> file_;
};

}  // namespace headpond::internal
