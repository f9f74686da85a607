// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "fake_card.hpp"

namespace {

class Mailbox : public testing::Test {
 protected:
  Mailbox() { EXPECT_EQ(qdma_identify(&pf, &card), 0); }

  FakeCard card;
  qdma_device pf{};
};

std::uint64_t at(const qdma_message& message, unsigned offset, unsigned bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, message.byte + offset, bytes);
  return value;
}

TEST_F(Mailbox, SendNamesTheVfThenSends) {
  qdma_message message;
  qdma_message_init(&message, QDMA_OP_RESET_PREPARE, 2, 37);
  ASSERT_EQ(qdma_mailbox_send(&pf, 37, &message), 0);
  ASSERT_EQ(card.sent.size(), 1U);
  EXPECT_EQ(card.sent[0].first, 37U);
  EXPECT_EQ(std::memcmp(card.sent[0].second.byte, message.byte, sizeof message), 0);
  EXPECT_EQ(card.registers[0x22400 + 0x20 + 4], 1U << 5) << "acknowledge bit of function 37";
}

TEST_F(Mailbox, SendWaitsForNobody) {
  qdma_message message;
  qdma_message_init(&message, QDMA_OP_PF_BYE, 2, 4);
  card.target_is_busy = true;
  EXPECT_EQ(qdma_mailbox_send(&pf, 4, &message), -EBUSY);
  EXPECT_TRUE(card.sent.empty());
  card.gone = true;
  EXPECT_EQ(qdma_mailbox_send(&pf, 4, &message), -ENODEV);
}

TEST_F(Mailbox, ReceiveBelievesTheMailboxNotTheSender) {
  qdma_message message;
  std::uint32_t source = 0;
  EXPECT_EQ(qdma_mailbox_receive(&pf, &message, &source), -EAGAIN);
  qdma_message hello;
  qdma_message_init(&hello, QDMA_OP_HELLO, 99, 0);
  card.incoming.emplace_back(5, hello);
  ASSERT_EQ(qdma_mailbox_receive(&pf, &message, &source), 0);
  EXPECT_EQ(source, 5U);
  EXPECT_EQ(qdma_message_op(&message), QDMA_OP_HELLO);
  EXPECT_EQ(qdma_message_source(&message), 99U);
  EXPECT_TRUE(card.incoming.empty());
}

/// A card has up to 256 functions; the register's field has 12 bits.
TEST_F(Mailbox, ReceiveTellsEveryFunctionApart) {
  for (const unsigned function : {4U, 15U, 16U, 255U, 256U, 0xfffU}) {
    card.incoming.emplace_back(function, qdma_message{});
    std::uint32_t seen = 0, source = 0;
    qdma_message message;
    EXPECT_EQ(qdma_mailbox_peek(&pf, &seen), 0);
    EXPECT_EQ(seen, function);
    EXPECT_EQ(qdma_mailbox_receive(&pf, &message, &source), 0);
    EXPECT_EQ(source, function);
    EXPECT_TRUE(card.incoming.empty());
  }
}

TEST_F(Mailbox, ReceiveKeepsEveryByteInItsPlace) {
  qdma_message sent, message;
  for (unsigned i = 0; i < sizeof sent.byte; ++i) sent.byte[i] = static_cast<std::uint8_t>(i + 1);
  card.incoming.emplace_back(5, sent);
  std::uint32_t source = 0;
  ASSERT_EQ(qdma_mailbox_receive(&pf, &message, &source), 0);
  EXPECT_EQ(std::memcmp(message.byte, sent.byte, sizeof sent.byte), 0);
}

/// Every function of a card can have left one.
TEST_F(Mailbox, ClearThrowsAwayWhatWaits) {
  for (unsigned function = 1; function < 256; ++function) card.incoming.emplace_back(function, qdma_message{});
  card.acknowledged = true;
  qdma_mailbox_clear(&pf);
  EXPECT_TRUE(card.incoming.empty());
  EXPECT_FALSE(card.acknowledged);
  card.gone = true;
  qdma_mailbox_clear(&pf);  // ends
}

