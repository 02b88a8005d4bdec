// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

#include "headpond/base/cpu.h"
#include "headpond/base/log.h"
#include "headpond/base/trace.h"
#include "headpond/dataset/batch_rows.h"
#include "headpond/engine/engine_internal.h"
#include "headpond/engine/executor/counting_internal.h"
#include "headpond/engine/executor/opening_scope_internal.h"
#include "headpond/engine/stages/reorder_buffer_internal.h"
#include "headpond/engine/stages/stage_facts_internal.h"
#include "headpond/engine/stages/stage_internal.h"

namespace headpond::internal {
namespace {

class BufferIterator final : public Iterator {
 public:
  explicit BufferIterator(std::shared_ptr<ReorderBuffer> buffer) : buffer_(std::move(buffer)) {}
  ~BufferIterator() override { buffer_->close(); }
  Got next(Context& context, Element& out) override { return buffer_->next(context, out); }
  void visit_state(StateVisitor& visitor) override { buffer_->visit_state(visitor); }

 private:
  const std::shared_ptr<ReorderBuffer> buffer_;
};

// Of a dataset that a function made: what it opens later holds that, too.
class MadeIterator final : public Iterator {
 public:
  MadeIterator(const void* engine, Node::Ref made, std::shared_ptr<void> place, std::unique_ptr<Iterator> iterator)
      : engine_(engine), made_(std::move(made)), place_(std::move(place)), iterator_(std::move(iterator)) {}
  Got next(Context& context, Element& out) override {
    const OpeningScope scope = opening();
    return iterator_->next(context, out);
  }
  void visit_state(StateVisitor& visitor) override {
    const OpeningScope scope = opening();
    iterator_->visit_state(visitor);
  }

 private:
  OpeningScope opening() const {
    return {engine_, OpeningScope::parent_in(engine_), OpeningScope::prefetch_in(engine_), made_};
  }

