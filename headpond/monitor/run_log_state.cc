// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <ctime>
#include <fstream>
#include <utility>

#include "headpond/base/log.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/engine/verdict/profile.h"
#include "headpond/monitor/events.h"
#include "headpond/monitor/events_internal.h"
#include "headpond/monitor/run/end_files_internal.h"
#include "headpond/monitor/run/mapped_files_internal.h"
#include "headpond/monitor/run_log_state_internal.h"

namespace headpond {
namespace {

constexpr trace::ArgNames kVerdictArgs{{"code", "step"}, true};
constexpr int64_t kBetweenRecordsNs = 10'000'000'000;
constexpr int64_t kLeastProcessorsNs = 100'000'000;  // The system counts in ticks of up to 10 ms.
constexpr int64_t kBetweenLooksNs = 5'000'000'000;   // At the memory: 1 ms for each gigabyte.

RunMachine this_machine(const MemoryInfo& idle) {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text = {};
  (void)std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text.data(), getpid(), cpu_count(), simd_target(), static_cast<int64_t>(idle.pss)};
}

// Data that was mapped, or lay in tensors, before the run is not part of what an idle process takes: it has rows.
MemoryInfo idle_memory() {
  MemoryInfo idle = memory_info();
  const BufferPoolStats tensors = BufferPool::shared().stats();
  const uint64_t mapped = std::min(static_cast<uint64_t>(internal::mapped_data_bytes()), idle.pss_file);
  const auto in_tensors = static_cast<uint64_t>(tensors.bytes_in_use + tensors.bytes_cached);
  idle.pss -= mapped + std::min(in_tensors, idle.pss - idle.pss_file);
  idle.pss_file -= mapped;
  return idle;
}

int64_t thread_cpu_ns() {
  timespec time{};
  return clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0 ? int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec : 0;
}

// Like memory_info(), but without its cost.
int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t all = 0, resident = 0;
  return statm >> all >> resident ? resident * sysconf(_SC_PAGESIZE) : 0;
}

// Indented, so that Markdown leaves its lines as they are.
std::string as_code(const std::string& text) {
  std::string code = "    ";
  for (const char c : text) code += c == '\n' ? "\n    " : std::string(1, c);
  return code;
}

}  // namespace

RunLog::State::State(std::string folder, RunLogOptions options)
    : folder_(std::move(folder)), options_(options), idle_(idle_memory()), machine_(this_machine(idle_)) {}

Result<void> RunLog::State::open() {
  if (!folder_.empty()) {
    auto events = EventWriter::open(folder_);
    if (!events) return fail(events.error());
    events_ = std::move(*events);
    auto lines = FileAppender::open(folder_ + "/run.jsonl");
    if (!lines) return fail(lines.error());
    MutexLock lock(mu_);
    lines_ = std::move(*lines);
    HEADPOND_TRY(lines_->append(line_of(machine_)));
    if (options_.live) open_live_socket();
  }
  trace_ = std::make_unique<internal::RunTrace>(folder_, options_.trace);
  threads_.look();
  if (trace::enabled()) (void)begins_trace();
  MutexLock lock(mu_);
  (void)step_rates_.since_last({.steps = 0}, start_ns_);
  monitor_ = std::make_unique<QueueMonitor>(
      QueueMonitorOptions{.sample_every = options_.sample_every,
                          .write_every = options_.write_every,
                          .tag_style = options_.tag_style,
                          .on_sample = [this](int64_t now) { on_sample(now); },
                          .on_points = [this](std::vector<Scalar>& points, int64_t now,
                                              bool last) { on_points(std::move(points), now, last); }});
  return {};
}

