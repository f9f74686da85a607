// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "fake_card.hpp"

namespace {

class Context : public testing::Test {
 protected:
  Context() {
    watch_delays(&card);
    EXPECT_EQ(qdma_identify(&qdma, &card), 0);
  }
  ~Context() override { watch_delays(nullptr); }

  FakeCard card;
  qdma_device qdma{};
};

TEST(Fields, AreSetAndReadAcrossWords) {
  qdma_context context{};
  for (const std::uint32_t field : {QDMA_SW_BASE, QDMA_COMPLETION_BASE_HIGH, QDMA_INTERRUPT_RING_BASE_4K}) {
    const unsigned width = field & 0xff;
    const std::uint64_t ones = width == 64 ? ~0ULL : (1ULL << width) - 1;
    qdma_context_set(&context, field, 0xa5a5a5a5a5a5a5a5);
    EXPECT_EQ(qdma_context_get(&context, field), 0xa5a5a5a5a5a5a5a5 & ones);
    qdma_context_set(&context, field, 0);
    for (const std::uint32_t word : context.word) EXPECT_EQ(word, 0U);
  }
}

TEST(Fields, LeaveTheirNeighboursAlone) {
  qdma_context context;
  for (std::uint32_t& word : context.word) word = 0xffffffff;
  qdma_context_set(&context, QDMA_PREFETCH_CREDIT, 0);  // bits 44:29
  EXPECT_EQ(context.word[0], 0x1fffffffU);
  EXPECT_EQ(context.word[1], 0xffffe000U);
  qdma_context_set(&context, QDMA_PREFETCH_VALID, 7);  // more than fits
  EXPECT_EQ(context.word[1], 0xffffe000U);
}

TEST_F(Context, WriteGoesWordByWordThenCommands) {
  qdma_context context{};
  for (unsigned i = 0; i < 8; ++i) context.word[i] = 0x100 + i;
  card.writes.clear();
  EXPECT_EQ(qdma_context_write(&qdma, QDMA_SELECT_COMPLETION, 77, &context), 0);
  ASSERT_EQ(card.writes.size(), 17U);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(card.writes[i], std::pair(0x804 + 4 * i, 0x100 + i));
    EXPECT_EQ(card.writes[8 + i], std::pair(0x824 + 4 * i, 0xffffffffU));
  }
  EXPECT_EQ(card.writes[16], std::pair(0x844U, 77U << 7 | 1U << 5 | 6U << 1));
  qdma_context back{};
  EXPECT_EQ(qdma_context_read(&qdma, QDMA_SELECT_COMPLETION, 77, &back), 0);
  EXPECT_EQ(std::memcmp(&back, &context, sizeof back), 0);
}

TEST_F(Context, CommandWaitsWhileBusy) {
  card.busy_reads = 3;
  EXPECT_EQ(qdma_context_command(&qdma, QDMA_CONTEXT_CLEAR, QDMA_SELECT_SW_H2C, 1), 0);
  EXPECT_EQ(card.delayed_us, 30U);
}

TEST_F(Context, CommandThatStaysBusyEndsAfterHalfASecond) {
  card.busy_reads = 1000000;
  EXPECT_EQ(qdma_context_command(&qdma, QDMA_CONTEXT_CLEAR, QDMA_SELECT_SW_H2C, 1), -EBUSY);
  EXPECT_EQ(card.delayed_us, 500000U);
}

TEST_F(Context, CommandToACardThatIsGoneEndsAtOnce) {
  card.gone = true;
  EXPECT_EQ(qdma_context_command(&qdma, QDMA_CONTEXT_CLEAR, QDMA_SELECT_SW_H2C, 1), -ENODEV);
  EXPECT_EQ(card.delayed_us, 0U);
  card.gone = false;
  EXPECT_EQ(qdma_map_function(&qdma, 1, 0, 1), 0) << "a moment of silence is no removal";
}

/// The first of the commands is busy until its limit, the others are done at once.
TEST_F(Context, OneCommandOfSeveralThatFailsIsTold) {
  constexpr unsigned half_a_second = 50000;
  card.busy_reads = half_a_second;
  EXPECT_EQ(qdma_map_function(&qdma, 3, 192, 64), -EBUSY);
  for (const auto stop : {qdma_h2c_stop, qdma_c2h_stop}) {
    card.commands.clear();
    card.busy_reads = half_a_second;
    EXPECT_EQ(stop(&qdma, 3), -EBUSY);
    EXPECT_EQ(card.commands.size(), stop == qdma_h2c_stop ? 3U : 5U) << "all of its contexts, whatever one says";
  }
}

TEST_F(Context, FunctionIsMapped) {
  EXPECT_EQ(qdma_map_function(&qdma, 3, 192, 64), 0);
  EXPECT_EQ(card.context(12, 3)[0], 192U);
  EXPECT_EQ(card.context(12, 3)[1], 64U);
  EXPECT_EQ(card.registers[0x2310c], 192U | 64U << 12) << "the mailbox's own map";
  EXPECT_EQ(qdma_map_function(&qdma, 3, 0, 0), 0);
  EXPECT_EQ(card.context(12, 3)[1], 0U);
  EXPECT_EQ(card.registers[0x2310c], 0U);
}

