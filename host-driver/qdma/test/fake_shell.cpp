// SPDX-License-Identifier: Apache-2.0
#include "fake_shell.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

namespace {

FakeShell& shell_of(void* owner) {
  return *static_cast<FakeShell*>(owner);
}

void set_queues(void* owner, const qdma_vf* vf, u32 count) {
  EXPECT_LE(count, vf->count);
  shell_of(owner).functions[vf->function].queues = count;
}

void set_switches(void* owner, const qdma_vf* vf) {
  FakeShell::Function& function = shell_of(owner).functions[vf->function];
  function.flags = vf->flags;
  function.strip = vf->strip;
}

void set_tx(void* owner, u32 queue, bool is_paced, u32 offload) {
  FakeShell::Queue& place = shell_of(owner).queues[queue];
  place.is_paced = is_paced;
  place.offload = offload;
}

void set_rx(void* owner, u32 queue, u32 buffer, u32 entry_log2) {
  FakeShell::Queue& place = shell_of(owner).queues[queue];
  place.buffer = buffer;
  place.entry_log2 = entry_log2;
}

void set_rss(void* owner, const qdma_vf* vf, const qdma_rss* rss) {
  for (const u16 entry : rss->entry) ASSERT_LT(entry, vf->mapped);
  shell_of(owner).functions[vf->function].rss = *rss;
}

bool is_free(void* owner, const qdma_vf* /*vf*/, const u8* address) {
  const FakeShell& shell = shell_of(owner);
  return !shell.taken.contains(address_of(address)) && !shell.filter.contains(address_of(address));
}

int add_address(void* owner, const qdma_vf* vf, const u8* address) {
  FakeShell& shell = shell_of(owner);
  const Address key = address_of(address);
  const bool is_group = (key[0] & 1) != 0, is_there = shell.filter.contains(key);
  if (shell.taken.contains(key) || (!is_group && is_there)) return -EADDRINUSE;
  if (!is_there && (shell.filter.size() == shell.room || shell.sharing(key) == FakeShell::slots)) return -ENOSPC;
  qdma_group* group = shell.group_of(key);
  if (is_group && group == nullptr && !shell.groups.empty()) {
    group = shell.make_group(*vf, key);
    if (group == nullptr) return -EDQUOT;
  }
  if (group != nullptr) group->functions[vf->function / 32] |= 1U << vf->function % 32;
  EXPECT_TRUE(shell.filter[key].insert(vf->function).second) << "twice";
  return 0;
}

void remove_address(void* owner, const qdma_vf* vf, const u8* address) {
  FakeShell& shell = shell_of(owner);
  const Address key = address_of(address);
  EXPECT_EQ(shell.filter[key].erase(vf->function), 1U) << "of another";
  if (shell.filter[key].empty()) shell.filter.erase(key);
  if (qdma_group* const group = shell.group_of(key); group != nullptr)
    group->functions[vf->function / 32] &= ~(1U << vf->function % 32);
}

bool has_queues(void* owner, const qdma_vf* vf) {
  return shell_of(owner).functions[vf->function].queues != 0;
}

bool may_access(void* owner, const qdma_vf* vf) {
  return shell_of(owner).functions[vf->function].is_master;
}

void tell(void* owner, const qdma_vf* /*vf*/, qdma_vf_trouble trouble) {
  ++shell_of(owner).told[trouble];
}

/// Of a context that is in force.
struct Live {
  unsigned function, queue, vector;
};

std::vector<Live> live(FakeCard& card) {
  std::vector<Live> found;
  for (const auto& [key, words] : card.contexts) {
    const auto [select, number] = key;
    const bool is_sw = select == QDMA_SELECT_SW_C2H || select == QDMA_SELECT_SW_H2C;
    if (is_sw && (words[1] & 1) != 0) found.push_back({words[0] >> 17 & 0xfff, number, words[4] & 0x7ff});
    if (select == QDMA_SELECT_COMPLETION && (words[3] >> 28 & 1) != 0)
      found.push_back({words[0] >> 5 & 0xfff, number, words[4] >> 4 & 0x7ff});
  }
  return found;
}

}  // namespace

Address address_of(const std::uint8_t* byte) {
  Address address;
  std::copy_n(byte, address.size(), address.begin());
  return address;
}

