// SPDX-License-Identifier: Apache-2.0
#include "twin/line_server.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace meridian {

void LineServer::receive(Client& client) {
  std::array<char, 4096> buffer;
  for (;;) {
    const auto count = ::recv(client.socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (count > 0) {
      client.input_.append(buffer.data(), static_cast<std::size_t>(count));
      if (client.input_.size() <= longest_line) continue;
    } else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
      client.over_ = true;
    }
    break;
  }
  std::size_t from = 0;
  for (auto end = client.input_.find('\n'); end != std::string::npos; end = client.input_.find('\n', from)) {
    const std::string line = client.input_.substr(from, end - from);
    from = end + 1;
    if (!line.empty()) client.send(answer_(client, line));
  }
  client.input_.erase(0, from);
  if (client.input_.size() > longest_line) client.over_ = true;
}

bool LineServer::has_news() const {
  std::vector<pollfd> watched{{listener_.get(), POLLIN, 0}};
  for (const Client& client : clients_) {
    if (!client.output_.empty()) return true;
    watched.push_back({client.socket_.get(), POLLIN, 0});
  }
  return ::poll(watched.data(), watched.size(), 0) > 0;
}

void LineServer::poll() {
  // To accept nobody costs the kernel a new socket each time.
  if (!has_news()) return;
  while (Descriptor socket = listener_.accept()) clients_.emplace_back(std::move(socket));
  for (Client& client : clients_) {
    receive(client);
    if (client.output_.size() > output_limit) client.over_ = true;
    if (client.output_.empty()) continue;
    const auto sent =
        ::send(client.socket_.get(), client.output_.data(), client.output_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0)
      client.output_.erase(0, static_cast<std::size_t>(sent));
    else if (sent < 0 && errno != EAGAIN && errno != EINTR)
      client.over_ = true;
  }
  clients_.remove_if([](const Client& client) { return client.over_; });
}

void LineServer::publish(const std::string& line) {
  for (Client& client : clients_)
    if (client.subscribed) client.send(line);
}

bool LineServer::has_subscriber() const {
  return std::any_of(clients_.begin(), clients_.end(), [](const Client& client) { return client.subscribed; });
}

void LineServer::add_descriptors(std::vector<int>& descriptors) const {
  descriptors.push_back(listener_.get());
  for (const Client& client : clients_) descriptors.push_back(client.socket_.get());
}

}  // namespace meridian
