// SPDX-License-Identifier: Apache-2.0
#include "headpond/dataset/quarantine/quarantine.h"

#include <utility>

#include "headpond/base/json.h"
#include "headpond/dataset/quarantine/lines_internal.h"
#include "headpond/io/text/json/json_lines.h"

namespace headpond {
namespace {

// The members of a line, in their order. `visit` is called with a name and a member of the entry.
template <class Entry, class Visit>
void for_members(Entry& entry, const Visit& visit) {
  visit("source", entry.source);
  visit("record", entry.record);
  visit("offset", entry.offset);
  visit("operator", entry.op);
  visit("kind", entry.kind);
  visit("cause", entry.cause);
  visit("action", entry.action);
  visit("epoch", entry.epoch);
  visit("element", entry.element);
  visit("position", entry.position);
  visit("key", entry.key);
  visit("outer", entry.outer);
  visit("error", entry.error);
  visit("step", entry.step);
  visit("seed", entry.seed);
  visit("pipeline", entry.pipeline);
}

struct Writer {
  JsonWriter& json;
  void operator()(const char* name, const std::string& text) const {
    text.empty() ? json.member(name, nullptr) : json.member(name, text);
  }
  void operator()(const char* name, const std::optional<int64_t>& number) const {
    number ? json.member(name, *number) : json.member(name, nullptr);
  }
  void operator()(const char* name, int64_t number) const { json.member(name, number); }
};

// Numbers are not negative, but for a seed; -1 stands for null.
struct FieldMaker {
  std::vector<JsonField>& fields;
  void operator()(const char* name, const std::string&) const {
    fields.push_back({.key = name, .dtype = DType::bytes, .default_value = Tensor::scalar("")});
  }
  void operator()(const char* name, const std::optional<int64_t>&) const {
    fields.push_back({.key = name, .dtype = DType::i64, .default_value = Tensor::scalar(int64_t{-1})});
  }
  void operator()(const char* name, int64_t) const { fields.push_back({.key = name, .dtype = DType::i64}); }
};

struct Reader {
  const std::vector<Tensor>& values;
  size_t& next;
  void operator()(const char*, std::string& text) const { text = values[next++].bytes_at(0); }
  void operator()(const char*, std::optional<int64_t>& number) const {
    const auto value = values[next++].item<int64_t>();
    number = value >= 0 ? std::optional(value) : std::nullopt;
  }
  void operator()(const char*, int64_t& number) const { number = values[next++].item<int64_t>(); }
};

const JsonParser& parser() {
  static const JsonParser* const made = [] {
    std::vector<JsonField> fields;
    QuarantineEntry entry;
    for_members(entry, FieldMaker{fields});
    return new JsonParser(std::move(fields));
  }();
  return *made;
}

}  // namespace

std::string to_line(const QuarantineEntry& entry) {
  JsonWriter json;
  json.begin_object();
  for_members(entry, Writer{json});
  json.end_object();
  return std::string(json.text()) + "\n";
}

Result<QuarantineFile> read_quarantine(const std::string& path) {
  const auto text = internal::text_of_file(path);
  if (!text) return fail(text.error());
  QuarantineFile file;
  internal::for_lines(*text, [&](std::string_view line) {
    if (line == "\n") return;
    const auto values = parser().parse(line);
    if (!values || !line.ends_with('\n')) {
      ++file.broken_lines;
      return;
    }
    size_t next = 0;
    for_members(file.entries.emplace_back(), Reader{*values, next});
  });
  return file;
}

}  // namespace headpond
