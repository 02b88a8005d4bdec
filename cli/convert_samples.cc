// SPDX-License-Identifier: Apache-2.0
#include "cli/convert_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/named_fields.h"
#include "headpond/base/crc32c.h"
#include "headpond/codec/wav.h"
#include "headpond/dataset/ops.h"
#include "headpond/io/csv.h"
#include "headpond/io/example_writer.h"
#include "headpond/io/file.h"
#include "headpond/io/glob.h"
#include "headpond/io/mapped_file.h"
#include "headpond/io/npy.h"
#include "headpond/io/tar.h"
#include "headpond/io/tar_writer.h"

namespace headpond::cli {
namespace {

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw Exception(result.error());
  return std::move(*result);
}

Dataset idx_samples(const std::vector<std::string>& words) {
  return words.size() == 2 ? idx(words[0], words[1]) : renamed(idx(words[0]), {"data"});
}

Dataset folder_samples(const std::vector<std::string>& words) {
  const std::string root = words[0] + (words[0].ends_with('/') ? "" : "/");
  return folder(words[0]) | map("path", [root](std::string_view path) { return std::string(path.substr(root.size())); },
                                {.name = "below the folder"});
}

// A number that stands for none: of a column of integers with missing cells.
constexpr int64_t kMissing = std::numeric_limits<int64_t>::min();

// A column of CSV files, as far as they were looked at.
struct Column {
  std::string name;
  DType dtype;           // f32 too where one file has i64 and another f32.
  bool integers = true;  // All cells are integers, or missing.
  bool wide = false;     // One is an integer that f32 does not hold.
  bool differs = false;  // Between files, in numbers.
  // The first file that is f64 by itself, and the first that is wide; "": none.
  std::string f64_in = {}, wide_in = {};

