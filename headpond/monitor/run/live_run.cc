// SPDX-License-Identifier: Apache-2.0
#include "headpond/monitor/run/live_run.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "headpond/io/file/file.h"
#include "headpond/monitor/run/live_socket_internal.h"
#include "headpond/monitor/run/record_lines_internal.h"

namespace headpond {

Result<LiveRun> LiveRun::connect(const std::string& folder) {
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket < 0) return fail(file_error("connect", folder + "/live.sock", errno));
  LiveRun live(socket);
  const auto connect_to = [socket](const void* address, unsigned length) {
    return ::connect(socket, static_cast<const sockaddr*>(address), length);
  };
  if (internal::with_live_address(folder, connect_to) != 0)
    return fail(file_error("connect", folder + "/live.sock", errno));
  return live;
}

LiveRun::~LiveRun() {
  if (socket_ >= 0) ::close(socket_);
}

Result<void> LiveRun::read(RunRecord& run, std::chrono::milliseconds wait) {
  pollfd ready{.fd = socket_, .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, static_cast<int>(wait.count())) <= 0) return {};
  std::array<char, 1 << 16> piece = {};
  while (true) {
    const ssize_t count = ::recv(socket_, piece.data(), piece.size(), MSG_DONTWAIT);
    if (count < 0) return {};  // No more now.
    if (count == 0) return fail(ErrorKind::OutOfRange, "the run has ended");
    rest_.append(piece.data(), static_cast<size_t>(count));
    size_t from = 0;
    for (size_t end = rest_.find('\n'); end != std::string::npos; end = rest_.find('\n', from)) {
      HEADPOND_TRY(internal::add_line(std::string_view(rest_).substr(from, end - from), run));
      from = end + 1;
    }
    rest_.erase(0, from);
  }
}

}  // namespace headpond
