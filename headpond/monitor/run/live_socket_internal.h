// SPDX-License-Identifier: Apache-2.0
// The run's end of live.sock.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "headpond/base/status.h"

namespace headpond::internal {

/// Calls `use` with an address of `folder`/live.sock, however long that path is. Returns what it returns, or -1 with
/// errno where there is no folder.
int with_live_address(const std::string& folder, const std::function<int(const void* address, unsigned length)>& use);

/// Sends lines to the connected clients. It never waits: what does not fit into the system's buffer is kept for the
/// next call. A client that doesn't read is disconnected once more than 1 MiB besides the greeting is kept for it; it
/// may connect again. One thread at a time.
class LiveSocket {
 public:
  /// Takes the place of a socket that a killed run left. Only the user's own processes may connect.
  static Result<std::unique_ptr<LiveSocket>> open(const std::string& folder);
  /// Removes it.
  ~LiveSocket();
  LiveSocket(const LiveSocket&) = delete;
  LiveSocket& operator=(const LiveSocket&) = delete;

  /// Sends `greeting()`, called at most once, to clients that have connected since the last call. The others get what
  /// was kept for them.
  void welcome(const std::function<std::string()>& greeting);
  void send(std::string_view line);

 private:
  LiveSocket(std::string folder, int socket) : folder_(std::move(folder)), socket_(socket) {}
  const std::string folder_;
  const int socket_;
  uint64_t inode_ = 0;  // The file's: a later run may have taken its place.
  struct Client {
    int socket;
    std::string unsent;
    size_t most_unsent;
  };
  static bool send_rest(Client& client);
  std::vector<Client> clients_;
};

}  // namespace headpond::internal
