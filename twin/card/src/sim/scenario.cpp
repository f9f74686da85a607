// SPDX-License-Identifier: Apache-2.0
#include "sim/scenario.hpp"

#include <ostream>
#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

using Json = nlohmann::json;

constexpr std::size_t capture_ahead = 64;  // frames of a capture held in memory

std::uint64_t number(const Json& value, const std::string& key) {
  if (value.is_number_unsigned()) return value.get<std::uint64_t>();
  if (value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    std::size_t used = 0;
    try {
      const std::uint64_t parsed = std::stoull(text, &used, 0);
      if (used == text.size() && text.front() != '-') return parsed;
    } catch (const std::logic_error&) {  // told below
    }
  }
  throw InputError("\"" + key + "\" must be a number of 0 or more (hexadecimal as a string, \"0x10\")");
}

std::uint64_t number(const Json& op, const std::string& key, std::uint64_t most) {
  const auto found = op.find(key);
  if (found == op.end()) throw InputError("\"" + key + "\" is missing");
  const std::uint64_t value = number(*found, key);
  if (value > most) throw InputError("\"" + key + "\" is beyond " + std::to_string(most));
  return value;
}

std::uint64_t number_or(const Json& op, const std::string& key, std::uint64_t most, std::uint64_t otherwise) {
  return op.contains(key) ? number(op, key, most) : otherwise;
}

bool flag_or(const Json& op, const std::string& key, bool otherwise) {
  const auto found = op.find(key);
  if (found == op.end()) return otherwise;
  if (!found->is_boolean()) throw InputError("\"" + key + "\" must be true or false");
  return found->get<bool>();
}

std::string text(const Json& op, const std::string& key) {
  const auto found = op.find(key);
  if (found == op.end() || !found->is_string()) throw InputError("\"" + key + "\" must be a string");
  return found->get<std::string>();
}

Bytes hex(const Json& op) {
  auto bytes = from_hex(text(op, "hex"));
  if (!bytes) throw InputError("\"hex\" must be an even number of hexadecimal digits");
  return std::move(*bytes);
}

constexpr std::uint64_t any32 = 0xffffffffU;
constexpr std::uint64_t any64 = ~std::uint64_t{0};
constexpr std::uint64_t most_ns = 1'000'000'000'000;

}  // namespace

const std::map<std::string, Scenario::Operation>& Scenario::operations() {
  static const std::map<std::string, Operation> table = {
      {"write", &Scenario::write},
      {"read", &Scenario::read},
      {"poll", &Scenario::poll},
      {"rx", &Scenario::rx},
      {"rx_pcap", &Scenario::rx_pcap},
      {"h2c", &Scenario::h2c},
      {"post", &Scenario::post},
      {"stop", &Scenario::stop},
      {"ready", &Scenario::ready},
      {"stall", &Scenario::stall},
      {"no_buffer", &Scenario::no_buffer},
      {"flr", &Scenario::flr},
      {"usr_irq", &Scenario::usr_irq},
      {"psmem", &Scenario::psmem},
      {"psmem_read", &Scenario::psmem_read},
      {"ps_timing", &Scenario::ps_timing},
      {"link", &Scenario::link},
      {"reset", &Scenario::reset},
      {"ext_ts", &Scenario::ext_ts},
      {"run", &Scenario::run},
      {"drain", &Scenario::drain},
  };
  return table;
}

Scenario::Scenario(Card& card, std::ostream& out, bool hex) : card_(card), out_(out), hex_(hex) {
  card_.set_observer([this] {
    feed();
    report();
  });
}

Scenario::~Scenario() {
  card_.set_observer({});
}

void Scenario::execute(const std::string& line) {
  if (line.find_first_not_of(" \t\r") == std::string::npos || line.front() == '#') return;
  Json op;
  try {
    op = Json::parse(line);
  } catch (const Json::parse_error& error) {
    throw InputError(std::string("not JSON: ") + error.what());
  }
  if (!op.is_object()) throw InputError("not a JSON object");
  const std::string name = text(op, "op");
  const auto found = operations().find(name);
  if (found == operations().end()) throw InputError("no operation is named " + name);
  try {
    (this->*found->second)(op);
  } catch (const InputError& error) {
    throw InputError(name + ": " + error.what());
  }
}

void Scenario::emit(const Json& event) {
  out_ << event.dump() << '\n';
}

