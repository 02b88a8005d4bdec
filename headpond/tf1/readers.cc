// SPDX-License-Identifier: Apache-2.0
#include "headpond/tf1/readers.h"

#include <fmt/format.h>

#include "headpond/io/record/record_reader.h"
#include "headpond/io/text/text_lines.h"
#include "headpond/tf1/reader_state_internal.h"
#include "headpond/tf1/rows_internal.h"

namespace headpond::tf1 {
namespace {

using internal::ReaderKind;
using internal::ReaderState;
using internal::UnitPosition;
using internal::WorkUnit;
using Opened = Result<std::unique_ptr<WorkUnit>>;

std::string to_string(std::span<const std::byte> content) {
  return {reinterpret_cast<const char*>(content.data()), content.size()};
}

class WholeFile final : public WorkUnit {
 public:
  explicit WholeFile(std::string name) : name_(std::move(name)) {}
  Result<bool> next(KeyValue& record) override {
    const auto content = read_file(name_);
    if (!content) return fail(content.error());
    record = {name_, to_string(*content)};
    return true;
  }
  UnitPosition position() const override { return {}; }

 private:
  const std::string name_;
};

class Identity final : public WorkUnit {
 public:
  explicit Identity(std::string name) : name_(std::move(name)) {}
  Result<bool> next(KeyValue& record) override {
    record = {name_, name_};
    return true;
  }
  UnitPosition position() const override { return {}; }

 private:
  const std::string name_;
};

class TextFile final : public WorkUnit {
 public:
  explicit TextFile(TextLines lines) : lines_(std::move(lines)) {}
  Result<bool> next(KeyValue& record) override {
    const auto line = lines_.next();
    if (!line) return fail(line.error());
    if (*line) record = {fmt::format("{}:{}", lines_.name(), (*line)->number), std::string((*line)->text)};
    return line->has_value();
  }
  UnitPosition position() const override { return {lines_.position().offset, lines_.position().lines}; }

 private:
  TextLines lines_;
};

class FixedLength final : public WorkUnit {
 public:
  explicit FixedLength(FixedLengthReader reader) : reader_(std::move(reader)) {}
  Result<bool> next(KeyValue& record) override {
    const int64_t number = reader_.position();
    const auto content = reader_.next();
    if (!content) return fail(content.error());
    if (*content) record = {fmt::format("{}:{}", reader_.name(), number), to_string(**content)};
    return content->has_value();
  }
  UnitPosition position() const override { return {0, reader_.position()}; }

 private:
  FixedLengthReader reader_;
};

class RecordFile final : public WorkUnit {
 public:
  explicit RecordFile(std::unique_ptr<RecordReader> reader) : reader_(std::move(reader)) {}
  Result<bool> next(KeyValue& record) override {
    const uint64_t offset = reader_->position().offset;
    const auto payload = reader_->next();
    if (!payload) return fail(payload.error());
    if (!*payload) return false;
    record = {fmt::format("{}:{}", reader_->name(), offset), to_string(**payload)};
    HEADPOND_TRY(reader_->check());
    return true;
  }
  UnitPosition position() const override {
    return {reader_->position().offset, static_cast<int64_t>(reader_->position().record)};
  }