  bool is_open() const { return dtype == f32 || dtype == f64; }
};

void look_at_cell(std::string_view text, Column& column) {
  constexpr int64_t kExact = int64_t{1} << 24;
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t") + 1;
  if (begin == std::string_view::npos) return;  // Missing.
  int64_t value = 0;
  const auto read = std::from_chars(text.data() + begin + (text[begin] == '+' ? 1 : 0), text.data() + end, value);
  const bool is_integer = read.ec == std::errc() && read.ptr == text.data() + end && value != kMissing;
  column.integers = column.integers && is_integer;
  column.wide = column.wide || (is_integer && (value > kExact || value < -kExact));
}

// The texts of columns of which the reader knows only that they hold numbers, or missing cells beside integers.
void look_at_cells(const std::string& path, std::vector<Column>& columns) {
  std::vector<CsvColumn> asked;
  std::vector<Column*> open;
  for (Column& column : columns) {
    if (!column.is_open()) continue;
    open.push_back(&column);
    asked.push_back({column.name, bytes, Tensor::scalar(std::string_view())});
  }
  if (asked.empty()) return;
  const auto file = value_or_throw(CsvFile::open(path, {.columns = asked}));
  std::vector<Tensor> cells(asked.size());
  for (int64_t i = 0; i < file->size(); ++i) {
    if (const auto read = file->read(i, {}, cells); !read) throw Exception(read.error());
    for (size_t c = 0; c < cells.size(); ++c) look_at_cell(cells[c].bytes_at(0), *open[c]);
  }
  for (Column* column : open) {
    if (column->wide && column->wide_in.empty()) column->wide_in = path;
  }
}

// What CsvFile says of a column over all files that have rows.
std::vector<Column> joined_columns(const std::vector<std::string>& paths) {
  std::vector<Column> columns;
  bool any_rows = false;
  for (const std::string& path : paths) {
    const auto file = value_or_throw(CsvFile::open(path));
    const Spec& found = file->fields();
    if (columns.empty()) {
      for (const FieldSpec& field : found) columns.push_back({field.name, field.dtype});
    }
    bool same = found.size() == columns.size();
    for (size_t c = 0; same && c < found.size(); ++c) {
      Column& column = columns[c];
      same = found[c].name == column.name;
      const DType dtype = found[c].dtype;
      if (file->size() > 0 && dtype == f64 && column.f64_in.empty()) column.f64_in = path;
      if (file->size() == 0 || (any_rows && dtype == column.dtype)) continue;  // Without rows its cells say nothing.
      const bool is_text = any_rows && (dtype == bytes || column.dtype == bytes);
      column.differs = any_rows;
      column.dtype = is_text ? bytes : !any_rows ? dtype : dtype == f64 || column.dtype == f64 ? f64 : f32;
    }
    any_rows = any_rows || file->size() > 0;
    if (!same) throw Exception(Error(ErrorKind::InvalidArgument, path + " has other columns than " + paths[0]));
  }
  return columns;
}

[[noreturn]] void refuse_f64(const std::string& path, const std::string& column) {
  throw Exception(Error(ErrorKind::InvalidArgument,
                        fmt::format("{}, column '{}': it has numbers that the 32 bits of an Example's floats cannot "
                                    "hold; --to tar keeps them",
                                    path, column)));
}

// A column has the type that all its cells fit, in all files: integers, else numbers, else texts.
Dataset csv_samples(const std::vector<std::string>& words, bool for_examples) {
  const auto paths = value_or_throw(expand_files(words));
  std::vector<Column> found = joined_columns(paths);
  for (const std::string& path : paths) look_at_cells(path, found);
  std::vector<CsvColumn> columns;
  for (const Column& column : found) {
    DType dtype = column.dtype;
    if (column.is_open() && column.integers) dtype = i64;
    if (dtype == f32 && column.differs && column.wide) dtype = f64;
    if (dtype == f64 && for_examples) refuse_f64(column.f64_in.empty() ? column.wide_in : column.f64_in, column.name);
    CsvColumn& asked = columns.emplace_back(CsvColumn{column.name, dtype});
    if (dtype == bytes) asked.default_value = Tensor::scalar(std::string_view());
    if (dtype == i64) asked.default_value = Tensor::scalar(kMissing);
    if (dtype == f32) asked.default_value = Tensor::scalar(std::numeric_limits<float>::quiet_NaN());
    if (dtype == f64) asked.default_value = Tensor::scalar(std::numeric_limits<double>::quiet_NaN());
  }
  return csv(words, {.columns = columns});
}

// All parts that any sample has; one that lacks some has empty texts there, which are left out again.
Dataset tar_samples(const std::vector<std::string>& words) {
  std::vector<std::string> extensions;
  for (const std::string& path : value_or_throw(expand_files(words))) {
    const auto file = value_or_throw(MappedFile::open(path));
    const auto samples = value_or_throw(group_tar(value_or_throw(index_tar(file->bytes(), path)), path));
    if (const auto whole = file->check(); !whole) throw Exception(whole.error());
    for (const TarSample& sample : samples.samples) {
      for (const auto& part : sample.parts) {
        const bool is_known = std::find(extensions.begin(), extensions.end(), part.extension) != extensions.end();
        if (!is_known) extensions.push_back(part.extension);
      }
    }
  }
  return tar(words, {.extensions = extensions, .allow_missing = true});
}

Result<Element> wav_sample(std::string_view path) {
  const std::string name(path);
  const auto content = read_file(name);
  if (!content) return fail(content.error());
  const auto info = wav_info(*content, content->size(), {}, name);
  if (!info) return fail(info.error());
  const std::string file_name = std::filesystem::path(name).filename().string();
  const std::string_view bytes(reinterpret_cast<const char*>(content->data()), content->size());
  return Element(Tensor::scalar(std::string_view(file_name)), Tensor::scalar(bytes),
                 Tensor::scalar(int64_t{info->rate}), Tensor::scalar(int64_t{info->channels}),
                 Tensor::scalar(info->frames));
}

Dataset wav_samples(const std::vector<std::string>& words) {
  const auto paths = value_or_throw(expand_files(words));
  uint32_t sizes = 0;
  for (const std::string& path : paths) {
    const std::string facts = fmt::format("{} {}\n", path, value_or_throw(MappedFile::open(path))->bytes().size());
    sizes = crc32c_extend(sizes, std::as_bytes(std::span(facts)));
  }
  const std::vector<std::string_view> views(paths.begin(), paths.end());
  const auto count = static_cast<int64_t>(views.size());
  const Spec spec = {
      {"name", bytes, {}}, {"file", bytes, {}}, {"sample_rate", i64, {}}, {"channels", i64, {}}, {"frames", i64, {}}};
  return from_tensor_slices(Tensor::from(std::span<const std::string_view>(views), {count})) |
         map(wav_sample, {.output = spec, .name = fmt::format("wav file, sizes={:08x}", sizes)});
}

template <class From>
Tensor widened(const Tensor& tensor) {
  const auto values = tensor.as<From>();
  const std::vector<int64_t> wide(values.begin(), values.end());
  return Tensor::from(std::span<const int64_t>(wide), tensor.shape());
}

// As an Example can hold it.
Tensor listed(const Tensor& tensor) {
  switch (tensor.dtype()) {
    case DType::i8:
      return widened<int8_t>(tensor);
    case DType::i16:
      return widened<int16_t>(tensor);
    case DType::u16:
      return widened<uint16_t>(tensor);
    case DType::i32:
      return widened<int32_t>(tensor);
    case DType::u8:
      return tensor.rank() == 0 ? widened<uint8_t>(tensor) : tensor;
    default:
      return tensor;
  }
}

bool is_missing(const Tensor& tensor) {
  if (tensor.rank() != 0) return false;
  if (tensor.dtype() == DType::f32) return std::isnan(tensor.as<float>()[0]);
  if (tensor.dtype() == DType::f64) return std::isnan(tensor.as<double>()[0]);
  if (tensor.dtype() == DType::i64) return tensor.as<int64_t>()[0] == kMissing;
  return tensor.dtype() == DType::bytes && tensor.bytes_at(0).empty();
}

std::string text_of(const Tensor& scalar) {
  if (scalar.dtype() == DType::f32) return fmt::format("{}", scalar.as<float>()[0]);
  if (scalar.dtype() == DType::f64) return fmt::format("{}", scalar.as<double>()[0]);
  return fmt::format("{}", listed(scalar).as<int64_t>()[0]);
}

// The name of a file that the sample has as "file", of which the ending is kept; "": none.
std::string file_name(const Spec& spec, const Element& sample) {
  const bool has_file = std::any_of(spec.begin(), spec.end(), [](const FieldSpec& f) { return f.name == "file"; });
  for (size_t f = 0; has_file && f < spec.size(); ++f) {
    const bool is_name = (spec[f].name == "path" || spec[f].name == "name") && spec[f].dtype == bytes;
    if (is_name) return std::string(sample[f].bytes_at(0));
  }
  return "";
}

// What follows the key in a member's name.
std::string ending_of(const FieldSpec& field, const std::string& file) {
  if (field.name == "label") return "cls";
  if (field.name == "file" && !file.empty()) {
    std::string ending = std::filesystem::path(file).extension().string();
    for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    if (ending.size() > 1) return ending.substr(1);
  }
  return field.shape.rank() > 0 ? field.name + ".npy" : field.name;
}

// Whether a reader of the archive finds the sample as it was meant: so many parts, all of this key.
Result<void> check_members(const std::string& members, const std::string& key, size_t count) {
  const auto index = index_tar(std::as_bytes(std::span(members)), "sample " + key);
  if (!index) return fail(index.error());
  const auto samples = group_tar(*index, "sample " + key);
  if (!samples) return fail(samples.error());
  const bool is_one = samples->samples.size() == 1 && samples->samples[0].key == key;
  if (count == 0 || (is_one && samples->samples[0].parts.size() == count)) return {};
  return fail(ErrorKind::InvalidArgument, fmt::format("sample {}: names of fields that are no parts of a sample", key));
}

Result<std::string> tar_members(const Spec& spec, const Element& sample) {
  std::string key = fmt::format("{:08}", sample.key), members;
  for (size_t f = 0; f < spec.size(); ++f) {
    if (spec[f].name == "__key__") key = sample[f].bytes_at(0);
  }
  const std::string file = file_name(spec, sample);
  size_t count = 0;
  for (size_t f = 0; f < spec.size(); ++f) {
    const bool is_content = spec[f].name == "file" && !file.empty();
    if (spec[f].name == "__key__" || (is_missing(sample[f]) && !is_content)) continue;
    std::string content;
    if (sample[f].rank() > 0) {
      auto array = npy_bytes(sample[f]);
      if (!array) return array;
      content = std::move(*array);
    } else {
      content = sample[f].dtype() == DType::bytes ? std::string(sample[f].bytes_at(0)) : text_of(sample[f]);
    }
    const std::string name = key + "." + ending_of(spec[f], file);
    if (auto added = append_tar_member(members, name, content); !added) return fail(added.error());
    ++count;
  }
  if (auto good = check_members(members, key, count); !good) return fail(good.error());
  return members;
}

}  // namespace

