// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <charconv>

#include "headpond/base/crc32c.h"
#include "headpond/base/json.h"
#include "headpond/io/text/json/json_lines.h"
#include "headpond/train/loop/manifest_internal.h"

namespace headpond::internal {
namespace {

constexpr std::string_view kSchema = "headpond.checkpoint/1";
constexpr std::string_view kChecksum = R"(,"checksum":")";

Error damaged(const std::string& path, const std::string& what) {
  return {ErrorKind::DataLoss, fmt::format("{}: {}", path, what)};
}

std::string closing(std::string_view text) { return fmt::format("{}{:08x}\"}}\n", kChecksum, crc32c(text)); }

// The number that `text` is in base 16; nothing if it is none.
std::optional<uint64_t> hex(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

const JsonParser& parser() {
  static const auto* const all = new JsonParser({{"schema", DType::bytes},
                                                 {"step", DType::i64},
                                                 {"epoch", DType::i64},
                                                 {"seed", DType::u64},
                                                 {"fingerprint", DType::bytes},
                                                 {"plan", DType::bytes},
                                                 {"torch", DType::bytes},
                                                 {"parameters", DType::bytes, {kUnknown}},
                                                 {"files", DType::bytes, {kUnknown}},
                                                 {"bytes", DType::u64, {kUnknown}},
                                                 {"crc32c", DType::bytes, {kUnknown}}});
  return *all;
}

std::string text_of(const Tensor& tensor, int64_t i = 0) { return std::string(tensor.bytes_at(i)); }

// The files, whose names, sizes and checksums are three lists.
Result<std::vector<ManifestFile>> files_of(const std::vector<Tensor>& fields, const std::string& path) {
  const Tensor &names = fields[8], &sizes = fields[9], &checksums = fields[10];
  if (names.size() != sizes.size() || names.size() != checksums.size())
    return fail(damaged(path, "lists of files, bytes and crc32c of different lengths"));
  std::vector<ManifestFile> files;
  for (int64_t i = 0; i < names.size(); ++i) {
    const auto crc = hex(checksums.bytes_at(i));
    if (!crc || *crc > UINT32_MAX) return fail(damaged(path, "not a valid CRC-32C"));
    const std::string name = text_of(names, i);
    if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.') || name == kManifest)
      return fail(damaged(path, fmt::format("a file named '{}'", name)));
    files.push_back({name, sizes.as<uint64_t>()[static_cast<size_t>(i)], static_cast<uint32_t>(*crc)});
  }
  return files;
}

}  // namespace

std::string manifest_text(const Manifest& manifest) {
  const CheckpointFacts& facts = manifest.facts;
  JsonWriter json;
  json.begin_object().member("schema", kSchema).member("step", facts.step).member("epoch", facts.epoch);
  json.member("seed", facts.seed).member("fingerprint", fmt::format("{:016x}", facts.fingerprint));
  json.member("plan", facts.plan).member("torch", facts.torch).key("parameters").begin_array();
  for (const std::string& parameter : facts.parameters) json.value(parameter);
  json.end_array().key("files").begin_array();
  for (const ManifestFile& file : manifest.files) json.value(file.name);
  json.end_array().key("bytes").begin_array();
  for (const ManifestFile& file : manifest.files) json.value(file.bytes);
  json.end_array().key("crc32c").begin_array();
  for (const ManifestFile& file : manifest.files) json.value(fmt::format("{:08x}", file.crc));
  json.end_array();
  const std::string text(json.text());
  return text + closing(text);
}

Result<Manifest> parse_manifest(std::string_view text, const std::string& path) {
  const size_t end = closing("").size();
  const std::string_view covered = text.substr(0, text.size() - std::min(text.size(), end));
  if (const std::string expected = closing(covered); text.substr(covered.size()) != expected) {
    return fail(damaged(path, fmt::format("the checksum of its {} bytes is not at its end: expected '{}', found '{}'",
                                          text.size(), expected.substr(kChecksum.size(), 8),
                                          text.substr(text.size() - std::min<size_t>(text.size(), 11), 8))));
  }
  auto fields = parser().parse(text);
  if (!fields) return fail(damaged(path, fields.error().message()));
  const std::vector<Tensor>& all = *fields;
  if (all[0].bytes_at(0) != kSchema) {
    return fail(ErrorKind::Unimplemented,
                fmt::format("{}: schema '{}'; this version reads {}", path, all[0].bytes_at(0), kSchema));
  }
  const auto fingerprint = hex(all[4].bytes_at(0));
  if (!fingerprint) return fail(damaged(path, "not a valid fingerprint"));
  Manifest manifest{.facts = {.step = all[1].item<int64_t>(),
                              .epoch = all[2].item<int64_t>(),
                              .seed = all[3].item<uint64_t>(),
                              .fingerprint = *fingerprint,
                              .plan = text_of(all[5]),
                              .torch = text_of(all[6])},
                    .files = {}};
  for (int64_t i = 0; i < all[7].size(); ++i) manifest.facts.parameters.push_back(text_of(all[7], i));
  auto files = files_of(all, path);
  if (!files) return fail(files.error());
  manifest.files = std::move(*files);
  return manifest;
}

}  // namespace headpond::internal
