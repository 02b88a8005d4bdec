// SPDX-License-Identifier: Apache-2.0
// The samples of one tar archive by their numbers.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/dataset/source/source_files_internal.h"
#include "headpond/io/archive/tar.h"
#include "headpond/io/file/mapped_file.h"

namespace headpond::internal {

/// Fields: the key, then a text for each extension that was set.
class TarFile final : public SourceFile {
 public:
  /// `before`: the archive before this one, or nullptr. Throws Exception with the reader's error.
  TarFile(const std::string& path, const TarFile* before) : file_(value_or_throw(MappedFile::open(path))) {
    index_ = value_or_throw(index_tar(file_->bytes(), path));
    samples_ = value_or_throw(group_tar(index_, path)).samples;
    if (const auto whole = file_->check(); !whole) throw Exception(whole.error());
    if (before == nullptr) return;
    const auto unsplit = check_tar_split(before->samples_, before->file_->path(), samples_, path);
    if (!unsplit) throw Exception(unsplit.error());
  }
  const std::vector<TarSample>& samples() const { return samples_; }
  /// REQUIRES: no other thread uses this yet.
  void set_extensions(std::vector<std::string> extensions, bool allow_missing) {
    extensions_ = std::move(extensions);
    allow_missing_ = allow_missing;
  }

  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const TarSample& sample = samples_[static_cast<size_t>(i)];
    out.append(Tensor::scalar(std::string_view(sample.key)));
    bool doubtful = false;
    for (const std::string& extension : extensions_) {
      const auto content = find(sample, extension);
      if (!content)
        return context.fail({ErrorKind::InvalidArgument,
                             fmt::format("{}: sample '{}' has no part '{}'", file_->path(), sample.key, extension)});
      out.append(Tensor::scalar(*content));
      doubtful |= may_be_truncated(*content);
    }
    const auto whole = doubtful ? file_->check() : Result<void>();
    return whole ? Got::value : context.fail(whole.error());
  }
  bool fill(int64_t i, Context& context, std::span<std::byte* const> targets) const override {
    const TarSample& sample = samples_[static_cast<size_t>(i)];
    put_text(sample.key, targets[0]);
    for (size_t e = 0; e < extensions_.size(); ++e) {
      const auto content = find(sample, extensions_[e]);
      if (!content) return false;
      put_mapped_text(*content, targets[e + 1], context);
    }
    return true;
  }
  bool fills() const override { return true; }

 private:
  std::optional<std::string_view> find(const TarSample& sample, const std::string& extension) const {
    const auto part = std::ranges::find(sample.parts, extension, &TarSample::Part::extension);
    if (part == sample.parts.end()) return allow_missing_ ? std::optional<std::string_view>("") : std::nullopt;
    const TarMember& member = index_.members[part->member];
    return text_of(file_->bytes().subspan(member.offset, member.size));
  }

  const std::unique_ptr<MappedFile> file_;
  TarIndex index_;
  std::vector<TarSample> samples_;
  std::vector<std::string> extensions_;
  bool allow_missing_ = false;
};

}  // namespace headpond::internal
