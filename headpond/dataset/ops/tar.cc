// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/tar.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "headpond/dataset/field_internal.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source_files_internal.h"
#include "headpond/io/mapped_file.h"

namespace headpond {
namespace {

class Samples final : public internal::SourceFile {
 public:
  // `before`: the archive in front of this one, or nullptr.
  Samples(const std::string& path, const Samples* before) : file_(internal::value_or_throw(MappedFile::open(path))) {
    index_ = internal::value_or_throw(index_tar(file_->bytes(), path));
    samples_ = internal::value_or_throw(group_tar(index_, path)).samples;
    if (const auto whole = file_->check(); !whole) throw Exception(whole.error());
    if (before == nullptr) return;
    const auto unsplit = check_tar_split(before->samples_, before->file_->path(), samples_, path);
    if (!unsplit) throw Exception(unsplit.error());
  }
  const std::vector<TarSample>& samples() const { return samples_; }
  void set_extensions(std::vector<std::string> extensions) { extensions_ = std::move(extensions); }

  int64_t size() const override { return static_cast<int64_t>(samples_.size()); }
  Got at(int64_t i, Context& context, Offers, Element& out) const override {
    const TarSample& sample = samples_[static_cast<size_t>(i)];
    out.append(Tensor::scalar(std::string_view(sample.key)));
    bool doubtful = false;
    for (const std::string& extension : extensions_) {
      const auto content = find(sample, extension);
      if (!content)
        return context.fail({ErrorKind::InvalidArgument,
                             fmt::format("{}: sample '{}' has no part '{}'", file_->path(), sample.key, extension)});
      out.append(Tensor::scalar(*content));
      doubtful |= internal::may_be_cut(*content);
    }
    const auto whole = doubtful ? file_->check() : Result<void>();
    return whole ? Got::value : context.fail(whole.error());
  }
  bool fill(int64_t i, Context& context, std::span<std::byte* const> places) const override {
    const TarSample& sample = samples_[static_cast<size_t>(i)];
    internal::put_text(sample.key, places[0]);
    for (size_t e = 0; e < extensions_.size(); ++e) {
      const auto content = find(sample, extensions_[e]);
      if (!content) return false;
      internal::put_mapped_text(*content, places[e + 1], context);
    }
    return true;
  }
  bool fills() const override { return true; }

 private:
  std::optional<std::string_view> find(const TarSample& sample, const std::string& extension) const {
    const auto part = std::ranges::find(sample.parts, extension, &TarSample::Part::extension);
    if (part == sample.parts.end()) return std::nullopt;
    const TarMember& member = index_.members[part->member];
    const auto bytes = file_->bytes().subspan(member.offset, member.size);
    return std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }

  const std::unique_ptr<MappedFile> file_;
  TarIndex index_;
  std::vector<TarSample> samples_;
  std::vector<std::string> extensions_;
};

}  // namespace

Dataset tar(const std::vector<std::string>& patterns, const TarOptions& options) {
  const std::vector<std::string> paths = internal::expand_or_throw("tar", patterns);
  std::vector<std::unique_ptr<Samples>> archives;
  std::vector<std::string> extensions = options.extensions;
  for (const std::string& path : paths) {
    archives.push_back(std::make_unique<Samples>(path, archives.empty() ? nullptr : archives.back().get()));
    if (!extensions.empty() || archives.back()->samples().empty()) continue;
    for (const auto& part : archives.back()->samples()[0].parts) extensions.push_back(part.extension);
  }
  const std::string label = internal::files_label(patterns, paths);
  Node::Facts facts{.op = "tar", .args = fmt::format("{}, extensions={}", label, fmt::join(extensions, " "))};
  facts.spec = {{"__key__", DType::bytes, {}}};
  for (const std::string& extension : extensions) facts.spec.push_back({extension, DType::bytes, {}});
  internal::check_names("tar", facts.spec);
  std::vector<internal::NamedSourceFile> files;
  for (size_t i = 0; i < paths.size(); ++i) {
    archives[i]->set_extensions(extensions);
    files.push_back({paths[i], std::move(archives[i])});
  }
  return internal::source_files(std::move(facts), std::move(files));
}
Dataset tar(const std::string& pattern, const TarOptions& options) { return tar(std::vector{pattern}, options); }

}  // namespace headpond
