// SPDX-License-Identifier: Apache-2.0
#include "cli/survey/content_survey.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/codec/image/formats/image.h"
#include "headpond/codec/image/jpeg.h"
#include "headpond/codec/image/png.h"
#include "headpond/codec/sound/wav.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/array/npz.h"
#include "headpond/io/text/csv.h"

namespace headpond::cli {
namespace {

constexpr uint64_t kMostInflated = uint64_t{1} << 30;  // Limit for arrays that are deflated.

void damaged(FileReport& report, const Error& error, std::optional<uint64_t> record = {}) {
  report.add_damage({record, offset_in(error, report.path), {}, error});
}

void holds_one(FileReport& report, const char* key, DType dtype, uint64_t count) {
  report.records = 1;
  report.features.add({{.key = key, .dtype = dtype, .count = count}});
}

// The number after `front` at the start of `text`, which is then left out.
std::optional<uint64_t> take_number(std::string_view& text, std::string_view front) {
  if (!text.starts_with(front)) return {};
  uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data() + front.size(), end, number);
  if (read.ec != std::errc()) return {};
  text = {read.ptr, end};
  return number;
}

// Takes the row and the offset from "a.csv, row 3 (line 5, offset 120): column 'offset 7': ...", whatever its name is.
void damaged_row(FileReport& report, const Error& error) {
  std::string_view text = error.message();
  if (!text.starts_with(report.path)) return damaged(report, error);
  text.remove_prefix(report.path.size());
  const auto row = take_number(text, ", row ");
  if (constexpr std::string_view kHeader = ", header"; !row && text.starts_with(kHeader)) {
    text.remove_prefix(kHeader.size());
  }
  const auto line = take_number(text, " (line ");
  const auto offset = line ? take_number(text, ", offset ") : std::nullopt;
  report.add_damage({row, offset ? offset : offset_in(error, report.path), {}, error});
}

template <class T>
bool is_nan(const std::array<std::byte, 8>& cell) {
  T value{};
  std::memcpy(&value, cell.data(), sizeof value);
  return std::isnan(value);
}

// For each column how many of the first `rows` cells are not empty.
Result<std::vector<uint64_t>> count_present(const CsvFile& file, uint64_t rows, const SurveyOptions& options) {
  const Spec& fields = file.fields();
  std::vector<std::array<std::byte, 8>> cells(fields.size());
  std::vector<std::byte*> places;
  places.reserve(cells.size());
  for (auto& cell : cells) places.push_back(cell.data());
  std::vector<Tensor> texts(fields.size());
  std::vector<uint64_t> present(fields.size());
  for (uint64_t i = 0; i < rows && !options.stop.stop_requested(); ++i) {
    HEADPOND_TRY(file.read(static_cast<int64_t>(i), places, texts));
    for (size_t f = 0; f < fields.size(); ++f) {
      const DType dtype = fields[f].dtype;
      const bool is_missing = dtype == DType::bytes ? texts[f].bytes_at(0).empty()
                              : dtype == DType::f32 ? is_nan<float>(cells[f])
                                                    : dtype == DType::f64 && is_nan<double>(cells[f]);
      present[f] += is_missing ? 0 : 1;
    }
  }
  return present;
}

void survey_csv(const Result<std::unique_ptr<CsvFile>>& file, const SurveyOptions& options, FileReport& report) {
  if (!file) {
    damaged_row(report, file.error());
    report.records = report.damage.back().record.value_or(0);
    return;
  }
  const auto rows = static_cast<uint64_t>((*file)->size());
  report.is_limited = options.limit && rows > *options.limit;
  report.records = report.is_limited ? *options.limit : rows;
  if (!options.with_features) return;
  const auto present = count_present(**file, report.records, options);
  if (!present) return damaged_row(report, present.error());
  report.features.add({}, report.records);
  for (size_t f = 0; f < present->size(); ++f) {
    const FieldSpec& field = (*file)->fields()[f];
    report.features.add_column(field.name, field.dtype, (*present)[f]);
  }
}

}  // namespace

