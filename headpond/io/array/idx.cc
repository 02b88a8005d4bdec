// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/array/idx.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <new>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "headpond/io/array/byte_swap_internal.h"
#include "headpond/io/compression/inflate.h"

namespace headpond {
namespace {

constexpr size_t kMagicBytes = 4;
constexpr size_t kMaxRank = 32;

struct TypeCode {
  uint8_t code;
  DType dtype;
};
constexpr std::array<TypeCode, 6> kTypeCodes = {
    {{0x08, u8}, {0x09, i8}, {0x0b, i16}, {0x0c, i32}, {0x0d, f32}, {0x0e, f64}}};

struct Header {
  DType dtype;
  std::vector<int64_t> dims;
  uint64_t payload_bytes;
  uint64_t total_bytes() const { return kMagicBytes + 4 * dims.size() + payload_bytes; }
  std::string to_string() const { return fmt::format("{} of {}", name(dtype), fmt::join(dims, " x ")); }
};

tl::unexpected<Error> contradiction(const ByteReader& reader, const std::string& what) {
  return fail(ErrorKind::InvalidArgument, fmt::format("{}: {}", reader.name(), what));
}

uint32_t big_endian(std::span<const std::byte, 4> bytes) {
  uint32_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | static_cast<uint32_t>(byte);
  return value;
}

Result<void> read_header_part(ByteReader& reader, std::span<std::byte> to, size_t offset) {
  auto got = read_fully(reader, to);
  if (!got) return fail(std::move(got).error());
  if (*got == to.size()) return {};
  return fail(ErrorKind::DataLoss,
              fmt::format("{}: an IDX header of at least {} bytes was expected, {} bytes were found", reader.name(),
                          offset + to.size(), offset + *got));
}

Result<Header> parse_magic(const ByteReader& reader, std::span<const std::byte, kMagicBytes> magic) {
  const auto code = static_cast<uint8_t>(magic[2]);
  const auto rank = static_cast<size_t>(magic[3]);
  const std::string found = fmt::format("found {:02x}", fmt::join(magic, " "));
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0}) {
    return contradiction(reader, fmt::format("not an IDX file: expected 00 00, a type code and a rank, {}", found));
  }
  const auto* known = std::find_if(kTypeCodes.begin(), kTypeCodes.end(), [&](auto type) { return type.code == code; });
  if (known == kTypeCodes.end()) {
    return contradiction(
        reader, fmt::format("unknown IDX type code at offset 2: expected 08, 09, 0b, 0c, 0d or 0e, {}", found));
  }
  if (rank == 0 || rank > kMaxRank) {
    return contradiction(reader, fmt::format("IDX rank {} at offset 3: expected 1 to {}, {}", rank, kMaxRank, found));
  }
  return Header{known->dtype, std::vector<int64_t>(rank), 0};
}

// The size of all values in bytes; nullopt iff it overflows.
std::optional<uint64_t> payload_bytes(const Header& header) {
  if (std::find(header.dims.begin(), header.dims.end(), 0) != header.dims.end()) return 0;
  int64_t product = static_cast<int64_t>(item_size(header.dtype));
  for (const int64_t dim : header.dims) {
    if (__builtin_mul_overflow(product, dim, &product)) return std::nullopt;
  }
  return static_cast<uint64_t>(product);
}

Result<Header> read_header(ByteReader& reader) {
  std::array<std::byte, kMagicBytes> magic;
  HEADPOND_TRY(read_header_part(reader, magic, 0));
  auto header = parse_magic(reader, magic);
  if (!header) return header;
  std::array<std::byte, 4 * kMaxRank> sizes;
  const auto used = std::span(sizes).first(4 * header->dims.size());
  HEADPOND_TRY(read_header_part(reader, used, kMagicBytes));
  for (size_t i = 0; i < header->dims.size(); ++i) {
    header->dims[i] = big_endian(used.subspan(4 * i).first<4>());
  }
  const auto payload = payload_bytes(*header);
  if (!payload) return contradiction(reader, fmt::format("sizes overflow: {}", header->to_string()));
  header->payload_bytes = *payload;
  // Before memory is allocated, because a header may contain any number.
  if (*payload > reader.left_at_most()) {
    return contradiction(reader,
                         fmt::format("sizes beyond the file: {} needs {} bytes after the header, at most {} follow",
                                     header->to_string(), *payload, reader.left_at_most()));
  }
  return header;
}