TEST(Message, AnswerGoesBackToItsSender) {
  qdma_message request, answer;
  qdma_message_init(&request, QDMA_OP_QUEUE_REQUEST, 6, 1);
  qdma_message_answer(&answer, &request, -QDMA_REFUSE_COUNT);
  EXPECT_EQ(answer.byte[0], 0x84);
  EXPECT_EQ(qdma_message_status(&answer), -15);
  EXPECT_EQ(qdma_message_source(&answer), 1U);
  EXPECT_EQ(qdma_message_destination(&answer), 6U);
}

TEST(Message, HelloAndRangeTravel) {
  qdma_message message;
  qdma_message_init(&message, QDMA_OP_HELLO | QDMA_RESPONSE, 0, 4);
  const qdma_hello hello{256, 8, 4, 2048};
  qdma_message_put_hello(&message, &hello);
  EXPECT_EQ(at(message, 8, 4), 256U);
  EXPECT_EQ(at(message, 12, 4), 8U);
  EXPECT_EQ(at(message, 16, 1), 4U);
  EXPECT_EQ(at(message, 18, 2), 2048U);
  EXPECT_EQ(at(message, 20, 1), 0x93U) << "reset, streams, mailbox, internal mode";
  qdma_hello back{};
  qdma_message_get_hello(&message, &back);
  EXPECT_EQ(std::memcmp(&back, &hello, sizeof back), 0);
  qdma_message_put_range(&message, 0xffffffff, 2);
  std::uint32_t base = 0, count = 0;
  qdma_message_get_range(&message, &base, &count);
  EXPECT_EQ(base, 0xffffffffU);
  EXPECT_EQ(count, 2U);
}

TEST(Message, TablesTravel) {
  qdma_message message;
  qdma_message_init(&message, QDMA_OP_TABLES | QDMA_RESPONSE, 0, 4);
  qdma_message_put_tables(&message, &qdma_default_tables, 3);
  EXPECT_EQ(at(message, 6, 2), 2049U);
  EXPECT_EQ(at(message, 38 + 14, 2), 3456U);
  EXPECT_EQ(at(message, 70 + 15, 1), 200U);
  EXPECT_EQ(at(message, 86, 1), 2U);
  EXPECT_EQ(at(message, 102, 1), 3U);
  qdma_tables back{};
  qdma_message_get_tables(&message, &back);
  EXPECT_EQ(std::memcmp(&back, &qdma_default_tables, sizeof back), 0);
}

qdma_queue_request receive_request() {
  qdma_queue_request request{};
  request.is_c2h = true;
  request.queue = 258;
  request.function = 4;
  request.ring = 0x1'0000'1000;
  request.completions = 0x1'0000'2000;
  request.ring_size = 512;
  request.completion_size = 1024;
  request.buffer = 2048;
  request.counter = 64;
  request.timer = 5;
  request.trigger = QDMA_TRIGGER_USER_TIMER;
  request.vector = 3;
  request.interrupt = true;
  request.prefetch = true;
  return request;
}

TEST(Message, ReceiveQueueTravels) {
  qdma_message message;
  qdma_message_init(&message, QDMA_OP_CONTEXT_WRITE, 4, 0);
  const qdma_queue_request request = receive_request();
  qdma_message_put_queue(&message, &request);
  EXPECT_EQ(at(message, 6, 2), 258U);
  EXPECT_EQ(at(message, 8, 1), 1U | 2U | 2U << 2);
  EXPECT_EQ(at(message, 16, 8), request.ring);
  EXPECT_EQ(at(message, 32, 4), 1U | 1U << 8 | 1U << 11 | 1U << 13 | 1U << 15 | 4U << 20);
  EXPECT_EQ(at(message, 36, 4), 4U | 64U << 16 | 5U << 24);
  EXPECT_EQ(at(message, 42, 2), 512U);
  EXPECT_EQ(at(message, 44, 2), 2048U);
  qdma_queue_request back{};
  qdma_message_get_queue(&message, &back);
  EXPECT_TRUE(back.is_c2h && back.interrupt && back.prefetch);
  EXPECT_FALSE(back.aggregate || back.full_update);
  EXPECT_EQ(back.completions, request.completions);
  EXPECT_EQ(back.trigger, request.trigger);
  qdma_h2c_setting h2c{};
  qdma_c2h_setting c2h{};
  ASSERT_EQ(qdma_request_setting(&back, &qdma_default_tables, &h2c, &c2h), 0);
  EXPECT_EQ(qdma_default_tables.rings[c2h.ring_index], 513U);
  EXPECT_EQ(qdma_default_tables.rings[c2h.completion_index], 1025U);
  EXPECT_EQ(qdma_default_tables.buffers[c2h.buffer_index], 2048U);
  EXPECT_EQ(c2h.vector, 3U);
}

