// SPDX-License-Identifier: Apache-2.0
#include "headpond/queue/staging/barrier.h"

#include <map>
#include <set>

#include "headpond/queue/shared_internal.h"
#include "headpond/queue/store/components_internal.h"
#include "headpond/queue/sync/wait_queue_internal.h"

namespace headpond {
namespace internal {
namespace {

[[noreturn]] void refuse(std::string_view why) {
  throw Exception(Error(ErrorKind::InvalidArgument, fmt::format("Barrier {}", why)));
}

Components checked_components(const BarrierOptions& options) {
  if (options.shapes.empty() && !options.dtypes.empty()) {
    refuse("without shapes: all of the component shapes must be specified, else nothing can be stacked");
  }
  for (size_t i = 0; i < options.shapes.size(); ++i) {
    if (options.shapes[i].size() != 0) continue;
    refuse(fmt::format("of shape {} for component {}: it has no elements", options.shapes[i].to_string(), i));
  }
  try {
    return Components(
        {.capacity = kUnbounded, .dtypes = options.dtypes, .shapes = options.shapes, .names = options.names});
  } catch (const Exception& refused) {
    refuse(refused.error().message());
  }
}

// A key's tuple.
struct BarrierEntry {
  std::string key;
  int64_t index;
  ComponentValues parts;
};
using BarrierEntries = std::map<int64_t, BarrierEntry>;  // By the order in which keys came.
using Orders = std::map<std::string, int64_t, std::less<>>;

}  // namespace

class BarrierState : public std::enable_shared_from_this<BarrierState> {
 public:
  using Options = BarrierOptions;

  explicit BarrierState(Options options) : options_(std::move(options)), components_(checked_components(options_)) {}

  Result<void> insert_many(int64_t component, const std::vector<std::string>& keys, const Tensor& values);
  Result<BarrierBatch> take_many(int64_t n, bool allow_small_batch, const Wait& wait);
  Result<void> close(bool cancel);
  int64_t ready_size();
  int64_t incomplete_size();
  int64_t waiting() { return wait_queue_.waiting(CallKind::take); }
  void abandon() { (void)close(true); }
  std::string label() const { return fmt::format("Barrier '{}'", options_.name); }
  const std::string& name() const { return options_.name; }
  void must_agree(const Options& given) const {
    Agreement{fmt::format("shared Barrier '{}'", given.shared_name)}.on_components(options_, given);
  }

  const HomeProcess home;

 private:
  struct Insertion;
  struct TakenTuples;
  Result<void> check(int64_t component, size_t keys, const Tensor& values) const;
  Result<void> plan(Insertion& insertion, const std::vector<std::string>& keys) HEADPOND_REQUIRES(wait_queue_.mu);
  Result<int64_t> order_of(const std::string& key, size_t row, Insertion& insertion) HEADPOND_REQUIRES(wait_queue_.mu);
  void carry_out(Insertion& insertion) HEADPOND_REQUIRES(wait_queue_.mu);
  bool try_take(int64_t n, bool allow_small_batch, bool is_first, Result<TakenTuples>& result)
      HEADPOND_REQUIRES(wait_queue_.mu);
  Error insufficient(int64_t requested, int64_t total) const HEADPOND_REQUIRES(wait_queue_.mu);
  TakenTuples take(int64_t n) HEADPOND_REQUIRES(wait_queue_.mu);
  Error invalid(std::string_view why) const {
    return {ErrorKind::InvalidArgument, fmt::format("{}: {}", label(), why)};
  }

