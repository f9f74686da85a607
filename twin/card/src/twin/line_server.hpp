// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "link/descriptor.hpp"
#include "link/listener.hpp"

namespace meridian {

/// Lines of text over a UNIX stream socket: each line in is answered by one line out, and others may be sent at any
/// time. Nothing here blocks; a client that sends a line without end or does not read is dropped.
class LineServer {
 public:
  static constexpr std::size_t longest_line = 65536;
  static constexpr std::size_t output_limit = std::size_t{16} << 20;

  class Client {
   public:
    explicit Client(Descriptor socket) : socket_(std::move(socket)) {}
    void send(const std::string& line) { output_ += line + '\n'; }
    bool subscribed = false;

   private:
    friend class LineServer;
    Descriptor socket_;
    std::string input_, output_;
    bool over_ = false;
  };

  using Answer = std::function<std::string(Client& client, const std::string& line)>;

  LineServer(const std::filesystem::path& socket, Answer answer) : listener_(socket), answer_(std::move(answer)) {}

  void poll();

  /// To all who have subscribed.
  void publish(const std::string& line);
  bool has_subscriber() const;

  /// To wait on for something to read.
  void add_descriptors(std::vector<int>& descriptors) const;

 private:
  bool has_news() const;
  void receive(Client& client);

  Listener listener_;
  Answer answer_;
  std::list<Client> clients_;
};

}  // namespace meridian
