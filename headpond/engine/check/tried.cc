// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "headpond/base/clock.h"
#include "headpond/base/interrupt/interrupt.h"
#include "headpond/base/random.h"
#include "headpond/dataset/bases/pointwise.h"
#include "headpond/dataset/dataset.h"
#include "headpond/dataset/sequence.h"
#include "headpond/engine/check/order_quality_internal.h"
#include "headpond/engine/check/tried_internal.h"
#include "headpond/engine/stages/cost_model_internal.h"
#include "headpond/engine/stages/counts/thread_usage_internal.h"
#include "headpond/tensor/buffer.h"
#include "headpond/tensor/memory_account.h"

namespace headpond::internal {
namespace {

constexpr size_t kMostErrors = 8;

// Operators on single elements above and below the window of a stream, and what they read.
struct Chain {
  std::vector<const Pointwise*> above = {}, below = {};
  Node::Ref order = {}, base = {};
};

Chain chain_of(const Node::Ref& node) {
  Chain chain{.base = node};
  while (chain.base->facts().inputs.size() == 1) {
    const Node& at = *chain.base;
    const bool is_shuffle = at.facts().op == "shuffle" && at.facts().is_of_library && at.kind() == Kind::stream;
    if (const auto* const point = dynamic_cast<const Pointwise*>(&at)) {
      auto& points = chain.order == nullptr ? chain.above : chain.below;
      points.insert(points.begin(), point);
    } else if (is_shuffle && chain.order == nullptr) {
      chain.order = chain.base;
    } else if (at.facts().role != Role::hint) {
      break;
    }
    chain.base = at.facts().inputs[0];
  }
  return chain;
}

// Whether threads share no work in it: neither it nor what it reads works on single elements.
bool is_serial(const Node& node) {
  const auto& inputs = node.facts().inputs;
  return dynamic_cast<const Pointwise*>(&node) == nullptr &&
         std::all_of(inputs.begin(), inputs.end(), [](const Node::Ref& input) { return is_serial(*input); });
}

// Returns how many ns it took, and adds to `blocked_ns` how many of them it waited for something other than a
// processor.
template <class Work>
double timed(const Work& work, double& blocked_ns) {
  const ThreadUsage usage = ThreadUsage::now();
  const int64_t began = now_ns();
  work();
  const int64_t elapsed = now_ns() - began;
  blocked_ns += use_of(usage, ThreadUsage::now(), elapsed).blocked_ns;
  return static_cast<double>(elapsed);
}

// Copies of large elements, as the first batches of so many rows have them: in memory that the system has yet to give.
class FirstCopies {
 public:
  explicit FirstCopies(int64_t rows) : rows_(rows) {}

  void add(const Element& element, Tried& tried) {
    constexpr int64_t kLarge = 4096;
    int64_t bytes = 0;
    for (size_t i = 0; i < element.size(); ++i) bytes += static_cast<int64_t>(element[i].byte_size());
    if (rows_ < 2 || bytes < kLarge || (bytes > left_ && !begin_batch(bytes))) return;
    const int64_t began = ThreadUsage::now().cpu_ns;
    for (size_t i = 0; i < element.size(); ++i) to_ = std::copy_n(element[i].data(), element[i].byte_size(), to_);
    tried.copy_ns += static_cast<double>(ThreadUsage::now().cpu_ns - began);
    ++tried.copied;
    left_ -= bytes;
  }

 private:
  // What one has is kept: memory that was freed would be used again.
  bool begin_batch(int64_t row_bytes) {
    const int64_t most = kMostBytes - bytes_;
    if (row_bytes > most) return false;
    left_ = row_bytes > most / rows_ ? most : row_bytes * rows_;
    bytes_ += left_;
    to_ = batches_.emplace_back(Tensor::empty(DType::u8, {left_}, pool_)).mutable_data();
    return true;
  }

