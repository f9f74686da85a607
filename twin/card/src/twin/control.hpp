// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "twin/line_server.hpp"

namespace meridian {

class CardNode;

/// Looks into a running card and reaches for what is outside of it: JSON objects over a UNIX socket, one a line, each
/// answered by one. {"op": "help"} names them all.
class Control {
 public:
  Control(const std::filesystem::path& socket, CardNode& node);

  void poll() { server_.poll(); }
  void add_descriptors(std::vector<int>& descriptors) const { server_.add_descriptors(descriptors); }

  /// A line for those who asked to follow.
  void publish(const std::string& line) { server_.publish(line); }
  bool followed() const { return server_.has_subscriber(); }

 private:
  using Json = nlohmann::json;
  struct Operation {
    const char* help;
    Json (Control::*run)(const Json& request);
  };
  static const std::map<std::string, Operation>& operations();

  std::string answer(LineServer::Client& client, const std::string& line);

  Json help(const Json& request);
  Json follow(const Json& request);
  Json statistics(const Json& request);
  Json link(const Json& request);
  Json cut(const Json& request);
  Json share(const Json& request);
  Json fcs(const Json& request);
  Json clock(const Json& request);
  Json transceiver(const Json& request);
  Json external_timestamp(const Json& request);
  Json ps_memory(const Json& request);
  Json trace(const Json& request);
  Json capture(const Json& request);
  Json capture_end(const Json& request);

  CardNode& node_;
  LineServer::Client* asking_ = nullptr;  // while a line is answered
  LineServer server_;
};

}  // namespace meridian
