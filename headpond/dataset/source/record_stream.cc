// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/dataset/source/record_stream_internal.h"
#include "headpond/io/retry.h"

namespace headpond::internal {
namespace {

class StreamNode final : public Node {
 public:
  StreamNode(Facts facts, std::shared_ptr<const FileSet> set, const RecordReaderOptions& options)
      : Node(std::move(facts)), set_(std::move(set)), options_(options) {}
  void prepare(const ParallelFor& parallel) const override { (void)set_->listing(parallel); }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;

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
};

class StreamIterator final : public Iterator {
 public:
  explicit StreamIterator(const StreamNode& node) : node_(node) {}

  Got next(Context& context, Element& out) override {
    while (file_ < node_.files()) {
      if (auto opened = open(); !opened) {
        if (!node_.leaves_out(opened.error())) return context.fail(std::move(opened).error());
        log(LogLevel::warning, "tfrecord leaves out a file: " + opened.error().message());
        ++context.left_out;
        if (++left_out_ == node_.files()) return context.fail(std::move(opened).error());
        before_ += at_.record;
        at_ = {};
        ++file_;
        continue;
      }
      const auto payload = reader_->next();
      const RecordPosition after = reader_->position();
      if (!payload && is_retried(payload.error()) && wait_for_retry(tries_++)) {
        reader_.reset();
        continue;
      }
      tries_ = 0;
      if (!payload) {
        out.key = before_ + at_.record;
        out.provenance = node_.provenance(file_, at_.record);
        at_ = after;
        return context.fail(payload.error());
      }
      if (*payload) return give(**payload, after, context, out);
      before_ += after.record;
      at_ = {};
      reader_.reset();
      ++file_;
    }
    return Got::end;
  }

  void visit_state(StateVisitor& visitor) override {
    visitor.number_within(file_, 0, node_.files());
    visitor.number(at_.offset);
    visitor.number(at_.record);
    visitor.number(before_);
  }

 private:
  Result<void> open() {
    if (reader_) return {};
    auto reader = node_.open(file_);
    if (!reader) return fail(std::move(reader).error());
    if (at_.offset > 0) {
      const auto found = (*reader)->seek(at_);
      // Not OutOfRange, which would mean the end of the data.
      if (!found)
        return fail(Error(ErrorKind::DataLoss, "where the state was: " + found.error().message(), found.error()));
    }
    reader_ = std::move(*reader);
    return {};
  }

  Got give(std::span<const std::byte> payload, const RecordPosition& after, Context& context, Element& out) {
    out.append(Tensor::scalar(std::string_view(reinterpret_cast<const char*>(payload.data()), payload.size())));
    at_ = after;
    const uint64_t record = after.record - 1;
    out.key = before_ + record;
    out.provenance = node_.provenance(file_, record);
    const auto whole = reader_->check();
    if (whole) return Got::value;
    out.clear();
    return context.fail(whole.error());
  }

  const StreamNode& node_;
  std::unique_ptr<RecordReader> reader_;  // Reads file_ from at_ on; made when a record is asked for.
  int64_t file_ = 0;
  RecordPosition at_;
  uint64_t before_ = 0;   // Records of the files before file_.
  int64_t left_out_ = 0;  // Files; it is an error if these are all.
  int tries_ = 0;         // Of the next record.
};

std::unique_ptr<Iterator> StreamNode::iterate(const Binding&, Feed&) const {
  (void)files();  // A missing one is found now.
  return std::make_unique<StreamIterator>(*this);
}

}  // namespace

Dataset record_stream(Node::Facts facts, FileSetOptions options, const RecordReaderOptions& of_reader) {
  options.op = facts.op;
  const auto set = std::make_shared<const FileSet>(std::move(options));
  facts.location = set->location();
  facts.data = Lazy<std::string>([set] { return set->listing().data; });
  if (facts.stamp.is_known()) facts.stamp = Lazy<std::string>([set] { return set->listing().stamp; });
  facts.kind = Kind::stream;
  facts.slots = kEndless;
  return Dataset(std::make_shared<StreamNode>(std::move(facts), set, of_reader));
}

}  // namespace headpond::internal