void survey_csv(std::span<const std::byte> content, char delimiter, const SurveyOptions& options, FileReport& report) {
  survey_csv(CsvFile::over(report.path, content, {.delimiter = delimiter}), options, report);
}

void survey_csv(ByteReader& content, char delimiter, const SurveyOptions& options, FileReport& report) {
  survey_csv(CsvFile::over(content, {.delimiter = delimiter}), options, report);
}

void survey_npy(std::span<const std::byte> content, FileReport& report) {
  const auto array = read_npy(content, report.path);
  if (!array) return damaged(report, array.error());
  const auto rows = array->rank() == 0 ? 1 : static_cast<uint64_t>(array->dim(0));
  report.records = rows;
  if (rows == 0) return;
  report.features.add(
      {{.key = "values", .dtype = array->dtype(), .count = static_cast<uint64_t>(array->size()) / rows}}, rows);
}

void survey_npz(std::span<const std::byte> content, FileReport& report) {
  const auto arrays = read_npz(content, report.path, std::max<uint64_t>(content.size(), kMostInflated));
  if (!arrays) return damaged(report, arrays.error());
  report.records = arrays->size();
  std::vector<FeatureInfo> features;
  features.reserve(arrays->size());
  for (const auto& [name, array] : *arrays) {
    features.push_back({.key = name, .dtype = array.dtype(), .count = static_cast<uint64_t>(array.size())});
  }
  report.features.add(features);
}

void survey_image(std::span<const std::byte> content, FileReport& report) {
  const auto info = image_info(content, content.size(), {}, report.path);
  if (!info) return damaged(report, info.error(), 0);
  report.image = {{info->height, info->width, info->channels}};
  const auto decode = [&]() -> Result<Tensor> {
    if (info->format == ImageFormat::jpeg) {
      auto image = decode_jpeg(content, {.channels = 0, .damage = JpegDamage::strict}, report.path);
      return image ? Result<Tensor>(std::move(image->pixels)) : fail(std::move(image).error());
    }
    const DType dtype = info->bits > 8 ? DType::u16 : DType::u8;
    auto image = decode_image(content, {.dtype = dtype}, report.path);
    return image ? Result<Tensor>(std::move(image->pixels)) : fail(std::move(image).error());
  };
  const auto pixels = decode();
  if (!pixels) return damaged(report, pixels.error(), 0);
  holds_one(report, "pixels", pixels->dtype(), static_cast<uint64_t>(pixels->size()));
}

void survey_png(std::span<const std::byte> content, const SurveyOptions& options, FileReport& report) {
  const auto info = png_info(content, content.size(), {}, report.path);
  if (!info) return damaged(report, info.error(), 0);
  report.image = {{info->height, info->width, info->channels}};
  const auto image = decode_png(content, {}, report.path);
  if (!image) return damaged(report, image.error(), 0);
  const DType dtype = info->bit_depth == 16 ? DType::u16 : DType::u8;
  holds_one(report, "pixels", dtype, static_cast<uint64_t>(image->pixels.size()));
  if (options.strict && image->warnings.count > 0) damaged(report, {ErrorKind::DataLoss, image->warnings.first}, 0);
}

void survey_wav(std::span<const std::byte> content, const SurveyOptions& options, FileReport& report) {
  const auto info = wav_info(content, content.size(), {.lenient = !options.strict}, report.path);
  if (!info) return damaged(report, info.error(), 0);
  if (info->is_truncated) {
    const std::string what =
        fmt::format("{}: the header promises more frames than the {} in the file", report.path, info->frames);
    return damaged(report, {ErrorKind::DataLoss, what}, 0);
  }
  holds_one(report, "samples", DType::f32, static_cast<uint64_t>(info->frames) * static_cast<uint64_t>(info->channels));
}

}  // namespace headpond::cli
