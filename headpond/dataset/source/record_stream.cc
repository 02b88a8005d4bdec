// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "headpond/base/log.h"
#include "headpond/dataset/source/files_read.h"
#include "headpond/dataset/source/record_stream_internal.h"
#include "headpond/io/retry.h"

namespace headpond::internal {
namespace {

class StreamNode final : public Node, public FileReading {
 public:
  StreamNode(Facts facts, std::shared_ptr<const FileSet> set, const RecordReaderOptions& options, int64_t cycle)
      : Node(std::move(facts)), set_(std::move(set)), options_(options), cycle_(cycle) {}
  void prepare(const ParallelFor& parallel) const override { (void)set_->listing(parallel); }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;
  std::vector<std::string> paths_read() const override { return paths_of(set_->listing().files); }
  size_t file_count() const override { return set_->listing().files.size(); }

  int64_t cycle() const { return cycle_; }  // How many files take turns.
  int64_t files() const { return static_cast<int64_t>(set_->listing().files.size()); }
  Result<std::unique_ptr<RecordReader>> open(int64_t file) const try {
    auto reader = with_retries([&] { return RecordReader::open(listed(file).path, options_); });
    if (reader) set_->check_unchanged(static_cast<size_t>(file));
    return reader;
  } catch (const Exception& e) {
    return fail(e.error());
  }
  bool leaves_out(const Error& error) const {
    return options_.on_damage == OnDamage::skip && !error.is_transient() &&
           (error.kind() == ErrorKind::NotFound || error.kind() == ErrorKind::FailedPrecondition);
  }
  Provenance provenance(int64_t file, uint64_t record) const {
    return {.source = listed(file).source, .record = record};
  }

 private:
  const ListedFile& listed(int64_t file) const { return set_->listing().files[static_cast<size_t>(file)]; }

  const std::shared_ptr<const FileSet> set_;
  const RecordReaderOptions options_;
  const int64_t cycle_;
};

constexpr int64_t kNone = -1;

// A slot of the cycle, and the file that has it.
struct Turn {
  int64_t file = kNone;
  RecordPosition at = {};                          // Position of the next record.
  std::unique_ptr<RecordReader> reader = nullptr;  // Made when a record is asked for.
  int tries = 0;                                   // Tries of the next record.
};

class StreamIterator final : public Iterator {
 public:
  explicit StreamIterator(const StreamNode& node)
      : node_(node), turns_(static_cast<size_t>(std::clamp(node.files(), int64_t{1}, node.cycle()))) {}

  Got next(Context& context, Element& out) override {
    while (has_file()) {
      Turn& turn = turns_[turn_];
      if (auto opened = open(turn); !opened) {
        if (!node_.leaves_out(opened.error())) return fail(opened.error(), context);
        log(LogLevel::warning, "tfrecord leaves out a file: " + opened.error().message());
        ++context.left_out;
        if (++left_out_ == node_.files()) return fail(opened.error(), context);
        end_file(turn.at.record);
        continue;
      }
      const uint64_t damaged = turn.reader->counts().damaged;
      const auto payload = turn.reader->next();
      context.scratch().defects.count += static_cast<int64_t>(turn.reader->counts().damaged - damaged);
      const RecordPosition after = turn.reader->position();
      if (!payload && is_retried(payload.error()) && wait_for_retry(turn.tries++)) {
        turn.reader.reset();
        continue;
      }
      turn.tries = 0;
      if (payload && !*payload) {
        say_left_out(turn.reader->counts());
        end_file(after.record);
        continue;
      }
      name(turn.file, payload ? after.record - 1 : turn.at.record, out);
      const uint64_t offset = std::exchange(turn.at, after).offset;
      return payload ? give(**payload, turn, context, out) : fail(payload.error(), context, offset);
    }
    return Got::end;
  }

  void visit_state(StateVisitor& visitor) override {
    if (node_.cycle() == 1) return visit_file_in_order(visitor);
    auto turn = static_cast<int64_t>(turn_);
    visitor.number_within(next_file_, 0, node_.files());
    visitor.number_within(turn, 0, static_cast<int64_t>(turns_.size()) - 1);
    for (Turn& one : turns_) {
      visitor.number_within(one.file, kNone, node_.files() - 1);
      visit_position(one, visitor);
    }
    turn_ = static_cast<size_t>(turn);
  }

