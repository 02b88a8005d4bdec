// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/labelled_folder.h"
#include "headpond/tensor/source_names.h"

namespace headpond {
namespace {

// The content of a file that still has the size with which it was listed, read to where the tensor has it; else
// nullopt.
std::optional<Tensor> text_of_size(const std::string& path, uint64_t size) {
  constexpr size_t kLine = 64, kOffsets = 2 * sizeof(int64_t);
  BufferRef memory = BufferPool::current().allocate(kLine + size);
  std::byte* const text = memory->data() + kLine;  // The system copies to the begin of a line in less time.
  const auto read = read_file_of_size(path, {text, size});
  if (!read || !*read) return std::nullopt;
  const std::array<int64_t, 2> offsets = {0, static_cast<int64_t>(size)};
  std::byte* const data = text - kOffsets;
  std::memcpy(data, offsets.data(), kOffsets);
  return Tensor::view(data, DType::bytes, Shape(), std::move(memory));
}

Result<Tensor> text_of(const LabelledFile& file) {
  if (auto text = text_of_size(file.path, file.size)) return std::move(*text);
  const auto content = read_file(file.path);  // Tells the error, or has the file as it is now.
  if (!content) return fail(content.error());
  return Tensor::scalar(internal::text_of(*content));
}

class Files final : public RecordFiles {
 public:
  explicit Files(std::vector<LabelledFile> files) : all(std::move(files)) {}
  std::string path_of(uint64_t record) const override { return record < all.size() ? all[record].path : ""; }
  const std::vector<LabelledFile> all;
};

class Folder final : public internal::SourceFile {
 public:
  Folder(const std::string& root, LabelledFolder found)
      : files_(std::make_shared<const Files>(std::move(found.files))) {
    for (const std::string& name : found.classes) add(fmt::format("{}\n", name));
    for (const LabelledFile& file : files_->all) {
      add(fmt::format("{} {} {}\n", file.path.substr(file.path.find_first_not_of('/', root.size())), file.label,
                      file.size));
    }
  }

  int64_t size() const override { return static_cast<int64_t>(files_->all.size()); }
  uint64_t source(const std::string& path) const override {
    return register_files(path, fmt::format("{} {:08x}", size(), digest_), files_);
  }
  std::optional<FileMark> mark() const override {
    return FileMark{.size = files_->all.size(), .modified_ns = 0, .head_hash = digest_, .tail_hash = 0};
  }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const LabelledFile& file = files_->all[static_cast<size_t>(i)];
    auto content = text_of(file);
    if (!content) return context.fail(content.error());
    out.append(Tensor::scalar(std::string_view(file.path)));
    out.append(std::move(*content));
    out.append(Tensor::scalar(file.label));
    return Got::value;
  }
  std::optional<Result<internal::ElementHead>> head(int64_t i, std::span<std::byte> to) const override {
    const std::string& path = files_->all[static_cast<size_t>(i)].path;
    const auto head = read_file_head(path, to);
    if (!head) return Result<internal::ElementHead>(fail(head.error()));
    return Result<internal::ElementHead>({.path = path, .head = *head});
  }

 private:
  void add(const std::string& facts) { digest_ = crc32c_extend(digest_, std::as_bytes(std::span(facts))); }

  const std::shared_ptr<const Files> files_;
  uint32_t digest_ = 0;  // Digest of the names of classes; of names, labels and sizes of files.
};

Result<LabelledFolder> files_in(const std::string& root, const FolderOptions& options) {
  auto found = list_labelled_folder(root, options.extensions);
  if (!found || !found->files.empty() || options.allow_empty) return found;
  const std::string with =
      options.extensions.empty() ? "" : fmt::format(" with the extension {}", fmt::join(options.extensions, " or "));
  return fail(ErrorKind::NotFound, fmt::format("{}: no file{} in its {} folders (allow_empty allows that)", root, with,
                                               found->classes.size()));
}

std::string stamp_of(const std::string& root, const FolderOptions& options) {
  std::vector<std::string> paths;
  for (LabelledFile& file : value_or_throw(files_in(root, options)).files) paths.push_back(std::move(file.path));
  return internal::stamp_of_paths(paths);
}

}  // namespace

Dataset folder(const std::string& path, const FolderOptions& options) {
  FolderOptions without_dots = options;
  for (std::string& extension : without_dots.extensions) {
    if (extension.starts_with('.')) extension.erase(0, 1);
  }
  const auto open = [without_dots](const std::string& root) {
    return std::make_unique<Folder>(root, value_or_throw(files_in(root, without_dots)));
  };
  const std::string label =
      options.extensions.empty() ? "" : fmt::format("extensions={}", fmt::join(without_dots.extensions, " "));
  return internal::source_files(
      {.op = "folder",
       .args = label,
       .stamp = Lazy<std::string>([path, without_dots] { return stamp_of(path, without_dots); }),
       .spec = {{"path", DType::bytes, {}}, {"file", DType::bytes, {}}, {"label", DType::i64, {}}}},
      {.reader = label, .patterns = {path}, .open = open, .is_one_path = true, .keep_counts = false});
}

}  // namespace headpond
