// SPDX-License-Identifier: Apache-2.0
#include "headpond/train/loop/hook.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <vector>

#include "headpond/base/json.h"
#include "headpond/base/log.h"
#include "headpond/io/text/json/json_lines.h"

namespace headpond {
namespace {

constexpr std::string_view kSchema = "headpond.hooks/1";

std::string hex(uint64_t bits) { return fmt::format("{:016x}", bits); }

std::optional<uint64_t> bits_of(std::string_view text) {
  uint64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return bits;
}

}  // namespace

Result<HookState> HookState::from_text(std::string_view text) {
  static const auto* const parser = new JsonParser(
      {{"schema", DType::bytes}, {"numbers", DType::bytes, {kUnknown}}, {"bits", DType::bytes, {kUnknown}}});
  const auto fields = parser->parse(text);
  if (!fields) return fail(ErrorKind::DataLoss, "the numbers of hooks: " + fields.error().message());
  const std::vector<Tensor>& all = *fields;
  if (all[0].bytes_at(0) != kSchema || all[1].size() != all[2].size())
    return fail(ErrorKind::DataLoss, "the numbers of hooks: not those of " + std::string(kSchema));
  HookState state;
  state.restoring_ = true;
  for (int64_t i = 0; i < all[1].size(); ++i) {
    if (!bits_of(all[2].bytes_at(i))) return fail(ErrorKind::DataLoss, "the numbers of hooks: not a valid number");
    state.values_.emplace(all[1].bytes_at(i), all[2].bytes_at(i));
  }
  return state;
}

std::string HookState::to_text() const {
  JsonWriter json;
  json.begin_object().member("schema", kSchema).key("numbers").begin_array();
  for (const auto& [key, bits] : values_) json.value(key);
  json.end_array().key("bits").begin_array();
  for (const auto& [key, bits] : values_) json.value(bits);
  json.end_array().end_object();
  return json.take();
}

void HookState::begin(std::string_view name, size_t number) { prefix_ = fmt::format("{}.{}.", number, name); }

std::string* HookState::at(std::string_view key) {
  const std::string full = prefix_ + std::string(key);
  if (!restoring_) return &values_[full];
  const auto found = values_.find(full);
  asked_.insert(full);
  return found != values_.end() ? &found->second : nullptr;
}

std::vector<std::string> HookState::unasked() const {
  std::vector<std::string> names;
  for (const auto& [name, bits] : values_) {
    if (restoring_ && !asked_.contains(name)) names.push_back(name);
  }
  return names;
}

void HookState::visit(std::string_view key, int64_t& value) {
  std::string* const saved = at(key);
  if (!restoring_) {
    *saved = hex(std::bit_cast<uint64_t>(value));
  } else if (saved != nullptr) {
    value = std::bit_cast<int64_t>(*bits_of(*saved));
  }
}

void HookState::visit(std::string_view key, double& value) {
  auto bits = std::bit_cast<int64_t>(value);
  visit(key, bits);
  value = std::bit_cast<double>(bits);
}

Result<void> HookContext::scalar(std::string_view tag, double value) {
  if (events == nullptr) return {};
  auto written = events->scalar(tag, value, step);
  if (written || written.error().kind() == ErrorKind::InvalidArgument) return written;
  log(LogLevel::warning, fmt::format("there are no more charts: {}", written.error().to_string()));
  events = nullptr;
  return {};
}

}  // namespace headpond