int64_t RunLog::State::add(std::optional<PipelineSource> source, std::optional<QueueSource> queue,
                           const std::function<std::function<Verdict()>(int64_t id)>& verdict) {
  MutexLock lock(mu_);
  if (!monitor_) throw Exception(Error(ErrorKind::FailedPrecondition, "RunLog: it was closed"));
  const int64_t id = next_id_++;
  if (queue) {
    QueueSource kept = *queue;
    QueueMonitor::Handle handle = monitor_->watch(std::move(*queue));  // Throws for one that cannot be watched.
    kept.name = handle.name();
    queue_sources_.emplace(id, std::move(kept));
    queues_.emplace(id, std::move(handle));
  }
  if (!source) return id;
  const auto is_taken = [&](const std::string& name) HEADPOND_REQUIRES(mu_) {
    return std::any_of(pipelines_.begin(), pipelines_.end(),
                       [&](const auto& one) { return !one.second.has_ended() && one.second.name() == name; });
  };
  const std::string wanted = source->name;
  for (int number = 1; is_taken(source->name); ++number) source->name = fmt::format("{}_{}", wanted, number);
  if (verdict) source->verdict = verdict(id);
  const std::string plan_tag = source->name.empty() ? "plan" : "plan/" + source->name;
  if (!source->plan.empty()) write_text(plan_tag, as_code(source->plan));
  pipelines_.emplace(id, internal::PipelineWatch(std::move(*source), now_ns()));
  return id;
}

void RunLog::State::end(int64_t id) {
  if (!home_.is_here()) return;  // A child of fork() has none of the threads, and the files are its parent's.
  QueueMonitor::Handle queue;
  QueueSource source;  // It may be the last that holds its queue.
  MutexLock lock(mu_);
  if (const auto found = pipelines_.find(id); found != pipelines_.end() && !found->second.has_ended()) {
    internal::PipelineWatch& watched = found->second;
    std::vector<Scalar> points;
    if (!watched.has_points()) ended_pipelines_.push_back(watched.sample(points, now_ns()));
    step_.store(find_step(), std::memory_order_relaxed);
    write_points(points);
    write_steps(watched);
    watched.end(seconds());
    write_record(watched);
  }
  if (const auto found = queues_.find(id); found != queues_.end()) {
    queue = std::move(found->second);
    queues_.erase(found);
    source = std::move(queue_sources_.extract(id).mapped());
    if (source.figures) ended_queues_.push_back({source.name, source.figures()});
  }
  mu_.unlock();
  queue.reset();  // Takes a last sample, by a thread that needs the lock.
  mu_.lock();
}

std::vector<PipelineRecord> RunLog::State::pipelines() {
  MutexLock lock(mu_);
  std::vector<PipelineRecord> all;
  for (auto& [id, watched] : pipelines_) {
    const PipelineRecord& record = watched.record(seconds());
    const auto same = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == record.name; });
    same == all.end() ? all.push_back(record) : void(*same = record);
  }
  return all;
}

// The number of step() calls, else of the first pipeline that counts steps, else of points.
int64_t RunLog::State::find_step() {
  int64_t step = steps_.load(std::memory_order_relaxed);
  for (auto one = pipelines_.begin(); step == 0 && one != pipelines_.end(); ++one) {
    step = one->second.steps().value_or(0);
  }
  return std::max(pipelines_.empty() && step == 0 ? points_ : step, step_now());
}

// What is used since the point before; over a short time that is noise, and the point has the figures of the one
// before.
void RunLog::State::look_at_processors(RunPoint& point, bool is_short) {
  point.own_cpus = before_.own_cpus;
  point.other_cpus = before_.other_cpus;
  point.stolen_cpus = before_.stolen_cpus;
  point.throttled_cpus = before_.throttled_cpus;
  const CpuSample cpu = sample_cpu();
  const int64_t passed_ns = cpu.wall_ns - cpu_.wall_ns;
  if (is_short || passed_ns < (points_ == 0 ? kLeastProcessorsNs : 1)) return;
  const double passed = 1e-9 * static_cast<double>(passed_ns);
  point.own_cpus = (cpu.own_s - cpu_.own_s) / passed;
  point.other_cpus = other_cores(cpu_, cpu);
  point.stolen_cpus = (cpu.stolen_s - cpu_.stolen_s) / passed;
  point.throttled_cpus = (cpu.throttled_s - cpu_.throttled_s) / passed;
  cpu_ = cpu;
}

