// SPDX-License-Identifier: Apache-2.0
// The fields of what a run's record holds, each named once: the same list writes them (FieldWriter) and reads them back
// (FieldReader in run_record.cc). A field that a line lacks keeps its default, so older logs can be read.
#pragma once

#include <concepts>
#include <string>
#include <type_traits>
#include <vector>

#include "headpond/base/json.h"
#include "headpond/monitor/run/run_record.h"

namespace headpond::internal {

// `fields(visit, x)` calls visit(name, field) for each. X is the type, const or not.
template <class X, class T>
concept Is = std::same_as<std::remove_const_t<X>, T>;

void fields(auto& visit, Is<ThreadsSeen> auto& x) {
  visit("runs", x.runs);
  visit("locked", x.locked);
  visit("reads", x.reads);
  visit("sleeps", x.sleeps);
  visit("talks", x.talks);
  visit("other", x.other);
  visit("unknown", x.unknown);
}

void fields(auto& visit, Is<OperatorCost> auto& x) {
  visit("op", x.op);
  visit("ns", x.ns);
  visit("cpu_ns", x.cpu_ns);
  visit("bytes", x.bytes);
  visit("read_bytes", x.read_bytes);
  visit("seen", x.seen);
  visit("title", x.title);
}

void fields(auto& visit, Is<TaskTimes> auto& x) {
  visit("tasks", x.tasks);
  visit("wall_ns", x.wall_ns);
  visit("cpu_ns", x.cpu_ns);
  visit("queue_ns", x.queue_ns);
  visit("blocked_ns", x.blocked_ns);
  visit("lock_ns", x.lock_ns);
}

void fields(auto& visit, Is<StageTotals> auto& x) {
  visit("open", x.open);
  visit("make", x.make);
  visit("elements", x.elements);
  visit("takes", x.takes);
  visit("late", x.late);
  visit("starved_ns", x.starved_ns);
  visit("full_ns", x.full_ns);
  visit("refused_ns", x.refused_ns);
  visit("read_bytes", x.read_bytes);
  visit("holes", x.holes);
  visit("errors", x.errors);
}

void fields(auto& visit, Is<StageStats> auto& x) {
  visit("name", x.name);
  visit("blocking", x.blocking);
  visit("units", x.units);
  visit("elements", x.elements);
  visit("element_ns", x.element_ns);
  visit("unit_ns", x.unit_ns);
  visit("target", x.target);
  visit("ahead", x.ahead);
  visit("ready", x.ready);
  visit("mean_ready", x.mean_ready);
  visit("unit_bytes", x.unit_bytes);
  visit("operators", x.operators);
  visit("totals", x.totals);
  visit("starved_p50_ns", x.starved_p50_ns);
  visit("starved_p99_ns", x.starved_p99_ns);
  visit("idle_p50_ns", x.idle_p50_ns);
  visit("idle_p99_ns", x.idle_p99_ns);
  visit("mean_ahead", x.mean_ahead);
  visit("ready_bytes", x.ready_bytes);
  visit("ready_bytes_peak", x.ready_bytes_peak);
  visit("seen", x.seen);
}

void fields(auto& visit, Is<CallTimes> auto& x) {
  visit("calls", x.calls);
  visit("p50_ns", x.p50_ns);
  visit("p99_ns", x.p99_ns);
}

void fields(auto& visit, Is<StepStats> auto& x) {
  visit("steps", x.steps);
  visit("call_ns", x.call_ns);
  visit("startup_ns", x.startup_ns);
  visit("edge_ns", x.edge_ns);
  visit("burst_ns", x.burst_ns);
  visit("sustained_ns", x.sustained_ns);
  visit("work_ns", x.work_ns);
  visit("helped_ns", x.helped_ns);
  visit("startup", x.startup);
  visit("edge", x.edge);
  visit("burst", x.burst);
  visit("sustained", x.sustained);
  visit("work_cpu_share", x.work_cpu_share);
  visit("work_queue_share", x.work_queue_share);
}

void fields(auto& visit, Is<OperatorMemory> auto& x) {
  visit("op", x.op);
  visit("stage", x.stage);
  visit("bytes", x.bytes);
  visit("peak", x.peak);
}

void fields(auto& visit, Is<MemoryUse> auto& x) {
  visit("who", x.who);
  visit("bytes", x.bytes);
}

void fields(auto& visit, Is<ThreadTimes> auto& x) {
  visit("alive_ns", x.alive_ns);
  visit("tasks_ns", x.tasks_ns);
  visit("idle_ns", x.idle_ns);
}

void fields(auto& visit, Is<LoaderStats> auto& x) {
  visit("batches", x.batches);
  visit("waits", x.waits);
  visit("wait_ns", x.wait_ns);
  visit("first_wait_ns", x.first_wait_ns);
  visit("helped", x.helped);
  visit("memory_in_use", x.memory_in_use);
  visit("memory_peak", x.memory_peak);
  visit("memory_limit", x.memory_limit);
  visit("memory_free", x.memory_free);
  visit("memory_held", x.memory_held);
  visit("memory_held_peak", x.memory_held_peak);
  visit("memory", x.memory);
  visit("threads", x.threads);
  visit("io_threads", x.io_threads);
  visit("inline_now", x.inline_now);
  visit("steps", x.steps);
  visit("defects", x.defects);
  visit("elements", x.elements);
  visit("bytes", x.bytes);
  visit("compute_times", x.compute_times);
  visit("io_times", x.io_times);
  visit("stages", x.stages);
}

void fields(auto& visit, Is<Evidence> auto& x) {
  visit("figure", x.figure);
  visit("value", x.value);
  visit("threshold", x.threshold);
}

void fields(auto& visit, Is<Change> auto& x) {
  visit("what", x.what);
  visit("setting", x.setting);
  visit("value", x.value);
  visit("gain", x.gain);
  visit("low", x.low);
  visit("high", x.high);
}

void fields(auto& visit, Is<Verdict::Waits> auto& x) {
  visit("startup", x.startup);
  visit("epoch_edge", x.epoch_edge);
  visit("burst", x.burst);
  visit("sustained", x.sustained);
}

void fields(auto& visit, Is<Verdict> auto& x) {
  visit("reason_code", x.code);
  visit("stage", x.stage);
  visit("op", x.op);
  visit("op_title", x.op_title);
  visit("confidence", x.confidence);
  visit("wait_share", x.wait_share);
  visit("waits", x.waits);
  visit("evidence", x.evidence);
  visit("changes", x.changes);
  visit("findings", x.findings);
}

void fields(auto& visit, Is<PipelineRecord> auto& x) {
  visit("name", x.name);
  visit("seconds", x.seconds);
  visit("has_ended", x.has_ended);
  visit("plan", x.plan);
  visit("wait_ns", x.wait_ns);
  visit("verdict", x.verdict);
  visit("loader", x.loader);
}

void fields(auto& visit, Is<PipelinePoint> auto& x) {
  visit("name", x.name);
  visit("wait_share", x.wait_share);
  visit("ready", x.ready);
  visit("memory_bytes", x.memory_bytes);
}

void fields(auto& visit, Is<QueuePoint> auto& x) {
  visit("tag", x.tag);
  visit("value", x.value);
}

void fields(auto& visit, Is<QueueFigures> auto& x) {
  visit("capacity", x.capacity);
  visit("min_after_dequeue", x.min_after_dequeue);
  visit("size", x.size);
  visit("size_peak", x.size_peak);
  visit("bytes", x.bytes);
  visit("bytes_peak", x.bytes_peak);
  visit("put_size_mean", x.put_size_mean);
  visit("take_size_mean", x.take_size_mean);
  visit("starved_ns", x.starved_ns);
  visit("starved_p50_ns", x.starved_p50_ns);
  visit("starved_p99_ns", x.starved_p99_ns);
  visit("full_ns", x.full_ns);
  visit("full_p50_ns", x.full_p50_ns);
  visit("full_p99_ns", x.full_p99_ns);
}

void fields(auto& visit, Is<QueueRecord> auto& x) {
  visit("name", x.name);
  visit("figures", x.figures);
}

void fields(auto& visit, Is<ThreadUse> auto& x) {
  visit("name", x.name);
  visit("threads", x.threads);
  visit("cpu_s", x.cpu_s);
  visit("major_faults", x.major_faults);
}

void fields(auto& visit, Is<RunPoint> auto& x) {
  visit("seconds", x.seconds);
  visit("step", x.step);
  visit("own_cpus", x.own_cpus);
  visit("other_cpus", x.other_cpus);
  visit("stolen_cpus", x.stolen_cpus);
  visit("throttled_cpus", x.throttled_cpus);
  visit("rss", x.rss);
  visit("pss", x.pss);
  visit("memory", x.memory);
  visit("pipelines", x.pipelines);
  visit("queues", x.queues);
  visit("threads", x.threads);
  visit("hand_offs", x.hand_offs);
}

void fields(auto& visit, Is<RunMachine> auto& x) {
  visit("started", x.started);
  visit("pid", x.pid);
  visit("processors", x.processors);
  visit("simd", x.simd);
  visit("idle_pss", x.idle_pss);
}

/// Into the open object.
class FieldWriter {
 public:
  explicit FieldWriter(JsonWriter& json) : json_(json) {}

  void operator()(const char* name, const auto& field) {
    json_.key(name);
    value(field);
  }
  template <class T>
  void value(const T& one) {
    if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
      json_.value(one);
    } else if constexpr (std::same_as<T, ReasonCode>) {
      json_.value(to_string(one));
    } else {
      json_.begin_object();
      fields(*this, one);
      json_.end_object();
    }
  }
  template <class T>
  void value(const std::vector<T>& all) {
    json_.begin_array();
    for (const T& one : all) value(one);
    json_.end_array();
  }

 private:
  JsonWriter& json_;
};

}  // namespace headpond::internal
