// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/interleave_order_internal.h"
#include "headpond/dataset/source/file_set_internal.h"
#include "headpond/dataset/source/files_read.h"
#include "headpond/dataset/source/source_files_internal.h"
#include "headpond/dataset/views/lending.h"
#include "headpond/dataset/views/prefetching.h"
#include "headpond/io/record/index/set_index.h"
#include "headpond/io/retry.h"

namespace headpond::internal {
namespace {

constexpr size_t kAhead = 8;  // Records that are prefetched while others are read.

Node::Facts facts_with(Node::Facts facts, const std::shared_ptr<const FileSet>& set) {
  facts.location = set->location();
  facts.slots = Lazy<int64_t>([set] { return set->listing().records(); });
  facts.data = Lazy<std::string>([set] { return set->listing().data; });
  if (facts.stamp.is_known()) facts.stamp = Lazy<std::string>([set] { return stamp_of_set(*set); });
  return facts;
}

std::string full_path_of(const std::string& path) {
  std::error_code error;
  const auto full = std::filesystem::absolute(path, error);
  return error ? path : full.lexically_normal().string();
}

// In which order records are given, if not one file after the other.
using Order = std::shared_ptr<const InterleaveOrder>;

Order order_of(const FileSet& set, int64_t cycle) {
  std::vector<int64_t> lengths = set.listing().ends;
  std::adjacent_difference(lengths.begin(), lengths.end(), lengths.begin());
  return std::make_shared<InterleaveOrder>(std::move(lengths), cycle, 1);
}

class FilesNode final : public Node, public FileReading {
 public:
  FilesNode(Facts facts, const std::shared_ptr<const FileSet>& set, int64_t cycle)
      : Node(facts_with(std::move(facts), set)), set_(set) {
    if (cycle > 1) order_ = Lazy<Order>([set, cycle] { return order_of(*set, cycle); });
  }
  void prepare(const ParallelFor& parallel) const override try {
    (void)set_->listing(parallel);
  } catch (const Exception& e) {
    throw Exception(e.error().at({.op = title()}));
  }
  std::shared_ptr<const View> bind(const Binding& binding) const override;
  std::optional<uint64_t> offset_of(const Provenance& record) const override;
  std::vector<std::string> paths_read() const override { return paths_of(set_->listing().files); }
  size_t file_count() const override { return set_->listing().files.size(); }

 private:
  const std::shared_ptr<const FileSet> set_;
  Lazy<Order> order_;  // Null: one file after the other.
};

class FilesView final : public View, public LendingView, public PrefetchingView, public HeadsOfFiles {
 public:
  FilesView(const Node& node, const FileSet& set, Order order)
      : node_(node), set_(set), files_(set.listing().files), ends_(set.listing().ends), order_(std::move(order)) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const auto [n, record] = find(i);
    Got got = Got::error;
    try {
      got = read(n, record, context, outputs, out);
    } catch (...) {
      context.error = current_exception_error();
    }
    if (got == Got::error && set_.leaves_out(context.error)) {
      out.clear();
      got = Got::hole;
      ++context.left_out;
    }
    if (got == Got::error) {
      context.error =
          context.error.at({.op = node_.title(), .source = files_[n].path, .record = static_cast<uint64_t>(record)});
    }
    out.key = key_of(n, record);
    out.provenance = {.source = files_[n].source, .record = static_cast<uint64_t>(record)};
    return got;
  }

  Got lend(int64_t i, Context& context, Element& out, Loan& loan) const override {
    // A file that a pool closes meanwhile takes its memory along.
    const bool may_lend = loan.has_room() && set_.keeps_all_open();
    if (!may_lend || !lend_record(i, out, loan)) return at(i, context, {}, out);
    return Got::value;
  }

  std::optional<Result<ElementHead>> head(int64_t i, std::span<std::byte> to) const override {
    const auto [n, record] = find(i);
    const FileSet::Opened opened = set_.file(n);
    return opened.file->head(record, to);
  }

  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    if (!set_.keeps_all_open()) return false;  // A column of texts needs its files for as long as the view lives.
    try {
      if (positions.empty()) return files_.empty() || set_.file(0).file->fills();
      return fill_rows(positions, context, columns, keys);
    } catch (...) {
      return false;  // at() tells why.
    }
  }

  void prefetch(std::span<const int64_t> positions) const noexcept override {
    for (const int64_t i : positions) {
      const auto [n, record] = find(i);
      if (const SourceFile* const file = set_.opened(n)) file->prefetch(record);
    }
  }

 private:
  bool lend_record(int64_t i, Element& out, Loan& loan) const {
    const auto [n, record] = find(i);
    try {
      if (!set_.file(n).file->lend(record, out, loan)) return false;
    } catch (...) {
      out.clear();
      return false;  // at() tells why.
    }
    out.key = key_of(n, record);
    out.provenance = {.source = files_[n].source, .record = static_cast<uint64_t>(record)};
    return true;
  }

  // An error that may pass is tried again before it counts.
  Got read(size_t n, int64_t record, Context& context, OutputSlots outputs, Element& out) const {
    for (int number = 0;; ++number) {
      const FileSet::Opened opened = set_.file(n);
      Got got = Got::error;
      try {
        got = opened.file->at(record, context, outputs, out);
        if (got == Got::error) context.error = context.error.at({.offset = opened.file->offset_of(record)});
      } catch (...) {
        context.error = current_exception_error();
      }
      if (got != Got::error || !is_retried(context.error) || !wait_for_retry(number)) return got;
      out.clear();
      set_.renew(n, opened.file);
    }
  }