std::size_t FakeShell::sharing(const Address& address) const {
  return address[4] == 0 ? 0 : std::ranges::count_if(filter, [&](const auto& it) { return it.first[4] == address[4]; });
}

qdma_group* FakeShell::group_of(const Address& address) {
  const auto found = std::ranges::find_if(
      groups, [&](const qdma_group& it) { return qdma_is_group_used(&it) && std::ranges::equal(it.address, address); });
  return found == groups.end() ? nullptr : &*found;
}

qdma_group* FakeShell::make_group(const qdma_vf& vf, const Address& address) {
  const qdma_groups card{
      .group = groups.data(), .count = static_cast<u32>(groups.size()), .pfs = services->pfs, .services = services};
  if (!qdma_claim_group(&card, vf.function)) return nullptr;
  const auto free = std::ranges::find_if(groups, [](const qdma_group& it) { return !qdma_is_group_used(&it); });
  EXPECT_NE(free, groups.end());
  std::ranges::copy(address, free->address);
  return &*free;
}

const qdma_service_ops FakeShell::ops = {
    .set_queues = set_queues,
    .set_switches = set_switches,
    .set_tx = set_tx,
    .set_rx = set_rx,
    .set_rss = set_rss,
    .is_free = is_free,
    .add_address = add_address,
    .remove_address = remove_address,
    .has_queues = has_queues,
    .may_access = may_access,
    .tell = tell,
};

FakePf::FakePf(unsigned count) : vfs(count) {
  EXPECT_EQ(qdma_identify(&pf, &card), 0);
  pf.user_mhz = 250;
  qdma_write_tables(&pf, &qdma_default_tables);
  for (unsigned i = 0; i < count; ++i) {
    vfs[i].function = first + i;
    vfs[i].base = base_of(first + i);
    const Address own{2, 0, 0, 0, 0, static_cast<std::uint8_t>(first + i)};
    std::copy(own.begin(), own.end(), vfs[i].own);
    std::copy(own.begin(), own.end(), vfs[i].first);
  }
  service.qdma = &pf;
  service.ops = &FakeShell::ops;
  service.owner = &shell;
  service.pfs = 4;
  service.capabilities = ~0U;
  service.has_commands = true;
  service.max_frame = 9600;
  service.message_ns = 5000000;
  service.now = now;
  service.vf = vfs.data();
  service.vfs = count;
  qdma_service_start(&service);
}

void FakePf::say(unsigned function, const qdma_message& message) {
  card.incoming.emplace_back(function, message);
  card.sent.clear();
  card.writes.clear();
  card.commands.clear();
  EXPECT_TRUE(qdma_service_turn(&service, now));
}

int FakePf::ask(unsigned function, const qdma_message& message, qdma_message* answer) {
  now += 1000000000;
  say(function, message);
  if (card.sent.size() != 1) {
    ADD_FAILURE() << card.sent.size() << " answers";
    return 0;
  }
  EXPECT_EQ(card.sent[0].first, function);
  EXPECT_EQ(qdma_message_op(&card.sent[0].second), qdma_message_op(&message) | QDMA_RESPONSE);
  if (answer != nullptr) *answer = card.sent[0].second;
  return qdma_message_status(&card.sent[0].second);
}

