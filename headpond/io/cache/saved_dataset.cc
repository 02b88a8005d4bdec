// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/cache/saved_dataset.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/crc32c.h"
#include "headpond/io/file/file.h"

namespace headpond::internal {
namespace {

constexpr std::string_view kStart = "headpond dataset 1";
constexpr uint64_t kMostBytes = uint64_t{64} << 20;

std::string path_in(const std::string& folder) { return folder + "/dataset"; }

// A line up to the newline; false at the end.
bool take_line(std::string_view& text, std::string_view& line) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos) return false;
  line = text.substr(0, end);
  text.remove_prefix(end + 1);
  return true;
}
bool take_word(std::string_view& line, std::string_view& word) {
  const size_t end = line.find(' ');
  word = line.substr(0, end);
  line.remove_prefix(end == std::string_view::npos ? line.size() : end + 1);
  return !word.empty();
}
bool to_number(std::string_view text, int64_t& number) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && stop == text.data() + text.size();
}

// "int64 2 28 -1 name": the dtype, the number of dimensions, these, and a name of any characters but a newline.
bool take_field(std::string_view line, Spec& spec) {
  std::string_view word;
  FieldSpec field;
  bool known = false;
  int64_t rank = 0;
  if (!take_word(line, word)) return false;
  for (int dtype = 0; dtype <= static_cast<int>(DType::bytes) && !known; ++dtype) {
    field.dtype = static_cast<DType>(dtype);
    known = name(field.dtype) == word;
  }
  if (!known || !take_word(line, word) || !to_number(word, rank) || rank < 0 || rank > 32) return false;
  std::vector<int64_t> dims(static_cast<size_t>(rank));
  for (int64_t& dim : dims) {
    if (!take_word(line, word) || !to_number(word, dim) || dim < kUnknown) return false;
  }
  field.shape = Shape(std::span<const int64_t>(dims));
  field.name = std::string(line);
  spec.push_back(std::move(field));
  return true;
}

bool parse(std::string_view text, SavedDataset& saved) {
  std::string_view line;
  if (!take_line(text, line) || line != kStart || !take_line(text, line)) return false;
  saved.id = std::string(line);
  if (!take_line(text, line) || !to_number(line, saved.elements) || saved.elements < 0) return false;
  while (take_line(text, line)) {
    if (!take_field(line, saved.spec)) return false;
  }
  return text.empty() && !saved.id.empty();
}

}  // namespace

Result<SavedDataset> read_saved(const std::string& folder) {
  const std::string path = path_in(folder);
  const auto content = read_file(path, kMostBytes);
  if (!content) return fail(content.error());
  std::string_view text(reinterpret_cast<const char*>(content->data()), content->size());
  constexpr size_t kSumBytes = 9;  // "0123abcd\n", of all before it.
  SavedDataset saved;
  if (text.size() < kSumBytes) return fail(ErrorKind::DataLoss, fmt::format("{}: it is cut", path));
  const std::string_view body = text.substr(0, text.size() - kSumBytes);
  if (text.substr(body.size()) != fmt::format("{:08x}\n", crc32c(body))) {
    return fail(ErrorKind::DataLoss, fmt::format("{}: its checksum is wrong", path));
  }
  if (!parse(body, saved)) return fail(ErrorKind::DataLoss, fmt::format("{}: it is no saved dataset", path));
  return saved;
}

Result<void> write_saved(const std::string& folder, const SavedDataset& saved) {
  std::string text = fmt::format("{}\n{}\n{}\n", kStart, saved.id, saved.elements);
  for (const FieldSpec& field : saved.spec) {
    if (field.name.find('\n') != std::string::npos) {
      return fail(ErrorKind::InvalidArgument, fmt::format("save: the name of field '{}' has a newline", field.name));
    }
    text += fmt::format("{} {}", name(field.dtype), field.shape.rank());
    for (const int64_t dim : field.shape.dims()) text += fmt::format(" {}", dim);
    text += fmt::format(" {}\n", field.name);
  }
  text += fmt::format("{:08x}\n", crc32c(std::string_view(text)));
  return write_file_atomically(path_in(folder), {std::as_bytes(std::span<const char>(text))});
}

}  // namespace headpond::internal
