// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headpond/base/crc32c.h"
#include "headpond/base/log.h"
#include "headpond/dataset/columns_internal.h"
#include "headpond/dataset/source/source_files_internal.h"
#include "headpond/io/file/glob.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/record/record_index.h"

namespace headpond::internal {
namespace {

constexpr size_t kAhead = 8;  // Records that are prefetched while others are read.

struct Part {
  std::unique_ptr<const SourceFile> file;
  uint64_t source = 0;
  int64_t end = 0;  // The position after its last record.
};

Node::Facts facts_with(Node::Facts facts, const std::vector<NamedSourceFile>& files) {
  for (const NamedSourceFile& named : files) {
    if (__builtin_add_overflow(facts.slots, named.file->size(), &facts.slots) || facts.slots == kEndless) {
      refuse(facts.op, "more than 2^63 - 2 records");
    }
  }
  return facts;
}

class FilesNode final : public Node {
 public:
  FilesNode(Facts facts, std::vector<NamedSourceFile> files) : Node(facts_with(std::move(facts), files)) {
    int64_t end = 0;
    for (NamedSourceFile& named : files) {
      end += named.file->size();
      parts_.push_back({std::move(named.file), register_source(named.name), end});
    }
  }
  std::shared_ptr<const View> bind(const Binding& binding) const override;

  /// The file of a position, and the record's number in it.
  std::pair<const Part*, int64_t> find(int64_t i) const {
    const auto is_before_end = [](int64_t position, const Part& part) { return position < part.end; };
    const auto part =
        parts_.size() == 1 ? parts_.begin() : std::upper_bound(parts_.begin(), parts_.end(), i, is_before_end);
    return {&*part, i - (part == parts_.begin() ? 0 : part[-1].end)};
  }
  const std::vector<Part>& parts() const { return parts_; }

 private:
  std::vector<Part> parts_;
};

class FilesView final : public View {
 public:
  explicit FilesView(const FilesNode& node) : node_(node) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const auto [part, record] = node_.find(i);
    const Got got = part->file->at(record, context, outputs, out);
    out.key = static_cast<uint64_t>(i);
    out.provenance = {.source = part->source, .record = static_cast<uint64_t>(record)};
    return got;
  }

  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    if (positions.empty()) {
      return std::all_of(node_.parts().begin(), node_.parts().end(),
                         [](const Part& part) { return part.file->fills(); });
    }
    std::vector<std::byte*> targets;
    std::vector<size_t> sizes;
    for (const OutputSlot& column : columns) {
      targets.push_back(column.data);
      sizes.push_back(row_bytes(*column.spec));
    }
    for (size_t r = 0; r < std::min(kAhead, positions.size()); ++r) prefetch(positions[r]);
    for (size_t r = 0; r < positions.size(); ++r) {
      if (r + kAhead < positions.size()) prefetch(positions[r + kAhead]);
      const auto [part, record] = node_.find(positions[r]);
      if (!part->file->fill(record, context, targets)) return false;
      for (size_t f = 0; f < targets.size(); ++f) targets[f] += sizes[f];
    }
    if (keys != nullptr) std::copy(positions.begin(), positions.end(), keys);
    return true;
  }

 private:
  void prefetch(int64_t i) const {
    const auto [part, record] = node_.find(i);
    part->file->prefetch(record);
  }

  const FilesNode& node_;
};

std::shared_ptr<const View> FilesNode::bind(const Binding&) const { return std::make_shared<FilesView>(*this); }

}  // namespace

void put_mapped_text(std::string_view text, std::byte* to, Context& context) {
  put_text(text, to);
  if (!text.empty()) context.lend(std::as_bytes(std::span(text)).last(1));
}

Dataset source_files(Node::Facts facts, std::vector<NamedSourceFile> files) {
  return Dataset(std::make_shared<FilesNode>(std::move(facts), std::move(files)));
}

std::vector<std::string> expand_or_throw(const std::string& op, std::span<const std::string> patterns) {
  auto paths = expand_files(patterns);
  if (!paths) {
    throw Exception(Error(paths.error().kind(), fmt::format("{}: {}", op, paths.error().message()), paths.error()));
  }
  return std::move(*paths);
}

void leave_out_lost(const std::string& op, std::vector<std::string>& paths) {
  Error last;
  const size_t lost = std::erase_if(paths, [&](const std::string& path) {
    const auto file = MappedFile::open(path);
    if (file) return false;
    last = file.error();
    const bool is_lost = last.kind() == ErrorKind::NotFound || last.kind() == ErrorKind::FailedPrecondition;
    if (!is_lost || last.is_transient()) throw Exception(last);
    log(LogLevel::warning, fmt::format("{} leaves out a file: {}", op, last.message()));
    return true;
  });
  if (lost > 0 && paths.empty()) throw Exception(last);
}

std::string files_label(std::span<const std::string> patterns, std::span<const std::string> paths) {
  std::string facts;
  for (const std::string& path : paths) {
    const FileMark mark = mark_of(*value_or_throw(MappedFile::open(path)));
    facts += fmt::format("{} {} {:x} {:x}\n", path, mark.size, mark.head_hash, mark.tail_hash);
  }
  std::string label;
  for (const std::string& pattern : patterns) label += fmt::format("{}'{}'", label.empty() ? "" : ", ", pattern);
  constexpr size_t kLongest = 200;
  if (label.size() > kLongest) label = fmt::format("{}..., {} patterns", label.substr(0, kLongest), patterns.size());
  return fmt::format("{}{}files={}, digest={:08x}", label, label.empty() ? "" : ", ", paths.size(),
                     crc32c(std::as_bytes(std::span(facts))));
}

}  // namespace headpond::internal
