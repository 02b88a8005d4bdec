// SPDX-License-Identifier: Apache-2.0
// Whether calls that run at the same time disturb each other, as the times say that they took.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace headpond::internal {

/// How the mean time of a call follows from the number of calls at once: time ~ number ^ exponent. About 0: they do not
/// disturb each other. About 1: they share one thing, a disk or a lock.
///
/// The mean time is Little's: calls at once x time / calls that ended. What calls say when they end is not enough: of
/// two threads one may take a lock again and again, until it has nothing left to do. The other's call waits all that
/// time and ends when no other call runs, so its time would count as that of a call alone.
class Crowding {
 public:
  /// A call that made `rows` rows has ended. Until then `inside` calls ran, itself included.
  void add(int64_t began_ns, int64_t ended_ns, int64_t inside, int64_t rows) {
    const int64_t since_ns = none_inside_ ? std::max(began_ns, until_ns_) : until_ns_;
    const auto passed_ns = static_cast<double>(std::max(ended_ns - since_ns, int64_t{0}));
    until_ns_ = std::max(ended_ns, until_ns_);
    none_inside_ = inside == 1;
    now_.ns += passed_ns;
    now_.inside_ns += passed_ns * static_cast<double>(inside);
    now_.rows += static_cast<double>(rows);
    if (++now_.calls < std::max(kLeastOfPoint, 2 * inside)) return;
    add_point(std::exchange(now_, {}));
  }
  /// The last few calls are not compared, as their number changes.
  void drop_last() { now_ = {}; }
  /// The last task that ran has ended, and is none of those that are compared.
  void none_left(int64_t ended_ns) {
    until_ns_ = std::max(ended_ns, until_ns_);
    none_inside_ = true;
  }
  /// None until the numbers differed enough to tell: so much that the standard error is small. A number of calls that
  /// was there all the time weighs little more than those on the way to it.
  std::optional<double> exponent() const {
    double count = 0, n = 0, x = 0, y = 0, xx = 0, xy = 0;
    for (const Level& level : levels_) {
      if (level.points == 0) continue;
      const double weight = level.weight(), at = level.at(), is = level.is();
      count += level.count;
      n += weight;
      x += weight * at;
      y += weight * is;
      xx += weight * at * at;
      xy += weight * at * is;
    }
    if (count < kLeastCalls) return std::nullopt;
    const double spread = xx / n - (x / n) * (x / n);
    if (spread < kLeastSpread || variance(x / n, n * spread) > kMostError * kMostError) return std::nullopt;
    return (xy / n - (x / n) * (y / n)) / spread;
  }

 private:
  // Some calls that ended one after the other: the time, the same times the calls inside, and their rows.
  struct Point {
    double ns = 0, inside_ns = 0, rows = 0;
    int64_t calls = 0;
  };
  struct Level {
    double count = 0, x = 0;  // Calls; the sum of the logarithms of their numbers.
    double inside_ns = 0, rows = 0;
    double points = 0, y = 0, yy = 0;  // The sums of the logarithms of times, and of their squares.

    double weight() const { return std::min(count, kMostWeight); }
    double at() const { return x / count; }
    double is() const { return std::log2(std::max(inside_ns / rows, 1.0)); }
    // The calls in progress when its first one began, and when its last one ended, count as whole ones or not at all.
    double edge() const { return 1.44 * std::exp2(at()) / count; }
  };
  // The exponent's variance, as the points of one level differ; endless if too few do to tell. `middle`: the mean of
  // at(); `square`: what they are off from it, squared and added up.
  double variance(double middle, double square) const {
    double off = 0, many = 0, by_points = 0, by_edges = 0;
    for (const Level& level : levels_) {
      if (level.points == 0) continue;
      off += std::max(level.yy - level.y * level.y / level.points, 0.0);
      many += level.points - 1;
      const double pull = level.weight() * (level.at() - middle) / square;
      by_points += pull * pull / level.points;
      by_edges += pull * pull * level.edge() * level.edge() / 3;
    }
    return many < kLeastFreedom ? HUGE_VAL : by_edges + by_points * off / many;
  }
  void add_point(const Point& point) {
    if (point.ns <= 0 || point.rows <= 0) return;
    const auto calls = static_cast<double>(point.calls);
    const double x = std::log2(std::max(point.inside_ns / point.ns, 1.0));
    Level& level = levels_[std::min(static_cast<size_t>(2 * x), kLevels - 1)];
    level.count += calls;
    level.x += calls * x;
    level.inside_ns += point.inside_ns;
    level.rows += point.rows;
    const double y = std::log2(std::max(point.inside_ns / point.rows, 1.0));
    ++level.points;
    level.y += y;
    level.yy += y * y;
  }

  static constexpr size_t kLevels = 24;  // Two for each doubling.
  static constexpr int64_t kLeastOfPoint = 4;
  static constexpr double kLeastCalls = 64, kLeastSpread = 0.02, kMostWeight = 16, kMostError = 0.15, kLeastFreedom = 3;
  int64_t until_ns_ = 0;
  bool none_inside_ = true;  // Since until_ns_.
  Point now_;
  std::array<Level, kLevels> levels_ = {};
};

}  // namespace headpond::internal