  static constexpr int64_t kMostBytes = 32 << 20;
  const int64_t rows_;
  BufferPool pool_{0};
  std::vector<Tensor> batches_;
  std::byte* to_ = nullptr;
  int64_t left_ = 0, bytes_ = 0;  // Of the last batch, and of all.
};

// One of each of `parts` equal parts of the positions, drawn by a fixed seed. Equal distances would be in step with
// data that has a period.
class SpreadPositions {
 public:
  SpreadPositions(int64_t slots, int64_t parts) : size_(slots / parts), rest_(slots % parts) {}
  // REQUIRES: called for 0, 1, ... in order.
  int64_t next_in(int64_t part) {
    const int64_t size = size_ + (part < rest_ ? 1 : 0);
    return part * size_ + std::min(part, rest_) + static_cast<int64_t>(random_.below(static_cast<uint64_t>(size)));
  }

 private:
  const int64_t size_, rest_;  // The first `rest_` parts have one more.
  Random random_{uint64_t{0}};
};

Tried try_positions(const Node& node, uint64_t seed, int64_t count, int64_t rows) {
  Tried tried;
  const int64_t slots = node.slots(), last = std::min(count, slots);
  if (last < 1) return tried;
  SpreadPositions positions(slots, last);
  const auto view = view_of(node, {.seed = seed, .epoch = 0});
  Context context;
  FirstCopies copies(rows);
  for (int64_t i = 0; i < last; ++i) {
    stop_if_interrupted();
    const int64_t position = slots == kEndless ? i : positions.next_in(i);
    Element element;
    Got got = Got::hole;
    const double ns = timed([&] { got = ask(*view, position, context, {}, element); }, tried.blocked_ns);
    tried.ns += ns;
    tried.times_ns.push_back(ns);
    ++tried.asked;
    tried.holes += got == Got::hole ? 1 : 0;
    if (got == Got::error) tried.add_error(context.error);
    if (got != Got::value) continue;
    tried.add(element);
    copies.add(element, tried);
  }
  return tried;
}

// The elements of a source, and what the operators make of them one by one.
class Stream {
 public:
  Stream(const Node::Ref& node, uint64_t seed, int64_t rows)
      : chain_(chain_of(node)), seed_(seed), sequence_(Dataset(chain_.base), {.seed = seed}), copies_(rows) {
    if (chain_.order == nullptr) return;
    tried_.window = chain_.order->facts().holds / 2;
    tried_.order = chain_.order;
    tried_.seed = seed;
  }

  Tried first(int64_t count) {
    while (tried_.asked < count && try_next()) stop_if_interrupted();
    tried_.ns += tried_.below_ns;
    return tried_;
  }

 private:
  bool try_next() {
    Result<Element> element;
    const double before_ns = tried_.ns + tried_.below_ns;
    double source_blocked_ns = 0;
    const double ns = timed([&] { element = sequence_.next(); }, source_blocked_ns);
    if (at_end(element)) {
      tried_.is_all = true;
      return false;
    }
    ++tried_.asked;
    tried_.below_ns += ns;
    (is_serial_ ? tried_.source_ns : tried_.blocked_ns) += is_serial_ ? ns : source_blocked_ns;
    Got got = Got::value;
    if (!element) {
      tried_.add_error(element.error());
      return true;
    }
    tried_.below_ns += timed([&] { got = apply(chain_.below, *element); }, tried_.blocked_ns);
    tried_.holes_below += got == Got::hole ? 1 : 0;
    if (got == Got::value) tried_.ns += timed([&] { got = apply(chain_.above, *element); }, tried_.blocked_ns);
    tried_.times_ns.push_back(tried_.ns + tried_.below_ns - before_ns);
    if (got == Got::value) {
      tried_.add(*element);
      copies_.add(*element, tried_);
    }
    if (got == Got::error) tried_.add_error(context_.error);
    tried_.holes += got == Got::hole ? 1 : 0;
    return true;
  }

  Got apply(const std::vector<const Pointwise*>& points, Element& element) {
    Got got = Got::value;
    for (const Pointwise* const point : points) {
      Element out;
      got = point->run(element, point->keys_of({.seed = seed_, .epoch = 0}), context_, {}, out);
      element = std::move(out);
      if (got != Got::value) break;
    }
    return got;
  }

