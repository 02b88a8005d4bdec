// SPDX-License-Identifier: Apache-2.0
// What each operator of a stage costs: sampled, because asking a clock at every operator and element would cost more
// than many of them do.
//
// A sample is one task of the stage: the rows that it makes anyway, each once, with whatever is in the caches then.
// They are made by other views than those of all other tasks: a ViewObserver puts a clock around the view of each
// operator. An operator is charged with the time inside its view, less the time inside the view of its input, less what
// the clock itself took. Where operators take so long that it costs little, the clock of processor time is read too.
// A trace that is recorded shows the operators of the first rows of a sample, inside the span of their task.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "headpond/base/mutex.h"
#include "headpond/base/trace.h"
#include "headpond/dataset/node.h"
#include "headpond/engine/executor/moving_average_internal.h"
#include "headpond/engine/loader_stats.h"

namespace headpond::internal {

/// Makes rows, and returns how many count.
using MakeRows = std::function<int64_t(const View&, Context&)>;

/// The operators from `top` down that have one input each and positions. One thread at a time:
///
///   if (!costs.begin()) return make(plain_view, plain_context);
///   make(costs.view(), costs.context());
///   costs.end(rows);
///
/// sample() does that.
class OperatorCosts final : private ViewObserver {
 public:
  /// Binds nothing yet. `top`, `pool` and the binding's observer outlive this. `pool`, `may_keep`: as for Context.
  OperatorCosts(const Node& top, const Binding& binding, BufferPool& pool, int64_t may_keep)
      : top_(top), outer_(binding.observer), binding_{binding.seed, binding.epoch, this}, context_(pool, may_keep) {}
  OperatorCosts(const OperatorCosts&) = delete;
  OperatorCosts& operator=(const OperatorCosts&) = delete;

  /// Begins a sample. Returns false iff the timed views cannot be made, for lack of memory.
  bool begin();
  /// The timed view of `top`, and the only context to use it with: it keeps views that are bound on the way.
  const View& view() const { return *view_; }
  Context& context() { return context_; }
  /// So many rows were made since begin(); 0: the sample is not used.
  void end(int64_t rows);

  /// `context`: of the thread. Returns false, and makes no rows, iff begin() does.
  bool sample(Context& context, const MakeRows& make);

  /// In the order of the plan, in ns a row; empty before the first sample.
  std::vector<OperatorCost> costs() const;
  /// The node of each, for what threads were seen to do in it.
  std::vector<const Node*> nodes() const;

 private:
  struct Meter {
    int64_t ns = 0, cpu_ns = 0, calls = 0, bytes = 0, read_bytes = 0;
  };
  struct Operator {
    const Node* node;
    Meter meter = {};                     // The meter of this sample, its input included.
    MovingAverage ns{0.1, 0.3};           // Near the low end: what a thread lost to others is not the operator's.
    double seen_ns = 0, seen_cpu_ns = 0;  // Times of samples with the clock of processor time.
    double rows = 0, bytes = 0, read_bytes = 0;  // Sums over all samples.
  };
  /// What a sample is made with.
  struct Sample {
    bool reads_cpu = false;
    std::vector<trace::Event> spans = {};  // While a trace is recorded: those of its first rows, up to the capacity.
    size_t most_spans = 0;
  };
  class Timing;
  class TimedView;

  std::shared_ptr<const View> see(const Node& node, std::shared_ptr<const View> view) override;
  void bind();
  void charge(Operator& one, const Meter& below, int64_t rows) const;

  const Node& top_;
  ViewObserver* const outer_;  // Sees the views as well.
  const Binding binding_;
  std::vector<Operator> operators_;   // From the source on. Timed views refer to them.
  std::shared_ptr<const View> view_;  // Null: nothing is bound yet.
  Context context_;
  Sample sample_;
};

/// Shows what operators do in a trace, and measures nothing. Any number of threads at once.
class OperatorProbes {
 public:
  /// The arguments are those of OperatorCosts.
  OperatorProbes(const Node& top, const Binding& binding, BufferPool& pool, int64_t may_keep)
      : top_(top), binding_(binding), pool_(pool), may_keep_(may_keep) {}

  /// See OperatorCosts::sample().
  bool sample(Context& context, const MakeRows& make);

 private:
  std::unique_ptr<OperatorCosts> take();  // Null: there is no memory for one.
  void give_back(std::unique_ptr<OperatorCosts> costs);

  const Node& top_;
  const Binding binding_;
  BufferPool& pool_;
  const int64_t may_keep_;
  Mutex mu_;
  std::vector<std::unique_ptr<OperatorCosts>> unused_ HEADPOND_GUARDED_BY(mu_);
};

}  // namespace headpond::internal
