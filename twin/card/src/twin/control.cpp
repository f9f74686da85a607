// SPDX-License-Identifier: Apache-2.0
#include "twin/control.hpp"

#include <utility>

#include "base/error.hpp"
#include "twin/card_node.hpp"

namespace meridian {

namespace {

using Json = nlohmann::json;

template <typename Number>
Number number(const Json& request, const char* key, Number least, Number most) {
  const auto found = request.find(key);
  if (found == request.end() || !found->is_number()) throw InputError(std::string(key) + ": must be a number");
  const double value = found->get<double>();
  if (!(value >= static_cast<double>(least) && value <= static_cast<double>(most)))
    throw InputError(std::string(key) + ": choose " + Json(least).dump() + " to " + Json(most).dump());
  return found->get<Number>();
}

bool flag(const Json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end() || !found->is_boolean()) throw InputError(std::string(key) + ": must be true or false");
  return found->get<bool>();
}

std::string text(const Json& request, const char* key) {
  const auto found = request.find(key);
  if (found == request.end() || !found->is_string()) throw InputError(std::string(key) + ": must be a string");
  return found->get<std::string>();
}

unsigned port(const Json& request) {
  return request.contains("port") ? number(request, "port", 0U, Card::ports() - 1) : 0U;
}

bool is_receive(const Json& request) {
  const std::string direction = text(request, "direction");
  if (direction != "rx" && direction != "tx") throw InputError("direction: rx or tx");
  return direction == "rx";
}

}  // namespace

const std::map<std::string, Control::Operation>& Control::operations() {
  static const std::map<std::string, Operation> table = {
      {"help", {"lists the operations", &Control::help}},
      {"follow", {"on (true): reports events as lines of their own", &Control::follow}},
      {"stats", {"counters of the MACs, the link and the simulation", &Control::statistics}},
      {"link",
       {"port (0), up: the link of a port goes up or down; with until_reset true it comes up when the card has reset "
        "the receiver",
        &Control::link}},
      {"cut", {"port (0), on: nothing passes on the wire of a port, and its link stays up", &Control::cut}},
      {"share",
       {"port (0), percent: how much of the time a MAC may send, as if its peer paused it; with 0 it sends nothing",
        &Control::share}},
      {"fcs",
       {"port (0), direction rx or tx, and next N, every N or probability P: frames get a wrong FCS", &Control::fcs}},
      {"clock", {"port (0), direction rx or tx, on: the clock of a MAC runs; false: it stands still", &Control::clock}},
      {"transceiver",
       {"port (0), and any of: error_rate of bits, pattern 0 to 5 that the other end sends (1 PRBS7, 2 9, 3 15, 4 23, "
        "5 31), answers (to accesses by DRP), eye_width in unit intervals, eye_height in codes, eye_shift in unit "
        "intervals, near_locks (a receiver in a near loopback), damage: frames of a near loopback that get a wrong bit",
        &Control::transceiver}},
      {"ext_ts", {"level: the external timestamp pin", &Control::external_timestamp}},
      {"ps_memory", {"on: memory of the PS answers the card; false: it does not", &Control::ps_memory}},
      {"capture", {"file: pcapng of wire, host and PS from now on", &Control::capture}},
      {"capture_end", {"ends the capture, and returns its number of frames", &Control::capture_end}},
      {"trace", {"file, for_ns: waveforms (FST) from now on (in a build with -DTRACE=ON)", &Control::trace}},
  };
  return table;
}

Control::Control(const std::filesystem::path& socket, CardNode& node)
    : node_(node),
      server_(socket, [this](LineServer::Client& client, const std::string& line) { return answer(client, line); }) {}