// `is_short`: it is too near to the point before for rates of its own.
RunPoint RunLog::State::sample(std::vector<Scalar>& points, int64_t now, bool is_short) {
  RunPoint point{.seconds = static_cast<double>(now - start_ns_) * 1e-9, .step = step_now()};
  for (const Scalar& queue : points) point.queues.push_back({queue.tag, queue.value});
  point.hand_offs = std::exchange(ended_queues_, {});
  for (const auto& [id, queue] : queue_sources_) {
    if (queue.figures) point.hand_offs.push_back({queue.name, queue.figures()});
  }
  look_at_processors(point, is_short);
  point.threads = threads_.uses();
  point.rss = resident_bytes();
  for (auto& [id, watched] : pipelines_) {
    if (watched.has_ended()) continue;
    point.pipelines.push_back(is_short ? watched.sample_soon(points, now) : watched.sample(points, now));
    write_steps(watched);
  }
  look_at_memory(point, now);
  for (PipelinePoint& ended : std::exchange(ended_pipelines_, {})) point.pipelines.push_back(std::move(ended));
  if (is_short) return point;
  for (Scalar& one : step_rates_.since_last({.steps = step_now()}, now)) points.push_back(std::move(one));
  return point;
}

// Threads may be short-lived, and in a timeline each second would be too seldom.
void RunLog::State::on_sample(int64_t now) {
  if (now >= next_threads_ns_) look_at_threads();
  trace_machine();
}

// However many there are, looking at them takes at most a hundredth of one processor.
void RunLog::State::look_at_threads() {
  const int64_t began = thread_cpu_ns();
  threads_.look();
  next_threads_ns_ = now_ns() + 100 * (thread_cpu_ns() - began);
}

// Whether the trace is another one than before: then use of processors counts from now on.
bool RunLog::State::begins_trace() {
  const uint64_t session = trace::internal::session();
  if (std::exchange(traced_session_, session) == session) return false;
  traced_cpu_ = sample_cpu();
  return true;
}

void RunLog::State::trace_machine() {
  if (!trace::enabled()) return;
  trace::counter("memory/process", resident_bytes());
  if (begins_trace()) return;
  const CpuSample cpu = sample_cpu();
  const double passed = std::max(1e-9 * static_cast<double>(cpu.wall_ns - traced_cpu_.wall_ns), 1e-9);
  trace::counter("cpu/own", static_cast<int64_t>(100 * (cpu.own_s - traced_cpu_.own_s) / passed));
  trace::counter("cpu/others", static_cast<int64_t>(100 * other_cores(traced_cpu_, cpu)));
  traced_cpu_ = cpu;
}

void RunLog::State::look_at_memory(RunPoint& point, int64_t now) {
  if (point.pipelines.empty() || (looked_ns_ > 0 && now - looked_ns_ < kBetweenLooksNs)) return;
  looked_ns_ = now;
  std::vector<NamedStats> loaders;
  for (const auto& [id, watched] : pipelines_) {
    if (!watched.has_ended()) loaders.push_back({watched.name(), watched.sampled()});
  }
  std::vector<MemoryUse> queues;
  queues.reserve(queue_sources_.size());
  for (const auto& [id, queue] : queue_sources_) {
    if (!queue.figures && queue.element_bytes <= 0) continue;
    const int64_t inside = queue.figures ? queue.figures().bytes : queue.fill().size * queue.element_bytes;
    queues.push_back({"queue/" + queue.name, inside});
  }
  const MemoryInfo memory = memory_info();
  point.pss = static_cast<int64_t>(memory.pss);
  point.memory = memory_uses(loaders, queues, BufferPool::shared().stats(), memory, idle_);
  looked_at_ = point;
  if (point.pss <= most_pss_) return;
  most_pss_ = point.pss;
  at_most_ = point.memory;
}

// A rate over the short time since a queue came or went would be noise: such points have the queues' fullness alone.
// The last one, too, has the rates of the one before then, and all else anew.
void RunLog::State::on_points(std::vector<Scalar> points, int64_t now, bool last) {
  if (last) threads_.look();
  MutexLock lock(mu_);
  step_.store(find_step(), std::memory_order_relaxed);
  const bool is_short = now - rated_ns_ < least_ns();
  if (!is_short || last) {
    const RunPoint point = sample(points, now, is_short && points_ > 0);
    if (live_) live_->welcome([this]() HEADPOND_REQUIRES(mu_) { return greeting(); });
    write_line(line_of(point));
    rated_ns_ = now;
    before_ = point;
    if (points_++ == 0 || now - recorded_ns_ >= kBetweenRecordsNs) {
      recorded_ns_ = now;
      for (auto& [id, watched] : pipelines_) {
        if (!watched.has_ended()) write_record(watched);
      }
    }
  }
  write_points(points);
  if (steps_.load(std::memory_order_relaxed) == 0) trace_->step_is(step_now());
  note(trace_error_, trace_->write_asked(own_step()));
}

