// SPDX-License-Identifier: Apache-2.0
#include "wire/wire_spec.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "wire/make_wire_end.hpp"
#include "wire_bench.hpp"

namespace meridian {
namespace {

TEST(EndSpec, TakesKindAndOptions) {
  EndSpec spec("traffic:size=64,rate=50%,name=a\\,b\\+c,delay=1.5us,on=yes,list=1/2/3,mode=fast,signed=-4");
  EXPECT_EQ(spec.kind(), "traffic");
  EXPECT_EQ(spec.number("size", 1, 0, 100), 64U);
  EXPECT_EQ(spec.number("other", 7, 0, 100), 7U);
  EXPECT_DOUBLE_EQ(spec.share("rate", 1), 0.5);
  EXPECT_EQ(spec.text("name", ""), "a,b+c");
  EXPECT_EQ(spec.duration_ps("delay", 0), 1'500'000U);
  EXPECT_TRUE(spec.flag("on", false));
  EXPECT_EQ(spec.list("list"), (std::vector<std::string>{"1", "2", "3"}));
  EXPECT_EQ(spec.choice("mode", {"slow", "fast"}, 0), 1U);
  EXPECT_EQ(spec.integer("signed", 0, -5, 5), -4);
  EXPECT_NO_THROW(spec.finish());
}

TEST(EndSpec, SaysWhatIsWrong) {
  const auto contains = [](const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << text << "\" does not say \"" << part << '"';
  };
  contains(input_error_of([] { EndSpec("x:a"); }), "OPTION=VALUE");
  contains(input_error_of([] { EndSpec("x:=1"); }), "OPTION=VALUE");
  contains(input_error_of([] { EndSpec("x:a=1,a=2"); }), "a is there twice");
  contains(input_error_of([] { EndSpec("x:a=").text("a", ""); }), "a text");
  contains(input_error_of([] { EndSpec("x").required_text("file"); }), "option file is missing");
  for (const char* bad : {"9", "-1", "1x", "", "0x4", " 4"})
    contains(input_error_of([&] { EndSpec(std::string("x:a=") + bad).number("a", 0, 0, 8); }), "from 0 to 8");
  for (const char* bad : {"nan", "inf", "1e99", "x"})
    contains(input_error_of([&] { EndSpec(std::string("x:a=") + bad).real("a", 0, 0, 8); }), "option a cannot be");
  for (const char* bad : {"101%", "-0.1", "%", "2", "nan"})
    contains(input_error_of([&] { EndSpec(std::string("x:a=") + bad).share("a", 0); }), "0% to 100%");
  for (const char* bad : {"1h", "-1ns", "ns", "", "1e30s"})
    contains(input_error_of([&] { EndSpec(std::string("x:a=") + bad).duration_ps("a", 0); }), "2ms");
  contains(input_error_of([] { EndSpec("x:a=maybe").flag("a", false); }), "0 or 1");
  contains(input_error_of([] { EndSpec("x:a=z").choice("a", {"p", "q"}, 0); }), "p, q");
  contains(input_error_of([] {
             EndSpec spec("x:a=1,b=2");
             spec.flag("a", false);
             spec.flag("c", false);
             spec.finish();
           }),
           "no option is named b, it takes a, c");
}

TEST(MakeWireEnd, MakesWhatIsNamed) {
  EXPECT_TRUE(make_wire_end("none", {})->done());
  EXPECT_NE(make_wire_end("ptp:transport=ethernet,offset_ns=-5,drift_ppb=1.5,two_step=0", {}), nullptr);
}

TEST(MakeWireEnd, NamesWhatThereIs) {
  const std::string error = input_error_of([] { make_wire_end("nothing", {}); });
  EXPECT_NE(error.find("\"nothing\""), std::string::npos);
  for (const char* kind : {"none", "replay", "traffic", "ptp", "tap", "packet"})
    EXPECT_NE(error.find(kind), std::string::npos) << kind;
  EXPECT_NE(input_error_of([] { make_wire_end("ptp:domain=256", {}); }).find("from 0 to 255"), std::string::npos);
  EXPECT_NE(input_error_of([] { make_wire_end("ptp:asymmetry_ns=1", {}); }).find("link_delay"), std::string::npos);
  EXPECT_NE(input_error_of([] { make_wire_end("replay", {}); }).find("file is missing"), std::string::npos);
  EXPECT_NE(wire_help().find("transport=udp4"), std::string::npos);
}

TEST(MakeWireEnd, CapturesWhatPasses) {
  TestFile file(".pcapng");
  {
    auto end = make_wire_end("traffic:count=10,capture=" + file.path(), {});
    WireBench bench(*end);
    bench.run_until(1'000'000'000);
  }
  auto end = make_wire_end("replay:times=recorded,file=" + file.path(), {});
  WireBench bench(*end);
  bench.run_until(1'000'000'000);
  EXPECT_EQ(bench.take().size(), 10U);
}

TEST(WireSpecFuzz, AnyTextIsAnEndOrAnInputError) {
  const std::string seeds[] = {
      "none", "ptp:transport=udp6,offset_ns=-5,drift_ppb=1.5,link_delay=1us,asymmetry_ns=10,mac=02:00:00:00:00:01",
      "traffic:size=64/128,rate=50%,count=10,flows=3,vlan=5,proto=tcp,sip=1.2.3.4,delay=1us,loss=0.1",
      "ptp:two_step=0+traffic:size=imix+none:jitter=5", "replay:file=/nowhere,loop=3"};
  const std::string letters = ",:=+\\-./%0123456789abcdefghijklmnopqrstuvwxyz";
  Random random(31);
  unsigned made = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = seeds[random.below(5)];
    for (unsigned i = random.below(4); i > 0; --i) {
      const std::size_t at = random.below(static_cast<std::uint32_t>(text.size()));
      const char letter = random.percent(90) ? letters[random.below(static_cast<std::uint32_t>(letters.size()))]
                                             : static_cast<char>(random.next());
      if (random.percent(50)) {
        text[at] = letter;
      } else if (random.percent(50)) {
        text.insert(at, 1, letter);
      } else {
        text.erase(at, 1 + random.below(5));
        if (text.empty()) text = "x";
      }
    }
    try {
      auto end = make_wire_end(text, {});
      ASSERT_NE(end, nullptr);
      for (int i = 0; i < 3 && end->next_ps() != never_ps; ++i) end->poll(end->next_ps(), 0);
      ++made;
    } catch (const InputError& error) {
      EXPECT_FALSE(std::string(error.what()).empty());
    }
  }
  EXPECT_GT(made, 1000U);
}

}  // namespace
}  // namespace meridian
