// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "headpond/io/array/npy_header_internal.h"
#include "headpond/io/quoted_name_internal.h"

namespace headpond::internal {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kVersionEnd = 8, kMaxHeaderBytes = size_t{64} << 10, kMaxRank = 32, kAlignment = 64;

struct TypeCode {
  std::string_view code;
  DType dtype;
};
constexpr TypeCode kTypeCodes[] = {{"b1", DType::boolean}, {"i1", DType::i8},  {"u1", DType::u8},  {"i2", DType::i16},
                                   {"u2", DType::u16},     {"i4", DType::i32}, {"u4", DType::u32}, {"i8", DType::i64},
                                   {"u8", DType::u64},     {"f2", DType::f16}, {"f4", DType::f32}, {"f8", DType::f64}};

const char* kind_of(char letter) {
  switch (letter) {
    case 'O':
      return "Python objects, which are programs rather than data";
    case 'U':
      return "unicode text";
    case 'S':
    case 'a':
      return "text";
    case 'V':
      return "raw or structured values";
    case 'c':
      return "complex numbers";
    case 'm':
    case 'M':
      return "times";
    default:
      return "values of another kind";
  }
}

// Parses the dictionary, as Python writes it.
class DictReader {
 public:
  DictReader(std::string_view text, std::string_view name, size_t offset) : text_(text), name_(name), offset_(offset) {}

  Result<NpyHeader> read();

 private:
  tl::unexpected<Error> wrong(ErrorKind kind, const std::string& what) const {
    return fail(kind, fmt::format("{}: npy header, at offset {}: {}", name_, offset_ + at_, what));
  }
  tl::unexpected<Error> expected(const std::string& what) const {
    return wrong(ErrorKind::InvalidArgument,
                 fmt::format("{} expected, found {}", what, quoted_name(text_.substr(at_, 20))));
  }
  void skip_spaces() { at_ = std::min(text_.find_first_not_of(" \t\n\r", at_), text_.size()); }
  bool take(std::string_view word) {
    skip_spaces();
    const bool is_there = text_.substr(at_).starts_with(word);
    if (is_there) at_ += word.size();
    return is_there;
  }
  Result<std::string_view> string();
  Result<void> entry(std::string_view key);
  Result<void> descr();
  Result<void> shape();

  const std::string_view text_, name_;
  const size_t offset_;
  size_t at_ = 0;
  NpyHeader header_;
  bool has_descr_ = false, has_order_ = false, has_shape_ = false;
};

Result<std::string_view> DictReader::string() {
  skip_spaces();
  const char quote = at_ < text_.size() ? text_[at_] : '\0';
  const size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
  if (end == std::string_view::npos) return expected("a string in quotes");
  const std::string_view content = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  return content;
}

Result<void> DictReader::descr() {
  skip_spaces();
  if (text_.substr(at_).starts_with('[')) {
    return wrong(ErrorKind::Unimplemented, "a structured dtype; only numbers and booleans are read");
  }
  const auto content = string();
  if (!content) return fail(content.error());
  const bool has_order = !content->empty() && std::string_view("<>|=").find(content->front()) != std::string_view::npos;
  header_.is_big_endian = content->starts_with('>');
  const std::string_view code = content->substr(has_order ? 1 : 0);
  for (const TypeCode& known : kTypeCodes) {
    if (known.code != code) continue;
    header_.dtype = known.dtype;
    return {};
  }
  return wrong(ErrorKind::Unimplemented, fmt::format("dtype {}: {}; only numbers and booleans are read",
                                                     quoted_name(*content), kind_of(code.empty() ? ' ' : code[0])));
}

Result<void> DictReader::shape() {
  if (!take("(")) return expected("a shape");
  std::vector<int64_t> dims;
  while (!take(")")) {
    if (!dims.empty() && !take(",")) return expected("',' or ')'");
    if (take(")")) break;
    int64_t dim = 0;
    skip_spaces();
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), dim);
    if (error != std::errc() || dim < 0) return expected("a dimension from 0 to 2^63 - 1");
    at_ = static_cast<size_t>(end - text_.data());
    (void)take("L");  // Long numbers of Python 2.
    dims.push_back(dim);
    if (dims.size() > kMaxRank) return wrong(ErrorKind::InvalidArgument, fmt::format("rank above {}", kMaxRank));
  }
  header_.shape = Shape(dims);
  return {};
}

