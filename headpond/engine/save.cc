// SPDX-License-Identifier: Apache-2.0
#include "headpond/engine/save.h"

#include <fmt/format.h>

#include "headpond/base/random.h"
#include "headpond/engine/loader.h"
#include "headpond/io/cache/cache_folder.h"
#include "headpond/io/cache/saved_dataset.h"
#include "headpond/io/file/file.h"

namespace headpond {
namespace {

constexpr int64_t kMostElements = int64_t{1} << 32;

Error cannot(const std::string& path, const std::string& what) {
  return {ErrorKind::FailedPrecondition, fmt::format("save: {}: {}", path, what)};
}

// The elements, from position 0 on; their number.
Result<int64_t> write_all(const Dataset& dataset, const SaveOptions& options, CacheStore& store) {
  Loader loader(dataset, {.seed = options.seed, .threads = options.threads});
  for (int64_t count = 0;; ++count) {
    const auto batch = loader.next();
    if (at_end(batch)) return count;
    if (!batch) return fail(batch.error());
    if (count == kMostElements) return fail(cannot(store.folder(), "more than 2^32 elements"));
    store.keep(count, batch->element());
    if (!store.keeps()) return fail(store.error());
  }
}

}  // namespace

Result<int64_t> save(const Dataset& dataset, const std::string& path, const SaveOptions& options) {
  if (dataset.cardinality() == kEndless) return fail(cannot(path, "a dataset without an end; limit it with take()"));
  HEADPOND_TRY(make_folders(path));
  const auto old = internal::read_saved(path);
  internal::SavedDataset saved = {.id = fmt::format("{:016x}", entropy()), .spec = dataset.spec()};
  const std::string name = internal::cache_name(saved.plan().text);
  const auto store = CacheStore::open(path, saved.plan());
  auto written = [&]() -> Result<int64_t> {
    auto count = write_all(dataset, options, *store);
    if (!count) return fail(count.error());
    HEADPOND_TRY(store->sync());
    saved.elements = *count;
    HEADPOND_TRY(internal::write_saved(path, saved));
    return count;
  }();
  // An error may come after `path` has the new one.
  const auto now = internal::read_saved(path);
  const bool has_other = now ? now->id != saved.id : now.error().kind() == ErrorKind::NotFound;
  if (!written && has_other) (void)remove_cache(path, name);
  if (written && old) (void)remove_cache(path, internal::cache_name(old->plan().text));
  return written;
}

}  // namespace headpond