TEST(Message, TransmitQueueTravels) {
  qdma_message message;
  qdma_queue_request request{};
  request.queue = 256;
  request.function = 4;
  request.ring_size = 64;
  request.vector = 4;
  request.aggregate = true;
  request.interrupt = true;
  qdma_message_init(&message, QDMA_OP_CONTEXT_WRITE, 4, 0);
  qdma_message_put_queue(&message, &request);
  EXPECT_EQ(at(message, 8, 1), 1U | 3U << 2);
  EXPECT_EQ(at(message, 40, 2), 4U | 1U << 11);
  qdma_queue_request back{};
  qdma_message_get_queue(&message, &back);
  qdma_h2c_setting h2c{};
  qdma_c2h_setting c2h{};
  ASSERT_EQ(qdma_request_setting(&back, &qdma_default_tables, &h2c, &c2h), 0);
  EXPECT_TRUE(h2c.interrupt && h2c.aggregate);
  EXPECT_EQ(h2c.vector, 4U);
  EXPECT_EQ(h2c.ring_index, 1U);
  EXPECT_EQ(h2c.pieces_log2, 0U);
}

// Bits 17:16 of the flags are the context's size of a descriptor: 8 bytes << n.
TEST(Message, TheSizeOfATransmitDescriptorTravels) {
  for (u32 pieces_log2 = 0; pieces_log2 <= QDMA_H2C_PIECES_LOG2; ++pieces_log2) {
    qdma_message message;
    qdma_queue_request request{}, back{};
    request.ring_size = 64;
    request.pieces_log2 = pieces_log2;
    qdma_message_init(&message, QDMA_OP_CONTEXT_WRITE, 4, 0);
    qdma_message_put_queue(&message, &request);
    EXPECT_EQ(at(message, 32, 4) >> 16 & 3, 1 + pieces_log2);
    qdma_message_get_queue(&message, &back);
    qdma_h2c_setting h2c{};
    qdma_c2h_setting c2h{};
    ASSERT_EQ(qdma_request_setting(&back, &qdma_default_tables, &h2c, &c2h), 0);
    EXPECT_EQ(h2c.pieces_log2, pieces_log2);
  }
  qdma_message nothing{};
  qdma_queue_request back{};
  qdma_message_get_queue(&nothing, &back);
  EXPECT_EQ(back.pieces_log2, 0U) << "8 bytes are no size of a transmit descriptor";
}

TEST(Message, WhatTheTablesDoNotHaveIsRefused) {
  qdma_h2c_setting h2c{};
  qdma_c2h_setting c2h{};
  const auto refusal = [&](auto change) {
    qdma_queue_request request = receive_request();
    change(request);
    return qdma_request_setting(&request, &qdma_default_tables, &h2c, &c2h);
  };
  EXPECT_EQ(refusal([](auto& r) { r.ring_size = 100; }), -QDMA_REFUSE_RING);
  EXPECT_EQ(refusal([](auto& r) { r.completion_size = 100; }), -QDMA_REFUSE_RING);
  EXPECT_EQ(refusal([](auto& r) { r.buffer = 100; }), -QDMA_REFUSE_BUFFER);
  EXPECT_EQ(refusal([](auto& r) { r.counter = 100; }), -QDMA_REFUSE_COUNTER);
  EXPECT_EQ(refusal([](auto& r) { r.timer = 99; }), -QDMA_REFUSE_TIMER);
  EXPECT_EQ(refusal([](auto& r) { r.trigger = 7; }), -QDMA_REFUSE_PARAMETER);
}

}  // namespace