Result<void> DictReader::entry(std::string_view key) {
  bool* const seen = key == "descr"           ? &has_descr_
                     : key == "fortran_order" ? &has_order_
                     : key == "shape"         ? &has_shape_
                                              : nullptr;
  if (seen == nullptr || *seen) {
    return wrong(ErrorKind::InvalidArgument,
                 fmt::format("key {} {}", quoted_name(key), seen == nullptr ? "is unknown" : "occurs twice"));
  }
  *seen = true;
  if (!take(":")) return expected("':'");
  if (key == "descr") return descr();
  if (key == "shape") return shape();
  header_.is_fortran = take("True");
  if (!header_.is_fortran && !take("False")) return expected("True or False");
  return {};
}

Result<NpyHeader> DictReader::read() {
  if (!take("{")) return expected("'{'");
  for (bool first = true; !take("}"); first = false) {
    if (!first && !take(",")) return expected("',' or '}'");
    if (take("}")) break;
    const auto key = string();
    if (!key) return fail(key.error());
    HEADPOND_TRY(entry(*key));
  }
  skip_spaces();
  if (at_ != text_.size()) return expected("spaces");
  if (has_descr_ && has_order_ && has_shape_) return header_;
  return wrong(ErrorKind::InvalidArgument, "descr, fortran_order and shape expected, one is missing");
}

// The size of all values in bytes; nullopt iff it overflows.
std::optional<uint64_t> bytes_of(const NpyHeader& header) {
  const auto size = header.shape.size();
  int64_t bytes = 0;
  if (!size || __builtin_mul_overflow(*size, static_cast<int64_t>(item_size(header.dtype)), &bytes))
    return std::nullopt;
  return static_cast<uint64_t>(bytes);
}

Result<void> check_bytes(const NpyHeader& header, uint64_t follow, std::string_view name) {
  const std::string shown = fmt::format("{}{}", headpond::name(header.dtype), header.shape.to_string());
  const auto bytes = bytes_of(header);
  if (!bytes) return fail(ErrorKind::InvalidArgument, fmt::format("{}: npy: sizes overflow: {}", name, shown));
  if (*bytes == follow) return {};
  return fail(ErrorKind::InvalidArgument,
              fmt::format("{}: npy: {} needs {} bytes after the header, {} follow", name, shown, *bytes, follow));
}

}  // namespace

Result<NpyHeader> parse_npy_header(std::span<const std::byte> file, std::string_view name) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic.substr(0, std::min(text.size(), kMagic.size())))) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: not an npy file: begins with {}", name, quoted_name(text.substr(0, kMagic.size()))));
  }
  const auto cut = [&] { return fail(ErrorKind::DataLoss, fmt::format("{}: an npy header is truncated", name)); };
  if (text.size() < kVersionEnd) return cut();
  const auto byte = [&text](size_t at) { return static_cast<size_t>(static_cast<unsigned char>(text[at])); };
  const size_t major = byte(kMagic.size()), length_bytes = major == 1 ? 2 : 4;
  if (major < 1 || major > 3) {
    return fail(ErrorKind::Unimplemented, fmt::format("{}: npy version {}; 1 to 3 are read", name, major));
  }
  const size_t begin = kVersionEnd + length_bytes;
  if (text.size() < begin) return cut();
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= byte(kVersionEnd + i) << (8 * i);
  if (length > kMaxHeaderBytes) {
    return fail(ErrorKind::ResourceExhausted,
                fmt::format("{}: an npy header of {} bytes, at most {}", name, length, kMaxHeaderBytes));
  }
  if (length > text.size() - begin) return cut();
  auto header = DictReader(text.substr(begin, length), name, begin).read();
  if (!header) return header;
  header->begin = begin + length;
  header->bytes = text.size() - header->begin;
  HEADPOND_TRY(check_bytes(*header, header->bytes, name));
  return header;
}

Result<std::string> make_npy_header(DType dtype, const Shape& shape) {
  const auto* known =
      std::find_if(std::begin(kTypeCodes), std::end(kTypeCodes), [dtype](auto type) { return type.dtype == dtype; });
  if (known == std::end(kTypeCodes)) {
    return fail(ErrorKind::InvalidArgument, fmt::format("npy cannot hold {}", name(dtype)));
  }
  std::string dims;
  for (const int64_t dim : shape.dims()) dims += fmt::format("{}, ", dim);
  if (shape.rank() > 1) dims.resize(dims.size() - 2);
  if (shape.rank() == 1) dims.pop_back();
  std::string dict = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': ({}), }}",
                                 item_size(dtype) == 1 ? '|' : '<', known->code, dims);
  const size_t before = kVersionEnd + 2;
  dict.append(kAlignment - 1 - (before + dict.size()) % kAlignment, ' ');
  dict += '\n';
  std::string header(kMagic);
  header += {'\1', '\0', static_cast<char>(dict.size() & 0xff), static_cast<char>(dict.size() >> 8)};
  return header + dict;
}

}  // namespace headpond::internal
