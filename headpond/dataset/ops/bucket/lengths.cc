// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/ops/lengths.h"

#define XXH_INLINE_ALL  // So that nobody has to link it.
#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "headpond/dataset/ops/bucket/bucket_plan_internal.h"
#include "headpond/dataset/sequence.h"
#include "headpond/io/array/npy.h"
#include "headpond/io/file/file.h"

namespace headpond {
namespace {

constexpr std::string_view kLengthsMark = "\nheadpond lengths 1, source ";
constexpr size_t kMarkDigits = 16;
constexpr size_t kTail = kLengthsMark.size() + kMarkDigits + 1;

void add_identity(const Node& node, std::string& text) {
  for (const Node::Ref& input : node.facts().inputs) add_identity(*input, text);
  text += fmt::format("{}\n{}\n", node.identity(), node.facts().stamp.get());
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
  const bool has_one =
      made.spec().size() == 1 && made.spec()[0].dtype == DType::i64 && made.spec()[0].shape.rank() == 0;
  if (!has_one || made.kind() != Kind::indexed || source.kind() != Kind::indexed) {
    refuse("write_lengths", fmt::format("one int64 by position is needed, not {}", to_string(made.spec())));
  }
  if (&internal::source_of_lengths(*source.node()) != source.node().get()) {
    refuse("write_lengths", "lengths belong to what is below " + source.node()->title());
  }
  std::vector<int64_t> numbers;
  Sequence sequence(made);
  auto next = sequence.next();
  for (; next; next = sequence.next()) numbers.push_back((*next)[size_t{0}].item<int64_t>());
  if (!next.error().is_end()) return fail(next.error());
  const std::string file = lengths_file(numbers, mark_of_source(*source.node()));
  return write_file_atomically(path, {std::as_bytes(std::span(file))});
}

}  // namespace headpond
