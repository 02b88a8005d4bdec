// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/lengths.h"

#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "headpond/base/interrupt/interrupt.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/ops/bucket/bucket_plan_internal.h"
#include "headpond/dataset/ops/element.h"
#include "headpond/dataset/sequence.h"
#include "headpond/dataset/source/source_files_internal.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/file/file.h"
#include "headpond/tensor/head_kernel.h"

namespace headpond {
namespace {

constexpr std::string_view kLengthsMark = "\nheadpond lengths 1, source ";
constexpr const char* kWriteLengths = "write_lengths";
constexpr const char* kFileField = "file";
constexpr size_t kHeadBytes = 4096;  // Enough for the head of a usual sound file.
constexpr size_t kMarkDigits = 16;
constexpr size_t kTail = kLengthsMark.size() + kMarkDigits + 1;

void add_identity(const Node& node, std::string& text) {
  for (const Node::Ref& input : node.facts().inputs) add_identity(*input, text);
  text += fmt::format("{}\n{}\n", node.identity(), internal::without_place(node.facts().stamp.get()));
}

std::string tail_of(uint64_t source) { return fmt::format("{}{:016x}\n", kLengthsMark, source); }

// The mark at the end of a file; 0: it has none.
uint64_t source_of(std::string_view file) {
  if (file.size() < kTail || !file.substr(file.size() - kTail).starts_with(kLengthsMark)) return 0;
  uint64_t source = 0;
  std::from_chars(file.data() + file.size() - kMarkDigits - 1, file.data() + file.size() - 1, source, 16);
  return file.ends_with(tail_of(source)) ? source : 0;
}

Lengths::Content content_of(std::vector<int64_t> numbers, uint64_t source, const std::string& name) {
  const auto below = std::ranges::find_if(numbers, [](int64_t length) { return length < 0; });
  if (below != numbers.end()) {
    refuse(name, fmt::format("the length of element {} is {}", below - numbers.begin(), *below));
  }
  const uint64_t digest = XXH3_64bits(numbers.data(), numbers.size() * sizeof(int64_t));
  return {.numbers = std::move(numbers), .source = source, .digest = digest};
}

Lengths::Content read_lengths(const std::string& path) {
  const auto file = value_or_throw(read_file(path));
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  const uint64_t source = source_of(text);
  const Tensor array = value_or_throw(read_npy(std::span(file).first(file.size() - (source != 0 ? kTail : 0)), path));
  if (array.dtype() != DType::i64 || array.rank() != 1) {
    refuse(path, fmt::format("lengths are int64[elements], not {}{}", name(array.dtype()), array.shape().to_string()));
  }
  const auto numbers = array.as<int64_t>();
  return content_of({numbers.begin(), numbers.end()}, source, path);
}

[[noreturn]] void refuse_lengths(const Dataset& made) {
  refuse(kWriteLengths, fmt::format("one int64 for each element is needed, not {}", to_string(made.spec())));
}

void check_lengths(const Dataset& source, const Dataset& made, const FieldSpec& length) {
  const bool is_number = length.dtype == DType::i64 && length.shape.rank() == 0;
  if (!is_number) refuse_lengths(made);
  if (made.kind() != Kind::indexed || source.kind() != Kind::indexed) {
    const bool is_stream = made.kind() == Kind::stream || source.kind() == Kind::stream;
    refuse(kWriteLengths, fmt::format("elements by position are needed, and {}",
                                      is_stream ? "a stream has no positions" : "some positions have no element"));
  }
  if (&internal::source_of_lengths(*source.node()) != source.node().get()) {
    refuse(kWriteLengths, "lengths belong to what is below " + source.node()->title());
  }
}

// Cancelled if the thread's InterruptLook, which is asked at every 16th number, says so.
Result<void> look_after(size_t count) {
  constexpr size_t kLookEach = 16;
  if (count % kLookEach != 0 || !look_for_interrupt()) return {};
  return fail(ErrorKind::Cancelled, fmt::format("{}: it was interrupted", kWriteLengths));
}

Result<std::vector<int64_t>> numbers_of(const Dataset& made, size_t field) {
  std::vector<int64_t> numbers;
  Sequence sequence(made);
  auto next = sequence.next();
  for (; next; next = sequence.next()) {
    numbers.push_back((*next)[field].item<int64_t>());
    HEADPOND_TRY(look_after(numbers.size()));
  }
  if (!next.error().is_end()) return fail(next.error());
  return numbers;
}

// nullopt: the element is not a file of its own.
std::optional<Result<int64_t>> number_of_head(const internal::HeadsOfFiles& heads, int64_t i, const HeadKernel& kernel,
                                              std::vector<std::byte>& memory) {
  for (size_t size = kHeadBytes;; size = 4 * memory.size()) {
    memory.resize(size);
    const auto read = heads.head(i, memory);
    if (!read) return std::nullopt;
    if (!*read) return Result<int64_t>(fail((*read).error()));
    const internal::ElementHead& found = **read;
    memory.resize(found.head.bytes);
    const auto number = kernel.from_head(memory, found.head.file_bytes);
    if (number) return number;
    const bool is_whole = found.head.bytes == found.head.file_bytes;
    if (number.error().kind() != ErrorKind::FailedPrecondition || is_whole) {
      return Result<int64_t>(fail(number.error().kind(), fmt::format("{}: {}", found.path, number.error().message())));
    }
  }
}

// nullopt: the elements are not files of their own.
std::optional<Result<std::vector<int64_t>>> numbers_of_heads(const Dataset& source, const HeadKernel& kernel) {
  internal::prepare(source, internal::one_by_one);
  const auto view = view_of(*source.node(), {});
  const auto* const heads = dynamic_cast<const internal::HeadsOfFiles*>(view.get());
  if (heads == nullptr) return std::nullopt;
  std::vector<int64_t> numbers;
  std::vector<std::byte> memory;
  const int64_t slots = source.node()->slots();
  for (int64_t i = 0; i < slots; ++i) {
    const auto number = number_of_head(*heads, i, kernel, memory);
    if (!number) return std::nullopt;
    if (!*number) return Result<std::vector<int64_t>>(fail((*number).error()));
    numbers.push_back(**number);
    if (auto looked = look_after(numbers.size()); !looked) return Result<std::vector<int64_t>>(fail(looked.error()));
  }
  return numbers;
}

Result<void> write_numbers(const Dataset& source, const Result<std::vector<int64_t>>& numbers,
                           const std::string& path) {
  if (!numbers) return fail(numbers.error());
  const auto below = std::ranges::find_if(*numbers, [](int64_t length) { return length < 0; });
  if (below != numbers->end()) {
    return fail(ErrorKind::InvalidArgument,
                fmt::format("{}: the length of element {} is {}", kWriteLengths, below - numbers->begin(), *below));
  }
  const std::string file = lengths_file(*numbers, mark_of_source(*source.node()));
  return write_file_atomically(path, {std::as_bytes(std::span(file))});
}

// The field that is a file, or the only one.
std::string file_field(const Dataset& source) {
  const auto is_file = [](const FieldSpec& field) { return field.name == kFileField; };
  return source.spec().size() > 1 || std::ranges::any_of(source.spec(), is_file) ? kFileField : "";
}

}  // namespace

Lengths::Lengths(std::vector<int64_t> numbers) : content_(content_of(std::move(numbers), 0, "lengths")) {}

Lengths lengths(const std::string& path) {
  return {path, Lazy<Lengths::Content>([path] { return read_lengths(path); })};
}

uint64_t mark_of_source(const Node& node) {
  std::string text;
  add_identity(node, text);
  return std::max<uint64_t>(1, XXH3_64bits(text.data(), text.size()));
}

std::string lengths_file(const std::vector<int64_t>& numbers, uint64_t source) {
  const Shape shape = {static_cast<int64_t>(numbers.size())};
  std::string file = value_or_throw(npy_header(DType::i64, shape));
  file.append(reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(int64_t));
  return file + tail_of(source);
}

Result<void> write_lengths(const Dataset& source, const Step& length, const std::string& path) {
  const Dataset made = source | length;
  if (made.spec().size() != 1) refuse_lengths(made);
  check_lengths(source, made, made.spec()[0]);
  return write_numbers(source, numbers_of(made, 0), path);
}

Result<void> write_lengths(const Dataset& source, const KernelRef& length, const std::string& path,
                           const std::string& field) {
  const size_t index = field_index(kWriteLengths, source.spec(), field.empty() ? file_field(source) : field);
  const Dataset made = source | internal::map_kernels_step(source.spec()[index].name, {length});
  check_lengths(source, made, made.spec()[index]);
  const auto* const kernel = dynamic_cast<const HeadKernel*>(length.get());
  if (kernel != nullptr && source.spec()[index].name == kFileField) {
    if (auto numbers = numbers_of_heads(source, *kernel)) return write_numbers(source, *std::move(numbers), path);
  }
  return write_numbers(source, numbers_of(made, index), path);
}

}  // namespace headpond