TEST_F(Context, AnIpBeforeVersion5HasNoMapInItsMailbox) {
  card.registers[QDMA_MISC_CAPABILITY] = 0x01100003;
  EXPECT_EQ(qdma_identify(&qdma, &card), 0);
  EXPECT_EQ(qdma_map_function(&qdma, 3, 192, 64), 0);
  EXPECT_FALSE(card.registers.contains(0x2310c));
}

// Positions by PG302, not by the library's own fields.
TEST_F(Context, TransmitQueueHasItsSettingInTheWordsOfTheIp) {
  qdma_h2c_setting setting{};
  setting.queue = 65;
  setting.function = 1;
  setting.ring = 0x123456789000;
  setting.ring_index = 5;
  setting.interrupt = true;
  setting.vector = 9;
  card.context(3, 65)[0] = 0x12345678;  // hardware context of somebody before
  EXPECT_EQ(qdma_h2c_start(&qdma, &setting), 0);
  const FakeCard::Words& sw = card.context(1, 65);
  EXPECT_EQ(sw[0], 1U << 17);
  EXPECT_EQ(sw[1], 1U | 1U << 2 | 1U << 3 | 5U << 12 | 1U << 16 | 1U << 20 | 1U << 21);
  EXPECT_EQ(sw[2], 0x56789000U);
  EXPECT_EQ(sw[3], 0x1234U);
  EXPECT_EQ(sw[4], 9U);
  EXPECT_EQ(card.context(3, 65)[0], 0U);
  EXPECT_EQ(qdma_h2c_stop(&qdma, 65), 0);
  EXPECT_EQ(card.context(1, 65)[1] & 1, 0U);
  setting.pieces_log2 = QDMA_H2C_PIECES_LOG2;
  EXPECT_EQ(qdma_h2c_start(&qdma, &setting), 0);
  EXPECT_EQ(card.context(1, 65)[1] >> 16 & 3, 3U) << "descriptors of 64 bytes";
}

TEST_F(Context, InterruptRingHasItsSettingInTheWordsOfTheIp) {
  const qdma_interrupt_setting setting{.ring = 9, .function = 300, .vector = 5, .entries = 0x7fff12345000};
  card.context(8, 9)[2] = 0xffffffff;  // of somebody before
  EXPECT_EQ(qdma_interrupt_start(&qdma, &setting), 0);
  const FakeCard::Words& ring = card.context(8, 9);
  EXPECT_EQ(ring[0], 1U | 5U << 1 | 1U << 14 | 0x12345U << 15) << "the base's bits 63:12 begin at bit 15";
  EXPECT_EQ(ring[1], 0x7fff12345000ULL >> 29);
  EXPECT_EQ(ring[2], 0U) << "one page, from its first entry";
  EXPECT_EQ(ring[3], 300U << 18);
  qdma_interrupt_doorbell(&qdma, 9, 511);
  EXPECT_EQ(card.registers[0x18000], 9U << 16 | 511U);
  EXPECT_EQ(qdma_interrupt_stop(&qdma, 9), 0);
  EXPECT_EQ(card.context(8, 9)[0] & 1, 0U);
  card.busy_reads = 1000000;
  EXPECT_EQ(qdma_interrupt_start(&qdma, &setting), -EBUSY);
}

TEST(InterruptEntry, TellsWhoseItIs) {
  const std::uint64_t entry = 1ULL << 63 | 0x123456ULL << 39 | 1ULL << 38 | 0x1fffffffff;
  EXPECT_EQ(qdma_interrupt_color(entry), 1U);
  EXPECT_EQ(qdma_interrupt_queue(entry), 0x123456U);
  EXPECT_TRUE(qdma_interrupt_is_c2h(entry));
  EXPECT_FALSE(qdma_interrupt_is_c2h(entry ^ 1ULL << 38));
  EXPECT_EQ(qdma_interrupt_color(entry ^ 1ULL << 63), 0U);
}

