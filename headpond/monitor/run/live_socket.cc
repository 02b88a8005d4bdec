// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "headpond/io/file/file.h"
#include "headpond/monitor/run/live_socket_internal.h"

namespace headpond::internal {
namespace {

constexpr int kMostWaiting = 16;
constexpr size_t kMostClients = 32, kMostUnsent = 1 << 20;

std::string path_in(const std::string& folder) { return folder + "/live.sock"; }

// The inode of the socket's file; 0: there is no such file.
uint64_t socket_in(const std::string& folder) {
  struct stat there {};
  return ::lstat(path_in(folder).c_str(), &there) == 0 && S_ISSOCK(there.st_mode) ? there.st_ino : 0;
}

}  // namespace

// An address has 108 bytes; through the folder's descriptor it is always short.
int with_live_address(const std::string& folder, const std::function<int(const void*, unsigned)>& use) {
  const int directory = ::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (directory < 0) return -1;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = fmt::format("/proc/self/fd/{}/live.sock", directory);
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const int done = use(&address, sizeof(address));
  const int error_number = errno;
  ::close(directory);
  errno = error_number;
  return done;
}

Result<std::unique_ptr<LiveSocket>> LiveSocket::open(const std::string& folder) {
  const std::string path = path_in(folder);
  if (socket_in(folder) != 0) ::unlink(path.c_str());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (socket < 0) return fail(file_error("make the socket", path, errno));
  std::unique_ptr<LiveSocket> made(new LiveSocket(folder, socket));
  ::fchmod(socket, S_IRUSR | S_IWUSR);  // The file has its mode from the beginning.
  const auto bind_to = [socket](const void* address, unsigned length) {
    return ::bind(socket, static_cast<const sockaddr*>(address), length);
  };
  if (with_live_address(folder, bind_to) != 0 || ::listen(socket, kMostWaiting) != 0)
    return fail(file_error("make the socket", path, errno));
  made->inode_ = socket_in(folder);
  return made;
}

LiveSocket::~LiveSocket() {
  for (const Client& client : clients_) ::close(client.socket);
  if (inode_ != 0 && socket_in(folder_) == inode_) ::unlink(path_in(folder_).c_str());
  ::close(socket_);
}

// False: nobody is there any more, or reads.
bool LiveSocket::send_rest(Client& client) {
  while (!client.unsent.empty()) {
    const ssize_t sent = ::send(client.socket, client.unsent.data(), client.unsent.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0) return (errno == EAGAIN || errno == EWOULDBLOCK) && client.unsent.size() <= client.most_unsent;
    client.unsent.erase(0, static_cast<size_t>(sent));
  }
  return true;
}

void LiveSocket::welcome(const std::function<std::string()>& greeting) {
  send("");  // What was kept.
  std::string text;
  for (int socket = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); socket >= 0;
       socket = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC)) {
    if (text.empty()) text = greeting();
    Client client{.socket = socket, .unsent = text, .most_unsent = text.size() + kMostUnsent};
    if (clients_.size() < kMostClients && send_rest(client)) {
      clients_.push_back(std::move(client));
    } else {
      ::close(socket);
    }
  }
}

void LiveSocket::send(std::string_view line) {
  std::erase_if(clients_, [line](Client& client) {
    client.unsent.append(line);
    if (send_rest(client)) return false;
    ::close(client.socket);
    return true;
  });
}

}  // namespace headpond::internal