  const void* const engine_;
  const Node::Ref made_;
  const std::shared_ptr<void> place_;  // See MadeDatasets.
  const std::unique_ptr<Iterator> iterator_;
};

}  // namespace

std::shared_ptr<Engine> Engine::make(const Dataset& dataset, const LoaderOptions& options) {
  auto engine = std::make_shared<Engine>(dataset, options);
  engine->executor_.set_owner(engine);
  return engine;
}

Engine::Engine(const Dataset& dataset, const LoaderOptions& with_options)
    : StageHost(*dataset.node(), with_options, with_options.threads < 0 ? cpu_count() : with_options.threads),
      dataset_(dataset),
      executor_(lock, consumer, memory, *this, options, threads,
                options.resources ? options.resources->shared_threads() : nullptr) {
  const std::vector<const Node*> nodes = nodes_of(*dataset_.node());
  plan_nodes_ = {nodes.begin(), nodes.end()};
  gives_batches_ = gives_batches(*dataset_.node());
  const auto repeats = [](const Node* node) { return node->facts().role == Role::repeat; };
  repeats_ = options.epochs != 1 || std::ranges::any_of(nodes, repeats);
}

// A thread that was left behind may be the last owner of sources, which close here, while the rest is still there.
Engine::~Engine() {
  Prefetcher::Dropped prefetched;
  std::vector<std::shared_ptr<WorkSource>> sources;
  const Locked locked(lock);
  prefetched = prefetcher_.take_all();
  sources = executor_.take_sources();
}

// Hints at the end give the elements of what they stand after.
bool Engine::is_root(const Node& node) const {
  const Node* root = dataset_.node().get();
  while (root != &node && root->facts().role == Role::hint) root = &root->input();
  return root == &node;
}

// ---- opening

std::unique_ptr<Iterator> Engine::open(const Node& node, const Binding& binding) {
  if (auto ready = take_prefetched(node, binding); ready && PausingScope::in(key()) == nullptr) return ready;
  const Stage stage = stage_of(node);
  if (stage.mode == ExecutionMode::in_order) return accounts.see(node, node.iterate(binding, *this));
  const auto make = stage.mode == ExecutionMode::rows        ? make_rows_buffer
                    : stage.mode == ExecutionMode::positions ? make_positions_buffer
                                                             : make_ahead_buffer;
  auto buffer = make(*this, stage, binding);
  add(buffer);
  return std::make_unique<BufferIterator>(std::move(buffer));
}

std::unique_ptr<Iterator> Engine::open_made(const Node::Ref& made, const Binding& binding) {
  const bool may_run_ahead = threads > 0 && options.run_ahead != 0;
  const std::shared_ptr<MadeElementTime> time = made_.time_of(*made);
  std::shared_ptr<void> place;
  if (may_run_ahead && !time->is_measured_again() && time->is_dear()) place = made_.take_place();
  if (!place) return timed(made, binding, time);
  const OpeningScope scope(key(), OpeningScope::parent_in(key()), OpeningScope::prefetch_in(key()), made);
  return std::make_unique<MadeIterator>(key(), made, std::move(place), open(*made, binding));
}

void Engine::add(const std::shared_ptr<WorkSource>& source) {
  source->made = OpeningScope::made_in(key());
  const Locked locked(lock);
  source->epoch = epoch_here();
  if (PausingScope* const pausing = PausingScope::in(key())) {
    source->is_paused = true;
    pausing->add(source);
  }
  const WorkSource* const parent = OpeningScope::parent_in(key());
  Prefetch* prefetch = OpeningScope::prefetch_in(key());
  if (prefetch == nullptr && parent != nullptr) prefetch = prefetcher_.owner_of(*parent);
  source->is_prefetched = prefetch != nullptr;
  if (prefetch != nullptr) {
    const auto is_parent = [parent](const auto& other) { return other.get() == parent; };
    prefetch->sources.insert(std::find_if(prefetch->sources.begin(), prefetch->sources.end(), is_parent), source);
  }
  executor_.add(source, parent);
  wake();
}

std::unique_ptr<Iterator> Engine::restored(const std::function<std::unique_ptr<Iterator>()>& make,
                                           StateVisitor& visitor) {
  PausingScope pausing(key());
  const auto release = [&] {
    const auto sources = pausing.end();
    const Locked locked(lock);
    for (const auto& source : sources) source->is_paused = false;
    wake();
  };
  try {
    auto iterator = make();
    iterator->visit_state(visitor);  // It may open others.
    release();
    return iterator;
  } catch (...) {
    release();
    throw;
  }
}

Engine::CostKey Engine::cost_key(const Stage& stage, const char* name, bool is_made) {
  return {is_made ? nullptr : stage.node, name, is_made ? stage.node->depth() : 0, stage.blocking};
}

CostModel Engine::costs_of(const Stage& stage, const char* name) {
  const Locked locked(lock);
  const auto found = costs_.find(cost_key(stage, name, OpeningScope::made_in(key()) != nullptr));
  return found != costs_.end() ? found->second : CostModel();
}

void Engine::closed(const WorkSource& source, const Stage& stage, const CostModel& costs) {
  const CostKey cost_key = this->cost_key(stage, source.trace_name(), source.made != nullptr);
  try {
    costs_[cost_key] = costs;
  } catch (const std::bad_alloc&) {  // They are measured again.
    costs_.erase(cost_key);
  }
  executor_.remove(&source);
  if (Prefetch* const owner = prefetcher_.owner_of(source)) {
    std::erase_if(owner->sources, [&](const auto& other) { return other.get() == &source; });
  }
}

// ---- what comes next

uint64_t Engine::epoch_here() const {
  if (const Prefetch* const prefetch = OpeningScope::prefetch_in(key())) return prefetch->epoch;
  const WorkSource* const parent = OpeningScope::parent_in(key());
  return parent != nullptr ? parent->epoch : prefetcher_.epoch();
}

void Engine::expect(const Node& node, const Binding& binding) {
  if (OpeningScope::made_in(key()) != nullptr) return;  // It may be gone before it is opened.
  Prefetcher::Dropped dropped;                          // Destroyed after the lock is given up.
  const Locked locked(lock);
  dropped = prefetcher_.expect(epoch_here(), node, binding);
  wake();
}

void Engine::expect_epoch(const Binding& binding) {
  Prefetcher::Dropped dropped;
  const Locked locked(lock);
  dropped = prefetcher_.expect(binding.epoch, *dataset_.node(), binding);
  wake();
}

void Engine::expect_start(const Binding& binding) {
  Prefetcher::Dropped dropped, earlier;
  const Locked locked(lock);
  dropped = prefetcher_.begin_epoch(binding.epoch);
  earlier = prefetcher_.expect(binding.epoch, *dataset_.node(), binding);
  expects_start_ = true;
  wake();
}

void Engine::begin_epoch(uint64_t epoch) {
  {
    Prefetcher::Dropped dropped;
    const Locked locked(lock);
    expects_start_ = false;
    dropped = prefetcher_.begin_epoch(epoch);
    if (consumer.steps.calls() > 0) consumer.steps.epoch_begins();
  }
  forget_loss_of(epoch + 1);  // Of one that was opened ahead, and is dropped.
}

std::unique_ptr<Iterator> Engine::take_prefetched(const Node& node, const Binding& binding) {
  Prefetch taken;  // Its sources may end with it, and take the lock then.
  const Locked locked(lock);
  taken = prefetcher_.take(node, binding, OpeningScope::prefetch_in(key()) != nullptr, lock);
  if (!taken.iterator) return nullptr;
  for (const auto& source : taken.sources) {
    if (source->is_closed()) continue;
    executor_.remove(source.get());
    source->is_prefetched = false;
    executor_.add(source, nullptr);
  }
  made_progress();
  wake();
  return std::move(taken.iterator);
}

bool Engine::has_idle_work() const {
  // Without sources the program is just opening what it takes now.
  return options.run_ahead != 0 && prefetcher_.has_next() && (expects_start_ || executor_.is_at_the_end());
}

void Engine::do_idle_work(const char*& doing) {
  Prefetch* const begun = prefetcher_.begin();
  if (begun == nullptr) return;
  Prefetch& prefetch = *begun;
  try {
    doing = trace::intern(prefetch.node->facts().op);
  } catch (const std::bad_alloc&) {
    doing = "an operator";
  }
  std::unique_ptr<Iterator> iterator;
  {
    const Unlocked unlocked(lock);
    const OpeningScope scope(key(), nullptr, &prefetch);
    try {
      iterator = open(*prefetch.node, prefetch.binding);
    } catch (...) {
      iterator.reset();  // The consumer opens it later and gets the error.
    }
  }
  Prefetcher::Dropped dropped = prefetcher_.finish(std::move(iterator));
  if (dropped.empty()) return;
  const Unlocked unlocked(lock);
  dropped.clear();
}

// ---- the program

void Engine::leave_empty() {
  {
    const Locked locked(lock);
    executor_.leave_empty();
  }
  consumer.leave_empty();
}

void Engine::count_answer(int64_t waited_ns, bool with_batch) {
  std::string warning;
  {
    const Locked locked(lock);
    if (executor_.has_warning()) warning = executor_.take_warning();
    executor_.count_take();
    if (waited_ns >= 0) {
      ++stats_.waits;
      stats_.wait_ns += waited_ns;
      if (stats_.batches == 0) stats_.first_wait_ns = waited_ns;
    }
    if (with_batch) {
      ++stats_.batches;
      if (kCounts) count_call();
    }
  }
  if (!warning.empty()) log(LogLevel::warning, warning);
}

void Engine::give_to_program(const Element& batch, int64_t bytes) {
  if (!kCounts) return;
  elements_given_.add(gives_batches_ ? rows_of_batch(dataset_.spec(), batch) : 1);
  int64_t all = bytes, of_blocks = 0;
  for (size_t i = 0; i < batch.size(); ++i) {
    if (Buffer* const block = batch[i].owner()) {
      accounts.program().take(*block);
      of_blocks += static_cast<int64_t>(block->size());
    } else {
      all += static_cast<int64_t>(batch[i].byte_size());
    }
  }
  bytes_given_.add(all);
  look_at_held(all, std::max(all, of_blocks));
}

// When the program got so much that it may hold more than before, and often while it holds much, as it may have let go.
void Engine::look_at_held(int64_t batch_bytes, int64_t block_bytes) {
  constexpr int64_t kLarge = 64, kSeldom = 16, kSome = 4;
  if (options.run_ahead == 0) return;
  unlooked_bytes_ += block_bytes;
  const bool is_due = unlooked_bytes_ >= memory.bytes() / kLarge || (held_much_ && ++unlooked_ >= kSeldom);
  if (!is_due) return;
  unlooked_ = unlooked_bytes_ = 0;
  const int64_t held = accounts.program().bytes(), batches = held / std::max(batch_bytes, int64_t{1});
  const bool is_much = held > memory.bytes() / 2;
  if (is_much != std::exchange(held_much_, is_much)) {
    const Locked locked(lock);
    program_holds_half = is_much;
    if (!is_much) wake();
  }
  if (!is_much || threads == 0 || batches < kSome || std::exchange(was_warned_, true)) return;
  log(LogLevel::warning,
      fmt::format("Loader: the program holds about {} batches, {} bytes, which is more than half of the "
                  "memory of {}; let go of batches, or raise memory",
                  batches, held, memory.bytes()));
}

namespace {

// Another buffer of the same stage: what buffers count together is in both.
void add_buffer(StageStats more, StageStats& stage) {
  stage.units += more.units;
  stage.elements += more.elements;
  stage.target += more.target;
  stage.ahead += more.ahead;
  stage.ready += more.ready;
  stage.mean_ready += more.mean_ready;
  stage.mean_ahead += more.mean_ahead;
  stage.unit_bytes = std::max(stage.unit_bytes, more.unit_bytes);
  if (stage.operators.empty()) stage.operators = std::move(more.operators);
}

// `nodes`: those of its operators.
void add_seen(const SeenInWaits& seen, const char* name, const std::vector<const Node*>& nodes, StageStats& stage) {
  if (const auto found = seen.doing.find(name); found != seen.doing.end()) stage.seen = found->second;
  for (size_t i = 0; i < std::min(nodes.size(), stage.operators.size()); ++i) {
    const auto found = seen.operators.find(nodes[i]);
    if (found != seen.operators.end()) stage.operators[i].seen = found->second;
  }
}

}  // namespace

LoaderStats Engine::stats() {
  const BufferPoolStats pool = memory.pool().stats();
  std::vector<OperatorMemory> by_operator = accounts.figures();
  const Locked locked(lock);
  LoaderStats stats = stats_;
  stats.memory = std::move(by_operator);
  stats.memory_free = memory.part_of(pool.bytes_cached);
  stats.memory_held = accounts.program().bytes();
  stats.memory_held_peak = accounts.program().peak();
  stats.defects = defects;
  stats.elements = elements_given_.get();
  stats.bytes = bytes_given_.get();
  stats.helped = executor_.helped();
  stats.inline_now = consumer.is_inline();
  stats.steps = consumer.steps.stats();
  stats.threads = executor_.worker_count();
  stats.io_threads = executor_.io_threads();
  stats.compute_times = executor_.compute_times();
  stats.io_times = executor_.io_times();
  stats.memory_in_use = std::max(pool.bytes_in_use, memory.ready());
  stats.memory_peak = memory.peak();
  stats.memory_limit = *options.memory;
  std::vector<StageStats> stages;
  std::map<const void*, size_t> place;
  for (const auto& source : executor_.sources()) {
    if (source->is_prefetched) continue;
    const auto* const buffer = dynamic_cast<const ReorderBuffer*>(source.get());
    const auto [same, is_new] = place.try_emplace(buffer != nullptr ? buffer->id() : source.get(), stages.size());
    StageStats stage = source->stats();
    if (buffer != nullptr) add_seen(executor_.seen_in_waits(), source->trace_name(), buffer->nodes(), stage);
    is_new ? stages.push_back(std::move(stage)) : add_buffer(std::move(stage), stages[same->second]);
  }
  if (!stages.empty()) stats.stages = std::move(stages);
  return stats;
}

void Engine::set_failed(const std::vector<FailedCounts>& failed) {
  const Locked locked(lock);
  stats_.failed = failed;
}

void Engine::keep_figures() {
  std::vector<StageStats> stages = stats().stages;
  const Locked locked(lock);
  stats_.stages = std::move(stages);
  figures_ = stage_figures();
}

void Engine::stop() {
  Prefetcher::Dropped dropped;
  {
    const Locked locked(lock);
    prefetcher_.stop();
  }
  executor_.stop();
  const Locked locked(lock);
  dropped = prefetcher_.take_all();
}

}  // namespace headpond::internal
