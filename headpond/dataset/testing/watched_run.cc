// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <utility>

#include "headpond/dataset/dataset.h"
#include "headpond/dataset/testing/course.h"
#include "headpond/dataset/testing/watched_run_internal.h"

namespace headpond::internal {
namespace {

constexpr int kMostPendingInARow = 5'000;
constexpr size_t kMostErrorsInARow = 100;

bool is_source(const Node& node) { return node.facts().inputs.empty(); }
bool is_chosen(int64_t i) { return i % 7 == 2 || i % 11 == 0; }

// Follows the calls of a run into inputs: which one was asked meanwhile, and answered an error?
class Watch final : public ViewObserver {
 public:
  explicit Watch(Planted planted) : planted_(planted) {}
  Planted planted() const { return planted_; }
  std::shared_ptr<const View> see(const Node& node, std::shared_ptr<const View> view) override;

  template <class Ask>
  Got call(const Node& node, Context& context, Element& out, Ask ask) {
    below_.emplace_back();
    Got got = Got::error;
    try {
      got = ask();
    } catch (...) {
      out.clear();
      context.error = current_exception_error();
    }
    const std::string error = std::move(below_.back());
    below_.pop_back();
    // An error in a row that another input ends is in no row.
    const bool ends_the_row = got == Got::end && node.facts().op == "zip";
    if (!error.empty() && got != Got::error && !ends_the_row && lost_error_.empty()) {
      lost_error_ = fmt::format("{}: its input answered an error, and it did not: {}", node.title(), error);
    }
    if (got == Got::error && !below_.empty()) below_.back() = context.error.to_string();
    return got;
  }
  const std::string& lost_error() const { return lost_error_; }
  const std::string& asked_outside() const { return asked_outside_; }
  // False iff `node` has no such position.
  bool has(const Node& node, int64_t i) {
    if (i >= 0 && i < node.slots()) return true;
    if (asked_outside_.empty()) {
      asked_outside_ = fmt::format("{} is asked for position {}, and has {}", node.title(), i, node.slots());
    }
    return false;
  }

 private:
  const Planted planted_;
  std::vector<std::string> below_;  // For each call that runs, the last error of its inputs.
  std::string lost_error_;
  std::string asked_outside_;
};

Got plant_error(const Node& node, int64_t i, Context& context) {
  return context.fail({ErrorKind::DataLoss, fmt::format("{}: planted error {}", node.facts().op, i)});
}

class WatchedView final : public View {
 public:
  WatchedView(Watch& watch, const Node& node, std::shared_ptr<const View> view)
      : watch_(watch), node_(node), is_source_(is_source(node)), view_(std::move(view)) {}
  Got at(int64_t i, Context& context, OutputSlots outputs, Element& out) const override {
    return watch_.call(node_, context, out, [&] {
      if (!watch_.has(node_, i)) return context.fail({ErrorKind::OutOfRange, watch_.asked_outside()});
      const bool plant = watch_.planted() == Planted::errors && is_source_ && is_chosen(i);
      return plant ? plant_error(node_, i, context) : view_->at(i, context, outputs, out);
    });
  }

 private:
  Watch& watch_;
  const Node& node_;
  const bool is_source_;
  const std::shared_ptr<const View> view_;
};

class WatchedIterator final : public Iterator {
 public:
  WatchedIterator(Watch& watch, const Node& node, std::unique_ptr<Iterator> iterator)
      : watch_(watch), node_(node), is_source_(is_source(node)), iterator_(std::move(iterator)) {}
  Got next(Context& context, Element& out) override {
    return watch_.call(node_, context, out, [&] {
      const bool plant = is_source_ && is_chosen(next_) && !std::exchange(planted_, true);
      if (plant && watch_.planted() == Planted::pending) return Got::pending;
      if (plant) return plant_error(node_, next_, context);
      const Got got = iterator_->next(context, out);
      if (got == Got::value) ++next_;
      if (got == Got::value) planted_ = false;
      return got;
    });
  }
  void visit_state(StateVisitor& visitor) override { iterator_->visit_state(visitor); }

 private:
  Watch& watch_;
  const Node& node_;
  const bool is_source_;
  const std::unique_ptr<Iterator> iterator_;
  int64_t next_ = 0;
  bool planted_ = false;  // Before the next element.
};

class WatchingFeed final : public Feed {
 public:
  explicit WatchingFeed(Watch& watch) : watch_(watch) {}
  std::unique_ptr<Iterator> open(const Node& input, const Binding& binding) override {
    return std::make_unique<WatchedIterator>(watch_, input, headpond::open(input, binding, *this));
  }

 private:
  Watch& watch_;
};

std::shared_ptr<const View> Watch::see(const Node& node, std::shared_ptr<const View> view) {
  return std::make_shared<WatchedView>(*this, node, std::move(view));
}

}  // namespace

WatchedRun watched_run(const Node& node, const Binding& binding, Planted planted, size_t most) {
  Watch watch(planted);
  WatchingFeed feed(watch);
  Context context;
  Binding watched = binding;
  watched.observer = &watch;
  const auto iterator = feed.open(node, watched);
  WatchedRun run;
  int pending = 0;
  size_t errors = 0;
  while (run.answers.size() < most && errors < kMostErrorsInARow) {
    Element out;
    const Got got = iterator->next(context, out);
    pending = got == Got::pending ? pending + 1 : 0;
    errors = got == Got::error ? errors + 1 : 0;
    if (got == Got::end || pending > kMostPendingInARow) break;
    if (got == Got::value) run.answers.push_back(bytes_of(out, 0, 0));
    if (got == Got::error) run.answers.push_back("!" + context.error.to_string());
  }
  run.lost_error = watch.lost_error();
  run.asked_outside = watch.asked_outside();
  run.stands_still = pending > kMostPendingInARow;
  return run;
}

}  // namespace headpond::internal
