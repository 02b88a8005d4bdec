// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/ops/files.h"
#include "headpond/dataset/ops/order.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/source/files_read.h"
#include "headpond/dataset/source/source_files_internal.h"

namespace headpond {
namespace {

using Paths = std::vector<std::string>;

// Without folders, as data may move.
std::string digest_of(const Paths& paths) {
  uint32_t digest = 0;
  for (const std::string& path : paths) {
    const std::string name = path.substr(path.rfind('/') + 1) + '\n';
    digest = crc32c_extend(digest, std::as_bytes(std::span(name)));
  }
  return fmt::format("files={}, digest={:08x}", paths.size(), digest);
}

class PathsView final : public View {
 public:
  explicit PathsView(const Paths& paths) : paths_(paths) {}
  Got at(int64_t i, Context&, OutputSlots, Element& out) const override {
    const std::string& path = paths_[static_cast<size_t>(i)];
    out.append(Tensor::scalar(std::string_view(path)));
    out.key = static_cast<uint64_t>(i);
    out.provenance = {.source = register_source(path, true), .record = 0};
    return Got::value;
  }
  bool fill(std::span<const int64_t> positions, Context&, OutputSlots columns, uint64_t* keys) const override {
    for (size_t r = 0; r < positions.size(); ++r) {
      const std::string_view path = paths_[static_cast<size_t>(positions[r])];
      internal::put_text(path, columns[0].data + r * sizeof(std::string_view));
    }
    if (keys != nullptr) std::copy(positions.begin(), positions.end(), keys);
    return true;
  }

 private:
  const Paths& paths_;
};

class ListFiles final : public Node, public FileReading {
 public:
  ListFiles(const Patterns& patterns, const Lazy<Paths>& paths)
      : Node({.op = "list_files",
              .location = internal::FileSet({.patterns = patterns.all()}).location(),
              .data = paths.then(digest_of),
              .stamp = Lazy<std::string>([paths] { return internal::stamp_of_paths(paths.get()); }),
              .spec = {{"", DType::bytes, {}}},
              .slots = paths.then([](const Paths& all) { return static_cast<int64_t>(all.size()); })}),
        paths_(paths) {}
  void prepare(const ParallelFor&) const override { (void)paths_.get(); }
  Paths paths_read() const override { return paths_.get(); }
  bool reads_contents() const override { return false; }
  std::shared_ptr<const View> bind(const Binding&) const override { return std::make_shared<PathsView>(paths_.get()); }

 private:
  const Lazy<Paths> paths_;
};

}  // namespace

Dataset list_files(const Patterns& patterns, const ListFilesOptions& options) {
  const Lazy<Paths> paths([all = patterns.all()] { return internal::existing_or_throw("list_files", all); });
  const Dataset files(std::make_shared<ListFiles>(patterns, paths));
  return options.shuffle ? files | shuffle({.name = options.name.empty() ? "list_files" : options.name}) : files;
}

}  // namespace headpond
