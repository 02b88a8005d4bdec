// SPDX-License-Identifier: Apache-2.0
#include "cli/survey/file_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <memory>
#include <span>
#include <utility>

#include "cli/survey/content_survey.h"
#include "cli/survey/file_format.h"
#include "headpond/io/archive/tar.h"
#include "headpond/io/array/idx.h"
#include "headpond/io/compression/inflate.h"
#include "headpond/io/file/file.h"
#include "headpond/io/file/glob.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/growing_array.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/text/json/json_lines.h"
#include "headpond/io/text/text_lines.h"
#include "headpond/monitor/progress.h"

namespace headpond::cli {
namespace {

using Reader = std::unique_ptr<ByteReader>;
constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kMostInMemory = uint64_t{1} << 30;  // For files that are read as a whole.

// Reports each byte that is read.
class Counted final : public ByteReader {
 public:
  Counted(Reader from, const SurveyOptions& options, uint64_t& bytes)
      : from_(std::move(from)), options_(options), bytes_(bytes) {}
  Result<size_t> read(std::span<std::byte> to) override {
    if (options_.stop.stop_requested()) return fail(ErrorKind::Cancelled, "interrupted");
    auto got = from_->read(to);
    if (!got) return got;
    bytes_ += *got;
    options_.on_bytes(*got);
    return got;
  }
  uint64_t left_at_most() const override { return from_->left_at_most(); }
  const std::string& name() const override { return from_->name(); }

 private:
  const Reader from_;
  const SurveyOptions& options_;
  uint64_t& bytes_;
};

// For consumers that own their reader. The owner of `of` can read the rest afterwards.
class Lent final : public ByteReader {
 public:
  explicit Lent(ByteReader& of) : of_(of) {}
  Result<size_t> read(std::span<std::byte> to) override { return of_.read(to); }
  uint64_t left_at_most() const override { return of_.left_at_most(); }
  const std::string& name() const override { return of_.name(); }

 private:
  ByteReader& of_;
};

bool is_regular(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none);
}

uint64_t stored_bytes(const std::string& path) {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(path, none);
  return none ? 0 : bytes;
}

// A missing file or a folder gives open_file_reader's error, which is the better one.
Result<Reader> open_stored(const std::string& path) {
  std::error_code none;
  const auto type = std::filesystem::status(path, none).type();
  const bool is_stream =
      path == "-" || type == std::filesystem::file_type::fifo || type == std::filesystem::file_type::character;
  return is_stream ? open_stream_reader(path) : open_file_reader(path);
}

Error no_end_blocks(const std::string& path) {
  return {ErrorKind::DataLoss,
          path + ": the archive does not end with two blocks of zeros; it may have been truncated after a member"};
}

// Reads one file with the reader of its format.
class Survey {
 public:
  Survey(const std::string& path, const SurveyOptions& options) : options_(options) { report_.path = path; }

  Result<FileReport> run() {
    look();
    if (options_.stop.stop_requested()) return fail(ErrorKind::Cancelled, "interrupted");
    return std::move(report_);
  }

 private:
  void look();
  void look_at_format(Reader stored);
  void look_at_records(Reader stored);
  void read_records(RecordReader& reader, uint64_t plain_bytes);
  void look_at_example(RecordPosition at, std::span<const std::byte> payload);
  void look_at_tar(ByteReader& bytes);
  bool read_member(TarReader& tar, const TarMember& member, std::span<std::byte> buffer, uint64_t record);
  void group(const TarIndex& index);
  void look_at_lines(ByteReader& bytes, bool are_objects);
  void damaged_line(const TextLine& line, const Error& error);
  void look_at_idx(ByteReader& bytes, uint64_t limit);
  void look_at_whole(ByteReader& bytes, const FileFormat& format);
  void look_at_content(std::span<const std::byte> content, const FileFormat& format);
  void look_at_rest(ByteReader& bytes);

