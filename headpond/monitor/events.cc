// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/events.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <filesystem>
#include <protozero/pbf_writer.hpp>
#include <utility>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/log.h"
#include "headpond/base/mutex.h"
#include "headpond/io/file/file.h"
#include "headpond/io/record/record_writer.h"
#include "headpond/monitor/events_internal.h"

namespace headpond {
namespace {

// Field numbers of tensorflow.Event, tensorflow.Summary and tensorflow.Summary.Value.
constexpr protozero::pbf_tag_type kWallTime = 1, kStep = 2, kFileVersion = 3, kSummary = 5;
constexpr protozero::pbf_tag_type kValue = 1;
constexpr protozero::pbf_tag_type kTag = 1, kSimpleValue = 2, kHistogram = 5, kTensor = 8, kMetadata = 9;
// Fields of HistogramProto.
constexpr protozero::pbf_tag_type kMin = 1, kMax = 2, kCount = 3, kSum = 4, kSquares = 5, kLimits = 6, kCounts = 7;
constexpr size_t kHistogramPieces = 30;
// Fields of SummaryMetadata and its PluginData; of TensorProto and its shape.
constexpr protozero::pbf_tag_type kPlugin = 1, kPluginName = 1;
constexpr protozero::pbf_tag_type kDType = 1, kShape = 2, kStrings = 8, kDim = 2, kDimSize = 1;
constexpr int32_t kDTypeString = 7;

double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string new_file_name() {
  static std::atomic<int> count = 0;
  std::array<char, 256> host = {};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0') host = {"localhost"};
  return fmt::format("events.out.tfevents.{}.{}.{}.{}", static_cast<int64_t>(wall_time()), host.data(), getpid(),
                     count.fetch_add(1));
}

std::string encode_version() {
  std::string data;
  protozero::pbf_writer event(data);
  event.add_double(kWallTime, wall_time());
  event.add_string(kFileVersion, "brain.Event:2");
  return data;
}

// An event whose summary has one value; `fill` writes what the tag names.
void encode_value(std::string& data, std::string_view tag, int64_t step, const auto& fill) {
  data.clear();
  protozero::pbf_writer event(data);
  event.add_double(kWallTime, wall_time());
  event.add_int64(kStep, step);
  protozero::pbf_writer summary(event, kSummary);
  protozero::pbf_writer value(summary, kValue);
  value.add_string(kTag, tag.data(), tag.size());
  fill(value);
}

void encode_scalar(std::string& data, std::string_view tag, double value, int64_t step) {
  encode_value(data, tag, step,
               [value](protozero::pbf_writer& scalar) { scalar.add_float(kSimpleValue, static_cast<float>(value)); });
}

// REQUIRES: values.
void encode_histogram(std::string& data, std::string_view tag, const std::vector<double>& values, int64_t step) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  const double width = (*most - *least) / kHistogramPieces;
  std::vector<double> limits(kHistogramPieces, *most), counts(kHistogramPieces, 0);
  double sum = 0, squares = 0;
  for (size_t i = 0; i + 1 < kHistogramPieces; ++i) limits[i] = *least + width * static_cast<double>(i + 1);
  for (const double value : values) {
    sum += value;
    squares += value * value;
    const double place = width > 0 ? (value - *least) / width : 0;
    ++counts[std::min(static_cast<size_t>(place), kHistogramPieces - 1)];
  }
  encode_value(data, tag, step, [&](protozero::pbf_writer& value) {
    protozero::pbf_writer histogram(value, kHistogram);
    histogram.add_double(kMin, *least);
    histogram.add_double(kMax, *most);
    histogram.add_double(kCount, static_cast<double>(values.size()));
    histogram.add_double(kSum, sum);
    histogram.add_double(kSquares, squares);
    histogram.add_packed_double(kLimits, limits.begin(), limits.end());
    histogram.add_packed_double(kCounts, counts.begin(), counts.end());
  });
}

// A vector of one string.
void encode_text(std::string& data, std::string_view tag, std::string_view markdown, int64_t step) {
  encode_value(data, tag, step, [&](protozero::pbf_writer& value) {
    {
      protozero::pbf_writer tensor(value, kTensor);
      tensor.add_enum(kDType, kDTypeString);
      {
        protozero::pbf_writer shape(tensor, kShape);
        protozero::pbf_writer dim(shape, kDim);
        dim.add_int64(kDimSize, 1);
      }
      tensor.add_bytes(kStrings, markdown.data(), markdown.size());
    }
    protozero::pbf_writer metadata(value, kMetadata);
    protozero::pbf_writer plugin(metadata, kPlugin);
    plugin.add_string(kPluginName, "text");
  });
}

/// Bytes of the well-formed UTF-8 character at the front of `text` (not empty), or 0.
size_t character_bytes(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const size_t length = byte(0) < 0x80   ? 1
                        : byte(0) < 0xC2 ? 0
                        : byte(0) < 0xE0 ? 2
                        : byte(0) < 0xF0 ? 3
                        : byte(0) < 0xF5 ? 4
                                         : 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  const bool overlong = (byte(0) == 0xE0 && byte(1) < 0xA0) || (byte(0) == 0xF0 && byte(1) < 0x90);
  const bool surrogate = byte(0) == 0xED && byte(1) >= 0xA0;
  const bool beyond = byte(0) == 0xF4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = character_bytes(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace

std::string internal::as_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t length = character_bytes(text);
    valid += length == 0 ? "\xef\xbf\xbd" : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return valid;
}

class EventWriter::State {
 public:
  State(std::unique_ptr<RecordWriter> records, EventWriterOptions options)
      : path_(records->path()), options_(options), records_(std::move(records)), flushed_ns_(now_ns()) {}

  Result<void> begin() {
    MutexLock lock(mu_);
    HEADPOND_TRY(records_->append(encode_version()));
    return records_->flush();
  }

  Result<void> scalar(std::string_view tag, double value, int64_t step) {
    HEADPOND_TRY(check_tag(tag));
    MutexLock lock(mu_);
    encode_scalar(data_, tag, value, step);
    return append();
  }

  Result<void> histogram(std::string_view tag, std::span<const double> values, int64_t step) {
    HEADPOND_TRY(check_tag(tag));
    std::vector<double> numbers;
    for (const double value : values) {
      if (std::isfinite(value)) numbers.push_back(value);
    }
    if (numbers.empty()) return {};
    MutexLock lock(mu_);
    encode_histogram(data_, tag, numbers, step);
    return append();
  }

  Result<void> text(std::string_view tag, std::string_view markdown, int64_t step) {
    HEADPOND_TRY(check_tag(tag));
    if (!is_utf8(markdown))
      return fail(ErrorKind::InvalidArgument, fmt::format("{}: the text of \"{}\" is no UTF-8", path_, tag));
    MutexLock lock(mu_);
    encode_text(data_, tag, markdown, step);
    return append();
  }

  Result<void> flush() {
    MutexLock lock(mu_);
    flushed_ns_ = now_ns();
    return records_->flush();
  }

  Result<void> close() {
    MutexLock lock(mu_);
    return records_->close();
  }

  const std::string& path() const { return path_; }

 private:
  Result<void> check_tag(std::string_view tag) const {
    if (!tag.empty() && is_utf8(tag)) return {};
    return fail(ErrorKind::InvalidArgument, fmt::format("{}: the tag \"{}\" is {}", path_, is_utf8(tag) ? tag : "?",
                                                        tag.empty() ? "empty" : "no UTF-8"));
  }

  // What was encoded.
  Result<void> append() HEADPOND_REQUIRES(mu_) {
    HEADPOND_TRY(records_->append(data_));
    const int64_t now = now_ns();
    if (now < deadline_ns(flushed_ns_, options_.flush_every)) return {};
    flushed_ns_ = now;
    return records_->flush();
  }

  const std::string path_;
  const EventWriterOptions options_;

  Mutex mu_;
  const std::unique_ptr<RecordWriter> records_ HEADPOND_GUARDED_BY(mu_);
  std::string data_ HEADPOND_GUARDED_BY(mu_);  // The event being encoded.
  int64_t flushed_ns_ HEADPOND_GUARDED_BY(mu_);
};

EventWriter::EventWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}

EventWriter::~EventWriter() {
  if (const auto closed = close(); !closed) log(LogLevel::error, closed.error().to_string());
}

Result<std::unique_ptr<EventWriter>> EventWriter::open(const std::string& folder, EventWriterOptions options) {
  HEADPOND_TRY(make_folders(folder));
  auto records = RecordWriter::open((std::filesystem::path(folder) / new_file_name()).string());
  if (!records) return fail(std::move(records).error());
  auto state = std::make_unique<State>(std::move(*records), options);
  HEADPOND_TRY(state->begin());
  return std::unique_ptr<EventWriter>(new EventWriter(std::move(state)));
}

Result<void> EventWriter::scalar(std::string_view tag, double value, int64_t step) {
  return state_->scalar(tag, value, step);
}
Result<void> EventWriter::histogram(std::string_view tag, std::span<const double> values, int64_t step) {
  return state_->histogram(tag, values, step);
}
Result<void> EventWriter::text(std::string_view tag, std::string_view markdown, int64_t step) {
  return state_->text(tag, markdown, step);
}
Result<void> EventWriter::flush() { return state_->flush(); }
Result<void> EventWriter::close() { return state_->close(); }
const std::string& EventWriter::path() const { return state_->path(); }

}  // namespace headpond
