// SPDX-License-Identifier: Apache-2.0
// Batches over positions: any threads make the rows of a batch, each in its place.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "headpond/dataset/bases/batching.h"
#include "headpond/dataset/bases/columns.h"
#include "headpond/dataset/bases/field.h"
#include "headpond/dataset/function.h"
#include "headpond/dataset/ops/element/makes_together.h"
#include "headpond/dataset/run_state.h"
#include "headpond/dataset/views/prefetching.h"
#include "headpond/engine/stages/counts/operator_costs_internal.h"
#include "headpond/engine/stages/element_bytes_internal.h"
#include "headpond/engine/stages/reorder_buffer_internal.h"
#include "headpond/io/file/bytes_read.h"

namespace headpond::internal {
namespace {

constexpr int64_t kGoodInARow = 32;

constexpr std::array<int64_t, kFillBlock> kNumbers = [] {
  std::array<int64_t, kFillBlock> numbers;
  for (size_t i = 0; i < kFillBlock; ++i) numbers[i] = static_cast<int64_t>(i);
  return numbers;
}();

// The MakesTogether::together() of the operator that makes the rows of `node`.
int64_t together_of(const Node& node) {
  for (const Node* at = &node;; at = &at->input()) {
    if (const auto* const makes = dynamic_cast<const MakesTogether*>(at)) return makes->together();
    const Role role = at->facts().role;
    const bool passes = role == Role::order || role == Role::choice || role == Role::repeat || role == Role::hint;
    if (!passes || at->facts().inputs.size() != 1) return 1;
  }
}

// Writes first, first + 1, ... REQUIRES: at most kFillBlock of them.
void number_from(int64_t first, std::span<int64_t> positions) {
  const auto plus = [first](int64_t i) { return first + i; };
  has_avx2() ? each_value_avx2(plus, kNumbers.data(), positions.data(), positions.size())
             : each_value(plus, kNumbers.data(), positions.data(), positions.size());
}

struct Rows final : WorkItem {
  int64_t number = 0;  // Number of the batch in the epoch.
  int64_t first = 0;   // Position of the first row.
  Element batch;
  // The spec of those fields of `batch` whose rows are written there.
  std::shared_ptr<const Spec> memory;
  std::vector<OutputSlot> outputs;  // Slots of row 0; null data for other fields; none if there are only those.
  std::vector<Element> loose;       // The rows, if there are such fields, which are stacked when all are there.
  // For a batch that was gathered from elements:
  Got got = Got::value;
  Error error;
  int64_t after = 0;          // The position after its last row.
  bool is_remainder = false;  // Made only to see whether it can be: its failures are reported.
  bool given = false;
  int64_t looked_at = 0;  // Rows, of a broken one that is given in any order.
};

class RowsBuffer final : public ReorderBuffer {
 public:
  RowsBuffer(StageHost& host, const Stage& stage, const Binding& binding)
      : ReorderBuffer(host, stage),
        node_(*stage.batching),
        rows_(node_.input().spec()),
        binding_(binding),
        slots_(node_.input().slots()),
        together_(together_of(node_.input())),
        view_(view_of(node_.input(), {binding.seed, binding.epoch, &host.accounts})),
        may_prefetch_(*view_),
        costs_(node_.input(), {binding.seed, binding.epoch, &host.accounts}, host.memory.pool(),
               host.memory.may_keep()),
        probes_(node_.input(), {binding.seed, binding.epoch, &host.accounts}, host.memory.pool(),
                host.memory.may_keep()) {
    for (size_t i = 0; i < rows_.size(); ++i) {
      const bool fixed = stays(i);
      row_bytes_.push_back(fixed ? static_cast<size_t>(*rows_[i].shape.size()) * item_size(rows_[i].dtype) : 0);
      in_place_ = in_place_ && fixed;
      has_place_ = has_place_ || fixed;
    }
    if (has_place_) memory_ = memory_of(node_.batch_size());
  }