  const Chain chain_;
  const bool is_serial_ = is_serial(*chain_.base);
  const uint64_t seed_;
  Sequence sequence_;
  Context context_;
  Tried tried_;
  FirstCopies copies_;
};

}  // namespace

void stop_if_interrupted() {
  if (look_for_interrupt()) throw Exception(Error(ErrorKind::Cancelled, "check: it was interrupted"));
}

void Tried::add(const Element& element) {
  int64_t values = 0, blocks = 0;
  for (size_t i = 0; i < element.size(); ++i) {
    const auto bytes = static_cast<int64_t>(element[i].byte_size());
    values += bytes;
    if (element[i].owner() != nullptr) blocks += block_bytes(bytes);
  }
  largest = std::max(largest, blocks);
  most_values = std::max(most_values, values);
}

double Tried::usual_ns() const {
  std::vector<double> sorted = times_ns;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return middle != sorted.end() ? *middle : 0;
}

void Tried::add_error(const Error& error) {
  ++failed;
  if (errors.size() < kMostErrors) errors.push_back(error.to_string());
}

// The k-th element that is read waits for k + a number from 0 to 2 windows. So after r of them r^2 / (4 windows) were
// given, and after two windows all but one window.
double read_for(double given, int64_t window) {
  const auto held = static_cast<double>(window);
  return given < held ? 2 * std::sqrt(held * given) : given + held;
}

// The first elements that are given depend on a few draws, so the run's own ones count.
double Tried::read_by_window(double given) const {
  constexpr double kMostRead = 200'000;
  if (order == nullptr) return given;
  const double about = read_for(given, window);
  return about > kMostRead ? about : static_cast<double>(read_by_order(*order, seed, std::llround(std::ceil(given))));
}

double Tried::seconds_for(int64_t count, const Workers& workers) const {
  const double tries = static_cast<double>(asked), passed = std::max(tries - static_cast<double>(holes), 1.0);
  const auto wanted = static_cast<double>(count);
  const double below = std::max(tries - static_cast<double>(holes_below), 1.0);  // Reach the window.
  const double given = wanted * below / passed;                                  // By the window.
  const double all = is_all ? tries : std::numeric_limits<double>::infinity();
  const double read = std::min(read_by_window(given) * tries / below, all);
  const double above_ns = (ns - below_ns) * wanted / passed;
  return 1e-9 * std::max(source_ns / tries * read, on_threads_ns(below_ns / tries * read + above_ns, workers));
}

double Tried::seconds_to_ask(int64_t count, const Workers& workers) const {
  return 1e-9 * on_threads_ns(element_ns() * static_cast<double>(count), workers);
}

double Tried::copy_seconds(int64_t count, int threads) const {
  if (copied == 0) return 0;
  return 1e-9 * copy_ns / static_cast<double>(copied) * static_cast<double>(count) / std::max(threads, 1);
}

// Many elements that wait may do so at once. Waits that nobody declared are seen after a few long tasks: CostModel.
double Tried::on_threads_ns(double work_ns, const Workers& workers) const {
  const double threads = std::max(workers.threads, 1), each_ns = element_ns();
  const bool is_seen = workers.are_waits_detected && each_ns > 2 * CostModel::kTaskNs && blocked_ns > ns / 2;
  if (workers.io_threads < 1 || work_ns <= 0 || !(workers.are_waits_declared || is_seen)) return work_ns / threads;
  const double elements = std::max(work_ns / each_ns, 1.0), wait_ns = blocked_ns / ns * work_ns / elements;
  const double before = workers.are_waits_declared ? 0 : std::min(elements, double{CostModel::kTasksSeen});
  const double rounds = std::max((elements - before) / workers.io_threads, elements > before ? 1.0 : 0.0);
  return std::max((work_ns - wait_ns * elements) / threads, wait_ns * (before / threads + rounds));
}

Tried try_elements(const Node::Ref& node, uint64_t seed, int64_t count, int64_t rows) {
  const bool has_positions = node->kind() != Kind::stream && !node->iterates();
  return has_positions ? try_positions(*node, seed, count, rows) : Stream(node, seed, rows).first(count);
}

}  // namespace headpond::internal
