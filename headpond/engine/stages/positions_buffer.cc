// SPDX-License-Identifier: Apache-2.0
// Elements by their positions, in chunks; made by any threads.
#include <algorithm>
#include <utility>
#include <vector>

#include "headpond/dataset/run_state.h"
#include "headpond/dataset/source/in_memory.h"
#include "headpond/dataset/views/prefetching.h"
#include "headpond/engine/stages/counts/operator_costs_internal.h"
#include "headpond/engine/stages/element_bytes_internal.h"
#include "headpond/engine/stages/reorder_buffer_internal.h"

namespace headpond::internal {
namespace {

struct Chunk final : WorkItem {
  struct Entry {
    Got got = Got::hole;
    Element element;
    Error error;
  };
  int64_t first = 0;
  std::vector<Entry> entries;
  size_t given = 0;
};

class PositionsBuffer final : public ReorderBuffer {
 public:
  PositionsBuffer(StageHost& host, const Stage& stage, const Binding& binding)
      : ReorderBuffer(host, stage),
        slots_(stage.node->slots()),
        gives_views_(viewed(*stage.node) != nullptr),
        view_(stage.node->bind({binding.seed, binding.epoch, &host.accounts})),
        may_prefetch_(*view_),
        costs_(*stage.node, {binding.seed, binding.epoch, &host.accounts}, host.memory.pool(), host.memory.may_keep()),
        probes_(*stage.node, {binding.seed, binding.epoch, &host.accounts}, host.memory.pool(), host.memory.may_keep()),
        holes_(*stage.node) {}

  Got open(int64_t rows, Context&, std::shared_ptr<WorkItem>& item) override {
    const int64_t count = std::min(rows, slots_ - next_to_open_);
    if (count <= 0) return Got::end;
    auto chunk = std::make_shared<Chunk>();
    chunk->first = std::exchange(next_to_open_, next_to_open_ + count);
    chunk->size = chunk->elements = count;
    chunk->entries.resize(static_cast<size_t>(count));
    item = std::move(chunk);
    return Got::value;
  }

  void make_rows(WorkItem& item, int64_t first, int64_t count, Context& context) override {
    make_rows_of(*view_, static_cast<Chunk&>(item), first, count, context);
  }

  void make_sampled_rows(WorkItem& item, int64_t first, int64_t count, Context& context) override {
    if (!costs_.sample(context, maker(item, first, count))) make_rows(item, first, count, context);
  }

  void make_probed_rows(WorkItem& item, int64_t first, int64_t count, Context& context) override {
    if (!probes_.sample(context, maker(item, first, count))) make_rows(item, first, count, context);
  }

  void assemble(WorkItem& item, Context&) override {
    if (gives_views_ && element_bytes_ >= 0) {
      item.bytes = item.elements * element_bytes_;
      return;
    }
    for (const Chunk::Entry& entry : static_cast<Chunk&>(item).entries) item.bytes += bytes_of(entry.element);
  }

 protected:
  std::vector<OperatorCost> operator_costs() const override { return costs_.costs(); }
  std::vector<const Node*> operator_nodes() const override { return costs_.nodes(); }

  void visit_position(StateVisitor& visitor) override {
    visitor.number_within(next_, 0, slots_);
    if (visitor.is_restoring()) next_to_open_ = next_;
  }

  Got give(WorkItem& item, Context& context, Element& out) override {
    auto& chunk = static_cast<Chunk&>(item);
    if (chunk.given == chunk.entries.size()) return Got::end;
    Chunk::Entry& entry = chunk.entries[chunk.given];
    next_ = chunk.first + static_cast<int64_t>(++chunk.given);
    out = std::move(entry.element);
    return holes_.count(entry.got == Got::error ? context.fail(std::move(entry.error)) : entry.got, context);
  }

 private:
  // For OperatorCosts::sample().
  MakeRows maker(WorkItem& item, int64_t first, int64_t count) const {
    return [this, &chunk = static_cast<Chunk&>(item), first, count](const View& view, Context& context) {
      make_rows_of(view, chunk, first, count, context);
      return count;
    };
  }

  void make_rows_of(const View& view, Chunk& chunk, int64_t first, int64_t count, Context& context) const {
    for (int64_t i = first; i < first + count; ++i) {
      may_prefetch_.before(chunk.first + i, chunk.first + first, chunk.first + first + count);
      Chunk::Entry& entry = chunk.entries[static_cast<size_t>(i)];
      entry.got = ask(view, chunk.first + i, context, {}, entry.element);
      if (entry.got == Got::error) entry.error = std::move(context.error);
    }
  }

  const int64_t slots_;
  const bool gives_views_;
  const std::shared_ptr<const View> view_;
  const MayPrefetch may_prefetch_;
  OperatorCosts costs_;  // Belong to the thread that samples.
  OperatorProbes probes_;
  int64_t next_ = 0;          // Belongs to the consumer.
  Holes holes_;               // The same.
  int64_t next_to_open_ = 0;  // Belongs to the thread that opens.
};

}  // namespace

std::shared_ptr<ReorderBuffer> make_positions_buffer(StageHost& host, const Stage& stage, const Binding& binding) {
  return std::make_shared<PositionsBuffer>(host, stage, binding);
}

}  // namespace headpond::internal