  Got open(int64_t, Context& context, std::shared_ptr<WorkItem>& item) override {
    if (by_elements_) return open_by_elements(context, item);
    const int64_t count = std::min(node_.batch_size(), slots_ - next_to_open_);
    if (count <= 0) return Got::end;
    auto rows = std::make_shared<Rows>();
    rows->number = number_to_open_++;
    rows->first = std::exchange(next_to_open_, next_to_open_ + count);
    rows->after = next_to_open_;
    rows->size = rows->elements = count;
    rows->is_remainder = count < node_.batch_size() && node_.drop_remainder();
    try {
      make_outputs(*rows, context);
      item = std::move(rows);
    } catch (...) {
      auto broken = std::make_shared<Rows>();  // Gathering its elements reports that memory ran out.
      broken->number = rows->number;
      broken->first = rows->first;
      broken->after = rows->after;
      broken->is_remainder = rows->is_remainder;
      broken->broken = true;
      item = std::move(broken);
    }
    return Got::value;
  }

  void make_rows(WorkItem& item, int64_t first, int64_t count, Context& context) override {
    auto& rows = static_cast<Rows&>(item);
    make_rows_of(*view_, rows, first, count, context);
  }

  void make_sampled_rows(WorkItem& item, int64_t first, int64_t count, Context& context) override {
    if (!costs_.sample(context, maker(item, first, count))) make_rows(item, first, count, context);
  }

  void make_probed_rows(WorkItem& item, int64_t first, int64_t count, Context& context) override {
    if (!probes_.sample(context, maker(item, first, count))) make_rows(item, first, count, context);
  }

  void assemble(WorkItem& item, Context& context) override {
    auto& rows = static_cast<Rows&>(item);
    if (rows.broken) return;
    try {
      rows.broken = !in_place_ && !stack_loose(rows, context);
    } catch (...) {
      rows.broken = true;
    }
    if (rows.broken) return;
    name_batch(rows.batch, rows.number);
    rows.bytes = bytes_of(rows.batch);
  }

 protected:
  int64_t rows_together() const override { return in_place_ ? together_ : 1; }
  std::vector<OperatorCost> operator_costs() const override { return costs_.costs(); }
  std::vector<const Node*> operator_nodes() const override { return costs_.nodes(); }

  void visit_position(StateVisitor& visitor) override {
    visitor.number_within(given_, 0, kEndless);
    visitor.number_within(next_, 0, slots_);
    if (!visitor.is_restoring()) return;
    number_to_open_ = given_;
    next_to_open_ = next_;
  }

  Got give(WorkItem& item, Context& context, Element& out) override {
    auto& rows = static_cast<Rows&>(item);
    if (std::exchange(rows.given, true)) return Got::end;
    if (rows.broken) {
      const int64_t read_before = bytes_read_by_thread;
      const Got got = give_what_is_good(rows, context, out);
      // Not also those of a stage above, in whose task this may be.
      count_read(std::exchange(bytes_read_by_thread, read_before) - read_before);
      return got;
    }
    if (rows.got == Got::error) {
      out.key = rows.batch.key;
      out.provenance = rows.batch.provenance;
      return context.fail(std::move(rows.error));
    }
    next_ = rows.after;
    if (rows.got == Got::end || rows.is_remainder) return Got::end;
    given_ = rows.number + 1;
    out = std::move(rows.batch);
    return Got::value;
  }

  void refuse_broken(WorkItem& item) override HEADPOND_REQUIRES(engine_state) {
    const auto& rows = static_cast<const Rows&>(item);
    number_to_open_ = rows.number;
    next_to_open_ = rows.first;
    by_elements_ = true;
    reopen();
  }

 private:
  // For OperatorCosts::sample(). What a broken batch took is no measure.
  MakeRows maker(WorkItem& item, int64_t first, int64_t count) const {
    return [this, &rows = static_cast<Rows&>(item), first, count](const View& view, Context& context) {
      make_rows_of(view, rows, first, count, context);
      return rows.broken ? int64_t{0} : count;
    };
  }

  // True iff the batch has the rows of field i one after the other, each of one size.
  bool stays(size_t i) const {
    const Spec& batch = node_.spec();
    return batch.size() == rows_.size() && batch[i].dtype == rows_[i].dtype && is_fixed(rows_[i]) &&
           batch[i].shape.row() == rows_[i].shape;
  }

