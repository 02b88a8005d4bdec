// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "cli/bench/benches.h"
#include "cli/bench/consume.h"
#include "headpond/base/random.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/record/record_reader.h"
#include "headpond/io/record/record_writer.h"

namespace headpond::cli {
namespace {

constexpr std::array<int64_t, 5> kSizes = {96, 1'000, 3'000, 110'000, 600'000};
constexpr int64_t kFileBytes = int64_t{1} << 30;
constexpr uint64_t kHeader = 12, kFooter = 4;  // Around a payload.

// A file of records of one size, in memory, mapped, and touched before anything is measured.
class ScanFile {
 public:
  ScanFile(int64_t payload, int64_t file_bytes) : payload_(payload), file_bytes_(file_bytes) {}
  ~ScanFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  ScanFile(const ScanFile&) = delete;
  ScanFile& operator=(const ScanFile&) = delete;

  Result<void> make(uint64_t seed) {
    fd_ = memfd_create("headpond-scan", MFD_CLOEXEC);
    if (fd_ < 0) return fail(ErrorKind::ResourceExhausted, "record.scan: no memory file");
    const std::string path = fmt::format("/proc/self/fd/{}", fd_);
    std::vector<std::byte> bytes(static_cast<size_t>(payload_));
    Random random(seed);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random.below(256));
    auto writer = RecordWriter::open(path);
    if (!writer) return fail(writer.error());
    records_ = file_bytes_ / (payload_ + static_cast<int64_t>(kHeader + kFooter));
    for (int64_t i = 0; i < records_; ++i) {
      std::memcpy(bytes.data(), &i, sizeof(i));
      HEADPOND_TRY((*writer)->append(bytes));
    }
    HEADPOND_TRY((*writer)->close());
    auto mapped = MappedFile::open(path);
    if (!mapped) return fail(mapped.error());
    file_ = *std::move(mapped);
    touched_ = xor_of(file_->bytes());
    return {};
  }
  bool is_made() const { return file_ != nullptr; }
  int64_t records() const { return records_; }
  int64_t bytes() const { return static_cast<int64_t>(file_->bytes().size()); }

  // All records, both checksums of each.
  Result<uint64_t> verified() const {
    auto reader = RecordReader::over("record.scan", file_->bytes());
    if (!reader) return fail(reader.error());
    uint64_t all = 0;
    while (true) {
      const auto payload = (*reader)->next();
      if (!payload) return fail(payload.error());
      if (!*payload) return all;
      all ^= first_word(**payload);
    }
  }
  // The same loop with `read` of the payload in place of the checksums.
  template <class Read>
  uint64_t framed(Read read) const {
    const std::span<const std::byte> bytes = file_->bytes();
    uint64_t all = 0;
    for (uint64_t at = 0; at < bytes.size();) {
      uint64_t length = 0;
      std::memcpy(&length, bytes.data() + at, sizeof(length));
      all ^= read(bytes.subspan(at + kHeader, length));
      at += kHeader + length + kFooter;
    }
    return all;
  }
  uint64_t read_by_xor() const { return xor_of(file_->bytes()); }
  static uint64_t first_word(std::span<const std::byte> payload) {
    uint64_t word = 0;
    std::memcpy(&word, payload.data(), sizeof(word));
    return word;
  }

 private:
  const int64_t payload_, file_bytes_;
  int fd_ = -1;
  int64_t records_ = 0;
  std::unique_ptr<MappedFile> file_;
  uint64_t touched_ = 0;
};

struct Scan {
  std::vector<std::unique_ptr<ScanFile>> files;
  uint64_t seed;
  bool agree = true;
};

constexpr std::array kSystems = {"headpond", "loop, payload by xor64x4", "loop without CRC", "xor64x4 of the file"};

Result<std::vector<BenchSample>> cycle(Scan& scan) {
  std::vector<BenchSample> samples;
  for (const auto& file : scan.files) {
    if (!file->is_made()) HEADPOND_TRY(file->make(scan.seed));
    Result<uint64_t> verified = 0;
    uint64_t framed = 0, unused = 0;
    const auto timed = [&](auto work) {
      samples.push_back(with_cpu_time([&] {
        const int64_t begin = now_ns();
        work();
        return static_cast<double>(now_ns() - begin) / static_cast<double>(file->records());
      }));
    };
    timed([&] { verified = file->verified(); });
    if (!verified) return fail(verified.error());
    timed([&] { unused ^= file->framed([](std::span<const std::byte> payload) { return xor_of(payload); }); });
    timed([&] { framed = file->framed(ScanFile::first_word); });
    timed([&] { unused ^= file->read_by_xor(); });
    scan.agree = scan.agree && *verified == framed && unused != 1;
  }
  return samples;
}

}  // namespace

Bench record_scan_bench(const BenchSetup& setup) {
  const auto scan = std::make_shared<Scan>(Scan{.files = {}, .seed = setup.seed});
  const int64_t file_bytes = kFileBytes * setup.items / BenchSetup().items;
  Bench bench{.name = "record.scan", .consume = kXorName, .rounds = 3};
  for (const int64_t size : kSizes) {
    scan->files.push_back(std::make_unique<ScanFile>(size, file_bytes));
    const size_t first = bench.rows.size();
    for (const char* const system : kSystems) {
      bench.rows.push_back({.name = fmt::format("records of {} bytes", size),
                            .params = {{"payload_bytes", size}, {"file_bytes", file_bytes}},
                            .system = system,
                            .system_version = system == kSystems[0] ? HEADPOND_VERSION : HEADPOND_COMPILER,
                            .metric = "ns_per_record",
                            .unit = "ns"});
      if (system != kSystems[0]) bench.ratios.push_back({first, bench.rows.size() - 1});
    }
  }
  const auto ratio = [](size_t i) { return [i](const BenchResult& result) { return result.ratio(i).median; }; };
  bench.targets = {{"W6.scan.96",
                    "96 B: at least 0.5 x the loop with the payload read by xor (TensorFlow 2: 770 to 910 ns a record)",
                    true, 0.5, ratio(0)},
                   {"W6.scan.110k", "110 KB: at least 0.8 x a xor read of the mapping (TensorFlow 2: 52 us a record)",
                    true, 0.8, ratio(3 * 3 + 2)}};
  bench.cycle = [scan](const std::stop_token&) { return cycle(*scan); };
  bench.digest_equal = [scan] { return scan->agree; };
  return bench;
}

}  // namespace headpond::cli
