// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "headpond/io/compression/inflate.h"
#include "headpond/io/file/file.h"

namespace headpond::cli {
namespace {

constexpr size_t kWindow = size_t{256} << 10;  // What is inflated at a time, by both.
constexpr int kGzipWindowBits = 15 + 16;

struct Compressed {
  std::string name;
  std::vector<std::vector<std::byte>> files = {};
  int64_t bytes = 0;  // Inflated.
};

// The gzip files below `folder`, in the order of their names. Without the data: none.
Compressed read_all(const std::string& name, const std::string& folder) {
  Compressed all{.name = name};
  std::vector<std::string> paths;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder, none)) {
    if (entry.is_regular_file() && entry.path().extension() == ".gz") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    if (auto bytes = read_file(path)) all.files.push_back(*std::move(bytes));
  }
  return all;
}

struct Inflated {
  uint64_t read = 0;
  int64_t bytes = 0;
};

Result<Inflated> by_headpond(const Compressed& all) {
  std::vector<std::byte> window(kWindow);
  Inflated inflated;
  for (const auto& file : all.files) {
    const auto reader = make_gzip_reader(make_memory_reader(all.name, file));
    while (true) {
      const auto count = read_fully(*reader, window);
      if (!count) return fail(count.error());
      if (*count == 0) break;
      inflated.read ^= xor_of(std::span<const std::byte>(window).first(*count));
      inflated.bytes += static_cast<int64_t>(*count);
    }
  }
  return inflated;
}

Result<Inflated> by_zlib(const Compressed& all) {
  std::vector<std::byte> window(kWindow);
  Inflated inflated;
  for (const auto& file : all.files) {
    z_stream stream{};
    if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) return fail(ErrorKind::ResourceExhausted, "zlib: no memory");
    stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(file.data()));
    stream.avail_in = static_cast<uInt>(file.size());
    int status = Z_OK;
    while (status == Z_OK) {
      stream.next_out = reinterpret_cast<Bytef*>(window.data());
      stream.avail_out = static_cast<uInt>(window.size());
      status = inflate(&stream, Z_NO_FLUSH);
      const size_t count = window.size() - stream.avail_out;
      inflated.read ^= xor_of(std::span<const std::byte>(window).first(count));
      inflated.bytes += static_cast<int64_t>(count);
    }
    inflateEnd(&stream);
    if (status != Z_STREAM_END) return fail(ErrorKind::DataLoss, fmt::format("zlib: {} ({})", all.name, status));
  }
  return inflated;
}

struct Files {
  std::vector<Compressed> all;
  bool agree = true;
};

Result<std::vector<BenchSample>> cycle(Files& files) {
  std::vector<BenchSample> samples;
  for (const Compressed& each : files.all) {
    std::array<Result<Inflated>, 2> inflated;
    for (size_t system = 0; system < inflated.size(); ++system) {
      samples.push_back(with_cpu_time([&] {
        const int64_t begin = now_ns();
        inflated.at(system) = system == 0 ? by_headpond(each) : by_zlib(each);
        const double seconds = static_cast<double>(now_ns() - begin) / 1e9;
        return inflated.at(system) ? static_cast<double>(inflated.at(system)->bytes) / 1e6 / seconds : 0;
      }));
      if (!inflated.at(system)) return fail(inflated.at(system).error());
    }
    files.agree = files.agree && inflated[0]->read == inflated[1]->read && inflated[0]->bytes == inflated[1]->bytes;
  }
  return samples;
}

// Without the data the target is missed: a check of targets then says that it was not measured.
void add_rows(Bench& bench, const Compressed& each, const std::string& folder) {
  BenchTarget target = {"record.gzip." + each.name, each.name + ": at least 2 x zlib", true, 2, {}};
  if (each.files.empty()) {
    target.text += fmt::format("; not measured, {} has no .gz file (HEADPOND_DATA names the folder of data)", folder);
    target.value = [](const BenchResult&) { return 0.0; };
    return bench.targets.push_back(std::move(target));
  }
  const size_t first = bench.rows.size();
  for (const char* const system : {"headpond", "zlib"}) {
    bench.rows.push_back({.name = fmt::format("{}, {} files", each.name, each.files.size()),
                          .params = {{"files", static_cast<int64_t>(each.files.size())}},
                          .system = system,
                          .system_version = first == bench.rows.size() ? HEADPOND_VERSION : ZLIB_VERSION,
                          .metric = "mb_per_s",
                          .unit = "MB/s",
                          .lower_is_better = false});
  }
  bench.ratios.push_back({first, first + 1});
  target.value = [ratio = bench.ratios.size() - 1](const BenchResult& result) { return result.ratio(ratio).median; };
  bench.targets.push_back(std::move(target));
}

}  // namespace

Bench record_gzip_bench(const BenchSetup&) {
  const char* const given = std::getenv("HEADPOND_DATA");
  const std::string data = given == nullptr ? "../shared/data" : given;
  const auto files = std::make_shared<Files>();
  Bench bench{.name = "record.gzip", .consume = kXorName, .round_s = 1};
  for (const auto& [name, folder] : {std::pair{"mnist", "/mnist-idx"}, std::pair{"taxi", "/tfx-records"}}) {
    Compressed all = read_all(name, data + folder);
    add_rows(bench, all, data + folder);
    if (!all.files.empty()) files->all.push_back(std::move(all));
  }
  bench.cycle = [files](const std::stop_token&) -> Result<std::vector<BenchSample>> {
    if (files->all.empty()) return fail(ErrorKind::NotFound, "record.gzip: no data; HEADPOND_DATA names the folder");
    return cycle(*files);
  };
  bench.digest_equal = [files] { return files->agree; };
  return bench;
}

}  // namespace headpond::cli
