// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/cache/element_record.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "headpond/tensor/source_names.h"

namespace headpond::internal {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr char kMagic[4] = {'H', 'P', 'E', 'L'};
constexpr size_t kSmallBytes = 16;  // What a tensor holds itself: it is copied out of the record.
constexpr uint8_t kDTypes = static_cast<uint8_t>(DType::bytes) + 1;
constexpr int kMostRank = 32;

struct Header {
  char magic[4] = {kMagic[0], kMagic[1], kMagic[2], kMagic[3]};
  uint32_t fields = 0;
  uint64_t size = 0;  // Size of the record.
  uint64_t key = 0;
  uint64_t number = 0;       // Number of the record in its source.
  uint64_t name_offset = 0;  // The source's name; it has name_size bytes.
  uint64_t name_size = 0;
};
// Followed by the dimensions, of 8 bytes each.
struct Field {
  uint8_t dtype = 0, rank = 0;
  uint8_t zeros[6] = {};
  uint64_t offset = 0, size = 0;  // Where the values lie, from the record's begin on.
};
static_assert(sizeof(Header) == 48 && sizeof(Field) == 24);
static_assert(std::is_trivially_copyable_v<Header> && std::is_trivially_copyable_v<Field>);

size_t up(size_t value, size_t align) { return (value + align - 1) / align * align; }
bool is_small(DType dtype, size_t size) { return dtype != DType::bytes && size <= kSmallBytes; }
size_t align_of(const Tensor& field) { return is_small(field.dtype(), field.byte_size()) ? 8 : kRecordAlign; }

template <class T>
void put(std::vector<std::byte>& to, size_t at, const T& value) {
  std::memcpy(to.data() + at, &value, sizeof(value));
}

tl::unexpected<Error> wrong(const char* what) {
  return fail(ErrorKind::InvalidArgument, std::string("not the record of an element: ") + what);
}

// Neighbours mostly come from one file, and to register a name takes a lock.
uint64_t source_number(std::string_view name) {
  thread_local std::string last;
  thread_local uint64_t number = 0;
  if (name.empty()) return 0;
  if (name != last) {
    number = register_source_key(name);
    last = name;
  }
  return number;
}

class Reader {
 public:
  explicit Reader(std::span<const std::byte> record) : record_(record) {}

  template <class T>
  bool take(T& value) {
    if (!holds(next_, sizeof(value))) return false;
    std::memcpy(&value, record_.data() + next_, sizeof(value));
    next_ += sizeof(value);
    return true;
  }
  bool holds(uint64_t offset, uint64_t size) const {
    return offset <= record_.size() && size <= record_.size() - offset;
  }
  const std::byte* at(uint64_t offset) const { return record_.data() + offset; }

 private:
  const std::span<const std::byte> record_;
  size_t next_ = 0;
};

// Offsets ascend from 0 and end where the field ends, and there is one more than there are values.
bool are_texts(const std::byte* data, uint64_t size, uint64_t values) {
  if (values >= size / sizeof(int64_t)) return false;
  const auto* const offsets = reinterpret_cast<const int64_t*>(data);
  const uint64_t characters = size - (values + 1) * sizeof(int64_t);
  if (offsets[0] != 0 || std::cmp_not_equal(offsets[values], characters)) return false;
  return std::is_sorted(offsets, offsets + values + 1);
}

Result<Tensor> take_field(Reader& reader, const BufferRef& owner) {
  Field field;
  if (!reader.take(field)) return wrong("it is cut");
  if (field.dtype >= kDTypes || field.rank > kMostRank) return wrong("a field has no such dtype or rank");
  std::vector<int64_t> dims(field.rank);
  for (int64_t& dim : dims) {
    if (!reader.take(dim)) return wrong("it is cut");
    if (dim < 0) return wrong("a dimension is negative");
  }
  const auto dtype = static_cast<DType>(field.dtype);
  const Shape shape{std::span<const int64_t>(dims)};
  const auto values = shape.size();
  if (!values || !reader.holds(field.offset, field.size)) return wrong("a field is larger than it");
  if (field.offset % (is_small(dtype, field.size) ? 8 : kRecordAlign) != 0) return wrong("a field is not aligned");
  const std::byte* const data = reader.at(field.offset);
  if (dtype == DType::bytes) {
    if (!are_texts(data, field.size, static_cast<uint64_t>(*values)))
      return wrong("the texts of a field are not whole");
    return Tensor::view(data, dtype, shape, owner);
  }
  uint64_t size = 0;
  if (__builtin_mul_overflow(static_cast<uint64_t>(*values), item_size(dtype), &size) || size != field.size) {
    return wrong("a field has another size than its shape");
  }
  if (!is_small(dtype, size)) return Tensor::view(data, dtype, shape, owner);
  Tensor small = Tensor::empty(dtype, shape);
  if (size != 0) std::memcpy(small.mutable_data(), data, size);
  return small;
}

}  // namespace

std::vector<std::byte> to_record(const Element& element) {
  const std::string name = source_key(element.provenance.source);
  size_t size = sizeof(Header);
  for (size_t i = 0; i < element.size(); ++i) {
    size += sizeof(Field) + static_cast<size_t>(element[i].rank()) * sizeof(int64_t);
  }
  const size_t name_offset = size;
  size += name.size();
  std::vector<size_t> offsets;
  for (size_t i = 0; i < element.size(); ++i) {
    offsets.push_back(up(size, align_of(element[i])));
    size = offsets.back() + element[i].byte_size();
  }
  std::vector<std::byte> record(up(size, kRecordAlign));
  Header header;
  header.fields = static_cast<uint32_t>(element.size());
  header.size = record.size();
  header.key = element.key;
  header.number = element.provenance.record;
  header.name_offset = name_offset;
  header.name_size = name.size();
  put(record, 0, header);
  size_t at = sizeof(Header);
  for (size_t i = 0; i < element.size(); ++i) {
    const Tensor& tensor = element[i];
    Field field;
    field.dtype = static_cast<uint8_t>(tensor.dtype());
    field.rank = static_cast<uint8_t>(tensor.rank());
    field.offset = offsets[i];
    field.size = tensor.byte_size();
    put(record, at, field);
    at += sizeof(Field);
    for (int axis = 0; axis < tensor.rank(); ++axis, at += sizeof(int64_t)) put(record, at, tensor.dim(axis));
    if (field.size != 0) std::memcpy(record.data() + field.offset, tensor.data(), field.size);
  }
  std::memcpy(record.data() + name_offset, name.data(), name.size());
  return record;
}

Result<Element> from_record(std::span<const std::byte> record, const BufferRef& owner) {
  Reader reader(record);
  Header header;
  if (!reader.take(header) || std::memcmp(header.magic, kMagic, sizeof(kMagic)) != 0)
    return wrong("it begins otherwise");
  if (header.size != record.size()) return wrong("it has another length");
  if (header.fields > record.size() / sizeof(Field)) return wrong("it has more fields than bytes");
  if (!reader.holds(header.name_offset, header.name_size)) return wrong("the source's name is not in it");
  Element element;
  element.reserve(header.fields);
  for (uint32_t i = 0; i < header.fields; ++i) {
    auto field = take_field(reader, owner);
    if (!field) return fail(std::move(field).error());
    element.append(std::move(*field));
  }
  element.key = header.key;
  const std::string_view name(reinterpret_cast<const char*>(reader.at(header.name_offset)), header.name_size);
  element.provenance.source = source_number(name) & ((uint64_t{1} << 20) - 1);
  element.provenance.record = header.number & ((uint64_t{1} << 44) - 1);
  return element;
}

}  // namespace headpond::internal
