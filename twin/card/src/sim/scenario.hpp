// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "shell/card.hpp"
#include "wire/capture/pcap_file.hpp"

namespace meridian {

/// Runs a scenario on a card: JSON objects, one a line, each an operation ("op"); writes what happens as JSON objects,
/// one a line, each an event ("ev"). Operations and events are listed in twin/card/README.md.
class Scenario {
 public:
  /// hex: whether events carry the frames' bytes.
  Scenario(Card& card, std::ostream& out, bool hex);
  ~Scenario();
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;

  /// One line. InputError tells what is wrong with it. An empty line or one that begins with # does nothing.
  void execute(const std::string& line);

  /// The statistics event.
  void finish();

 private:
  using Json = nlohmann::json;
  using Operation = void (Scenario::*)(const Json&);
  static const std::map<std::string, Operation>& operations();

  void write(const Json& op);
  void read(const Json& op);
  void poll(const Json& op);
  void rx(const Json& op);
  void rx_pcap(const Json& op);
  void h2c(const Json& op);
  void post(const Json& op);
  void stop(const Json& op);
  void ready(const Json& op);
  void stall(const Json& op);
  void no_buffer(const Json& op);
  void flr(const Json& op);
  void usr_irq(const Json& op);
  void psmem(const Json& op);
  void psmem_read(const Json& op);
  void ps_timing(const Json& op);
  void link(const Json& op);
  void reset(const Json& op);
  void ext_ts(const Json& op);
  void run(const Json& op);
  void drain(const Json& op);

  AxilMaster& bus(const Json& op);
  unsigned port(const Json& op);
  void answer(const Json& op, const AxilResult& result, const char* event);
  void feed();
  void report();
  void emit(const Json& event);

  Card& card_;
  std::ostream& out_;
  bool hex_;
  bool irq_ = false;
  bool pps_ = false;
  struct Capture {
    std::unique_ptr<PcapReader> reader;
    bool pad;
    std::uint64_t left;  // frames still to take
  };
  std::map<unsigned, Capture> captures_;
};

}  // namespace meridian
