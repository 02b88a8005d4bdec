// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/run_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <nlohmann/json.hpp>
#include <string_view>
#include <tuple>
#include <utility>

#include "headpond/io/file/file.h"
#include "headpond/monitor/run/record_fields_internal.h"
#include "headpond/monitor/run/record_lines_internal.h"

namespace headpond {
namespace {

using Json = nlohmann::json;
using internal::fields;

constexpr uint64_t kMostBytes = uint64_t{1} << 30;

template <class T>
std::string line(const char* kind, const T& what) {
  JsonWriter json(JsonNonFinite::AsNull);
  json.begin_object().key(kind);
  internal::FieldWriter(json).value(what);
  json.end_object();
  return json.take() + "\n";
}

ReasonCode code_of(const std::string& name) {
  for (auto code = ReasonCode::none; code <= ReasonCode::cpu_bound;
       code = static_cast<ReasonCode>(static_cast<int>(code) + 1)) {
    if (to_string(code) == name) return code;
  }
  return ReasonCode::none;
}

// A member that cannot be read: "point.queues[2].value", and what it must be.
struct Unreadable {
  std::string member, must_be, is;
};

Unreadable unreadable(const char* must_be, const Json& json) {
  constexpr size_t kMost = 40;
  std::string is = json.is_object() ? "an object" : json.is_array() ? "an array" : json.dump(-1, ' ', true);
  if (is.size() > kMost) is = is.substr(0, kMost) + "...";
  return {.member = "", .must_be = must_be, .is = std::move(is)};
}

// Calls `read`; a member that it cannot read is part of the member `outer`.
void read_part(const std::string& outer, auto read) {
  try {
    read();
  } catch (Unreadable& part) {
    const bool is_direct = part.member.empty() || part.member.starts_with('[');
    part.member = outer + (is_direct ? "" : ".") + part.member;
    throw;
  }
}

template <class T>
T number_of(const Json& json) {
  if constexpr (std::same_as<T, bool>) {
    if (json.is_boolean()) return json.get<bool>();
    throw unreadable("true or false", json);
  } else if constexpr (std::is_floating_point_v<T>) {
    if (json.is_number()) return json.get<T>();
    throw unreadable("a number", json);
  } else {
    const bool fits = json.is_number_unsigned() ? std::in_range<T>(json.get<uint64_t>())
                                                : json.is_number_integer() && std::in_range<T>(json.get<int64_t>());
    if (fits) return json.get<T>();
    throw unreadable("a whole number", json);
  }
}

const std::string& text_of(const Json& json) {
  if (json.is_string()) return json.get_ref<const std::string&>();
  throw unreadable("a text", json);
}

// The same fields from a parsed object. What is missing keeps its value, as does a number that was none (null). Throws
// Unreadable.
class FieldReader {
 public:
  explicit FieldReader(const Json& object) : object_(object) {}

  void operator()(const char* name, auto& field) {
    const auto found = object_.find(name);
    if (found != object_.end() && !found->is_null()) read_part(name, [&] { read(*found, field); });
  }
  template <class T>
  static void read(const Json& json, T& one) {
    if constexpr (std::is_arithmetic_v<T>) {
      one = number_of<T>(json);
    } else if constexpr (std::same_as<T, std::string>) {
      one = text_of(json);
    } else if constexpr (std::same_as<T, ReasonCode>) {
      one = code_of(text_of(json));
    } else {
      if (!json.is_object()) throw unreadable("an object", json);
      FieldReader reader(json);
      fields(reader, one);
    }
  }
  template <class T>
  static void read(const Json& json, std::vector<T>& all) {
    if (!json.is_array()) throw unreadable("an array", json);
    for (const Json& element : json) {
      read_part(fmt::format("[{}]", all.size()), [&] { read(element, all.emplace_back()); });
    }
  }

 private:
  const Json& object_;
};

template <class T>
T read_as(const std::string& kind, const Json& json) {
  T one;
  read_part(kind, [&] { FieldReader::read(json, one); });
  return one;
}

void add(PipelineRecord pipeline, std::vector<PipelineRecord>& all) {
  const auto same =
      std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.name == pipeline.name; });
  if (same == all.end()) {
    all.push_back(std::move(pipeline));
  } else {
    *same = std::move(pipeline);
  }
}