void FakePf::check() {
  const auto owner_of = [&](unsigned queue) -> const qdma_vf* {
    for (const qdma_vf& vf : vfs)
      if (queue >= vf.base && queue < vf.base + vf.count) return &vf;
    return nullptr;
  };
  for (const auto& [function, queue, vector] : live(card)) {
    const qdma_vf* owner = owner_of(queue);
    ASSERT_LT(vector, static_cast<unsigned>(QDMA_VF_VECTORS)) << "queue " << queue;
    ASSERT_NE(owner, nullptr) << "queue " << queue << " is nobody's";
    ASSERT_EQ(function, owner->function);
    ASSERT_TRUE(owner->is_known);
  }
  for (const auto& [queue, state] : shell.queues)
    ASSERT_TRUE(owner_of(queue) != nullptr || (!state.is_paced && state.offload == MERIDIAN_TX_OFFLOAD_NONE))
        << "queue " << queue;
  for (const qdma_vf& vf : vfs) {
    const FakeCard::Words& map = card.context(QDMA_SELECT_FMAP, vf.function);
    ASSERT_EQ(map[1], vf.mapped);
    ASSERT_LE(vf.mapped, vf.count);
    ASSERT_TRUE(vf.mapped == 0 || map[0] == vf.base);
    ASSERT_EQ(shell.functions[vf.function].queues, vf.mapped);
    const std::uint32_t allowed = vf.is_trusted ? 7 : MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK;
    ASSERT_EQ(shell.functions[vf.function].flags & ~allowed, 0U);
    ASSERT_EQ(shell.functions[vf.function].flags, vf.flags);
    ASSERT_LE(vf.addresses, static_cast<std::uint32_t>(QDMA_VF_ADDRESSES));
    const auto own = shell.filter.find(address_of(vf.own));
    ASSERT_EQ(vf.has_own, own != shell.filter.end() && own->second.contains(vf.function));
  }
  for (const auto& [address, listeners] : shell.filter) {
    ASSERT_TRUE((address[0] & 1) != 0 || listeners.size() == 1);
    for (const unsigned function : listeners) {
      const qdma_vf& who = vf(function);
      bool is_listed = who.has_own && address == address_of(who.own);
      for (unsigned i = 0; i < who.addresses && !who.is_away; ++i)
        is_listed = is_listed || address == address_of(who.address[i]);
      ASSERT_TRUE(is_listed) << "an entry of function " << function << " is left over";
    }
    for (const qdma_vf& other : vfs)
      ASSERT_TRUE(address != address_of(other.own) || listeners == std::set<std::uint32_t>{other.function});
  }
  for (const auto& [key, words] : card.contexts)
    ASSERT_TRUE(key.first == QDMA_SELECT_FMAP ? key.second >= first && key.second < first + vfs.size()
                                              : key.second >= first_queue && key.second < base_of(first + vfs.size()))
        << "context " << key.first << " of " << key.second;
}

qdma_message message_of(std::uint32_t op) {
  qdma_message message;
  qdma_message_init(&message, op, 0, 0);
  return message;
}

qdma_message range_message(std::uint32_t op, std::uint32_t base, std::uint32_t count) {
  qdma_message message = message_of(op);
  qdma_message_put_range(&message, base, count);
  return message;
}

qdma_message queue_message(std::uint32_t op, std::uint32_t queue, bool is_c2h, int vector) {
  qdma_message message = message_of(op);
  qdma_queue_request request{};
  request.is_c2h = is_c2h;
  request.queue = queue;
  request.interrupt = vector >= 0;
  request.vector = std::max(vector, 0);
  request.ring = 0x1'0000'1000;
  request.completions = 0x1'0000'2000;
  request.ring_size = 512;
  request.completion_size = 1024;
  request.buffer = 2048;
  request.counter = 64;
  request.timer = 5;
  request.trigger = QDMA_TRIGGER_USER_TIMER;
  qdma_message_put_queue(&message, &request);
  return message;
}

qdma_message address_message(const Address& address, bool add, bool own) {
  qdma_message message = message_of(MERIDIAN_OP_ADDRESS);
  std::copy(address.begin(), address.end(), message.byte + MERIDIAN_ADDRESS_ADDRESS);
  message.byte[MERIDIAN_ADDRESS_ADD] = add;
  message.byte[MERIDIAN_ADDRESS_OWN] = own;
  return message;
}

qdma_message byte_message(std::uint32_t op, std::uint8_t value) {
  qdma_message message = message_of(op);
  message.byte[8] = value;
  return message;
}

qdma_message flags_message(std::uint32_t flags) {
  qdma_message message = message_of(MERIDIAN_OP_FLAGS);
  std::memcpy(message.byte + MERIDIAN_FLAGS_FLAGS, &flags, sizeof flags);
  return message;
}

qdma_message rss_message(std::uint32_t queues) {
  qdma_message message = message_of(MERIDIAN_OP_RSS);
  for (unsigned i = 0; i < QDMA_RSS_ENTRIES; ++i)
    message.byte[MERIDIAN_RSS_INDIRECTION + i / 2] |= i % queues << 4 * (i % 2);
  return message;
}