  std::shared_ptr<const Spec> memory_of(int64_t size) const {
    Spec memory;
    for (size_t i = 0; i < rows_.size(); ++i) {
      memory.push_back({"", rows_[i].dtype, stays(i) ? rows_[i].shape.stacked(size) : Shape{kUnknown}});
    }
    return std::make_shared<const Spec>(std::move(memory));
  }

  void make_outputs(Rows& rows, Context& context) const {
    rows.has_memory = in_place_;
    if (!in_place_) rows.loose.resize(static_cast<size_t>(rows.size));
    if (!has_place_) return;
    rows.memory = rows.size == node_.batch_size() ? memory_ : memory_of(rows.size);
    const std::vector<std::byte*> places = allocate_fields(*rows.memory, context, {}, rows.batch);
    rows.outputs.reserve(rows_.size());
    for (size_t i = 0; i < rows_.size(); ++i) rows.outputs.push_back({places[i], &rows_[i]});
  }

  void make_rows_of(const View& view, Rows& rows, int64_t first, int64_t count, Context& context) const {
    try {
      if (in_place_ && fill(view, rows, first, count, context)) return;
      for (int64_t r = first; r < first + count; ++r) {
        may_prefetch_.before(rows.first + r, rows.first + first, rows.first + first + count);
        if (make_row(view, rows, r, context)) continue;
        rows.broken = true;
        return;
      }
    } catch (...) {
      rows.broken = true;
    }
  }

  void set_outputs(const Rows& rows, int64_t r, std::vector<OutputSlot>& outputs) const {
    outputs = rows.outputs;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (row_bytes_[i] > 0) outputs[i].data += static_cast<size_t>(r) * row_bytes_[i];
    }
  }

  bool fill(const View& view, const Rows& rows, int64_t first, int64_t count, Context& context) const {
    if (!view.fill({}, context, rows.outputs, nullptr)) return false;
    std::array<int64_t, kFillBlock> positions;
    std::vector<OutputSlot> outputs;
    for (int64_t done = 0; done < count;) {
      const int64_t now = std::min(count - done, static_cast<int64_t>(kFillBlock));
      const auto block = std::span(positions).first(static_cast<size_t>(now));
      number_from(rows.first + first + done, block);
      set_outputs(rows, first + done, outputs);
      if (!view.fill(block, context, outputs, nullptr)) return false;
      done += now;
    }
    return true;
  }

  bool make_row(const View& view, Rows& rows, int64_t r, Context& context) const {
    std::vector<OutputSlot> outputs;
    set_outputs(rows, r, outputs);
    Element row;
    if (view.at(rows.first + r, context, outputs, row) != Got::value || node_.check_row(nullptr, r, row)) return false;
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (row[i].data() == outputs[i].data || row_bytes_[i] == 0) continue;
      if (row[i].byte_size() != row_bytes_[i]) return false;
      std::memcpy(outputs[i].data, row[i].data(), row_bytes_[i]);
      row[i] = Tensor::writable_view(outputs[i].data, rows_[i].dtype, rows_[i].shape);
    }
    if (!in_place_) rows.loose[static_cast<size_t>(r)] = std::move(row);
    return true;
  }

  bool stack_loose(Rows& rows, Context& context) const {
    for (int64_t r = 1; r < rows.size; ++r) {
      if (node_.check_row(rows.loose.data(), r, rows.loose[static_cast<size_t>(r)])) return false;
    }
    Element stacked;
    node_.stack(rows.loose, context, outputs_of_batch(rows), stacked);
    for (size_t i = 0; i < rows.outputs.size(); ++i) {
      if (is_fixed((*rows.memory)[i]) && stacked[i].data() == rows.outputs[i].data)
        stacked[i] = std::move(rows.batch[i]);
    }
    rows.batch = std::move(stacked);
    rows.loose.clear();
    return true;
  }

  // Where the rows are already.
  static std::vector<OutputSlot> outputs_of_batch(const Rows& rows) {
    std::vector<OutputSlot> outputs = rows.outputs;
    for (size_t i = 0; i < outputs.size(); ++i) outputs[i].spec = &(*rows.memory)[i];
    return outputs;
  }

