// SPDX-License-Identifier: Apache-2.0
#include "headpond/io/record/known_records.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "headpond/base/mutex.h"
#include "headpond/io/file/kept_fd_internal.h"
#include "headpond/io/file/mapped_file.h"
#include "headpond/io/file/system_internal.h"
#include "headpond/io/record/record_frame_internal.h"

namespace headpond::internal {
namespace {

constexpr uint64_t kMostRead = uint64_t{64} << 10;

bool is_same_content(const FileMark& a, const FileMark& b) {
  return a.size == b.size && a.head_hash == b.head_hash && a.tail_hash == b.tail_hash;
}

}  // namespace

class KnownRecords::State {
 public:
  State(std::string path, KnownOffsets known, const FileStamp& stamp, UniqueFd file)
      : path_(std::move(path)), known_(std::move(known)), stamp_(stamp), file_(std::move(file)) {}
  ~State() { delete mapped_.load(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  const KnownOffsets& known() const { return known_; }
  const RecordFile* mapped() const { return mapped_.load(std::memory_order_acquire); }
  std::shared_ptr<const RecordIndex> index() const {
    const RecordFile* const mapped = this->mapped();
    return mapped != nullptr ? mapped->index() : known_.all();
  }

  std::optional<Payload> read_first(uint64_t i) {
    const bool was_asked = is_asked_.load(std::memory_order_relaxed) || is_asked_.exchange(true);
    const auto range = was_asked ? std::nullopt : known_.range(i);
    if (!range || range->end - range->begin > kMostRead) return std::nullopt;
    const uint64_t begin = range->begin, bytes = range->end - begin;
    auto frame = std::make_unique_for_overwrite<std::byte[]>(bytes);
    {
      const MutexLock lock(mu_);
      if (!file_ || read_at(file_.file(), begin, {frame.get(), bytes}, path_) != bytes) return std::nullopt;
    }
    const Frame found = look_at_frame(frame.get(), bytes, UINT64_MAX);
    if (found.state != FrameState::whole || found.length + kFrameBytes != bytes) return std::nullopt;
    const std::span<const std::byte> payload(frame.get() + kHeaderBytes, found.length);
    return Payload{std::move(frame), payload};
  }

  Result<const RecordFile*> file() {
    if (const RecordFile* const mapped = mapped_.load(std::memory_order_acquire)) return mapped;
    const MutexLock lock(mu_);
    if (const RecordFile* const mapped = mapped_.load(std::memory_order_relaxed)) return mapped;
    const auto facts = examine_regular(file_.file(), path_);
    return facts ? map(*facts) : fail(facts.error());
  }

  // `facts`: those of the file now.
  Result<const RecordFile*> file(const FileFacts& facts) {
    const MutexLock lock(mu_);
    return map(facts);
  }

 private:
  // The file may have changed since it was opened.
  Result<const RecordFile*> map(const FileFacts& facts) HEADPOND_REQUIRES(mu_) {
    auto mapped = MappedFile::of(file_.file(), facts, path_);
    if (!mapped) return fail(std::move(mapped).error());
    if (stamp_from(facts) != stamp_ && !is_same_content(mark_of(**mapped), known_.mark())) return changed();
    auto index = known_.all();
    if (index == nullptr) {
      auto made = RecordIndex::make(**mapped);
      if (!made) return fail(std::move(made).error());
      HEADPOND_TRY((*mapped)->check());
      if (made->size() != known_.size()) return changed();
      index = std::make_shared<const RecordIndex>(std::move(*made));
    }
    mapped_.store(RecordFile::of_known(std::move(*mapped), std::move(index)).release(), std::memory_order_release);
    file_.close();
    return mapped_.load(std::memory_order_relaxed);
  }
  tl::unexpected<Error> changed() const {
    return fail(ErrorKind::DataLoss,
                fmt::format("{}: it has changed since its records were counted, or is another file", path_));
  }

  const std::string path_;
  const KnownOffsets known_;
  const FileStamp stamp_;
  std::atomic<const RecordFile*> mapped_ = nullptr;  // Owned.
  std::atomic<bool> is_asked_ = false;
  Mutex mu_;
  KeptFd file_ HEADPOND_GUARDED_BY(mu_);  // Until it is mapped.
};

KnownRecords::KnownRecords(std::unique_ptr<State> state) : state_(std::move(state)) {}
KnownRecords::~KnownRecords() = default;

Result<std::unique_ptr<KnownRecords>> KnownRecords::open(const std::string& path, KnownOffsets known,
                                                         const FileStamp& stamp) {
  if (!stamp.is_proof() || !known) return nullptr;
  auto file = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!file) return fail(std::move(file).error());
  const auto facts = examine_regular(*file, path);
  if (!facts) return fail(facts.error());
  if (stamp_from(*facts) != stamp) return nullptr;
  auto state = std::make_unique<State>(path, std::move(known), stamp, std::move(*file));
  if (KeptFd::are_too_many()) {
    const auto mapped = state->file(*facts);
    if (!mapped) return fail(mapped.error());
  }
  return std::unique_ptr<KnownRecords>(new KnownRecords(std::move(state)));
}

std::optional<KnownRecords::Payload> KnownRecords::read_first(uint64_t i) const { return state_->read_first(i); }
Result<const RecordFile*> KnownRecords::file() const { return state_->file(); }
const RecordFile* KnownRecords::mapped() const noexcept { return state_->mapped(); }
uint64_t KnownRecords::size() const { return state_->known().size(); }
const FileMark& KnownRecords::mark() const { return state_->known().mark(); }
std::shared_ptr<const RecordIndex> KnownRecords::index() const { return state_->index(); }

}  // namespace headpond::internal
