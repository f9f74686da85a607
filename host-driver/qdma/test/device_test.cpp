// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cerrno>

#include "fake_card.hpp"

namespace {

TEST(Identify, FindsVersionFunctionAndQueuesOfAPf) {
  FakeCard card;
  qdma_device qdma{};
  ASSERT_EQ(qdma_identify(&qdma, &card), 0);
  EXPECT_EQ(qdma.ip, QDMA_IP_EQDMA_5);
  EXPECT_EQ(qdma.function, 2U);
  EXPECT_EQ(qdma.queues, 2048U);
  EXPECT_TRUE(qdma.has_mailbox);
  EXPECT_TRUE(qdma.has_flr);
}

TEST(Identify, RefusesACardThatIsGoneOrHasNoSuchIp) {
  FakeCard card;
  qdma_device qdma{};
  card.registers[QDMA_IDENTIFIER] = 0x12340000;
  EXPECT_EQ(qdma_identify(&qdma, &card), -ENXIO);
  card.registers[QDMA_IDENTIFIER] = 0x1fd30000;
  card.registers[QDMA_CHANNEL_STREAM] = 0x00000101;
  EXPECT_EQ(qdma_identify(&qdma, &card), -EOPNOTSUPP);
  card.gone = true;
  EXPECT_EQ(qdma_identify(&qdma, &card), -ENODEV);
  EXPECT_EQ(qdma_identify_vf(&qdma, &card), -ENODEV);
  card.gone = false;
  EXPECT_EQ(qdma_identify_vf(&qdma, &card), -ENXIO);
}

TEST(Tables, AreWrittenAndChecked) {
  FakeCard card;
  qdma_device qdma{};
  ASSERT_EQ(qdma_identify(&qdma, &card), 0);
  qdma.user_mhz = 250;
  qdma_write_tables(&qdma, &qdma_default_tables);
  EXPECT_EQ(card.registers[0x204], 2049U);
  EXPECT_EQ(card.registers[0x204 + 60], 16385U);
  EXPECT_EQ(card.registers[0xa00 + 4 * 15], 200U);
  EXPECT_EQ(card.registers[0xa40], 2U);
  EXPECT_EQ(card.registers[0xab0 + 4 * 7], 3456U);
  EXPECT_EQ(card.registers[0xb0c], 250U);
  EXPECT_EQ(card.registers[0xa80], 60U << 16 | 60U);
  EXPECT_EQ(card.registers[0xe24], 1U << 31 | 192U << 19 | 1U << 18 | 24576U) << "requests and bytes, both in force";
  EXPECT_EQ(qdma_check_tables(&qdma), 0);
  card.registers[0xa44] = 5;
  EXPECT_EQ(qdma_check_tables(&qdma), -EIO);
}

TEST(Tables, CountMicrosecondsByWhateverClock) {
  FakeCard card;
  qdma_device qdma{};
  ASSERT_EQ(qdma_identify(&qdma, &card), 0);
  for (const unsigned mhz : {125U, 250U}) {
    qdma.user_mhz = mhz;
    qdma_write_tables(&qdma, &qdma_default_tables);
    EXPECT_EQ(card.registers[0xb0c], mhz);
    EXPECT_EQ(qdma_check_tables(&qdma), 0);
    ++card.registers[0xb0c];
    EXPECT_EQ(qdma_check_tables(&qdma), -EIO);
  }
}

TEST(Tables, HoldWhatTheDriversLookFor) {
  const qdma_tables& tables = qdma_default_tables;
  for (unsigned slots = 64; slots <= 4096; slots *= 2) {
    EXPECT_GE(qdma_find(tables.rings, slots + 1), 0) << slots;
    EXPECT_GE(qdma_find(tables.rings, 2 * slots + 1), 0) << slots;
  }
  EXPECT_GE(qdma_find(tables.buffers, 3456), 0);
  EXPECT_GE(qdma_find(tables.buffers, 2048), 0);
  EXPECT_EQ(qdma_find(tables.rings, 1000), -EINVAL);
  EXPECT_EQ(tables.timers[qdma_nearest(tables.timers, 52)], 50U);
  EXPECT_EQ(tables.timers[qdma_nearest(tables.timers, 100000)], 200U);
  EXPECT_EQ(tables.timers[qdma_nearest(tables.timers, 0)], 1U);
}

TEST(Errors, AreReadClearedAndArmedAgain) {
  FakeCard card;
  qdma_device qdma{};
  ASSERT_EQ(qdma_identify(&qdma, &card), 0);
  qdma_enable_errors(&qdma, 3);
  EXPECT_EQ(card.registers[QDMA_ERROR_INTERRUPT], 1U << 24 | 3U << 12 | 2U);
  EXPECT_EQ(card.registers[QDMA_DESCRIPTOR_ERROR + 4], 0x01f9037eU);
  EXPECT_EQ(card.registers[QDMA_ERROR_MASK], 1U | 1U << 1 | 1U << 2 | 1U << 3 | 1U << 8 | 1U << 16);
  card.registers[QDMA_ERROR_STATUS] = 1U << 3;
  card.registers[QDMA_DOORBELL_ERROR] = 1U << 5;
  card.registers[QDMA_ERROR_INTERRUPT] &= ~(1U << 24);
  qdma_errors errors{};
  qdma_take_errors(&qdma, &errors);
  EXPECT_EQ(errors.summary, 1U << 3);
  EXPECT_EQ(errors.doorbell, 1U << 5);
  EXPECT_EQ(errors.c2h, 0U);
  EXPECT_EQ(card.registers[QDMA_ERROR_STATUS], 0U);
  EXPECT_EQ(card.registers[QDMA_DOORBELL_ERROR], 0U);
  EXPECT_EQ(card.registers[QDMA_ERROR_INTERRUPT], 1U << 24 | 3U << 12 | 2U);
  qdma_disable_errors(&qdma);
  EXPECT_EQ(card.registers[QDMA_ERROR_INTERRUPT], 0U);
  card.gone = true;
  qdma_take_errors(&qdma, &errors);
  EXPECT_EQ(errors.summary, 0U);
}

TEST(Errors, EachLeafIsReadToItsOwnPlaceAndCleared) {
  struct {
    unsigned status;
    std::uint32_t mask, summary;
    u32 qdma_errors::* place;
  } const leaves[] = {
      {QDMA_DESCRIPTOR_ERROR, 0x01f9037e, 1U << 2, &qdma_errors::descriptor},
      {QDMA_DOORBELL_ERROR, 0x000000b3, 1U << 3, &qdma_errors::doorbell},
      {QDMA_C2H_ERROR, 0x0003f6df, 1U << 8, &qdma_errors::c2h},
      {QDMA_C2H_FATAL, 0x001fdf1b, 1U << 8, &qdma_errors::c2h_fatal},
      {QDMA_H2C_ERROR, 0x0000003f, 1U << 16, &qdma_errors::h2c},
  };
  for (const auto& leaf : leaves) {
    FakeCard card;
    qdma_device qdma{};
    ASSERT_EQ(qdma_identify(&qdma, &card), 0);
    card.registers[leaf.status] = ~0U;
    qdma_enable_errors(&qdma, 3);
    EXPECT_EQ(card.registers[leaf.status], 0U) << "what was there before " << leaf.status;
    EXPECT_EQ(card.registers[leaf.status + 4], leaf.mask) << leaf.status;
    card.registers[QDMA_ERROR_STATUS] = leaf.summary;
    card.registers[leaf.status] = leaf.mask;
    qdma_errors errors{};
    qdma_take_errors(&qdma, &errors);
    for (const auto& other : leaves)
      EXPECT_EQ(errors.*other.place, other.status == leaf.status ? leaf.mask : 0U)
          << leaf.status << " " << other.status;
    EXPECT_EQ(card.registers[leaf.status], 0U) << leaf.status;
    EXPECT_EQ(card.registers[QDMA_ERROR_STATUS], 0U) << leaf.status;
  }
}

TEST(Errors, TheIpsMemoryHasItsMasksInFrontOfWhatThereIs) {
  FakeCard card;
  qdma_device qdma{};
  ASSERT_EQ(qdma_identify(&qdma, &card), 0);
  for (const unsigned status : {0x0e4, 0x0ec, 0x0f4, 0x0fc}) card.registers[status] = 1U << 3;
  qdma_enable_errors(&qdma, 3);
  for (const unsigned status : {0x0e4, 0x0ec, 0x0f4, 0x0fc}) {
    EXPECT_EQ(card.registers[status], 0U) << status;
    EXPECT_EQ(card.registers[status - 4], ~0U) << status;
    card.registers[status] = 1U << 2;
  }
  card.registers[QDMA_ERROR_STATUS] = 1U << 0 | 1U << 1;
  qdma_errors errors{};
  qdma_take_errors(&qdma, &errors);
  EXPECT_TRUE(qdma_errors_fatal(&errors));
  for (const unsigned status : {0x0e4, 0x0ec, 0x0f4, 0x0fc}) {
    EXPECT_EQ(card.registers[status], 0U) << status;
    EXPECT_EQ(card.registers[status - 4], ~0U) << status;
  }
}

class Watch : public testing::Test {
 protected:
  Watch() { EXPECT_EQ(qdma_identify(&qdma, &card), 0); }

