// SPDX-License-Identifier: Apache-2.0
#include <atomic>

#include "headpond/base/clock.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/engine/stages/stage_trace_internal.h"

namespace headpond::internal {
namespace {

constexpr trace::ArgNames kTaskArgs{{"epoch", "unit", "first", "count"}};
constexpr trace::ArgNames kTasksArgs{{"epoch", "unit", "last_unit", "count"}};
constexpr trace::ArgNames kRefusedArgs{{"stage"}, true};
constexpr trace::ArgNames kTakeArgs{{"epoch", "unit"}};

// Other numbers than those of queues, which begin at 0. Each stage has 2^32 of them.
uint64_t next_arrows() {
  static std::atomic<uint64_t> stages = 0;
  return uint64_t{1} << 63 | (stages.fetch_add(1, std::memory_order_relaxed) % (uint64_t{1} << 31)) << 32;
}

}  // namespace

StageTrace::StageTrace(const std::string& name)
    : name_(trace::intern(name)),
      items_name_(trace::intern("window/" + name)),
      bytes_name_(trace::intern("memory/" + name)),
      first_arrow_(next_arrows()) {}

void StageTrace::record_span(const Task& task) const {
  const trace::Event span{.name = name_,
                          .start_ns = task.ended_ns - task.elapsed_ns,
                          .length_ns = task.elapsed_ns,
                          .value = 0,
                          .kind = trace::Kind::span,
                          .category = trace::Category::op,
                          .args = {&kTaskArgs, {task.item.epoch, task.item.ordinal, task.first, task.count}}};
  if (task.holds_operators) return trace::internal::record(span);
  trace::internal::record_task(span, ended_task(task), kTasksArgs);
}

void StageTrace::show_assembling(const Item& item, int64_t began_ns, int64_t length_ns) const {
  trace::internal::record({.name = "assemble",
                           .start_ns = began_ns,
                           .length_ns = length_ns,
                           .value = 0,
                           .kind = trace::Kind::span,
                           .category = trace::Category::op,
                           .args = {&kTakeArgs, {item.epoch, item.ordinal}}});
}

void StageTrace::show_refused_memory() const {
  trace::instant("memory refused", trace::Category::wait, {&kRefusedArgs, {trace::text_arg(name_)}});
}

void StageTrace::end_arrow(const Item& item) const {
  const trace::SpanWithArgs span("take", trace::Category::step, {&kTakeArgs, {item.epoch, item.ordinal}});
  trace::flow_end(arrow_id(item.ordinal));
}

void StageTrace::show_counters(const Ready& ready, bool is_due) {
  Shown now{.session = trace::internal::session(), .ready = ready, .at_ns = now_ns()};
  const bool is_new = is_due || now.session != shown_.session;
  const auto show = [&](const char* name, int64_t value) {
    trace::internal::record(
        {name, now.at_ns, 0, static_cast<uint64_t>(value), trace::Kind::counter, trace::Category::op});
  };
  if (is_new || ready.items != shown_.ready.items) show(items_name_, ready.items);
  if (is_new || ready.bytes != shown_.ready.bytes) show(bytes_name_, ready.bytes);
  now.takes = is_new ? 0 : shown_.takes;
  shown_ = now;
}

}  // namespace headpond::internal