  // Out of order, later rows were already delivered and cannot move up: report each failed row, then deliver the batch
  // without them.
  Got give_what_is_good(Rows& rows, Context& context, Element& out) {
    if (rows.looked_at == 0) rows.loose.clear();
    while (rows.first + rows.looked_at < rows.after) {
      const int64_t r = rows.looked_at++;
      Element row;
      Got got = ask(*view_, rows.first + r, context, {}, row);
      const Element* const first = rows.loose.empty() ? nullptr : rows.loose.data();
      const auto number = static_cast<int64_t>(rows.loose.size());
      if (got == Got::value) {
        if (Error error = node_.check_row(first, number, row)) got = context.fail(std::move(error));
      }
      if (got == Got::value) {
        rows.loose.push_back(std::move(row));
        continue;
      }
      if (got != Got::error) continue;
      rows.given = false;  // There is more.
      out.key = row.key;
      out.provenance = row.provenance;
      return got;
    }
    given_ = rows.number + 1;
    next_ = rows.after;
    if (rows.loose.empty() || rows.is_remainder) return Got::end;
    try {
      node_.stack(rows.loose, context, {}, out);
    } catch (...) {
      return context.fail(current_exception_error());
    }
    name_batch(out, rows.number);
    return Got::value;
  }

  // Does what the operator itself does, over elements that are made by any threads: so an element that fails is left
  // out, and what follows moves up. This ends after some batches without an error.
  Got open_by_elements(Context& context, std::shared_ptr<WorkItem>& item) {
    if (!gathered_) begin_gathering();
    auto rows = std::make_shared<Rows>();
    rows->elements = 1;
    rows->got = gathered_->next(context, rows->batch);
    if (rows->got == Got::pending) return Got::pending;
    if (rows->got == Got::error) {
      rows->error = std::move(context.error);
      good_in_a_row_ = 0;
    } else if (rows->got == Got::end) {
      rows->after = next_to_open_ = slots_;
    } else {
      rows->number = number_to_open_;
      const std::string state = position_of(*gathered_);
      StateVisitor reading = StateVisitor::restoring(state);
      reading.number(number_to_open_);
      reading.number(next_to_open_);
      rows->after = next_to_open_;
      rows->bytes = bytes_of(rows->batch);
      ++good_in_a_row_;
    }
    if (rows->got == Got::end || good_in_a_row_ == kGoodInARow) {
      gathered_.reset();
      by_elements_ = false;
    }
    item = std::move(rows);
    return Got::value;
  }

  void begin_gathering() {
    StateVisitor saved;
    saved.number(number_to_open_);
    saved.number(next_to_open_);
    StateVisitor restoring = StateVisitor::restoring(saved.saved());
    gathered_ = host_.restored([this] { return node_.iterate(binding_, host_); }, restoring);
    good_in_a_row_ = 0;
  }

  const Batching& node_;
  const Spec rows_;
  const Binding binding_;
  const int64_t slots_;
  const int64_t together_;
  const std::shared_ptr<const View> view_;
  const MayPrefetch may_prefetch_;
  OperatorCosts costs_;  // Belong to the thread that samples.
  OperatorProbes probes_;
  std::vector<size_t> row_bytes_;
  // Whether rows of all fields, and of any, are written where they are in the batch.
  bool in_place_ = true, has_place_ = false;
  std::shared_ptr<const Spec> memory_;  // The spec of a batch of full size.

  // Belong to the thread that opens.
  int64_t number_to_open_ = 0, next_to_open_ = 0;
  bool by_elements_ = false;
  std::unique_ptr<Iterator> gathered_;
  int64_t good_in_a_row_ = 0;

  // Belong to the consumer.
  int64_t given_ = 0, next_ = 0;
};

}  // namespace

std::shared_ptr<ReorderBuffer> make_rows_buffer(StageHost& host, const Stage& stage, const Binding& binding) {
  return std::make_shared<RowsBuffer>(host, stage, binding);
}

}  // namespace headpond::internal
