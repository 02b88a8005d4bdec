// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/record_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headpond/io/named_error_internal.h"
#include "headpond/io/record/record_frame_internal.h"
#include "headpond/io/record/record_source_internal.h"

namespace headpond {
namespace {

using internal::Frame;
using internal::FrameState;
using internal::kFrameBytes;
using internal::kHeaderBytes;
using internal::RecordSource;
using Payload = Result<std::optional<std::span<const std::byte>>>;

RecordSource::Options source_options(const RecordReaderOptions& options) {
  return {options.compression, options.max_inflated_bytes};
}

bool is_truncated(FrameState state) { return state == FrameState::cut_header || state == FrameState::cut_payload; }

}  // namespace

class RecordReader::State {
 public:
  State(RecordSource source, const RecordReaderOptions& options) : source_(std::move(source)), options_(options) {}

  static Result<std::unique_ptr<RecordReader>> reader(Result<RecordSource> source, const RecordReaderOptions& options) {
    if (!source) return fail(std::move(source).error());
    return std::unique_ptr<RecordReader>(new RecordReader(std::make_unique<State>(std::move(*source), options)));
  }

  Payload next() {
    const Frame frame = internal::look_at_frame(source_.at(), source_.left(), options_.max_record_bytes);
    if (frame.state == FrameState::whole) [[likely]]
      return deliver(frame.length);
    return next_after(frame);
  }

  Result<void> seek(RecordPosition position) {
    const RecordPosition before = this->position();
    if (auto there = source_.go_to(position.offset); !there) {
      if (source_.offset() != before.offset) lost_place_ = {before, there.error()};
      return there;
    }
    lost_place_.reset();
    record_ = position.record;
    counts_.lost_bytes = 0;
    return {};
  }

  RecordPosition position() const {
    return lost_place_ ? lost_place_->before : RecordPosition{source_.offset(), record_};
  }
  const RecordCounts& counts() const { return counts_; }
  const RecordSource& source() const { return source_; }

 private:
  Payload deliver(uint64_t length) {
    const std::span payload(source_.at() + kHeaderBytes, length);
    source_.step(kFrameBytes + length);
    ++record_;
    ++counts_.records;
    return payload;
  }

  // For a frame that is not whole, or not in memory yet.
  Payload next_after(Frame frame) {
    if (lost_place_) return fail(lost_place_->error);
    while (frame.state != FrameState::whole) {
      if (is_truncated(frame.state)) {
        const auto got =
            source_.more(frame.state == FrameState::cut_header ? kHeaderBytes : kFrameBytes + frame.length);
        if (!got) return unreadable(got.error());
        if (!*got) return source_.left() == 0 ? finish() : lose_rest(error_of(frame));
      } else if (frame.state == FrameState::bad_header) {
        return lose_rest(error_of(frame));
      } else {
        const auto passed = pass_damaged(frame);
        if (!passed) return fail(passed.error());
        if (!*passed) return std::nullopt;
      }
      frame = internal::look_at_frame(source_.at(), source_.left(), options_.max_record_bytes);
    }
    counts_.lost_bytes = 0;  // A truncated record may have become whole.
    return deliver(frame.length);
  }

  Error error_of(const Frame& frame) const {
    return internal::frame_error({source_.name(), source_.offset(), record_}, frame, source_.rest(),
                                 options_.max_record_bytes);
  }

  // Handles a damaged record whose end is known. True iff next_after() must look again, at the next record or at more
  // bytes of this one; false iff the file ends before the record does.
  Result<bool> pass_damaged(const Frame& frame) {
    Error error = error_of(frame);
    HEADPOND_TRY(check());
    const bool is_skipped = options_.on_damage == OnDamage::skip;
    if (!is_skipped && frame.state == FrameState::too_long) return fail(std::move(error));
    uint64_t bytes = 0;
    const bool can_be = !__builtin_add_overflow(frame.length, kFrameBytes, &bytes);
    const bool ends_before = can_be && !source_.is_stream() && bytes > source_.left();
    if (ends_before) {
      const auto got = source_.more(bytes);
      if (!got) return fail(at_record(got.error()));
      if (*got) return true;
    }
    if (!can_be || ends_before) return lose_rest(std::move(error)).map([](const auto&) { return false; });
    const auto passed = source_.pass(bytes);
    if (!passed) return unreadable(passed.error()).map([](const auto&) { return false; });
    if (*passed < bytes) return lose_rest(std::move(error), *passed).map([](const auto&) { return false; });
    ++record_;
    if (!is_skipped) return fail(std::move(error));
    ++counts_.damaged;
    counts_.lost_bytes = 0;
    counts_.last = std::move(error);
    return true;
  }

  // The next record cannot be found. `passed`: the bytes skipped before the end was reached.
  Payload lose_rest(Error error, uint64_t passed = 0) {
    HEADPOND_TRY(check());
    if (options_.on_damage == OnDamage::fail) return fail(std::move(error));
    counts_.lost_bytes = std::max(counts_.lost_bytes, passed + source_.left());
    counts_.last = std::move(error);
    return std::nullopt;
  }

  Payload unreadable(const Error& cause) {
    Error error = at_record(cause);
    if (!source_.is_stream() || source_.input_failed() || cause.kind() != ErrorKind::DataLoss) {
      return fail(std::move(error));
    }
    return lose_rest(std::move(error));
  }

  Error at_record(const Error& cause) const { return internal::error_at_record(record_, source_.offset(), cause); }

  Result<void> check() const {
    const auto whole = source_.check();
    return whole ? whole : fail(at_record(whole.error()));
  }

  Payload finish() {
    HEADPOND_TRY(check());
    if (!options_.expected_records || record_ == *options_.expected_records) return std::nullopt;
    return lose_rest(
        Error(ErrorKind::DataLoss, fmt::format("{}: {} records expected, {} found: the end is at offset {}",
                                               source_.name(), *options_.expected_records, record_, source_.offset())));
  }

  struct LostPlace {
    RecordPosition before;
    Error error;
  };

  RecordSource source_;
  uint64_t record_ = 0;
  // After a seek() in a stream that failed on the way; then no bytes are in memory.
  std::optional<LostPlace> lost_place_;
  RecordCounts counts_;
  const RecordReaderOptions options_;
};

RecordReader::RecordReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RecordReader::~RecordReader() = default;

Result<std::unique_ptr<RecordReader>> RecordReader::open(const std::string& path, const RecordReaderOptions& options) {
  return State::reader(RecordSource::open(path, source_options(options)), options);
}

Result<std::unique_ptr<RecordReader>> RecordReader::over(std::unique_ptr<ByteReader> bytes,
                                                         const RecordReaderOptions& options) {
  return State::reader(RecordSource::over(std::move(bytes), source_options(options)), options);
}

Result<std::unique_ptr<RecordReader>> RecordReader::over(const std::string& name, std::span<const std::byte> bytes,
                                                         const RecordReaderOptions& options) {
  return State::reader(RecordSource::over(name, bytes, source_options(options)), options);
}

Payload RecordReader::next() { return state_->next(); }
Result<void> RecordReader::check() const { return state_->source().check(); }
RecordPosition RecordReader::position() const { return state_->position(); }
Result<void> RecordReader::seek(RecordPosition position) { return state_->seek(position); }
const RecordCounts& RecordReader::counts() const { return state_->counts(); }
const std::string& RecordReader::name() const { return state_->source().name(); }
Compression RecordReader::compression() const { return state_->source().compression(); }

}  // namespace headpond