  // The file of a position, and the record's number in it.
  std::pair<size_t, int64_t> find(int64_t i) const {
    if (order_ != nullptr) {
      const auto [n, record] = order_->at(i);
      return {n, record};
    }
    const auto end = ends_.size() == 1 ? ends_.begin() : std::upper_bound(ends_.begin(), ends_.end(), i);
    return {static_cast<size_t>(end - ends_.begin()), i - (end == ends_.begin() ? 0 : end[-1])};
  }
  // The record's number in all files, whatever the order.
  uint64_t key_of(size_t n, int64_t record) const {
    return static_cast<uint64_t>((n == 0 ? 0 : ends_[n - 1]) + record);
  }

  bool fill_rows(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const {
    std::vector<std::byte*> targets;
    std::vector<size_t> sizes;
    for (const OutputSlot& column : columns) {
      targets.push_back(column.data);
      sizes.push_back(row_bytes(*column.spec));
    }
    for (size_t r = 0; r < std::min(kAhead, positions.size()); ++r) prefetch_row(positions[r]);
    for (size_t r = 0; r < positions.size(); ++r) {
      if (r + kAhead < positions.size()) prefetch_row(positions[r + kAhead]);
      const auto [n, record] = find(positions[r]);
      if (!set_.file(n).file->fill(record, context, targets)) return false;
      if (keys != nullptr) keys[r] = key_of(n, record);
      for (size_t f = 0; f < targets.size(); ++f) targets[f] += sizes[f];
    }
    return true;
  }

  void prefetch_row(int64_t i) const {
    const auto [n, record] = find(i);
    set_.file(n).file->prefetch(record);
  }

  const Node& node_;
  const FileSet& set_;
  const std::vector<ListedFile>& files_;
  const std::vector<int64_t>& ends_;
  const Order order_;
};

std::shared_ptr<const View> FilesNode::bind(const Binding&) const {
  (void)slots();
  return std::make_shared<FilesView>(*this, *set_, order_.get());
}

std::optional<uint64_t> FilesNode::offset_of(const Provenance& record) const {
  const auto& files = set_->listing().files;
  const auto file =
      std::find_if(files.begin(), files.end(), [&](const ListedFile& one) { return one.source == record.source; });
  if (file == files.end()) return std::nullopt;
  try {
    const auto opened = set_->file(static_cast<size_t>(file - files.begin()));
    const auto i = static_cast<int64_t>(record.record);
    return i < opened.file->size() ? opened.file->offset_of(i) : std::nullopt;
  } catch (const Exception&) {
    return std::nullopt;  // The file can't be opened: that is the failure.
  }
}

}  // namespace

void put_mapped_text(std::string_view text, std::byte* to, Context& context) {
  put_text(text, to);
  if (!text.empty()) context.lend(std::as_bytes(std::span(text)).last(1));
}

std::string stamp_of_set(const FileSet& set) {
  const FileSet::Listing& listing = set.listing();
  uint32_t at = 0, changed = 0;
  for (const auto& file : listing.files) {
    const std::string full = full_path_of(file.path);
    at = crc32c_extend(at, std::as_bytes(std::span(full.c_str(), full.size() + 1)));
    const auto stamp = stamp_of(file.path);
    const int64_t time = stamp ? stamp->changed_ns : -1;
    changed = crc32c_extend(changed, std::as_bytes(std::span(&time, 1)));
  }
  return fmt::format("{}; at={:08x} changed={:08x}", listing.stamp, at, changed);
}

std::string_view without_place(std::string_view stamp) { return stamp.substr(0, stamp.find(';')); }

std::string stamp_of_paths(const std::vector<std::string>& paths) {
  uint32_t written = 0, places = 0;
  const auto add = [](uint32_t& digest, const std::string& facts) {
    digest = crc32c_extend(digest, std::as_bytes(std::span(facts)));
  };
  for (const std::string& path : paths) {
    const FileStamp stamp = stamp_of(path).value_or(FileStamp{.modified_ns = -1});
    add(places, full_path_of(path) + '\n');
    add(written, fmt::format("{} {} {}\n", stamp.size, stamp.modified_ns, stamp.changed_ns));
  }
  return fmt::format("written={:08x}{}{:08x}", written, kPaths, places);
}

int64_t take_turns(std::optional<int64_t> num_parallel_reads, Node::Facts& facts) {
  constexpr int64_t kAutotune = -1, kUnlessSaid = 16;  // The same as in interleave.
  int64_t cycle = num_parallel_reads.value_or(1);
  if (cycle == kAutotune) cycle = kUnlessSaid;
  if (cycle < 1) refuse(facts.op, fmt::format("num_parallel_reads={}: it must be at least 1, or -1", cycle));
  if (cycle > 1) facts.args += fmt::format("{}num_parallel_reads={}", facts.args.empty() ? "" : ", ", cycle);
  return cycle;
}

Dataset source_files(Node::Facts facts, FileSetOptions options, std::optional<int64_t> num_parallel_reads) {
  options.op = facts.op;
  const int64_t cycle = take_turns(num_parallel_reads, facts);
  const auto set = std::make_shared<const FileSet>(std::move(options));
  return Dataset(std::make_shared<FilesNode>(std::move(facts), set, cycle));
}

}  // namespace headpond::internal
