// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/source/source_files_internal.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/labelled_folder.h"

namespace headpond {
namespace {

class Folder final : public internal::SourceFile {
 public:
  explicit Folder(std::vector<LabelledFile> files) : files_(std::move(files)) {}

  int64_t size() const override { return static_cast<int64_t>(files_.size()); }
  Got at(int64_t i, Context& context, OutputSlots, Element& out) const override {
    const LabelledFile& file = files_[static_cast<size_t>(i)];
    const auto content = read_file(file.path);
    if (!content) return context.fail(content.error());
    out.append(Tensor::scalar(std::string_view(file.path)));
    out.append(Tensor::scalar(internal::text_of(*content)));
    out.append(Tensor::scalar(file.label));
    return Got::value;
  }

 private:
  const std::vector<LabelledFile> files_;
};

}  // namespace

Dataset folder(const std::string& path, const FolderOptions& options) {
  LabelledFolder found = value_or_throw(list_labelled_folder(path, options.extensions));
  uint32_t digest = 0;
  for (const LabelledFile& file : found.files) {
    const std::string facts = fmt::format("{} {} {}\n", file.path, file.label, file.size);
    digest = crc32c_extend(digest, std::as_bytes(std::span(facts)));
  }
  Node::Facts facts{.op = "folder",
                    .args = fmt::format("'{}', classes={}, files={}, digest={:08x}", path, found.classes.size(),
                                        found.files.size(), digest),
                    .spec = {{"path", DType::bytes, {}}, {"file", DType::bytes, {}}, {"label", DType::i64, {}}}};
  std::vector<internal::NamedSourceFile> files;
  files.push_back({path, std::make_unique<Folder>(std::move(found.files))});
  return internal::source_files(std::move(facts), std::move(files));
}

}  // namespace headpond