 private:
  const std::unique_ptr<RecordReader> reader_;
};

Opened open_records(const std::string& name, UnitPosition at, const RecordReaderOptions& options) {
  auto reader = RecordReader::open(name, options);
  if (!reader) return fail(std::move(reader).error());
  const auto found = (*reader)->seek({at.offset, static_cast<uint64_t>(at.number)});
  // OutOfRange would be the end of the data.
  if (!found && found.error().kind() == ErrorKind::OutOfRange)
    return fail(ErrorKind::DataLoss, found.error().message());
  if (!found) return fail(found.error());
  return std::make_unique<RecordFile>(std::move(*reader));
}

ReaderKind records(const TFRecordReaderOptions& options) {
  if (options.compression && !is_known(*options.compression)) {
    internal::refuse("TFRecordReader",
                     fmt::format("compression {} is unknown", static_cast<int>(*options.compression)));
  }
  const RecordReaderOptions of_file = {.compression = options.compression};
  return {.description = fmt::format("TFRecordReader(compression={})",
                                     options.compression ? headpond::to_string(*options.compression) : "any"),
          .open = [of_file](const std::string& name, UnitPosition at) { return open_records(name, at, of_file); }};
}

ReaderKind text_lines(const TextLineReaderOptions& options) {
  const TextLinesOptions of_lines = {.skip_header_lines = options.skip_header_lines,
                                     .max_line_bytes = options.max_line_bytes};
  (void)TextLines(make_memory_reader("", {}), of_lines);  // Throws here, not at the first file.
  return {.description = fmt::format("TextLineReader(skip_header_lines={}, max_line_bytes={})",
                                     options.skip_header_lines, options.max_line_bytes),
          .open = [of_lines](const std::string& name, UnitPosition at) -> Opened {
            TextLinesOptions from = of_lines;
            from.start = {at.offset, at.number};
            auto lines = TextLines::open(name, from);
            if (!lines) return fail(std::move(lines).error());
            return std::make_unique<TextFile>(std::move(*lines));
          }};
}

ReaderKind fixed_length(const FixedLengthOptions& options) {
  (void)FixedLengthReader(make_memory_reader("", {}), options);  // Likewise.
  const std::string compression = options.compression == Compression::none
                                      ? ""
                                      : fmt::format(", compression={}", headpond::to_string(options.compression));
  return {.description = fmt::format("FixedLengthRecordReader(record_bytes={}, header_bytes={}, footer_bytes={}, "
                                     "hop_bytes={}{})",
                                     options.record_bytes, options.header_bytes, options.footer_bytes,
                                     options.hop_bytes, compression),
          .open = [options](const std::string& name, UnitPosition at) -> Opened {
            auto reader = FixedLengthReader::open(name, options, at.number);
            if (!reader) return fail(std::move(reader).error());
            return std::make_unique<FixedLength>(std::move(*reader));
          }};
}

template <class Unit>
ReaderKind one_record_each(const char* type) {
  return {.description = type, .one_record_each = true, .open = [](const std::string& name, UnitPosition) -> Opened {
            return std::make_unique<Unit>(name);
          }};
}

std::shared_ptr<ReaderState> make(ReaderKind kind) { return std::make_shared<ReaderState>(std::move(kind)); }

}  // namespace

Result<KeyValue> Reader::read(const Queue& queue, Wait wait) const {
  auto records = state_->read(queue, 1, wait);
  if (!records) return fail(std::move(records).error());
  return std::move(records->front());
}
Result<std::vector<KeyValue>> Reader::read_up_to(const Queue& queue, int64_t n, Wait wait) const {
  return state_->read(queue, n, wait);
}
int64_t Reader::num_records_produced() const { return state_->records(); }
int64_t Reader::num_work_units_completed() const { return state_->completed(); }
std::string Reader::serialize_state() const { return state_->save(); }
Result<void> Reader::restore_state(std::string_view state) const { return state_->restore(state); }
void Reader::reset() const { state_->reset(); }

WholeFileReader::WholeFileReader() : Reader(make(one_record_each<WholeFile>("WholeFileReader"))) {}
TextLineReader::TextLineReader(TextLineReaderOptions options) : Reader(make(text_lines(options))) {}
FixedLengthRecordReader::FixedLengthRecordReader(FixedLengthOptions options) : Reader(make(fixed_length(options))) {}
TFRecordReader::TFRecordReader(TFRecordReaderOptions options) : Reader(make(records(options))) {}
IdentityReader::IdentityReader() : Reader(make(one_record_each<Identity>("IdentityReader"))) {}

}  // namespace headpond::tf1
