// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "headpond/base/clock.h"
#include "headpond/engine/stages/operator_costs_internal.h"

namespace headpond::internal {
namespace {

// What one call of now_ns() takes, measured once.
double clock_ns() {
  static const double ns = [] {
    constexpr int kReads = 16, kTries = 8;
    int64_t least = INT64_MAX;
    for (int i = 0; i < kTries; ++i) {
      const int64_t began = now_ns();
      int64_t now = began;
      for (int read = 0; read < kReads; ++read) now = now_ns();
      least = std::min(least, now - began);
    }
    return static_cast<double>(least) / kReads;
  }();
  return ns;
}

}  // namespace

// Adds the time that it lives.
class OperatorCosts::Timing {
 public:
  explicit Timing(Meter& meter) : meter_(meter), began_(now_ns()) {}
  ~Timing() {
    meter_.ns += now_ns() - began_;
    ++meter_.calls;
  }
  Timing(const Timing&) = delete;
  Timing& operator=(const Timing&) = delete;

 private:
  Meter& meter_;
  const int64_t began_;
};

class OperatorCosts::TimedView final : public View {
 public:
  TimedView(std::shared_ptr<const View> view, Meter& meter) : view_(std::move(view)), meter_(meter) {}

  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    const Timing timing(meter_);
    return view_->at(i, context, outputs, out);
  }
  bool fill(std::span<const int64_t> positions, Context& context, OutputSlots columns, uint64_t* keys) const override {
    const Timing timing(meter_);
    return view_->fill(positions, context, columns, keys);
  }

 private:
  const std::shared_ptr<const View> view_;
  Meter& meter_;
};

bool OperatorCosts::begin() {
  try {
    if (!view_) bind();
  } catch (...) {
    return false;
  }
  for (Operator& one : operators_) one.meter = {};
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
  for (Operator& one : operators_) {
    if (one.node == &node) return std::make_shared<TimedView>(std::move(view), one.meter);
  }
  return view;
}

// A clock that is read at the begin and at the end of a call is in that call's time once, and in its caller's twice.
void OperatorCosts::end(int64_t rows) {
  Meter below;
  for (Operator& one : operators_) {
    const double clocks = clock_ns() * static_cast<double>(one.meter.calls + below.calls);
    const double own = static_cast<double>(one.meter.ns - below.ns) - clocks;
    if (rows > 0) one.ns.add(std::max(own, 0.0) / static_cast<double>(rows));
    if (one.meter.calls > 0) below = one.meter;  // Not every operator was seen: see bind().
  }
}

std::vector<OperatorCost> OperatorCosts::costs() const {
  std::vector<OperatorCost> all;
  for (const Operator& one : operators_) {
    if (one.ns.known()) all.push_back({one.node->facts().op, one.ns.value()});
  }
  return all;
}

}  // namespace headpond::internal
