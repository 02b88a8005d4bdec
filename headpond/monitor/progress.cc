// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace headpond {
namespace {

constexpr double kSmoothing = 0.3;
constexpr double kSecond = 1e9;
constexpr int64_t kDefaultCells = 10;
constexpr int64_t kLongestInterval = 360'000'000;  // Seconds; what is longer is shown as unknown.

bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

size_t width_of(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::string_view cut_to(std::string_view text, size_t columns) {
  size_t width = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (starts_character(text[i]) && width++ == columns) return text.substr(0, i);
  }
  return text;
}

std::string format_interval(double seconds) {
  if (!(seconds < static_cast<double>(kLongestInterval))) return "?";
  const auto whole = static_cast<int64_t>(std::max(seconds, 0.0));
  const int64_t hours = whole / 3600;
  const int64_t minutes = whole / 60 % 60;
  return hours > 0 ? fmt::format("{}:{:02}:{:02}", hours, minutes, whole % 60)
                   : fmt::format("{:02}:{:02}", minutes, whole % 60);
}

std::string format_rate(double rate) {
  if (!(rate > 0)) return "?it/s";
  return rate < 1 ? fmt::format("{:5.2f}s/it", 1 / rate) : fmt::format("{:5.2f}it/s", rate);
}

std::string format_values(const std::vector<ProgressValue>& values) {
  std::string text;
  for (const ProgressValue& item : values) {
    const bool whole = std::abs(item.value) < 1e6 && item.value == std::floor(item.value);
    text +=
        whole ? fmt::format(", {}={:.0f}", item.name, item.value) : fmt::format(", {}={:.3g}", item.name, item.value);
  }
  return text;
}

std::string format_bar(double fraction, int64_t cells) {
  static constexpr std::array<std::string_view, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto filled = static_cast<int64_t>(fraction * static_cast<double>(cells * 8));
  std::string bar;
  for (int64_t i = 0; i < filled / 8; ++i) bar += "█";
  bar += kEighths.at(static_cast<size_t>(filled % 8));
  bar.append(static_cast<size_t>(cells - filled / 8 - (filled % 8 > 0 ? 1 : 0)), ' ');
  return bar;
}

bool stderr_is_terminal() {
  const char* const kind = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (kind == nullptr || std::string_view(kind) != "dumb");
}

int stderr_columns() {
  winsize size = {};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void to_stderr(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

ProgressOptions with_defaults(ProgressOptions options) {
  if (!options.sink) options.sink = to_stderr;
  return options;
}

}  // namespace

std::string format_progress(const ProgressLine& line, int columns) {
  const std::string prefix = line.description.empty() ? "" : line.description + ": ";
  const std::string elapsed = format_interval(line.elapsed_s);
  const std::string rate =
      format_rate(line.rate) + format_values(line.values) + (line.note.empty() ? "" : ", " + line.note);
  const auto limit = static_cast<size_t>(columns > 0 ? columns : INT32_MAX);
  if (line.total < 1 || line.done > line.total) {
    return std::string(cut_to(fmt::format("{}{}it [{}, {}]", prefix, line.done, elapsed, rate), limit));
  }
  const double fraction = static_cast<double>(line.done) / static_cast<double>(line.total);
  const std::string remaining =
      line.rate > 0 ? format_interval(static_cast<double>(line.total - line.done) / line.rate) : "?";
  const std::string left = fmt::format("{}{:3.0f}%|", prefix, fraction * 100);
  const std::string right = fmt::format("| {}/{} [{}<{}, {}]", line.done, line.total, elapsed, remaining, rate);
  const auto taken = static_cast<int64_t>(width_of(left) + width_of(right));
  const int64_t cells = columns > 0 ? std::max<int64_t>(columns - taken, 1) : kDefaultCells;
  return std::string(cut_to(left + format_bar(fraction, cells) + right, limit));
}

std::string progress_note(const Verdict& verdict) {
  std::string note = fmt::format("wait={:.0f}%", 100 * verdict.wait_share);
  if (verdict.code == ReasonCode::none) return note;
  note += fmt::format(", {}", to_string(verdict.code));
  return verdict.op.empty() ? note : note + ":" + verdict.op;
}

Progress::Progress(ProgressOptions options)
    : options_(with_defaults(std::move(options))),
      terminal_(options_.terminal.value_or(stderr_is_terminal())),
      interval_ns_(std::chrono::nanoseconds(terminal_ ? options_.redraw_every : options_.line_every).count()),
      start_ns_(options_.clock()),
      open_(options_.enabled),
      drawn_ns_(start_ns_),
      noted_ns_(start_ns_) {
  if (open_ && terminal_) draw(start_ns_, 0, false);
}

void Progress::update(int64_t count) {
  done_ += count;
  if (!open_) return;
  const int64_t now = options_.clock();
  if (now - drawn_ns_ < interval_ns_) return;
  const auto newest = static_cast<double>(done_ - drawn_done_);
  mean_count_ = kSmoothing * newest + (1 - kSmoothing) * mean_count_;
  mean_s_ = kSmoothing * static_cast<double>(now - drawn_ns_) / kSecond + (1 - kSmoothing) * mean_s_;
  drawn_ns_ = now;
  drawn_done_ = done_;
  draw(now, mean_s_ > 0 ? mean_count_ / mean_s_ : 0, false);
}

void Progress::close() {
  if (!open_) return;
  open_ = false;
  const int64_t now = options_.clock();
  draw(now, now > start_ns_ ? static_cast<double>(done_) / (static_cast<double>(now - start_ns_) / kSecond) : 0, true);
}

void Progress::draw(int64_t now, double rate, bool last) {
  if (options_.note && (last || static_cast<double>(now - noted_ns_) >= kSecond)) {
    note_ = options_.note();
    noted_ns_ = now;
  }
  const double elapsed_s = static_cast<double>(now - start_ns_) / kSecond;
  const ProgressLine line = {options_.description, done_, options_.total, elapsed_s, rate, values_, note_};
  if (!terminal_) {
    options_.sink(format_progress(line, options_.columns) + "\n");
    return;
  }
  std::string text = format_progress(line, options_.columns > 0 ? options_.columns : stderr_columns());
  const size_t width = width_of(text);
  text.append(drawn_width_ > width ? drawn_width_ - width : 0, ' ');  // Over what stood there.
  drawn_width_ = width;
  options_.sink("\r" + text + (last ? "\n" : ""));
}

}  // namespace headpond