// The first error of a file: nothing more is written into it.
void RunLog::State::note(Result<void>& first, const Result<void>& done) {
  if (done || !first) return;
  log(LogLevel::warning, "the log of this run is not complete: " + done.error().to_string());
  first = done;
}

void RunLog::State::write_points(const std::vector<Scalar>& points) {
  if (!events_ || !events_error_) return;
  for (const Scalar& point : points)
    note(events_error_, events_->scalar(internal::as_utf8(point.tag), point.value, step_now()));
}

void RunLog::State::write_steps(internal::PipelineWatch& watched) {
  if (!events_ || !events_error_) return;
  std::vector<double> waits, steps;
  for (const StepTime& step : watched.new_steps()) {
    waits.push_back(step.call_ns * 1e-6);
    steps.push_back((step.call_ns + step.work_ns) * 1e-6);
  }
  const std::string prefix =
      internal::as_utf8(watched.name().empty() ? "pipeline/" : "pipeline/" + watched.name() + "/");
  note(events_error_, events_->histogram(prefix + "wait_ms", waits, step_now()));
  note(events_error_, events_->histogram(prefix + "step_ms", steps, step_now()));
}

void RunLog::State::write_text(const std::string& tag, const std::string& text) {
  if (events_ && events_error_)
    note(events_error_, events_->text(internal::as_utf8(tag), internal::as_utf8(text), step_now()));
}

void RunLog::State::open_live_socket() {
  auto live = internal::LiveSocket::open(folder_);
  if (live) {
    live_ = std::move(*live);
  } else {
    log(LogLevel::warning, "nobody can listen to this run: " + live.error().to_string());
  }
}

std::string RunLog::State::greeting() {
  std::string lines = line_of(machine_);
  for (auto& [id, watched] : pipelines_) lines += line_of(watched.record(seconds()));
  return looked_at_.pss > 0 ? lines + line_of(looked_at_) : lines;
}

void RunLog::State::write_line(const std::string& line) {
  if (live_) live_->send(line);
  if (lines_ && lines_error_) note(lines_error_, lines_->append(line));
}

// Also as a text for TensorBoard, if the verdict is another one than before, or the last.
void RunLog::State::write_record(internal::PipelineWatch& watched) {
  const PipelineRecord& record = watched.record(seconds());
  write_line(line_of(record));
  if (!has_verdict(record)) return;
  const auto [told, is_new] = told_.try_emplace(record.name, record.verdict.code);
  if (!is_new && std::exchange(told->second, record.verdict.code) == record.verdict.code && !record.has_ended) return;
  const char* const code = trace::intern(to_string(record.verdict.code));
  trace::instant("verdict", trace::Category::step, {&kVerdictArgs, {trace::text_arg(code), own_step()}});
  write_text(record.name.empty() ? "verdict" : "verdict/" + record.name, as_code(record.verdict.to_string()));
}

// What needs the whole run. Returns the first error.
Result<void> RunLog::State::write_end_files() {
  const std::vector<PipelineRecord> all = pipelines();
  Result<void> first = internal::write_verdicts(folder_, all);
  const auto then = [&first](Result<void> done) {
    if (!done && first) first = std::move(done);
  };
  then(internal::write_profiles(folder_, all, at_most()));
  if (options_.report) then(internal::write_report(folder_));
  then(events_->close());
  then(trace_->finish());  // Last: it may be large.
  return first;
}

Result<void> RunLog::State::close() {
  MutexLock closing(close_mu_);
  std::unique_ptr<QueueMonitor> monitor;
  {
    MutexLock lock(mu_);
    if (std::exchange(is_closed_, true)) return first_error();
    monitor = std::move(monitor_);
  }
  monitor.reset();  // Its thread needs the lock for the last points.
  {
    MutexLock lock(mu_);
    for (auto& [id, watched] : pipelines_) {
      if (watched.has_ended()) continue;
      watched.end(seconds());
      write_record(watched);
    }
    queues_.clear();
    queue_sources_.clear();
    write_line(end_line());
    lines_.reset();
    live_.reset();
  }
  if (folder_.empty()) return {};
  Result<void> done = write_end_files();
  MutexLock lock(mu_);
  if (first_error()) lines_error_ = std::move(done);
  return first_error();
}

}  // namespace headpond