  FakeCard card;
  qdma_device qdma{};
};

TEST_F(Watch, ASilentMomentIsNoRemovalWhoeverSeesIt) {
  card.gone = true;
  qdma_errors errors{};
  qdma_message message{};
  u32 source = 0;
  EXPECT_FALSE(qdma_present(&qdma));
  qdma_take_errors(&qdma, &errors);
  EXPECT_EQ(qdma_mailbox_receive(&qdma, &message, &source), -ENODEV);
  EXPECT_EQ(qdma_mailbox_send(&qdma, 4, &message), -ENODEV);
  EXPECT_EQ(qdma_h2c_stop(&qdma, 0), -ENODEV);
  for (unsigned look = 1; look < QDMA_SILENCES; ++look) EXPECT_EQ(qdma_watch(&qdma), -EAGAIN) << look;
  card.gone = false;
  EXPECT_TRUE(qdma_present(&qdma));
  EXPECT_EQ(qdma_h2c_stop(&qdma, 0), 0);
  EXPECT_EQ(qdma_watch(&qdma), 0);
  card.gone = true;
  EXPECT_EQ(qdma_watch(&qdma), -EAGAIN) << "silences count in a row only";
}

TEST_F(Watch, ACardThatIsSilentForLongIsGivenUpUntilAReset) {
  qdma_message message{};
  u32 source = 0;
  card.gone = true;
  for (unsigned look = 1; look < QDMA_SILENCES; ++look) qdma_watch(&qdma);
  EXPECT_EQ(qdma_watch(&qdma), -ENODEV);
  card.gone = false;
  EXPECT_EQ(qdma_watch(&qdma), -ENODEV);
  EXPECT_FALSE(qdma_present(&qdma));
  EXPECT_EQ(qdma_mailbox_send(&qdma, 4, &message), -ENODEV);
  EXPECT_EQ(qdma_mailbox_receive(&qdma, &message, &source), -ENODEV);
  EXPECT_EQ(qdma_h2c_stop(&qdma, 0), -ENODEV);
  qdma_watch_anew(&qdma);
  EXPECT_EQ(qdma_watch(&qdma), 0);
  EXPECT_TRUE(qdma_present(&qdma));
  EXPECT_EQ(qdma_h2c_stop(&qdma, 0), 0);
}

}  // namespace