Result<Tensor> read_payload(ByteReader& reader, const Header& header) {
  Tensor tensor = Tensor::empty(header.dtype, Shape(header.dims));
  const std::span<std::byte> to(tensor.mutable_data(), header.payload_bytes);
  const auto got = read_fully(reader, to);
  if (!got) return fail(got.error());
  if (*got != to.size()) {
    return contradiction(reader, fmt::format("sizes beyond the file: {} needs {} bytes, it has {}", header.to_string(),
                                             header.total_bytes(), header.total_bytes() - to.size() + *got));
  }
  // Also verifies the last member of a gzip stream.
  std::byte more;
  const auto after = reader.read({&more, 1});
  if (!after) return fail(after.error());
  if (*after != 0) {
    return contradiction(reader, fmt::format("bytes after the last value: {} ends at offset {}, found {:02x} there",
                                             header.to_string(), header.total_bytes(), static_cast<uint8_t>(more)));
  }
  internal::swap_bytes(to, item_size(header.dtype));
  return tensor;
}

}  // namespace

Result<Tensor> read_idx(std::unique_ptr<ByteReader> raw, uint64_t limit) try {
  auto reader = inflate_if_gzip(std::move(raw));
  if (!reader) return fail(std::move(reader).error());
  const auto header = read_header(**reader);
  if (!header) return fail(header.error());
  if (header->total_bytes() > limit) {
    return fail(ErrorKind::ResourceExhausted, fmt::format("{}: {} needs {} bytes, the limit is {}", (*reader)->name(),
                                                          header->to_string(), header->total_bytes(), limit));
  }
  return read_payload(**reader, *header);
} catch (const std::bad_alloc&) {
  return fail(current_exception_error());
}

Result<Tensor> read_idx(const std::string& path, uint64_t limit) {
  auto file = open_file_reader(path);
  if (!file) return fail(std::move(file).error());
  return read_idx(std::move(*file), limit);
}

Result<IdxPair> read_idx_pair(const std::string& images_path, const std::string& labels_path) {
  auto images = read_idx(images_path);
  if (!images) return fail(std::move(images).error());
  auto labels = read_idx(labels_path);
  if (!labels) return fail(std::move(labels).error());
  if (images->dim(0) != labels->dim(0)) {
    return fail(ErrorKind::InvalidArgument, fmt::format("{} has {} images, but {} has {} labels", images_path,
                                                        images->dim(0), labels_path, labels->dim(0)));
  }
  return IdxPair{std::move(*images), std::move(*labels)};
}

Result<void> write_idx(const std::string& path, const Tensor& tensor) {
  const auto* known =
      std::find_if(kTypeCodes.begin(), kTypeCodes.end(), [&](auto type) { return type.dtype == tensor.dtype(); });
  const Shape shape = tensor.shape();
  const auto too_large = [](int64_t dim) { return dim > int64_t{UINT32_MAX}; };
  if (known == kTypeCodes.end() || shape.rank() == 0 ||
      std::any_of(shape.dims().begin(), shape.dims().end(), too_large)) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: IDX cannot hold {}{}", path, name(tensor.dtype()), shape.to_string()));
  }
  std::vector<std::byte> header = {std::byte{0}, std::byte{0}, std::byte{known->code},
                                   std::byte(static_cast<uint8_t>(shape.rank()))};
  for (const int64_t dim : shape.dims()) {
    for (int shift = 24; shift >= 0; shift -= 8) header.push_back(static_cast<std::byte>(dim >> shift & 0xff));
  }
  const std::span<const std::byte> values(tensor.data(), tensor.byte_size());
  if (item_size(tensor.dtype()) == 1) return write_file_atomically(path, {header, values});
  std::vector<std::byte> swapped(values.begin(), values.end());
  internal::swap_bytes(swapped, item_size(tensor.dtype()));
  return write_file_atomically(path, {header, swapped});
}

}  // namespace headpond
