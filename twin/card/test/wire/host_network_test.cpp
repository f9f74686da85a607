// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <numeric>
#include <optional>

#include "base/error.hpp"
#include "own_network.hpp"
#include "ptp_slave.hpp"
#include "wire/make_wire_end.hpp"
#include "wire/mix_end.hpp"
#include "wire/socket/packet_socket_end.hpp"
#include "wire/socket/tap_end.hpp"
#include "wire_bench.hpp"

namespace meridian {
namespace {

void must(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

/// A frame that no kernel sends by itself.
Bytes test_frame(std::size_t length, std::uint8_t first = 0) {
  Bytes frame(length);
  std::iota(frame.begin(), frame.end(), first);
  const Bytes header = {2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 8, 0x88, 0xb5};
  std::copy(header.begin(), header.end(), frame.begin());
  return frame;
}

bool is_test_frame(const Bytes& frame) {
  return frame.size() >= 14 && frame[12] == 0x88 && frame[13] == 0xb5;
}

TxFrame sent(Bytes bytes, bool bad = false) {
  TxFrame frame;
  frame.bytes = std::move(bytes);
  frame.bad = bad;
  return frame;
}

/// The next frame that the end takes from outside and that is wanted; waits at most two seconds.
template <typename Wanted>
Bytes next(WireEnd& end, Wanted&& wanted) {
  for (int wait = 0; wait < 40; ++wait) {
    for (auto& frame : end.poll(0, 0))
      if (wanted(frame.bytes)) return std::move(frame.bytes);
    pollfd look{end.descriptor().value(), POLLIN, 0};
    ::poll(&look, 1, 50);
  }
  throw std::runtime_error("no frame came within two seconds");
}

void need_tap() {
  if (access("/dev/net/tun", R_OK | W_OK) != 0)
    throw CannotTest(std::string("no TAP devices: /dev/net/tun: ") + std::strerror(errno));
}

TEST(TapEnd, CarriesFramesBothWays) {
  in_own_network([] {
    need_tap();
    TapEnd tap("mer0", true, {});
    PacketSocketEnd kernel("mer0", {});
    for (const std::size_t length : {60U, 61U, 1514U}) {
      tap.receive(sent(test_frame(length)));
      must(next(kernel, is_test_frame) == test_frame(length), "the kernel got another frame");
      kernel.receive(sent(test_frame(length, 5)));
      must(next(tap, is_test_frame) == test_frame(length, 5), "the card got another frame");
    }
    kernel.receive(sent(test_frame(20)));
    Bytes padded = test_frame(20);
    padded.resize(60);
    must(next(tap, is_test_frame) == padded, "a short frame is not padded");
    tap.receive(sent(test_frame(60), true));
    must(tap.statistics().out == 3 && tap.statistics().out_bad == 1, "a bad frame left");
    must(tap.next_ps() == never_ps && tap.done(), "it waits for something");
  });
}

TEST(TapEnd, SpeaksWithTheKernelsOwnStack) {
  in_own_network([] {
    need_tap();
    // The grandmaster answers the kernel's ARP, so the datagram finds its way.
    TapEnd tap("mer0", true, {});
    auto master = make_wire_end("ptp:ip=10.9.9.2", {});
    ip("address add 10.9.9.1/24 dev mer0");
    const int udp = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(319);
    inet_pton(AF_INET, "10.9.9.2", &to.sin_addr);
    const Bytes request = slave_request(0x1, 44, 77);
    const auto length = sendto(udp, request.data(), request.size(), 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
    must(length == static_cast<ssize_t>(request.size()), "sendto");
    WireBench bench(*master);
    bench.run_until(1);
    for (const char* step : {"ARP", "delay request"}) {
      const Bytes frame = next(tap, [](const Bytes& bytes) {
        return big_endian(bytes, 12, 2) == 0x0806 || (big_endian(bytes, 12, 2) == 0x0800 && bytes.at(23) == 17);
      });
      bench.run_for(1'000'000'000);
      bench.take();
      bench.send(frame);
      bench.run_for(50'000'000);
      const auto answers = bench.take();
      must(answers.size() == 1, std::string("no answer to ") + step);
      tap.receive(sent(answers[0].bytes));
    }
    close(udp);
    std::map<std::string, double> report;
    master->report([&](std::string_view name, double value) { report.emplace(name, value); });
    must(report.at("received_delay_req") == 1 && report.at("arp_answered") == 1, "the grandmaster was not reached");
  });
}

TEST(TapEnd, BoundsAndCountsWhatItCannotTake) {
  in_own_network([] {
    need_tap();
    TapEnd tap("mer0", true, {.longest = 1000, .queue = 4});
    PacketSocketEnd kernel("mer0", {});
    tap.receive(sent(test_frame(1001)));
    must(tap.statistics().out_too_long == 1, "a long frame left");
    kernel.receive(sent(test_frame(1001)));
    kernel.receive(sent(test_frame(1000)));
    must(next(tap, is_test_frame).size() == 1000, "the frame that fits did not come");
    must(tap.statistics().in_too_long == 1, "a long frame came");
    for (unsigned i = 0; i < 200; ++i) kernel.receive(sent(test_frame(60)));
    std::size_t got = 0;
    const auto take = [&](std::size_t pending) {
      for (const auto& frame : tap.poll(0, pending)) got += is_test_frame(frame.bytes);
    };
    take(64);
    must(got == 0 && !tap.descriptor() && tap.next_ps() != never_ps, "it reads although enough waits at the MAC");
    take(60);
    must(got <= 4 && !tap.descriptor(), "it reads more than the MAC should hold");
    for (int i = 0; i < 20; ++i) take(0);
    must(got == 200 && tap.descriptor(), "frames got lost");
    ip("link set mer0 down");
    tap.receive(sent(test_frame(60)));
    must(tap.statistics().out_refused == 1, "a device that is down took a frame");
  });
}

TEST(TapEnd, SaysWhyThereIsNone) {
  EXPECT_NE(input_error_of([] { TapEnd("a-name-that-is-too-long", true, {}); }).find("1 to 15"), std::string::npos);
  EXPECT_NE(input_error_of([] { make_wire_end("tap", {}); }).find("name is missing"), std::string::npos);
  in_own_network([] {
    need_tap();
    TapEnd first("mer0", false, {});
    must(!input_error_of([] { TapEnd("mer0", false, {}); }).empty(), "a device that is busy was opened");
  });
}

/// The kernel drops what is sent on an interface until it has worked off the event that its carrier is there.
void wait_up(const std::string& interface) {
  const std::string look = "ip -o link show dev " + interface + " | grep -q 'state UP'";
  for (int wait = 0; wait < 100; ++wait) {
    if (std::system(("PATH=$PATH:/usr/sbin:/sbin; " + look).c_str()) == 0) return;
    ::poll(nullptr, 0, 50);
  }
  throw std::runtime_error(interface + " is not up within five seconds");
}

void make_veth() {
  ip("link add veth0 type veth peer name veth1");
  ip("link set veth0 up");
  ip("link set veth1 up");
  wait_up("veth0");
  wait_up("veth1");
}

TEST(PacketSocketEnd, CarriesFramesWithTheirTags) {
  in_own_network([] {
    make_veth();
    PacketSocketEnd one("veth0", {}), two("veth1", {});
    for (const std::size_t length : {60U, 1514U}) {
      one.receive(sent(test_frame(length)));
      must(next(two, is_test_frame) == test_frame(length), "another frame came");
    }
    Bytes tagged = test_frame(100);
    for (const std::uint8_t type : {std::uint8_t{0x81}, std::uint8_t{0x88}}) {
      tagged[12] = type;
      tagged[13] = type == 0x81 ? 0x00 : 0xa8;
      tagged[14] = 0x60;
      tagged[15] = 0x05;
      two.receive(sent(tagged));
      must(next(one, [&](const Bytes& frame) { return frame.at(12) == type && frame.at(13) == tagged[13]; }) == tagged,
           "the VLAN tag is gone");
    }
    must(one.statistics().in >= 2 && one.statistics().out == 2, "counts");  // no frame of its own came back
    must(!is_test_frame(tagged), "the test itself");
    std::size_t own = 0;
    for (const auto& frame : one.poll(0, 0)) own += is_test_frame(frame.bytes);
    must(own == 0, "its own frames came back");
    one.receive(sent(test_frame(4000)));
    must(one.statistics().out_too_long == 1, "a frame above the interface's MTU left");
  });
}

TEST(PacketSocketEnd, CompletesChecksums) {
  in_own_network([] {
    make_veth();
    ip("address add 10.9.9.1/24 dev veth0");
    ip("neigh add 10.9.9.2 lladdr 02:00:00:00:00:09 dev veth0");
    PacketSocketEnd end("veth1", {});
    const int udp = socket(AF_INET, SOCK_DGRAM, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(7);
    inet_pton(AF_INET, "10.9.9.2", &to.sin_addr);
    const std::string text = "a datagram of odd length";
    sendto(udp, text.data(), text.size() - 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to);
    close(udp);
    const Bytes frame = next(end, [](const Bytes& bytes) {
      return big_endian(bytes, 12, 2) == 0x0800 && bytes.at(23) == 17 && big_endian(bytes, 36, 2) == 7;
    });
    const auto length = static_cast<unsigned>(big_endian(frame, 38, 2));
    must(word_sum(frame, 34, 34 + length, word_sum(frame, 26, 34) + 17 + length) == 0xffff, "the checksum is wrong");
  });
}

TEST(PacketSocketEnd, SaysWhyThereIsNone) {
  EXPECT_NE(input_error_of([] { make_wire_end("packet:interface=nowhere9", {}); }).find("nowhere9"), std::string::npos);
}

TEST(MixEnd, WaitsForSeveralDescriptors) {
  in_own_network([] {
    need_tap();
    make_veth();
    auto mix = make_wire_end("tap:name=mer0+packet:interface=veth0+none", {});
    mix->poll(0, 0);
    must(mix->descriptor().has_value(), "no descriptor");
    PacketSocketEnd tap_side("mer0", {}), veth_side("veth1", {});
    for (PacketSocketEnd* side : {&tap_side, &veth_side}) {
      side->receive(sent(test_frame(77)));
      must(next(*mix, is_test_frame) == test_frame(77), "another frame came");
    }
    mix->receive(sent(test_frame(88)));
    must(next(tap_side, is_test_frame).size() == 88 && next(veth_side, is_test_frame).size() == 88, "not to all");
  });
}

}  // namespace
}  // namespace meridian