// Throws Unreadable, or nlohmann's exception for what is no JSON.
void add(std::string_view text, RunRecord& run) {
  const Json json = Json::parse(text);
  if (!json.is_object()) throw unreadable("an object", json);
  if (json.empty()) return;
  const auto& [kind, what] = *json.get_ref<const Json::object_t&>().begin();
  if (kind == "run") run = {.machine = read_as<RunMachine>(kind, what)};  // The one before wrote into the same folder.
  if (kind == "point") run.points.push_back(read_as<RunPoint>(kind, what));
  if (kind == "pipeline") add(read_as<PipelineRecord>(kind, what), run.pipelines);
  if (kind == "end") run.is_whole = true;
}

}  // namespace

std::string line_of(const RunMachine& machine) { return line("run", machine); }
std::string line_of(const RunPoint& point) { return line("point", point); }
std::string line_of(const PipelineRecord& pipeline) { return line("pipeline", pipeline); }
std::string end_line() { return "{\"end\":{}}\n"; }

Result<void> internal::add_line(std::string_view line, RunRecord& run) {
  try {
    add(line, run);
    return {};
  } catch (const Unreadable& found) {
    const std::string member = found.member.empty() ? "the line" : found.member;
    return fail(ErrorKind::DataLoss, fmt::format("{} must be {}, but is {}", member, found.must_be, found.is));
  } catch (const Json::parse_error& problem) {
    return fail(ErrorKind::DataLoss, fmt::format("not valid JSON at byte {}", std::max<size_t>(problem.byte, 1)));
  } catch (const Json::exception&) {
    return fail(ErrorKind::DataLoss, "no JSON that can be read");
  }
}

Result<RunRecord> read_run(const std::string& folder) {
  const std::string path = folder + "/run.jsonl";
  const auto content = read_file(path, kMostBytes);
  if (!content) return fail(content.error());
  std::string_view text(reinterpret_cast<const char*>(content->data()), content->size());
  RunRecord run;
  for (int64_t number = 1; text.find('\n') != std::string_view::npos; ++number) {
    const size_t end = text.find('\n');
    if (const auto added = internal::add_line(text.substr(0, end), run); !added)
      return fail(added.error().kind(), fmt::format("{}: line {}: {}", path, number, added.error().message()));
    text.remove_prefix(end + 1);
  }
  return run;
}

const RunPoint* fullest_point(const RunRecord& run) {
  const auto most = std::max_element(run.points.begin(), run.points.end(),
                                     [](const RunPoint& a, const RunPoint& b) { return a.pss < b.pss; });
  return most == run.points.end() || most->pss == 0 ? nullptr : &*most;
}

const RunPoint* last_looked_at(const RunRecord& run) {
  const auto last =
      std::find_if(run.points.rbegin(), run.points.rend(), [](const RunPoint& point) { return point.pss > 0; });
  return last == run.points.rend() ? nullptr : &*last;
}

std::vector<QueueRecord> last_hand_offs(const RunRecord& run) {
  std::vector<QueueRecord> all;
  for (const RunPoint& point : run.points) {
    for (const QueueRecord& one : point.hand_offs) {
      const auto same = std::find_if(all.begin(), all.end(), [&](const auto& other) { return other.name == one.name; });
      same == all.end() ? all.push_back(one) : void(*same = one);
    }
  }
  return all;
}

bool has_verdict(const PipelineRecord& pipeline) {
  return pipeline.verdict.code != ReasonCode::none || !pipeline.verdict.findings.empty();
}

bool has_profile(const PipelineRecord& pipeline) {
  return !pipeline.loader.stages.empty() || !pipeline.loader.memory.empty();
}

const PipelineRecord* most_waited_for_with_profile(const std::vector<PipelineRecord>& pipelines) {
  const auto rank = [](const PipelineRecord& one) { return std::tuple(has_profile(one), one.wait_ns); };
  const auto most = std::max_element(pipelines.begin(), pipelines.end(),
                                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return most == pipelines.end() || !has_profile(*most) ? nullptr : &*most;
}

const PipelineRecord* most_waited_for(const std::vector<PipelineRecord>& pipelines) {
  const auto rank = [](const PipelineRecord& one) {
    return std::tuple(one.verdict.code != ReasonCode::none, one.wait_ns);
  };
  const auto most = std::max_element(pipelines.begin(), pipelines.end(),
                                     [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  return most == pipelines.end() ? nullptr : &*most;
}

}  // namespace headpond
