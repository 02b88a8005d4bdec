// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/base/trace_tasks.h"
#include "headpond/dataset/views/lending.h"
#include "headpond/engine/executor/watch/thread_look_internal.h"
#include "headpond/engine/stages/counts/operator_costs_internal.h"
#include "headpond/engine/stages/element_bytes_internal.h"
#include "headpond/io/file/bytes_read.h"

namespace headpond::internal {
namespace {

// Time of one operator for a row, times their number: then reading processor times takes about 2 % of a sample.
constexpr double kDearNs = 20'000;
constexpr size_t kMostRowsInATrace = 256;
constexpr double kCheapNs = 5'000;  // Time of an operator for a row: too short for that clock, and for sleep.

// What one call of `clock` takes.
double cost_of(int64_t (*clock)()) {
  constexpr int kReads = 16, kTries = 8;
  int64_t least = INT64_MAX;
  for (int i = 0; i < kTries; ++i) {
    const int64_t began = now_ns();
    for (int read = 0; read < kReads; ++read) (void)clock();
    least = std::min(least, now_ns() - began);
  }
  return static_cast<double>(least) / kReads;
}

double clock_ns() {
  static const double ns = cost_of(now_ns);
  return ns;
}

double cpu_clock_ns() {
  static const double ns = cost_of(thread_cpu_ns);
  return ns;
}

}  // namespace

// Adds the time that it lives.
class OperatorCosts::Timing {
 public:
  Timing(Meter& meter, const Node& node, const char* name, Sample& sample)
      : meter_(meter),
        name_(name),
        sample_(sample),
        here_(&node),
        read_before_(bytes_read_by_thread),
        began_(now_ns()),
        began_cpu_(sample.reads_cpu ? thread_cpu_ns() : 0) {}
  ~Timing() {
    if (sample_.reads_cpu) meter_.cpu_ns += thread_cpu_ns() - began_cpu_;
    const int64_t ns = now_ns() - began_;
    meter_.ns += ns;
    ++meter_.calls;
    meter_.read_bytes += bytes_read_by_thread - read_before_;
    if (sample_.spans.size() == sample_.most_spans) return;
    sample_.spans.push_back({name_, began_, ns, 0, trace::Kind::span, trace::Category::op});
  }
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;

 private:
  Meter& meter_;
  const char* const name_;
  Sample& sample_;
  const InOperator here_;
  const int64_t read_before_, began_, began_cpu_;
};

class OperatorCosts::TimedView final : public View, public LendingView {
 public:
  TimedView(std::shared_ptr<const View> view, Meter& meter, const Node& node, Sample& sample)
      : view_(std::move(view)),
        may_lend_(*view_),
        meter_(meter),
        node_(node),
        name_(trace::intern(node.facts().op)),
        sample_(sample) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    return counted(timed([&] { return view_->at(i, context, outputs, out); }), out);
  }
  Got lend(int64_t i, Context& context, Element& out, Loan& loan) const override {
    return counted(timed([&] { return may_lend_.lend(i, context, out, loan); }), out);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    const Timing timing(meter_, node_, name_, sample_);
    return view_->fill(positions, context, columns, keys);
  }

 private:
  template <class Ask>
  Got timed(const Ask& ask) const {
    const Timing timing(meter_, node_, name_, sample_);
    return ask();
  }
  Got counted(Got got, const Element& out) const {
    if (got == Got::value) meter_.bytes += bytes_of(out);
    return got;
  }

  const std::shared_ptr<const View> view_;
  const MayLend may_lend_;
  Meter& meter_;
  const Node& node_;
  const char* const name_;
  Sample& sample_;
};

bool OperatorCosts::begin() {
  try {
    if (!view_) bind();
    sample_.most_spans = trace::enabled() ? kMostRowsInATrace * operators_.size() : 0;
    sample_.spans.reserve(sample_.most_spans);
  } catch (...) {
    return false;
  }
  sample_.reads_cpu = false;
  for (Operator& one : operators_) {
    one.meter = {};
    sample_.reads_cpu = sample_.reads_cpu || one.ns.value() > kDearNs * static_cast<double>(operators_.size());
  }
  return true;
}

