// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "headpond/dataset/ops/element/failure_limits_internal.h"

namespace headpond::internal {
namespace {

constexpr int64_t kMostWindow = 1'000'000'000;
constexpr int64_t kMostInWindow = 1'000;  // A state lists them, with up to 5 bytes each.
constexpr int64_t kMostInARow = 1'000;
constexpr int64_t kNever = 0;
constexpr size_t kMostText = 200;

const Error& innermost(const Error& error) {
  const Error* inner = &error;
  while (inner->cause() != nullptr) inner = inner->cause();
  return *inner;
}

// The text with each number as '#': records of one file fail with texts that differ in numbers alone.
std::string without_numbers(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit) plain += c;
    if (is_digit && (plain.empty() || plain.back() != '#')) plain += '#';
    if (plain.size() == kMostText) break;
  }
  return plain;
}

// How many failures may be in a window; below 0: any number.
int64_t allowed(const OnErrorOptions& options) {
  if (options.max_error_share >= 1 || options.policy == OnErrorPolicy::fail) return -1;
  const auto window = static_cast<double>(options.window);
  const double most = std::floor(options.max_error_share * window);
  // 0.29 * 100 is a little below 29, but 29 of 100 is the share 0.29.
  return static_cast<int64_t>((most + 1) / window <= options.max_error_share ? most + 1 : most);
}

[[noreturn]] void refuse_limit(const std::string& what) { refuse("on_error", what); }

}  // namespace

void FailureStreak::add(const Error& error) {
  const Error& cause = innermost(error);
  const std::string text = without_numbers(cause.message());
  if (count_++ == 0) {
    kind_ = cause.kind();
    text_ = text;
  }
  one_kind_ = one_kind_ && cause.kind() == kind_;
  one_text_ = one_text_ && text == text_;
}

std::string FailureStreak::common_cause() const {
  if (one_kind_ && one_text_) return fmt::format("all with {}: '{}'", to_string(kind_), text_);
  return one_kind_ ? fmt::format("all with {}", to_string(kind_)) : "with errors of several kinds";
}

void FailureStreak::visit_state(StateVisitor& visitor, int64_t most) {
  visitor.number_within(count_, 0, most);
  if (count_ == 0) return;
  auto kind = static_cast<int64_t>(kind_);
  visitor.number_within(kind, 0, static_cast<int64_t>(ErrorKind::Unknown));
  kind_ = static_cast<ErrorKind>(kind);
  visitor.number(one_kind_);
  visitor.number(one_text_);
  visitor.text(text_);
}

FailureLimits::FailureLimits(const OnErrorOptions& options)
    : max_errors_(options.policy == OnErrorPolicy::fail ? -1 : options.max_errors),
      window_(options.window),
      give_up_after_(options.policy == OnErrorPolicy::fail ? kNever : options.give_up_after),
      max_in_window_(allowed(options)) {}

std::string FailureLimits::count_bad(const Error& error) {
  const int64_t number = elements_++;
  ++errors_;
  if (give_up_after_ != kNever) streak_.add(error);
  if (max_in_window_ >= 0) in_window_.push_back(number);
  forget_old();
  return exceeded();
}

std::string FailureLimits::exceeded() const {
  if (give_up_after_ != kNever && streak_.count() >= give_up_after_)
    return fmt::format("{} elements in a row failed, {}", streak_.count(), streak_.common_cause());
  if (max_errors_ >= 0 && errors_ > max_errors_)
    return fmt::format("{} element{} failed, max_errors={}", errors_, errors_ == 1 ? "" : "s", max_errors_);
  if (max_in_window_ < 0 || std::cmp_less_equal(in_window_.size(), max_in_window_)) return "";
  return fmt::format("{} of the last {} elements failed, max_error_share allows {} of {}", in_window_.size(),
                     std::min(window_, elements_), max_in_window_, window_);
}

void FailureLimits::forget_old() {
  while (!in_window_.empty() && in_window_.front() < elements_ - window_) in_window_.pop_front();
}

void FailureLimits::visit_state(StateVisitor& visitor) {
  forget_old();
  visitor.number_within(elements_, 0, kEndless);
  visitor.number_within(errors_, 0, elements_);
  streak_.visit_state(visitor, std::min(errors_, give_up_after_));
  auto count = static_cast<int64_t>(in_window_.size());
  visitor.number_within(count, 0, std::min(errors_, max_in_window_ + 1));
  if (visitor.is_restoring()) in_window_.assign(static_cast<size_t>(count), 0);
  int64_t before = std::max<int64_t>(elements_ - window_, 0) - 1;
  for (int64_t& number : in_window_) {
    int64_t step = number - before;
    visitor.number_within(step, 1, elements_ - 1 - before);
    if (!visitor.ok()) return;
    number = before += step;
  }
}

bool is_bad_data(const Error& error) {
  switch (error.kind()) {
    case ErrorKind::Cancelled:
    case ErrorKind::DeadlineExceeded:
    case ErrorKind::FailedPrecondition:
      return false;
    default:
      return !error.is_transient();
  }
}

void check_limits(const OnErrorOptions& options) {
  if (!(options.max_error_share >= 0 && options.max_error_share <= 1))
    refuse_limit(fmt::format("max_error_share={}: must be 0 to 1", options.max_error_share));
  if (options.window < 1 || options.window > kMostWindow)
    refuse_limit(fmt::format("window={}: must be 1 to {}", options.window, kMostWindow));
  if (options.give_up_after < 1 || options.give_up_after > kMostInARow)
    refuse_limit(fmt::format("give_up_after={}: must be 1 to {}", options.give_up_after, kMostInARow));
  if (allowed(options) > kMostInWindow) {
    refuse_limit(fmt::format("max_error_share={} of window={} allows {} failures, of which a state has room for {}",
                             options.max_error_share, options.window, allowed(options), kMostInWindow));
  }
}

}  // namespace headpond::internal
