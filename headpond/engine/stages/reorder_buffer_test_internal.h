// SPDX-License-Identifier: Apache-2.0
// A ReorderBuffer whose items the test makes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "headpond/engine/stages/reorder_buffer_internal.h"
#include "headpond/engine/testing/engine_test_internal.h"

namespace headpond::internal {

/// An engine without threads: the test does all the work.
class PlainHost final : public StageHost {
 public:
  explicit PlainHost(const LoaderOptions& with_options = {}, int with_threads = 2)
      : StageHost(*plan().node(), with_options, with_threads) {}
  static const Dataset& plan() {
    static const Dataset numbers = range(1);
    return numbers;
  }
  std::unique_ptr<Iterator> open(const Node&, const Binding&) override { return nullptr; }
  bool is_root(const Node&) const override { return true; }
  CostModel costs_of(const Stage&, const char*) override { return {}; }
  void wake() override { ++wakes; }
  void made_progress() override { consumer.count_progress(); }
  void closed(const WorkSource&, const Stage&, const CostModel&) override { ++closed_count; }
  bool has_workers() const override { return true; }
  bool has_io_threads() const override { return false; }
  bool waits_for_locks(const char*) const override { return threads_are_locked; }
  bool threads_are_locked = false;
  int closed_count = 0;
  int wakes = 0;
};

struct Numbered final : WorkItem {
  int64_t number = 0;
  bool given = false;
};
inline constexpr int64_t kItemBytes = 100;
/// When each item is begun: how long one takes is up to the test, not to the machine.
inline constexpr int64_t kBegunNs = 1000;

/// Its items are opened and made by the test.
class ByHand final : public ReorderBuffer {
 public:
  ByHand(StageHost& host, const Dataset& dataset) : ReorderBuffer(host, stage_of(*dataset.node())) {}

  /// Opens an item of one row.
  std::shared_ptr<WorkItem> open_item() HEADPOND_REQUIRES(engine_state) {
    Task task;
    EXPECT_TRUE(has_work(ThreadRole::worker, false));
    EXPECT_TRUE(claim(ThreadRole::worker, false, task));
    EXPECT_EQ(task.item, nullptr);
    const auto item = std::make_shared<Numbered>();
    item->size = item->elements = 1;
    item->number = opened_by_test_++;
    item_opened(task, item, Got::value, {.ended_ns = kBegunNs + 1, .elapsed_ns = 1}, host_.consumer.progress());
    return item;
  }
  /// Opens one and claims its row.
  Task begin() HEADPOND_REQUIRES(engine_state) {
    Task task;
    const auto item = open_item();
    EXPECT_TRUE(claim(ThreadRole::worker, false, task));
    EXPECT_EQ(task.item, item);
    return task;
  }
  void end(const Task& task, int64_t bytes = kItemBytes, int64_t latency_ns = 2) HEADPOND_REQUIRES(engine_state) {
    EXPECT_TRUE(rows_made(task, 1));
    task.item->bytes = bytes;
    item_ready(*task.item, kBegunNs + latency_ns);
  }

 protected:
  Got open(int64_t, Context&, std::shared_ptr<WorkItem>&) override { return Got::end; }
  void make_rows(WorkItem&, int64_t, int64_t, Context&) override {}
  void assemble(WorkItem&, Context&) override {}
  void visit_position(StateVisitor&) override {}
  Got give(WorkItem& item, Context&, Element& out) override {
    auto& numbered = static_cast<Numbered&>(item);
    if (std::exchange(numbered.given, true)) return Got::end;
    out = Element{Tensor::scalar(numbered.number)};
    return Got::value;
  }

 private:
  int64_t opened_by_test_ = 0;
};

/// The next element, as text.
inline std::string taken(ReorderBuffer& buffer) {
  Context context;
  Element element;
  const Got got = buffer.next(context, element);
  return got == Got::value   ? text_of(element)
         : got == Got::error ? context.error.message()
         : got == Got::end   ? "end"
                             : "";
}

}  // namespace headpond::internal