AxilMaster& Scenario::bus(const Json& op) {
  const std::string name = text(op, "bus");
  if (name == "pf") return card_.pf_bus();
  if (name == "ps") return card_.ps_bus();
  throw InputError("\"bus\" is pf or ps");
}

unsigned Scenario::port(const Json& op) {
  return static_cast<unsigned>(number_or(op, "port", Card::ports() - 1, 0));
}

void Scenario::answer(const Json& op, const AxilResult& result, const char* name) {
  Json event = {{"ev", name},          {"bus", op.at("bus")},     {"addr", result.address},
                {"data", result.data}, {"resp", result.response}, {"t_ps", result.t_ps}};
  if (op.contains("id")) event["id"] = op["id"];
  emit(event);
}

void Scenario::write(const Json& op) {
  const auto address = static_cast<std::uint32_t>(number(op, "addr", any32));
  const auto data = static_cast<std::uint32_t>(number(op, "data", any32));
  const auto function = static_cast<unsigned>(number_or(op, "fn", 255, 0));
  const auto strobe = static_cast<unsigned>(number_or(op, "strb", 15, 15));
  const AxilResult result = card_.write(bus(op), address, data, function, strobe);
  if (result.response != 0 || op.contains("id")) answer(op, result, "write");
}

void Scenario::read(const Json& op) {
  const auto address = static_cast<std::uint32_t>(number(op, "addr", any32));
  const auto function = static_cast<unsigned>(number_or(op, "fn", 255, 0));
  const AxilResult result = card_.read(bus(op), address, function);
  answer(op, result, "read");
  if (!op.contains("expect")) return;
  const std::uint64_t mask = number_or(op, "mask", any32, any32);
  const std::uint64_t expected = number(op, "expect", any32);
  if ((result.data & mask) != (expected & mask))
    throw CheckError("read of address " + std::to_string(address) + ": " + std::to_string(result.data) +
                     " instead of " + std::to_string(expected));
}

