// SPDX-License-Identifier: Apache-2.0
// The samples of one tar archive by their numbers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/dataset/source/source_files_internal.h"
#include "headpond/io/archive/tar.h"
#include "headpond/io/archive/tar_sample_file.h"
#include "headpond/io/file/bytes_read.h"
#include "headpond/io/file/mapped_file.h"

namespace headpond::internal {

/// Fields: the key, then a text for each extension.
class TarFile final : public SourceFile {
 public:
  using Sample = TarSampleFile::Sample;
  /// Throws Exception with the reader's error. `known`: offsets() of an earlier object.
  TarFile(const std::string& path, std::vector<std::string> extensions, bool allow_missing,
          std::shared_ptr<const RecordIndex> known = nullptr)
      : file_(value_or_throw(TarSampleFile::open(path, std::move(known)))),
        extensions_(std::move(extensions)),
        allow_missing_(allow_missing) {}
  const TarSampleFile& samples() const { return *file_; }

  std::optional<FileMark> mark() const override { return mark_of(file_->file()); }
  std::shared_ptr<const RecordIndex> offsets() const override { return file_->index(); }
  void check_follows(const SourceFile& before) const override {
    const TarSampleFile& earlier = *static_cast<const TarFile&>(before).file_;
    if (earlier.size() == 0 || size() == 0) return;
    const TarSample last{value_or_throw(earlier.at(earlier.size() - 1)).key, {}},
        first{value_or_throw(file_->at(0)).key, {}};
    const auto unsplit =
        check_tar_split(std::span(&last, 1), earlier.file().path(), std::span(&first, 1), file_->file().path());
    if (!unsplit) throw Exception(unsplit.error());
  }
  int64_t size() const override { return file_->size(); }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const auto sample = file_->at(i);
    if (!sample) return context.fail(sample.error());
    out.append(Tensor::scalar(std::string_view(sample->key)));
    bool doubtful = false;
    for (const std::string& extension : extensions_) {
      const auto content = find(*sample, extension);
      if (!content)
        return context.fail({ErrorKind::InvalidArgument, fmt::format("{}: sample '{}' has no part '{}'",
                                                                     file_->file().path(), sample->key, extension)});
      out.append(Tensor::scalar(*content));
      doubtful |= may_be_truncated(*content);
    }
    doubtful = doubtful || file_->file().lost();
    const auto whole = doubtful ? file_->file().check() : Result<void>();
    return whole ? Got::value : context.fail(whole.error());
  }
  bool fill(int64_t i, Context& context, std::span<std::byte* const> targets) const override {
    const auto sample = file_->at(i);
    if (!sample) return false;
    put_mapped_text(file_->lasting_key(i, *sample), targets[0], context);
    for (size_t e = 0; e < extensions_.size(); ++e) {
      const auto content = find(*sample, extensions_[e]);
      if (!content) return false;
      if (!file_->can_be_read(*content)) return false;
      put_mapped_text(*content, targets[e + 1], context);
    }
    return true;
  }
  bool fills() const override { return true; }
  bool is_lost() const override { return file_->file().lost(); }

 private:
  std::optional<std::string_view> find(const Sample& sample, const std::string& extension) const {
    const auto part = std::ranges::find(sample.parts, extension, &TarSampleFile::Part::extension);
    if (part == sample.parts.end()) return allow_missing_ ? std::optional<std::string_view>("") : std::nullopt;
    count_read(part->size);
    return text_of(file_->file().bytes().subspan(part->offset, part->size));
  }

  const std::unique_ptr<TarSampleFile> file_;
  const std::vector<std::string> extensions_;
  const bool allow_missing_;
};

}  // namespace headpond::internal