  bool is_at_limit(uint64_t records) {
    report_.is_limited = options_.limit && records >= *options_.limit;
    return report_.is_limited;
  }
  void damaged(const Error& error, std::optional<uint64_t> record = {}, std::optional<uint64_t> offset = {}) {
    report_.add_damage({record, offset ? offset : offset_in(error, report_.path), {}, error});
  }
  // The whole content; nullopt, with the damage reported, iff it cannot be read.
  std::optional<GrowingArray<std::byte>> read_whole(ByteReader& bytes);

  enum class Content { unknown, examples, other };

  const SurveyOptions& options_;
  FileReport report_;
  Content content_ = Content::unknown;  // Content of the records.
};

void Survey::look() {
  auto opened = open_stored(report_.path);
  if (!opened) return damaged(opened.error());
  uint64_t read = 0;
  look_at_format(std::make_unique<Counted>(std::move(*opened), options_, read));
  report_.bytes = is_regular(report_.path) ? stored_bytes(report_.path) : read;
}

void Survey::look_at_format(Reader stored) {
  std::vector<std::byte> start(kFormatBytes);
  const auto got = read_fully(*stored, start);
  if (!got) return damaged(got.error());
  report_.is_readable = true;
  start.resize(*got);
  const FileFormat format = guess_format(report_.path, start);
  report_.format = format.name;
  report_.compression = to_string(format.compression);
  if (const auto other = unsupported_compression(start); !other.empty()) {
    return damaged({ErrorKind::Unimplemented,
                    fmt::format("{}: compressed by {}, which is not supported; decompress it", report_.path, other)});
  }
  stored = make_joined_reader(start, std::move(stored));
  if (format.name == "tfrecord") return look_at_records(std::move(stored));
  if (format.compression == Compression::gzip) stored = make_gzip_reader(std::move(stored));
  if (format.name == "tar") look_at_tar(*stored);
  if (format.name == "idx") look_at_idx(*stored, format.compression == Compression::none ? UINT64_MAX : kMostInMemory);
  if (format.name == "jsonl" || format.name == "text") look_at_lines(*stored, format.name == "jsonl");
  constexpr std::string_view kWhole[] = {"csv", "npy", "npz", "png", "jpeg", "bmp", "pnm", "webp", "gif", "wav"};
  if (std::ranges::find(kWhole, format.name) != std::end(kWhole)) look_at_whole(*stored, format);
  if (format.name == "unknown" && options_.needs_format && !start.empty()) {
    damaged({ErrorKind::Unimplemented, report_.path + ": neither the content nor the name is of a known format"});
  }
  if (report_.damage_count == 0 && !report_.is_limited) look_at_rest(*stored);
}

// Not mapped, although that is faster: the pages of a mapped file would count as this program's memory.
void Survey::look_at_records(Reader stored) {
  const auto reader = RecordReader::over(std::move(stored));
  if (!reader) return damaged(reader.error());
  const bool is_plain = (*reader)->compression() == Compression::none && is_regular(report_.path);
  report_.compression = to_string((*reader)->compression());
  read_records(**reader, is_plain ? stored_bytes(report_.path) : 0);
}

void Survey::read_records(RecordReader& reader, uint64_t plain_bytes) {
  while (!options_.stop.stop_requested()) {
    const RecordPosition at = reader.position();
    const auto payload = reader.next();
    if (payload && !*payload) return;
    if (is_at_limit(at.record)) return;
    if (payload) {
      ++report_.records;
      look_at_example(at, **payload);
      continue;
    }
    const bool goes_on = reader.position().record > at.record;
    Damage found = {at.record, at.offset, {}, payload.error()};
    if (!goes_on && plain_bytes > at.offset) found.lost_bytes = plain_bytes - at.offset;
    report_.add_damage(std::move(found));
    if (!goes_on) return;
  }
}

// The first record that is not empty decides what a file holds.
void Survey::look_at_example(RecordPosition at, std::span<const std::byte> payload) {
  if (content_ == Content::other || !(options_.with_features || options_.strict)) return;
  auto found = describe_sequence_example(payload);  // An Example is a SequenceExample without lists.
  if (content_ == Content::unknown && !payload.empty()) {
    const bool is_example = found && !(found->context.empty() && found->lists.empty());
    content_ = is_example ? Content::examples : Content::other;
  }
  if (content_ == Content::other) return;
  if (!found) return report_.add_damage({at.record, at.offset, {}, found.error()});
  for (FeatureInfo& list : found->lists) list.count = list.steps;
  report_.features.add(found->context);
  report_.lists.add(found->lists);
}

void Survey::look_at_tar(ByteReader& bytes) {
  TarReader tar(std::make_unique<Lent>(bytes));
  TarIndex index;
  std::vector<std::byte> buffer(kMiB);
  while (true) {
    const auto member = tar.next();
    if (!member) damaged(member.error(), index.members.size());
    const bool must_end = options_.strict || index.members.empty();
    if (member && !*member && must_end && !tar.has_end()) damaged(no_end_blocks(report_.path));
    if (!member || !*member || is_at_limit(index.members.size())) break;
    if (!read_member(tar, **member, buffer, index.members.size())) break;
    index.members.push_back(**member);
  }
  report_.records = index.members.size();
  report_.skipped = tar.skipped();
  group(index);
}

bool Survey::read_member(TarReader& tar, const TarMember& member, std::span<std::byte> buffer, uint64_t record) {
  for (uint64_t offset = member.offset;;) {
    const auto got = tar.read(buffer);
    if (!got) damaged(got.error(), record, offset);
    if (!got) return false;
    if (*got < buffer.size()) return true;
    offset += *got;
  }
}

void Survey::group(const TarIndex& index) {
  const auto samples = group_tar(index, report_.path);
  if (!samples) {
    if (options_.strict) damaged(samples.error());
    return;
  }
  report_.groups = samples->samples.size();
  for (const TarSample& sample : samples->samples) {
    std::vector<FeatureInfo> parts;
    parts.reserve(sample.parts.size());
    for (const auto& part : sample.parts) parts.push_back({.key = part.extension, .dtype = DType::bytes, .count = 1});
    report_.features.add(parts);
  }
}

// `are_objects`: each line is a JSON object.
void Survey::look_at_lines(ByteReader& bytes, bool are_objects) {
  const JsonParser object({});
  TextLines lines(std::make_unique<Lent>(bytes));
  while (true) {
    const auto line = lines.next();
    const auto at = lines.position();
    if (line && !*line) return;
    if (is_at_limit(static_cast<uint64_t>(line ? (*line)->number - 1 : at.lines))) return;
    if (line) {
      const auto parsed = are_objects ? object.parse((*line)->text, {}, {}) : Result<void>();
      report_.records += parsed ? 1 : 0;
      if (!parsed) damaged_line(**line, parsed.error());
      continue;
    }
    damaged(line.error(), at.lines, at.offset);
    if (line.error().kind() != ErrorKind::ResourceExhausted) return;
  }
}

void Survey::damaged_line(const TextLine& line, const Error& error) {
  const uint64_t offset = line.offset + offset_in(error, "").value_or(0);
  const std::string text = fmt::format("{}, line {}: {}", report_.path, line.number, error.message());
  damaged({error.kind(), text}, static_cast<uint64_t>(line.number - 1), offset);
}

void Survey::look_at_idx(ByteReader& bytes, uint64_t limit) {
  const auto tensor = read_idx(std::make_unique<Lent>(bytes), limit);
  if (!tensor) return damaged(tensor.error(), 0);
  const auto rows = static_cast<uint64_t>(tensor->dim(0));
  report_.records = rows;
  if (rows == 0) return;
  const auto values = static_cast<uint64_t>(tensor->size()) / rows;
  report_.features.add({{.key = "values", .dtype = tensor->dtype(), .count = values}}, rows);
}

std::optional<GrowingArray<std::byte>> Survey::read_whole(ByteReader& bytes) {
  GrowingArray<std::byte> all;
  for (size_t size = 0;;) {
    all.resize(std::min<size_t>(2 * size + kMiB, kMostInMemory));
    const auto got = read_fully(bytes, {all.data() + size, all.size() - size});
    if (!got) damaged(got.error(), 0);
    if (!got) return {};
    size += *got;
    if (size == kMostInMemory)
      damaged({ErrorKind::ResourceExhausted,
               fmt::format("{}: files of {} bytes or more cannot be checked as a whole", report_.path, size)},
              0);
    if (size == kMostInMemory) return {};
    if (size == all.size()) continue;
    all.resize(size);
    return all;
  }
}

// A plain file is mapped, so that the system can take its pages back.
void Survey::look_at_whole(ByteReader& bytes, const FileFormat& format) {
  const bool is_plain = format.compression == Compression::none && is_regular(report_.path);
  constexpr std::string_view kOne[] = {"png", "jpeg", "bmp", "pnm", "webp", "gif", "wav"};
  const bool is_one = std::ranges::find(kOne, format.name) != std::end(kOne);
  if (!is_plain && format.name == "csv") return survey_csv(bytes, format.delimiter, options_, report_);
  if (!is_plain || is_one) {
    const auto content = read_whole(bytes);
    return content ? look_at_content(content->values(), format) : void();
  }
  const auto file = MappedFile::open(report_.path);
  if (!file) return damaged(file.error());
  look_at_content((*file)->bytes(), format);
  if (const auto whole = (*file)->check(); !whole) damaged(whole.error());
}

void Survey::look_at_content(std::span<const std::byte> content, const FileFormat& format) {
  if (format.name == "csv") survey_csv(content, format.delimiter, options_, report_);
  if (format.name == "npy") survey_npy(content, report_);
  if (format.name == "npz") survey_npz(content, report_);
  if (format.name == "png") survey_png(content, options_, report_);
  if (format.name == "wav") survey_wav(content, options_, report_);
  constexpr std::string_view kImages[] = {"jpeg", "bmp", "pnm", "webp", "gif"};
  if (std::ranges::find(kImages, format.name) != std::end(kImages)) survey_image(content, report_);
}

// Reads what the format's reader left: a compressed stream ends with its checksum.
void Survey::look_at_rest(ByteReader& bytes) {
  std::vector<std::byte> buffer(kMiB);
  while (true) {
    const auto got = bytes.read(buffer);
    if (!got) return damaged(got.error());
    if (*got == 0) return;
  }
}

}  // namespace