std::string words_refusal(const std::string& from, const std::vector<std::string>& words) {
  if (from == "idx") {
    return words.empty() || words.size() > 2 ? "convert --from idx takes IMAGES and LABELS, or one file" : "";
  }
  if (from == "folder")
    return words.size() != 1 ? "convert --from folder takes one folder, in which folders are labels" : "";
  return words.empty() ? fmt::format("convert --from {} takes files or patterns", from) : "";
}

Dataset convert_samples(const std::string& from, const std::vector<std::string>& words, bool for_examples) {
  if (from == "idx") return idx_samples(words);
  if (from == "csv") return csv_samples(words, for_examples);
  if (from == "folder") return folder_samples(words);
  if (from == "tar") return tar_samples(words);
  return wav_samples(words);
}

Dataset as_examples(const Dataset& samples) {
  for (const FieldSpec& field : samples.spec()) {
    if (field.dtype != f64) continue;
    throw Exception(
        Error(ErrorKind::Unimplemented, fmt::format("'{}' has numbers that the 32 bits of an Example's floats "
                                                    "cannot hold; --to tar keeps them",
                                                    field.name)));
  }
  const auto to_example = [spec = samples.spec()](const Element& sample) -> Result<std::string> {
    std::vector<NamedTensor> features;
    for (size_t f = 0; f < spec.size(); ++f) {
      if (!is_missing(sample[f])) features.push_back({spec[f].name, listed(sample[f])});
    }
    return make_example(features);
  };
  return samples | map(to_example, {.name = "example", .version = 1});
}

Dataset as_tar_members(const Dataset& samples) {
  const auto to_members = [spec = samples.spec()](const Element& sample) { return tar_members(spec, sample); };
  return samples | map(to_members, {.name = "tar members", .version = 1});
}

}  // namespace headpond::cli