std::string Control::answer(LineServer::Client& client, const std::string& line) {
  asking_ = &client;
  Json result;
  try {
    const Json request = Json::parse(line);
    if (!request.is_object()) throw InputError("a request must be an object, such as {\"op\": \"help\"}");
    const std::string name = text(request, "op");
    const auto found = operations().find(name);
    if (found == operations().end()) throw InputError("no operation is named " + name + "; ask {\"op\": \"help\"}");
    result = (this->*found->second.run)(request);
    if (!result.is_object()) result = Json::object();
    result["ok"] = true;
  } catch (const std::exception& error) {
    result = {{"ok", false}, {"error", error.what()}};
  }
  result["t_ps"] = node_.card().now_ps();
  asking_ = nullptr;
  return result.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Control::help(const Json&) {
  Json result;
  for (const auto& [name, operation] : operations()) result[name] = operation.help;
  return result;
}

Json Control::follow(const Json& request) {
  asking_->subscribed = !request.contains("on") || flag(request, "on");
  return {};
}

Json Control::statistics(const Json&) {
  return node_.statistics();
}

Json Control::link(const Json& request) {
  node_.set_link(port(request), flag(request, "up"), request.contains("until_reset") && flag(request, "until_reset"));
  return {};
}

Json Control::cut(const Json& request) {
  node_.cut_wire(port(request), flag(request, "on"));
  return {};
}

Json Control::share(const Json& request) {
  node_.card().mac_tx(port(request)).set_share(number(request, "percent", 0U, 100U));
  return {};
}

Json Control::fcs(const Json& request) {
  Card& card = node_.card();
  FcsFault& fault =
      is_receive(request) ? card.mac_rx(port(request)).fcs_fault() : card.mac_tx(port(request)).fcs_fault();
  constexpr std::uint64_t most = 1'000'000'000'000;
  if (request.contains("next")) fault.next(number<std::uint64_t>(request, "next", 0, most));
  if (request.contains("every")) fault.every(number<std::uint64_t>(request, "every", 0, most));
  if (request.contains("probability")) fault.probability(number(request, "probability", 0.0, 1.0), 1);
  return {};
}

Json Control::clock(const Json& request) {
  node_.card().stop_mac_clock(port(request), is_receive(request), !flag(request, "on"));
  return {};
}

Json Control::transceiver(const Json& request) {
  const Transceiver* transceiver = node_.card().transceiver(port(request));
  TransceiverSetting setting = transceiver == nullptr ? TransceiverSetting{} : transceiver->setting();
  if (request.contains("error_rate")) setting.error_rate = number(request, "error_rate", 0.0, 0.5);
  if (request.contains("pattern")) setting.peer_pattern = number(request, "pattern", 0U, 5U);
  if (request.contains("answers")) setting.answers = flag(request, "answers");
  if (request.contains("near_locks")) setting.near_locks = flag(request, "near_locks");
  if (request.contains("damage")) setting.damage = number(request, "damage", 0U, 1000000U);
  if (request.contains("eye_width")) setting.eye.width = number(request, "eye_width", 0.0, 1.0);
  if (request.contains("eye_height")) setting.eye.height = number(request, "eye_height", 0.0, 254.0);
  if (request.contains("eye_shift")) setting.eye.horizontal = number(request, "eye_shift", -0.5, 0.5);
  node_.set_transceiver(port(request), setting);
  return {};
}

Json Control::external_timestamp(const Json& request) {
  node_.set_external_timestamp(flag(request, "level"));
  return {};
}

Json Control::ps_memory(const Json& request) {
  PsMemory::Timing timing;
  if (!flag(request, "on")) timing.ready_percent = timing.valid_percent = 0;
  node_.card().ps_memory().set_timing(timing);
  return {};
}

Json Control::trace(const Json& request) {
  constexpr std::uint64_t most_ns = 1'000'000'000;
  node_.card().trace(text(request, "file"), 1000 * number<std::uint64_t>(request, "for_ns", 1, most_ns));
  return {};
}

Json Control::capture(const Json& request) {
  node_.taps().start(text(request, "file"));
  return {};
}

Json Control::capture_end(const Json&) {
  return {{"frames", node_.taps().stop()}};
}

}  // namespace meridian