std::optional<uint64_t> offset_in(const Error& error, const std::string& path) {
  constexpr std::string_view kWord = "offset ";
  std::string_view text = error.message();
  if (text.starts_with(path)) text.remove_prefix(path.size());
  const size_t at = text.rfind(kWord);
  if (at == std::string_view::npos) return {};
  const std::string_view digits = text.substr(at + kWord.size());
  uint64_t offset = 0;
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), offset);
  return read.ec == std::errc() ? std::optional(offset) : std::nullopt;
}

Result<FileReport> survey_file(const std::string& path, const SurveyOptions& options) {
  return Survey(path, options).run();
}

Result<void> survey_files(const std::vector<std::string>& patterns, SurveyOptions options,
                          const SurveyProgress& progress, const std::function<void(FileReport)>& on_report) {
  std::vector<std::pair<std::string, Error>> files;
  uint64_t total = 0;
  for (const std::string& pattern : patterns) {
    const auto meant = expand_files(pattern);
    if (!meant) files.emplace_back(pattern, meant.error());
    if (!meant) continue;
    for (const std::string& path : *meant) {
      files.emplace_back(path, Error());
      total += stored_bytes(path);
    }
  }
  constexpr uint64_t kMany = 256 * kMiB;
  Progress bar({.description = progress.description + ", MiB",
                .total = static_cast<int64_t>(total / kMiB),
                .enabled = progress.is_shown && total >= kMany});
  uint64_t untold = 0;
  options.on_bytes = [&](uint64_t bytes) {
    untold += bytes;
    if (untold >= kMiB) bar.update(static_cast<int64_t>(untold / kMiB));
    untold %= kMiB;
  };
  for (const auto& [path, error] : files) {
    FileReport report;
    if (error) {
      report.path = path;
      report.add_damage({.error = error});
    } else {
      auto surveyed = survey_file(path, options);
      if (!surveyed) return fail(surveyed.error());
      report = std::move(*surveyed);
    }
    on_report(std::move(report));
  }
  bar.close();
  return {};
}

}  // namespace headpond::cli
