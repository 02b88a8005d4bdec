// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/dataset/source/record_stream_internal.h"

namespace headpond::internal {
namespace {

class StreamNode final : public Node {
 public:
  StreamNode(Facts facts, std::vector<std::string> paths, const RecordReaderOptions& options)
      : Node(std::move(facts)), paths_(std::move(paths)), options_(options) {
    for (const std::string& path : paths_) sources_.push_back(register_source(path));
  }
  std::unique_ptr<Iterator> iterate(const Binding& binding, Feed& feed) const override;

  int64_t files() const { return static_cast<int64_t>(paths_.size()); }
  Result<std::unique_ptr<RecordReader>> open(int64_t file) const {
    return RecordReader::open(paths_[static_cast<size_t>(file)], options_);
  }
  bool leaves_out(const Error& error) const {
    return options_.on_damage == OnDamage::skip && !error.is_transient() &&
           (error.kind() == ErrorKind::NotFound || error.kind() == ErrorKind::FailedPrecondition);
  }
  Provenance provenance(int64_t file, uint64_t record) const {
    return {.source = sources_[static_cast<size_t>(file)], .record = record};
  }

 private:
  const std::vector<std::string> paths_;
  const RecordReaderOptions options_;
  std::vector<uint64_t> sources_;
};

class StreamIterator final : public Iterator {
 public:
  explicit StreamIterator(const StreamNode& node) : node_(node) {}

  Got next(Context& context, Element& out) override {
    while (file_ < node_.files()) {
      if (auto opened = open(); !opened) {
        if (!node_.leaves_out(opened.error())) return context.fail(std::move(opened).error());
        log(LogLevel::warning, "tfrecord leaves out a file: " + opened.error().message());
        if (++left_out_ == node_.files()) return context.fail(std::move(opened).error());
        before_ += at_.record;
        at_ = {};
        ++file_;
        continue;
      }
      const auto payload = reader_->next();
      const RecordPosition after = reader_->position();
      if (!payload) {
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
};

std::unique_ptr<Iterator> StreamNode::iterate(const Binding&, Feed&) const {
  return std::make_unique<StreamIterator>(*this);
}

}  // namespace

Dataset record_stream(Node::Facts facts, std::vector<std::string> paths, const RecordReaderOptions& options) {
  facts.spec = {{"", DType::bytes, {}}};
  facts.kind = Kind::stream;
  facts.slots = kEndless;
  return Dataset(std::make_shared<StreamNode>(std::move(facts), std::move(paths), options));
}

}  // namespace headpond::internal