// An operator is seen if the one above binds it with view_of(); else it counts as part of the one above.
void OperatorCosts::bind() {
  operators_.clear();
  for (const Node* node = &top_; !node->iterates() && node->slots() > 0; node = &node->input()) {
    operators_.push_back({node});
    if (node->facts().inputs.size() != 1) break;
  }
  std::reverse(operators_.begin(), operators_.end());
  view_ = view_of(top_, binding_);
}

std::shared_ptr<const View> OperatorCosts::see(const Node& node, std::shared_ptr<const View> view) {
  if (outer_ != nullptr) view = outer_->see(node, std::move(view));
  for (Operator& one : operators_) {
    if (one.node != &node) continue;
    return std::make_shared<TimedView>(std::move(view), one.meter, node, sample_);
  }
  return view;
}

// A clock that is read at the begin and at the end of a call is in that call's time once, and in its caller's twice.
void OperatorCosts::end(int64_t rows) {
  if (trace::enabled()) trace::internal::record_spans(sample_.spans);
  sample_.spans.clear();
  Meter below;
  for (Operator& one : operators_) {
    if (rows > 0) charge(one, below, rows);
    if (one.meter.calls > 0) below = one.meter;  // Not every operator was seen: see bind().
  }
}

void OperatorCosts::charge(Operator& one, const Meter& below, int64_t rows) const {
  const auto calls = static_cast<double>(one.meter.calls + below.calls);
  const double clocks = (clock_ns() + (sample_.reads_cpu ? cpu_clock_ns() : 0)) * calls;
  const double own = std::max(static_cast<double>(one.meter.ns - below.ns) - clocks, 0.0);
  one.ns.add(own / static_cast<double>(rows));
  one.rows += static_cast<double>(rows);
  one.bytes += static_cast<double>(one.meter.bytes);
  one.read_bytes += static_cast<double>(one.meter.read_bytes - below.read_bytes);
  if (!sample_.reads_cpu || one.ns.value() < kCheapNs) return;
  one.seen_ns += own;
  one.seen_cpu_ns += std::clamp(static_cast<double>(one.meter.cpu_ns - below.cpu_ns) - clocks, 0.0, own);
}

bool OperatorCosts::sample(Context& context, const MakeRows& make) {
  if (!begin()) return false;
  context_.use_scratch_of(context);
  const int64_t rows = make(*view_, context_);
  context.left_out += std::exchange(context_.left_out, 0);
  end(rows);
  return true;
}

bool OperatorProbes::sample(Context& context, const MakeRows& make) {
  std::unique_ptr<OperatorCosts> costs = take();
  if (costs == nullptr) return false;
  const bool has_made = costs->sample(context, [&](const View& view, Context& own) {
    (void)make(view, own);
    return 0;
  });
  give_back(std::move(costs));
  return has_made;
}

std::unique_ptr<OperatorCosts> OperatorProbes::take() {
  {
    MutexLock lock(mu_);
    if (!unused_.empty()) {
      std::unique_ptr<OperatorCosts> costs = std::move(unused_.back());
      unused_.pop_back();
      return costs;
    }
  }
  try {
    return std::make_unique<OperatorCosts>(top_, binding_, pool_, may_keep_);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void OperatorProbes::give_back(std::unique_ptr<OperatorCosts> costs) {
  try {
    MutexLock lock(mu_);
    unused_.push_back(std::move(costs));
  } catch (const std::bad_alloc&) {  // The next task has its own.
  }
}

std::vector<const Node*> OperatorCosts::nodes() const {
  std::vector<const Node*> all;
  for (const Operator& one : operators_) {
    if (one.ns.known()) all.push_back(one.node);
  }
  return all;
}

std::vector<OperatorCost> OperatorCosts::costs() const {
  std::vector<OperatorCost> all;
  for (const Operator& one : operators_) {
    if (!one.ns.known()) continue;
    // Too cheap to be measured: it computes.
    const double cpu_share = one.seen_ns > 0 ? one.seen_cpu_ns / one.seen_ns : 1;
    all.push_back({one.node->facts().op, one.ns.value(), one.ns.value() * cpu_share, one.bytes / one.rows,
                   one.read_bytes / one.rows});
  }
  return all;
}

}  // namespace headpond::internal