void Scenario::poll(const Json& op) {
  const auto address = static_cast<std::uint32_t>(number(op, "addr", any32));
  const auto function = static_cast<unsigned>(number_or(op, "fn", 255, 0));
  const std::uint64_t mask = number_or(op, "mask", any32, any32);
  const std::uint64_t value = number(op, "value", any32);
  const std::uint64_t end = card_.now_ps() + 1000 * number_or(op, "max_ns", most_ns, 100'000);
  for (;;) {
    const AxilResult result = card_.read(bus(op), address, function);
    if ((result.data & mask) == (value & mask)) {
      answer(op, result, "poll");
      return;
    }
    if (card_.now_ps() >= end)
      throw HangError("poll of address " + std::to_string(address) + ": it stays at " + std::to_string(result.data));
  }
}

void Scenario::rx(const Json& op) {
  RxFrame frame;
  frame.bytes = hex(op);
  frame.at_ps = 1000 * number_or(op, "at_ns", most_ns, 0);
  frame.gap = static_cast<std::uint32_t>(number_or(op, "gap", any32, 0));
  frame.bad = flag_or(op, "bad", false);
  const std::uint64_t repeat = number_or(op, "repeat", 1'000'000, 1);
  MacRx& mac = card_.mac_rx(port(op));
  for (std::uint64_t i = 0; i < repeat; ++i) mac.send(frame);
}

void Scenario::rx_pcap(const Json& op) {
  Capture capture{std::make_unique<PcapReader>(text(op, "file")), flag_or(op, "pad", true),
                  number_or(op, "count", any64, any64)};
  captures_.insert_or_assign(port(op), std::move(capture));
  feed();
}

void Scenario::feed() {
  for (auto it = captures_.begin(); it != captures_.end();) {
    auto& [port, capture] = *it;
    MacRx& mac = card_.mac_rx(port);
    bool end = false;
    while (!end && mac.pending() < capture_ahead) {
      std::optional<Bytes> bytes;
      if (capture.left != 0) bytes = capture.reader->next();
      if (!bytes) {
        end = true;
        break;
      }
      --capture.left;
      // A capture made by the sender lacks the padding that its MAC added.
      if (capture.pad && bytes->size() < 60) bytes->resize(60);
      RxFrame frame;
      frame.bytes = std::move(*bytes);
      mac.send(std::move(frame));
    }
    if (end) {
      const PcapReader& reader = *capture.reader;
      emit({{"ev", "rx_pcap_end"},
            {"port", port},
            {"frames", reader.count()},
            {"left_out", reader.left_out()},
            {"broken", reader.broken()},
            {"t_ps", card_.now_ps()}});
      it = captures_.erase(it);
    } else {
      ++it;
    }
  }
}

void Scenario::h2c(const Json& op) {
  const auto queue = static_cast<unsigned>(number(op, "queue", QdmaH2c::queues - 1));
  H2cFrame frame{hex(op), flag_or(op, "err", false)};
  if (op.contains("metadata")) frame.metadata = static_cast<std::uint32_t>(number(op, "metadata", 0xffff'ffffU));
  const std::uint64_t repeat = number_or(op, "repeat", 1'000'000, 1);
  Qdma& qdma = card_.qdma();
  qdma.c2h.tell_h2c(queue, static_cast<unsigned>(std::min<std::uint64_t>(repeat, 65535)));
  for (std::uint64_t i = 0; i < repeat; ++i) qdma.h2c.send(queue, frame);
}

void Scenario::post(const Json& op) {
  QdmaC2h& c2h = card_.qdma().c2h;
  const auto queue = static_cast<unsigned>(number(op, "queue", QdmaC2h::queues - 1));
  if (op.contains("size")) c2h.set_buffer_size(queue, static_cast<unsigned>(number(op, "size", 65535)));
  c2h.post(queue, static_cast<unsigned>(number(op, "count", 65535)));
}

void Scenario::stop(const Json& op) {
  card_.qdma().c2h.stop(static_cast<unsigned>(number(op, "queue", QdmaC2h::queues - 1)));
}

void Scenario::ready(const Json& op) {
  Qdma& qdma = card_.qdma();
  qdma.c2h.set_ready_percent(static_cast<unsigned>(number_or(op, "c2h", 100, 100)),
                             static_cast<unsigned>(number_or(op, "completion", 100, 100)));
  qdma.h2c.set_valid_percent(static_cast<unsigned>(number_or(op, "h2c", 100, 100)));
  card_.pf_bus().set_skew(flag_or(op, "axil_skew", false));
  card_.ps_bus().set_skew(flag_or(op, "axil_skew", false));
}

void Scenario::stall(const Json& op) {
  card_.qdma().c2h.set_stall(flag_or(op, "c2h", false));
}

void Scenario::no_buffer(const Json& op) {
  const std::string choice = text(op, "choice");
  QdmaC2h& c2h = card_.qdma().c2h;
  if (choice == "unlimited") return c2h.set_unlimited(true);
  c2h.set_unlimited(false);
  if (choice == "fail") return c2h.set_no_buffer(QdmaC2h::NoBuffer::fail);
  if (choice == "drop") return c2h.set_no_buffer(QdmaC2h::NoBuffer::drop);
  if (choice == "stall") return c2h.set_no_buffer(QdmaC2h::NoBuffer::stall);
  throw InputError("\"choice\" is fail, drop, stall or unlimited");
}

void Scenario::flr(const Json& op) {
  const auto function = static_cast<unsigned>(number(op, "fn", 255));
  card_.function_reset(function);
  emit({{"ev", "flr"}, {"fn", function}, {"t_ps", card_.now_ps()}});
}

void Scenario::usr_irq(const Json& op) {
  card_.qdma().user_interrupts.set_fails(flag_or(op, "fail", false));
}

void Scenario::psmem(const Json& op) {
  card_.ps_memory().load(number(op, "addr", any64), hex(op));
}

void Scenario::psmem_read(const Json& op) {
  const std::uint64_t address = number(op, "addr", any64);
  const Bytes bytes = card_.ps_memory().store(address, number(op, "len", 1U << 20));
  Json event = {{"ev", "psmem"}, {"addr", address}, {"hex", to_hex(bytes)}, {"t_ps", card_.now_ps()}};
  if (op.contains("id")) event["id"] = op["id"];
  emit(event);
}

void Scenario::ps_timing(const Json& op) {
  PsMemory::Timing timing;
  const auto set = [&](const char* key, unsigned& value, unsigned least, unsigned most) {
    value = static_cast<unsigned>(number_or(op, key, most, value));
    if (value < least) throw InputError("\"" + std::string(key) + "\" is below " + std::to_string(least));
  };
  set("read_latency", timing.read_latency, 1, 100'000);
  set("write_latency", timing.write_latency, 1, 100'000);
  set("open_reads", timing.open_reads, 1, 256);
  set("open_writes", timing.open_writes, 1, 256);
  set("ready", timing.ready_percent, 1, 100);
  set("valid", timing.valid_percent, 1, 100);
  card_.ps_memory().set_timing(timing);
}

void Scenario::link(const Json& op) {
  card_.set_link(port(op), flag_or(op, "up", true));
}

void Scenario::reset(const Json& op) {
  static const std::map<std::string, Reset> names = {
      {"host", Reset::host}, {"ps", Reset::ps}, {"mac_rx", Reset::mac_rx}, {"mac_tx", Reset::mac_tx}};
  const auto found = names.find(text(op, "domain"));
  if (found == names.end()) throw InputError("\"domain\" is host, ps, mac_rx or mac_tx");
  card_.set_reset(found->second, flag_or(op, "on", true), port(op));
}

void Scenario::ext_ts(const Json& op) {
  card_.set_external_timestamp(flag_or(op, "level", true));
}

void Scenario::run(const Json& op) {
  card_.run_for(1000 * number(op, "ns", most_ns));
}

void Scenario::drain(const Json& op) {
  card_.drain(1000 * number_or(op, "max_ns", most_ns, 1'000'000), 1000 * number_or(op, "quiet_ns", most_ns, 2000));
}

void Scenario::report() {
  while (auto frame = card_.qdma().c2h.pop()) {
    Json event = {{"ev", "c2h"},
                  {"queue", frame->queue},
                  {"len", frame->bytes.size()},
                  {"completion", frame->completion.words[0]},
                  {"t_first_ps", frame->t_first_ps},
                  {"t_ps", frame->t_ps}};
    if (frame->completion.bytes == 16) event["completion_high"] = frame->completion.words[1];
    if (hex_) event["hex"] = to_hex(frame->bytes);
    emit(event);
  }
  for (unsigned port = 0; port < Card::ports(); ++port)
    while (auto frame = card_.mac_tx(port).pop()) {
      Json event = {{"ev", "tx"},
                    {"port", port},
                    {"len", frame->bytes.size()},
                    {"t_ps", frame->t_ps},
                    {"t_end_ps", frame->t_end_ps}};
      if (frame->aborted) event["aborted"] = true;
      if (frame->ptp_op != 0) event["ptp_tag"] = frame->ptp_tag;
      if (hex_) event["hex"] = to_hex(frame->bytes);
      emit(event);
    }
  while (const auto message = card_.qdma().user_interrupts.pop())
    emit({{"ev", "usr_irq"}, {"fn", message->function}, {"vector", message->vector}, {"t_ps", card_.now_ps()}});
  if (irq_ != card_.ps_irq()) {
    irq_ = !irq_;
    emit({{"ev", "ps_irq"}, {"level", irq_}, {"t_ps", card_.now_ps()}});
  }
  if (pps_ != card_.pps()) {
    pps_ = !pps_;
    emit({{"ev", "pps"}, {"level", pps_}, {"t_ps", card_.now_ps()}});
  }
}

void Scenario::finish() {
  Json ports = Json::array();
  for (unsigned port = 0; port < Card::ports(); ++port) {
    const auto& rx = card_.mac_rx(port).statistics();
    const auto& tx = card_.mac_tx(port).statistics();
    ports.push_back({{"rx_frames", rx.frames},
                     {"rx_bytes", rx.bytes},
                     {"rx_bad", rx.bad},
                     {"tx_frames", tx.frames},
                     {"tx_bytes", tx.bytes},
                     {"tx_timestamps", tx.timestamps}});
  }
  const auto& c2h = card_.qdma().c2h.statistics();
  const auto& h2c = card_.qdma().h2c.statistics();
  const auto& ps = card_.ps_memory().statistics();
  emit(
      {{"ev", "stats"},
       {"t_ps", card_.now_ps()},
       {"steps", card_.steps()},
       {"ports", ports},
       {"c2h", {{"frames", c2h.frames}, {"bytes", c2h.bytes}, {"dropped", c2h.dropped}, {"stalled", c2h.stalled}}},
       {"h2c", {{"frames", h2c.frames}, {"bytes", h2c.bytes}, {"stalled", h2c.stalled}}},
       {"ps",
        {{"reads", ps.reads}, {"writes", ps.writes}, {"read_beats", ps.read_beats}, {"write_beats", ps.write_beats}}}});
}

}  // namespace meridian