  const Options options_;
  const Components components_;
  WaitQueue wait_queue_;
  BarrierEntries incomplete_ HEADPOND_GUARDED_BY(wait_queue_.mu);
  Orders incomplete_orders_ HEADPOND_GUARDED_BY(wait_queue_.mu);
  BarrierEntries ready_ HEADPOND_GUARDED_BY(wait_queue_.mu);
  int64_t next_order_ HEADPOND_GUARDED_BY(wait_queue_.mu) = 0;
  int64_t next_index_ HEADPOND_GUARDED_BY(wait_queue_.mu) = INT64_MIN;
  bool closed_ HEADPOND_GUARDED_BY(wait_queue_.mu) = false;
  bool cancelled_ HEADPOND_GUARDED_BY(wait_queue_.mu) = false;
};

// One insert_many: all that it needs is made before anything changes.
struct BarrierState::Insertion {
  size_t component;
  std::vector<Tensor> rows;
  std::vector<int64_t> orders = {};  // The entry of each row.
  std::set<int64_t> seen = {};
  BarrierEntries fresh = {};
  Orders fresh_orders = {};
};

struct BarrierState::TakenTuples {
  BarrierBatch batch;
  std::vector<Element> tuples;
};

Result<void> BarrierState::insert_many(int64_t component, const std::vector<std::string>& keys, const Tensor& values) {
  HEADPOND_TRY(check(component, keys.size(), values));
  Insertion insertion{.component = static_cast<size_t>(component), .rows = {}};
  for (int64_t i = 0; i < values.dim(0); ++i) insertion.rows.push_back(own_row(values, i));
  MutexLock lock(wait_queue_.mu);
  if (cancelled_) {
    return fail(ErrorKind::Cancelled,
                fmt::format("{} is closed. Pending enqueues cancelled: true. Number of new insertions: {}", label(),
                            keys.size()));
  }
  HEADPOND_TRY(plan(insertion, keys));
  carry_out(insertion);
  wait_queue_.serve();
  return {};
}

Result<void> BarrierState::check(int64_t component, size_t keys, const Tensor& values) const {
  if (component < 0 || std::cmp_greater_equal(component, components_.count())) {
    return fail(
        invalid(fmt::format("the component ID is out of range: {} of {} components", component, components_.count())));
  }
  if (auto fits = components_.check_field(static_cast<size_t>(component), values, true); !fits) {
    return fail(invalid(fits.error().message()));
  }
  if (std::cmp_equal(values.dim(0), keys)) return {};
  return fail(invalid(
      fmt::format("expected {} rows of component {}, one per key, received {}", keys, component, values.dim(0))));
}

Result<void> BarrierState::plan(Insertion& insertion, const std::vector<std::string>& keys) {
  for (size_t row = 0; row < keys.size(); ++row) {
    const Result<int64_t> order = order_of(keys[row], row, insertion);
    if (!order) return fail(order.error());
    const auto known = incomplete_.find(*order);
    const bool has_it = known != incomplete_.end() && known->second.parts[insertion.component];
    if (has_it || !insertion.seen.insert(*order).second) {
      return fail(
          ErrorKind::InvalidArgument,
          fmt::format("Key {} already has a value for component {} in barrier {}: it was inserted {}", keys[row],
                      insertion.component, label(), has_it ? "before" : "by an earlier row of this call"));
    }
    insertion.orders.push_back(*order);
  }
  return {};
}

Result<int64_t> BarrierState::order_of(const std::string& key, size_t row, Insertion& insertion) {
  if (const auto known = incomplete_orders_.find(key); known != incomplete_orders_.end()) return known->second;
  if (closed_) {
    return fail(ErrorKind::Cancelled,
                fmt::format("{} is closed, but attempted to insert a brand new key: {}. Pending enqueues cancelled: "
                            "false. Insertion index: {}. Number of incomplete keys: {}",
                            label(), key, row, incomplete_.size()));
  }
  const int64_t order = next_order_ + static_cast<int64_t>(insertion.fresh.size());
  // With one component each row is a tuple of its own, ready at once.
  if (components_.count() > 1) {
    const auto [known, is_new] = insertion.fresh_orders.try_emplace(key, order);
    if (!is_new) return known->second;
  }
  insertion.fresh.emplace(order, BarrierEntry{key, next_index_, ComponentValues(components_.count())});
  return order;
}

void BarrierState::carry_out(Insertion& insertion) {
  if (!insertion.fresh.empty()) ++next_index_;
  next_order_ += std::ssize(insertion.fresh);
  incomplete_.merge(insertion.fresh);
  incomplete_orders_.merge(insertion.fresh_orders);
  for (size_t row = 0; row < insertion.rows.size(); ++row) {
    BarrierEntry& entry = incomplete_.find(insertion.orders[row])->second;
    entry.parts[insertion.component] = std::move(insertion.rows[row]);
    if (!is_complete(entry.parts)) continue;
    incomplete_orders_.erase(entry.key);
    ready_.insert(incomplete_.extract(insertion.orders[row]));
  }
}

Result<BarrierBatch> BarrierState::take_many(int64_t n, bool allow_small_batch, const Wait& wait) {
  if (n < 0) return fail(invalid(fmt::format("expected a count of at least 0, received {}", n)));
  if (n == 0) return BarrierBatch{.indices = {}, .keys = {}, .values = components_.batch_for({})};
  Result<TakenTuples> result;
  BufferPool& pool = BufferPool::current();
  const WaitResult waited = wait_queue_.run(CallKind::take, wait, [&](bool is_first) HEADPOND_REQUIRES(wait_queue_.mu) {
    const CurrentPool own(pool);  // Whichever thread serves this call.
    return try_take(n, allow_small_batch, is_first, result);
  });
  if (waited != WaitResult::go) {
    const std::string text = fmt::format("{} has {} ready and {} incomplete keys, requested {}", label(), ready_size(),
                                         incomplete_size(), n);
    return fail(wait_error("Take", waited, wait, text));
  }
  if (!result) return fail(result.error());
  components_.fill(result->batch.values, result->tuples);
  return std::move(result->batch);
}

bool BarrierState::try_take(int64_t n, bool allow_small_batch, bool is_first, Result<TakenTuples>& result) {
  const int64_t ready = std::ssize(ready_);
  int64_t count = n;
  if (closed_) {
    const int64_t total = allow_small_batch ? ready : ready + std::ssize(incomplete_);
    if (allow_small_batch) count = std::max<int64_t>(1, std::min(n, ready));
    if (total < count) {
      result = fail(insufficient(n, total));
      return true;
    }
  }
  if (!is_first || ready < count) return false;
  result = take(count);
  return true;
}

Error BarrierState::insufficient(int64_t requested, int64_t total) const {
  const std::string rest = incomplete_.empty() ? "" : fmt::format("; {} keys are incomplete", incomplete_.size());
  return {ErrorKind::OutOfRange,
          fmt::format("{} is closed and has insufficient elements (requested {}, total size {}){}", label(), requested,
                      total, rest)};
}

BarrierState::TakenTuples BarrierState::take(int64_t n) {
  TakenTuples taken;
  const auto end = std::next(ready_.begin(), n);
  for (auto each = ready_.begin(); each != end; ++each) {
    const BarrierEntry& entry = each->second;
    taken.batch.indices.push_back(entry.index);
    taken.batch.keys.push_back(entry.key);
    Element& tuple = taken.tuples.emplace_back();
    for (const auto& part : entry.parts) tuple.append(*part);
  }
  taken.batch.values = components_.batch_for(taken.tuples);
  ready_.erase(ready_.begin(), end);
  return taken;
}

Result<void> BarrierState::close(bool cancel) {
  BarrierEntries dropped;  // Their memory goes back without the lock.
  MutexLock lock(wait_queue_.mu);
  if (closed_ && !cancel) return fail(ErrorKind::Cancelled, label() + " is already closed.");
  closed_ = true;
  if (cancel) {
    cancelled_ = true;
    dropped.swap(incomplete_);
    incomplete_orders_.clear();
  }
  wait_queue_.serve();
  return {};
}

int64_t BarrierState::ready_size() {
  MutexLock lock(wait_queue_.mu);
  return std::ssize(ready_);
}

int64_t BarrierState::incomplete_size() {
  MutexLock lock(wait_queue_.mu);
  return std::ssize(incomplete_);
}

}  // namespace internal

using State = internal::BarrierState;

BarrierOptions Barrier::checked(const QueueOptions& options) {
  if (options.capacity != kUnbounded) {
    internal::refuse(
        fmt::format("only accepts capacity=-1, not {}: inserts never wait. Feed its inputs through a queue to limit "
                    "what is inside",
                    options.capacity));
  }
  if (options.memory_limit >= 0) {
    internal::refuse(
        fmt::format("of memory_limit {}: inserts never wait, so they hold to no limit", options.memory_limit));
  }
  return {.dtypes = options.dtypes,
          .shapes = options.shapes,
          .names = options.names,
          .name = options.name,
          .shared_name = options.shared_name};
}

Barrier::Barrier(BarrierOptions options)
    : state_(internal::Stores<State>::instance().find_or_make(std::move(options), "barrier")) {}

Result<void> Barrier::insert_many(int64_t component, const std::vector<std::string>& keys, const Tensor& values) const {
  return internal::call_on(state_, [&](State& state) { return state.insert_many(component, keys, values); });
}
Result<BarrierBatch> Barrier::take_many(int64_t n, bool allow_small_batch, Wait wait) const {
  return internal::call_on(state_, [&](State& state) { return state.take_many(n, allow_small_batch, wait); });
}
Result<void> Barrier::close(bool cancel_pending_enqueues) const {
  return internal::call_on(state_, [&](State& state) { return state.close(cancel_pending_enqueues); });
}
int64_t Barrier::ready_size() const { return state_->ready_size(); }
int64_t Barrier::incomplete_size() const { return state_->incomplete_size(); }
int64_t Barrier::waiting_takes() const { return state_->waiting(); }
const std::string& Barrier::name() const { return state_->name(); }

}  // namespace headpond
