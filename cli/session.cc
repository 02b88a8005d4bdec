// SPDX-License-Identifier: Apache-2.0
#include "cli/session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/cpu.h"
#include "headpond/io/file/file.h"

namespace headpond::cli {
namespace {

double load() {
  std::array<double, 1> loads{};
  return getloadavg(loads.data(), 1) == 1 ? loads[0] : 0;
}

double memory_gib() {
  const double bytes = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  return std::round(bytes / (1 << 30) * 10) / 10;
}

}  // namespace

std::string with_causes(const Error& error) {
  const std::string text = error.to_string();
  return text.substr(to_string(error.kind()).size() + 2);
}

void put_on_stderr(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}

Result<void> TextOutput::write(std::string_view text) const {
  if (std::fwrite(text.data(), 1, text.size(), file) == text.size()) return {};
  return fail(file_error(action, name, errno));
}

Result<void> TextOutput::flush() const {
  if (std::fflush(file) != 0) return fail(file_error(action, name, errno));
  if (std::ferror(file) == 0) return {};
  return fail(ErrorKind::DataLoss, fmt::format("cannot {} {}: an earlier write failed", action, name));
}

Session::Session(std::string name, CommonFlags common, Interrupt& interrupt)
    : name_(std::move(name)),
      common_(std::move(common)),
      interrupt_(interrupt),
      affinity_(allowed_cpus()),
      load_start_(load()),
      start_ns_(now_ns()),
      seed_(common_.seed) {}

void Session::say(std::string_view line) const {
  if (common_.quiet) return;
  const std::string text = fmt::format("{}\n", line);
  if (json_on_stdout()) return put_on_stderr(text);
  const TextOutput out{stdout, "write to", "stdout"};
  const auto written = out.write(text).and_then([&out] { return out.flush(); });
  if (written) return;
  const MutexLock lock(mu_);
  if (said_) said_ = written;
}

Result<void> Session::all_was_said() const {
  const MutexLock lock(mu_);
  return said_;
}

TextOutput Session::element_output() const {
  constexpr const char* kAction = "write the elements to";
  return json_on_stdout() ? TextOutput{stderr, kAction, "stderr"} : TextOutput{stdout, kAction, "stdout"};
}

Result<std::string> Session::folder() {
  if (!folder_.empty()) return folder_;
  namespace fs = std::filesystem;
  if (!common_.logdir.empty()) {
    HEADPOND_TRY(make_folders(common_.logdir));
    return folder_ = common_.logdir;
  }
  std::string stem = name_;
  std::replace(stem.begin(), stem.end(), ' ', '-');
  const fs::path runs = "headpond-runs";
  std::error_code problem;
  fs::create_directories(runs, problem);
  for (int64_t n = 1; !problem; ++n) {
    const fs::path path = runs / fmt::format("{}-{}", stem, n);
    if (fs::create_directory(path, problem)) return folder_ = path.string();
  }
  const Error error = file_error("make a folder in", runs.string(), problem.value());
  return fail(Error::of_system(error.kind(), error.message() + "; choose another one by --logdir", error.os_error()));
}

void Session::write_head(JsonWriter& json) const {
  json.member("schema", "headpond." + name_.substr(0, name_.find(' ')) + "/1").member("version", HEADPOND_VERSION);
  json.key("build").begin_object();
  json.member("type", HEADPOND_BUILD_TYPE).member("compiler", HEADPOND_COMPILER).member("flags", HEADPOND_FLAGS);
#if defined(HEADPOND_NO_STATS)
  constexpr bool kStats = false;
#else
  constexpr bool kStats = true;
#endif
  json.member("simd", simd_target()).member("stats", kStats).end_object();
  const TorchInfo torch = torch_info();
  json.key("machine").begin_object().member("cores", sysconf(_SC_NPROCESSORS_ONLN));
  json.key("affinity").begin_array();
  for (const int cpu : affinity_) json.value(cpu);
  json.end_array().member("mem_gib", memory_gib()).member("blas", torch.blas);
  json.member("blas_threads", torch.blas_threads).member("torch_threads", torch.torch_threads);
  json.member("load_start", load_start_).member("load_end", load()).end_object();
  json.member("seed", seed_);
}

Result<void> Session::write_json(const std::function<void(JsonWriter&)>& members) {
  MutexLock lock(mu_);
  if (common_.json.empty() || std::exchange(written_, true)) return {};
  JsonWriter json(JsonNonFinite::AsNull);
  json.begin_object();
  write_head(json);
  if (members) members(json);
  json.member("wall_s", static_cast<double>(now_ns() - start_ns_) * 1e-9).end_object();
  const std::string text = json.take() + "\n";
  if (!json_on_stdout()) return write_file_atomically(common_.json, {std::as_bytes(std::span(text))});
  const TextOutput output{stdout, "write the JSON object to", "stdout"};
  HEADPOND_TRY(output.write(text));
  return output.flush();
}

void write_error(JsonWriter& json, const Error& error) {
  json.key("error").begin_object().member("kind", to_string(error.kind())).member("message", error.to_string());
  json.end_object();
}

}  // namespace headpond::cli
