// SPDX-License-Identifier: Apache-2.0
#include "cli/convert_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "headpond/codec/wav.h"
#include "headpond/dataset/ops.h"
#include "headpond/io/csv.h"
#include "headpond/io/example_writer.h"
#include "headpond/io/file.h"
#include "headpond/io/glob.h"
#include "headpond/io/npy.h"
#include "headpond/io/tar_writer.h"

namespace headpond::cli {
namespace {

[[noreturn]] void refuse(const std::string& what) { throw Exception(Error(ErrorKind::InvalidArgument, what)); }

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw Exception(result.error());
  return std::move(*result);
}

// The dataset with other names for its fields.
Dataset named(const Dataset& input, const std::vector<std::string>& names) {
  Spec spec = input.spec();
  for (size_t i = 0; i < spec.size(); ++i) spec[i].name = names[i];
  return input | map([](const Element& in) { return in; }, {.output = spec, .name = "named"});
}

Dataset idx_samples(const std::vector<std::string>& words) {
  if (words.empty() || words.size() > 2) refuse("convert --from idx takes IMAGES and LABELS, or one file");
  return words.size() == 2 ? idx(words[0], words[1]) : named(idx(words[0]), {"data"});
}

Dataset folder_samples(const std::vector<std::string>& words) {
  if (words.size() != 1) refuse("convert --from folder takes one folder, in which folders are labels");
  const std::string root = words[0] + (words[0].ends_with('/') ? "" : "/");
  return folder(words[0]) | map("path", [root](std::string_view path) { return std::string(path.substr(root.size())); },
                                {.name = "below the folder"});
}

// A number that stands for none: of a column of integers with missing cells.
constexpr int64_t kMissing = std::numeric_limits<int64_t>::min();

// True iff all cells of the column, but missing ones, are integers.
bool holds_integers(const std::vector<std::string>& paths, const std::string& column) {
  const CsvColumn asked = {column, i64, Tensor::scalar(kMissing)};
  int64_t value = 0;
  std::byte* const place = reinterpret_cast<std::byte*>(&value);
  for (const std::string& path : paths) {
    const auto file = value_or_throw(CsvFile::open(path, {.columns = {asked}}));
    for (int64_t i = 0; i < file->size(); ++i) {
      if (!file->read(i, {&place, 1}, {})) return false;
    }
  }
  return true;
}

// A column has the type that all its cells fit, in all files: integers, else numbers, else texts.
Dataset csv_samples(const std::vector<std::string>& words) {
  const auto paths = value_or_throw(expand_files(words));
  if (paths.empty()) refuse("convert --from csv takes files or patterns");
  std::vector<CsvColumn> columns;
  for (size_t f = 0; f < paths.size(); ++f) {
    const Spec found = value_or_throw(CsvFile::open(paths[f]))->fields();
    if (f > 0 && found.size() != columns.size()) refuse(paths[f] + " has other columns than " + paths[0]);
    for (size_t c = 0; c < found.size(); ++c) {
      if (f == 0) columns.push_back({found[c].name, found[c].dtype, std::nullopt});
      if (columns[c].name != found[c].name) refuse(paths[f] + " has other columns than " + paths[0]);
      if (found[c].dtype == bytes) columns[c].dtype = bytes;
      if (found[c].dtype != *columns[c].dtype && *columns[c].dtype != bytes) columns[c].dtype = f64;
    }
  }
  for (CsvColumn& column : columns) {
    if (*column.dtype == bytes) {
      column.default_value = Tensor::scalar(std::string_view());
    } else if (holds_integers(paths, column.name)) {
      column.dtype = i64;
      column.default_value = Tensor::scalar(kMissing);
    } else {
      column.dtype = f32;  // As an Example holds numbers.
      column.default_value = Tensor::scalar(std::numeric_limits<float>::quiet_NaN());
    }
  }
  return csv(words, {.columns = columns});
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
  if (paths.empty()) refuse("convert --from wav takes files or patterns");
  const std::vector<std::string_view> views(paths.begin(), paths.end());
  const auto count = static_cast<int64_t>(views.size());
  const Spec spec = {
      {"name", bytes, {}}, {"file", bytes, {}}, {"sample_rate", i64, {}}, {"channels", i64, {}}, {"frames", i64, {}}};
  return from_tensor_slices(Tensor::from(std::span<const std::string_view>(views), {count})) |
         map(wav_sample, {.output = spec, .name = "wav file"});
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
  if (tensor.dtype() == DType::i64) return tensor.as<int64_t>()[0] == kMissing;
  return tensor.dtype() == DType::bytes && tensor.bytes_at(0).empty();
}

std::string text_of(const Tensor& scalar) {
  if (scalar.dtype() == DType::f32) return fmt::format("{}", scalar.as<float>()[0]);
  if (scalar.dtype() == DType::f64) return fmt::format("{}", scalar.as<double>()[0]);
  return fmt::format("{}", listed(scalar).as<int64_t>()[0]);
}

// What follows the key in a member's name. A file keeps the ending of its own name.
std::string ending_of(const FieldSpec& field, const Spec& spec, const Element& sample) {
  if (field.name == "label") return "cls";
  if (field.name == "file") {
    for (size_t f = 0; f < spec.size(); ++f) {
      if (spec[f].name != "path" && spec[f].name != "name") continue;
      std::string ending = std::filesystem::path(sample[f].bytes_at(0)).extension().string();
      for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      if (ending.size() > 1) return ending.substr(1);
    }
  }
  return field.shape.rank() > 0 ? field.name + ".npy" : field.name;
}

Result<std::string> tar_members(const Spec& spec, const Element& sample) {
  std::string key = fmt::format("{:08}", sample.key), members;
  for (size_t f = 0; f < spec.size(); ++f) {
    if (spec[f].name == "__key__") key = sample[f].bytes_at(0);
  }
  for (size_t f = 0; f < spec.size(); ++f) {
    if (spec[f].name == "__key__") continue;
    std::string content;
    if (sample[f].rank() > 0) {
      auto array = npy_bytes(sample[f]);
      if (!array) return array;
      content = std::move(*array);
    } else {
      content = sample[f].dtype() == DType::bytes ? std::string(sample[f].bytes_at(0)) : text_of(sample[f]);
    }
    const std::string name = key + "." + ending_of(spec[f], spec, sample);
    if (auto added = append_tar_member(members, name, content); !added) return fail(added.error());
  }
  return members;
}

}  // namespace

Dataset convert_samples(const std::string& from, const std::vector<std::string>& words) {
  if (from == "idx") return idx_samples(words);
  if (from == "csv") return csv_samples(words);
  if (from == "folder") return folder_samples(words);
  if (from == "tar") return tar(words);
  return wav_samples(words);
}

Dataset as_examples(const Dataset& samples) {
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