TEST_F(Context, ReceiveQueueHasItsSettingInTheWordsOfTheIp) {
  qdma_c2h_setting setting{};
  setting.queue = 3;
  setting.function = 300;
  setting.ring = 0x7fff00001000;
  setting.ring_index = 5;
  setting.completions = 0xfedcba9876543000;
  setting.completion_index = 8;
  setting.entry_log2 = 1;
  setting.buffer_index = 7;
  setting.trigger = QDMA_TRIGGER_USER_TIMER_COUNT;
  setting.timer_index = 11;
  setting.counter_index = 6;
  setting.interrupt = true;
  setting.vector = 4;
  setting.prefetch = true;
  setting.full_update = true;
  EXPECT_EQ(qdma_c2h_start(&qdma, &setting), 0);
  const FakeCard::Words& sw = card.context(0, 3);
  EXPECT_EQ(sw[0], 300U << 17);
  EXPECT_EQ(sw[1], 1U | 1U << 1 | 5U << 12);
  const FakeCard::Words& prefetch = card.context(7, 3);
  EXPECT_EQ(prefetch[0], 7U << 1 | 1U << 27);
  EXPECT_EQ(prefetch[1], 1U << 13);
  const FakeCard::Words& cmpt = card.context(6, 3);
  EXPECT_EQ(cmpt[0], 1U | 1U << 1 | 5U << 2 | 300U << 5 | 6U << 17 | 11U << 21 | 1U << 27 | 8U << 28);
  const std::uint64_t base = setting.completions;
  EXPECT_EQ(cmpt[1], static_cast<std::uint32_t>(base >> 6));
  EXPECT_EQ(cmpt[2] & 0x03ffffff, static_cast<std::uint32_t>(base >> 38));
  EXPECT_EQ(cmpt[2] >> 26 & 3, 1U);
  EXPECT_EQ(cmpt[3], 1U << 28);
  EXPECT_EQ(cmpt[4], 1U << 1 | 4U << 4 | 1U << 18);
  EXPECT_EQ(cmpt[5] >> 14 & 15, base >> 2 & 15);
  EXPECT_EQ(qdma_c2h_stop(&qdma, 3), 0);
  EXPECT_EQ(card.context(6, 3)[3] & 1U << 28, 0U);
  EXPECT_EQ(card.context(7, 3)[1] & 1U << 13, 0U);
}

TEST_F(Context, QueuesWhoseInterruptsGoToARingHaveItsBit) {
  for (const bool aggregate : {true, false}) {
    qdma_h2c_setting transmit{};
    transmit.queue = 2;
    transmit.aggregate = aggregate;
    EXPECT_EQ(qdma_h2c_start(&qdma, &transmit), 0);
    EXPECT_EQ(card.context(1, 2)[4] >> 11 & 1, aggregate);
    qdma_c2h_setting receive{};
    receive.queue = 3;
    receive.aggregate = aggregate;
    EXPECT_EQ(qdma_c2h_start(&qdma, &receive), 0);
    EXPECT_EQ(card.context(0, 3)[4] >> 11 & 1, aggregate);
    EXPECT_EQ(card.context(6, 3)[4] >> 15 & 1, aggregate);
  }
}

TEST_F(Context, StopOfACardThatIsGoneSaysSo) {
  card.gone = true;
  EXPECT_EQ(qdma_c2h_stop(&qdma, 3), -ENODEV);
}

TEST_F(Context, DoorbellsAreWrittenWhereAPfAndAVfHaveThem) {
  card.writes.clear();
  qdma_h2c_doorbell(&qdma, 5, 100, true);
  qdma_c2h_doorbell(&qdma, 5, 511);
  qdma_completion_doorbell(&qdma, 5, 17, qdma_completion_mode(5, 11, 6), true);
  EXPECT_EQ(card.writes[0], std::pair(0x18054U, 0x10064U));
  EXPECT_EQ(card.writes[1], std::pair(0x18058U, 511U));
  EXPECT_EQ(card.writes[2], std::pair(0x1805cU, 17U | 6U << 16 | 11U << 20 | 5U << 24 | 1U << 27 | 1U << 28));
  card.registers[QDMA_VF_VERSION] = 0x1fd30220;
  qdma_device vf{};
  ASSERT_EQ(qdma_identify_vf(&vf, &card), 0);
  qdma_h2c_doorbell(&vf, 1, 2, false);
  EXPECT_EQ(card.writes[3], std::pair(0x3014U, 2U));
}

TEST(Rings, HaveTheFieldsOfDescriptorsAndEntriesInTheirBits) {
  EXPECT_EQ(qdma_h2c_descriptor(1514), 1514ULL | 1514ULL << 32 | 3ULL << 48);
  EXPECT_EQ(qdma_h2c_descriptor_request(9600, 0x80071234), 0x80071234ULL | 9600ULL << 32 | 3ULL << 48);
  EXPECT_EQ(qdma_h2c_status_cidx(0x0000'1234'0abc'0002), 0xabcU);
  EXPECT_EQ(qdma_h2c_status_error(0x0000'1234'0abc'0002), 2U);
  const std::uint64_t entry = 0x0007'05ea'0000'000a;
  EXPECT_EQ(qdma_completion_color(entry), 1U);
  EXPECT_FALSE(qdma_completion_error(entry));
  EXPECT_TRUE(qdma_completion_error(entry | 4));
  EXPECT_EQ(qdma_completion_length(entry), 1514U);
  EXPECT_EQ(qdma_completion_packet(entry), 7U);
  EXPECT_EQ(qdma_completion_status_pidx(0x18'0011'0022), 0x22U);
  EXPECT_EQ(qdma_completion_status_error(0x18'0011'0022), 3U);
}

}  // namespace