 private:
  static void visit_position(Turn& turn, StateVisitor& visitor) {
    visitor.number(turn.at.offset);
    visitor.number(turn.at.record);
  }
  void visit_file_in_order(StateVisitor& visitor) {
    Turn& turn = turns_[0];
    int64_t file = turn.file == kNone ? next_file_ : turn.file;
    visitor.number_within(file, 0, node_.files());
    visit_position(turn, visitor);
    visitor.number(before_);
    if (!visitor.is_restoring()) return;
    const bool is_at_end = file == node_.files();
    turn.file = is_at_end ? kNone : file;
    next_file_ = is_at_end ? file : file + 1;
  }

  // Whether a file has the turn; a free slot gets the next file.
  bool has_file() {
    for (size_t n = 0; n < turns_.size(); ++n) {
      Turn& turn = turns_[turn_];
      if (turn.file == kNone && next_file_ < node_.files()) turn.file = next_file_++;
      if (turn.file != kNone) return true;
      pass_turn();
    }
    return false;
  }
  void pass_turn() { turn_ = (turn_ + 1) % turns_.size(); }
  static void say_left_out(const RecordCounts& counts) {
    if (counts.damaged == 0 && counts.lost_bytes == 0) return;
    log(LogLevel::warning,
        fmt::format("tfrecord leaves out {} damaged record{} and {} bytes at the end, the last: {}", counts.damaged,
                    counts.damaged == 1 ? "" : "s", counts.lost_bytes, counts.last.message()));
  }
  // Ends the file that has the turn, which had so many records.
  void end_file(uint64_t records) {
    before_ += records;
    turns_[turn_] = Turn();
    pass_turn();
  }

  Result<void> open(Turn& turn) const {
    if (turn.reader) return {};
    auto reader = node_.open(turn.file);
    if (!reader) return headpond::fail(std::move(reader).error());
    if (turn.at.offset > 0) {
      const auto found = (*reader)->seek(turn.at);
      // Not OutOfRange, which would mean the end of the data.
      if (!found)
        return headpond::fail(
            Error(ErrorKind::DataLoss, "where the state was: " + found.error().message(), found.error()));
    }
    turn.reader = std::move(*reader);
    return {};
  }
  void name(int64_t file, uint64_t record, Element& out) const {
    out.key = node_.cycle() == 1 ? before_ + record : mix(static_cast<uint64_t>(file), record);
    out.provenance = node_.provenance(file, record);
  }
  Got fail(const Error& error, Context& context, std::optional<uint64_t> offset = std::nullopt) {
    pass_turn();
    return context.fail(error.at({.op = node_.title(), .offset = offset}));
  }
  Got give(std::span<const std::byte> payload, const Turn& turn, Context& context, Element& out) {
    out.append(Tensor::scalar(std::string_view(reinterpret_cast<const char*>(payload.data()), payload.size())));
    const auto whole = turn.reader->check();
    pass_turn();
    if (whole) return Got::value;
    out.clear();
    return context.fail(whole.error());
  }

  const StreamNode& node_;
  std::vector<Turn> turns_;
  size_t turn_ = 0;
  int64_t next_file_ = 0;  // The first one that has not begun.
  uint64_t before_ = 0;    // Records of the files that have ended.
  int64_t left_out_ = 0;   // Files; it is an error if these are all.
};

std::unique_ptr<Iterator> StreamNode::iterate(const Binding&, Feed&) const {
  (void)files();  // A missing one is found now.
  return std::make_unique<StreamIterator>(*this);
}

}  // namespace

Dataset record_stream(Node::Facts facts, FileSetOptions options, const RecordReaderOptions& of_reader,
                      std::optional<int64_t> num_parallel_reads) {
  constexpr int64_t kMostOpen = 1'000;
  options.op = facts.op;
  const int64_t cycle = take_turns(num_parallel_reads, facts);
  if (cycle > kMostOpen) {
    refuse(facts.op, fmt::format("num_parallel_reads={}: of files that are read in order at most {}, as each state "
                                 "lists those that are open",
                                 cycle, kMostOpen));
  }
  const auto set = std::make_shared<const FileSet>(std::move(options));
  facts.location = set->location();
  facts.data = Lazy<std::string>([set] { return set->listing().data; });
  if (facts.stamp.is_known()) facts.stamp = Lazy<std::string>([set] { return stamp_of_set(*set); });
  facts.kind = Kind::stream;
  facts.slots = kEndless;
  return Dataset(std::make_shared<StreamNode>(std::move(facts), set, of_reader, cycle));
}

}  // namespace headpond::internal
