// SPDX-License-Identifier: Apache-2.0
#include "cli/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string_view>
#include <utility>

#include "cli/flags.h"
#include "headpond/base/mutex.h"
#include "headpond/base/status.h"
#include "headpond/base/thread.h"

namespace headpond::cli {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM};

std::atomic<int> g_signals = 0;  // Since the Interrupt was constructed.
std::atomic<int> g_event = -1;   // What the handler writes to.

void on_signal(int) {
  const int before = errno;
  if (g_signals.fetch_add(1) > 0) _exit(kInterrupted);
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(g_event, &one, sizeof(one));
  errno = before;
}

}  // namespace

struct Interrupt::State {
  // Libraries start threads before main, and the system may deliver the signal to any thread. So a handler wakes this
  // thread; a signal mask would not be enough.
  void watch() {
    await(-1);
    if (done) return;
    source.request_stop();
    await(static_cast<int>(grace.count()));
    if (done) return;
    MutexLock lock(mu);
    if (words) words();
    constexpr std::string_view kText = "headpond: interrupted\n";
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, kText.data(), kText.size());
    _exit(kInterrupted);
  }
  void await(int milliseconds) const {
    pollfd ready{.fd = event, .events = POLLIN, .revents = 0};
    int found = 0;
    do found = poll(&ready, 1, milliseconds);
    while (found < 0 && errno == EINTR);
    uint64_t count = 0;
    if (found > 0) [[maybe_unused]]
      const ssize_t got = read(event, &count, sizeof(count));
  }

  std::chrono::milliseconds grace;
  int event = -1;
  std::stop_source source;
  std::atomic<bool> done = false;
  std::array<struct sigaction, kSignals.size()> before{};
  Mutex mu;
  std::function<void()> words HEADPOND_GUARDED_BY(mu);
  Thread thread;
};

Interrupt::Interrupt(std::chrono::milliseconds grace) : state_(std::make_unique<State>()) {
  state_->grace = grace;
  state_->event = eventfd(0, EFD_CLOEXEC);
  if (state_->event < 0) throw Exception(Error(ErrorKind::ResourceExhausted, "no descriptor is left for signals"));
  g_signals = 0;
  g_event = state_->event;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &action, &state_->before[i]);
  state_->thread = Thread("interrupt", [state = state_.get()] { state->watch(); });
}

Interrupt::~Interrupt() {
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &state_->before[i], nullptr);
  state_->done = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(state_->event, &one, sizeof(one));
  state_->thread.join();
  g_event = -1;
  close(state_->event);
}

std::stop_token Interrupt::token() const { return state_->source.get_token(); }

void Interrupt::set_last_words(std::function<void()> words) {
  MutexLock lock(state_->mu);
  state_->words = std::move(words);
}

}  // namespace headpond::cli
