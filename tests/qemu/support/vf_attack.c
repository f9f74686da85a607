// SPDX-License-Identifier: Apache-2.0
/*
 * vf_attack DEVICE COUNT SEED [around]: a VF in hostile hands. Rings doorbells and sends its PF messages, COUNT of both
 * together, as no driver would, through the BARs of DEVICE, the VF's folder in /sys/bus/pci/devices, which has no driver.
 * Now and then it comes up as it should, with rings at addresses of its choice, and resets itself, before or behind a
 * message or with one on its way. It knows how the card's hash is made, but not its key: it asks for addresses whose
 * bytes are combined from few, as their hashes cancel each other out. With "around" it also reads and writes what is
 * beside its page of BAR2 in the machine's addresses, which is for a virtual machine: elsewhere there are other
 * functions. Prints "MESSAGES DOORBELLS ANSWERS RESETS", then for "around" how many accesses to how many pages there
 * were.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mailbox/meridian_mailbox.h"
#include "mailbox/qdma_mailbox.h"

#define BAR0_BYTES (32 << 10)
#define BAR2_BYTES 4096
#define QUEUES 8
#define AROUND 16  // pages on each side
// Polls, each half a millisecond at least: for what it needs to come up, and for what it can do without.
#define PATIENCE 200
#define LITTLE_PATIENCE 10
// A reset takes 100 ms, and more where all is simulated.
#define RESETS 20

static struct qdma_device qdma;
static volatile u32 *page, *around[2 * AROUND];
static u64 state;
static unsigned messages, doorbells, answers, pages, strays, resets;
static const char *folder;

u32 qdma_os_read(const void *bar, u32 offset) {
  return *(const volatile u32 *)((const char *)bar + offset);
}

void qdma_os_write(void *bar, u32 offset, u32 value) {
  *(volatile u32 *)((char *)bar + offset) = value;
}

void qdma_os_delay_us(u32 us) {
  usleep(us);
}

static u32 any(u32 limit) {  // xorshift; 0: all 32 bits
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return limit ? (u32)(state >> 20) % limit : (u32)(state >> 20);
}

static void *map(const char *device, const char *name, size_t bytes) {
  char path[256];
  void *at;
  int file;

  snprintf(path, sizeof path, "%s/%s", device, name);
  file = open(path, O_RDWR);
  at = file < 0 ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) {
    perror(path);
    exit(1);
  }
  return at;
}

// Pages beside that of BAR2 which the kernel maps; BAR2 itself is no larger than its page.
static void map_around(const char *device) {
  unsigned long long start;
  char path[256];
  FILE *list;
  int file;

  snprintf(path, sizeof path, "%s/resource2", device);
  file = open(path, O_RDWR);
  if (mmap(NULL, 2 * BAR2_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) != MAP_FAILED) {
    printf("BAR2 has more than a page\n");
    exit(1);
  }
  close(file);
  snprintf(path, sizeof path, "%s/resource", device);
  list = fopen(path, "r");
  if (!list || fscanf(list, "%*[^\n]\n%*[^\n]\n%llx", &start) != 1) {
    perror(path);
    exit(1);
  }
  fclose(list);
  file = open("/dev/mem", O_RDWR | O_SYNC);
  for (int i = -AROUND; i <= AROUND; i++) {
    off_t offset = start + (off_t)i * BAR2_BYTES;
    void *at = i ? mmap(NULL, BAR2_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, offset) : MAP_FAILED;

    if (at != MAP_FAILED) around[pages++] = at;
  }
  if (!pages) {
    perror("/dev/mem");
    exit(1);
  }
}

static void stray(void) {
  volatile u32 *word = &around[any(pages)][any(BAR2_BYTES / 4)];

  strays++;
  if (any(2))
    *word = any(0);
  else
    (void)*word;
}

// By the kernel, which keeps the rest of its configuration, as VFIO does it for a virtual machine.
static void reset(void) {
  char path[256];
  int file;

  if (resets == RESETS) return;
  snprintf(path, sizeof path, "%s/reset", folder);
  file = open(path, O_WRONLY);
  if (file < 0 || write(file, "1", 1) != 1) {
    perror(path);
    exit(1);
  }
  close(file);
  resets++;
}

// Memory and bus mastering: what it reads and writes is the IOMMU's to judge.
static void enable(const char *device) {
  u16 command = 6;
  char path[256];
  int file;

  snprintf(path, sizeof path, "%s/config", device);
  file = open(path, O_RDWR);
  if (file < 0 || pwrite(file, &command, 2, 4) != 2) {
    perror(path);
    exit(1);
  }
  close(file);
}

static void mail(u32 offset, u32 value) {
  qdma_os_write(qdma.bar, qdma.mailbox + offset, value);
  if (offset == QDMA_MAILBOX_COMMAND && value & QDMA_MAILBOX_COMMAND_SEND) messages++;
}

static void bell(u32 queue, u32 which, u32 value) {
  qdma_os_write(qdma.bar, qdma.doorbells + 16 * queue + which, value);
  doorbells++;
}

// Takes an answer, if one comes soon.
static int hear(struct qdma_message *answer, int patience) {
  u32 source;

  for (int polls = 0; polls < patience; polls++) {
    if (!qdma_mailbox_receive(&qdma, answer, &source)) {
      answers++;
      return 1;
    }
    usleep(500);
  }
  return 0;
}

static int ask(struct qdma_message *request, struct qdma_message *answer) {
  qdma_mailbox_clear(&qdma);
  for (int polls = 0; qdma_mailbox_send(&qdma, 0, request) == -EBUSY; polls++) {
    if (polls == PATIENCE) return 0;
    usleep(500);
  }
  messages++;
  return hear(answer, PATIENCE) && qdma_message_op(answer) == (qdma_message_op(request) | QDMA_RESPONSE) &&
         !qdma_message_status(answer);
}

static u64 anywhere(void) {
  return any(3) ? (u64)any(1 << 20) << 12 : (u64)any(0) << 32 | any(0);
}

// Queues as a driver has them, with rings and buffers where it likes.
static void come_up(void) {
  struct qdma_message request, answer;
  u32 base, count;

  qdma_message_init(&request, QDMA_OP_HELLO, 0, 0);
  if (!ask(&request, &answer)) return;
  qdma_message_init(&request, QDMA_OP_QUEUE_REQUEST, 0, 0);
  qdma_message_put_range(&request, QDMA_ALL_ONES, 1 + any(QUEUES));
  if (!ask(&request, &answer)) return;
  qdma_message_get_range(&answer, &base, &count);
  qdma_message_init(&request, QDMA_OP_FMAP, 0, 0);
  qdma_message_put_range(&request, base, count);
  if (!ask(&request, &answer)) return;
  for (u32 i = 0; i < 2 * count; i++) {
    struct qdma_queue_request queue = {
        .is_c2h = i % 2, .queue = base + i / 2, .ring = anywhere(), .completions = anywhere(), .ring_size = 256,
        .completion_size = 512, .buffer = 4096, .counter = 1, .timer = 1, .trigger = QDMA_TRIGGER_EVERY,
        .entry_log2 = any(2), .vector = any(4) ? any(8) : any(1 << 16), .interrupt = any(2), .full_update = any(2), .prefetch = any(2),
    };

    qdma_message_init(&request, QDMA_OP_CONTEXT_WRITE, 0, 0);
    qdma_message_put_queue(&request, &queue);
    ask(&request, &answer);
    bell(i / 2, i % 2 ? QDMA_DOORBELL_C2H_PIDX : QDMA_DOORBELL_H2C_PIDX, 1 + any(255));
  }
}

// Bytes of few values each: any two of them are corners of many rectangles.
static void choose(u8 *address) {
  static const u8 first[] = {0x01, 0x33, 0x03, 0x02};

  address[0] = first[any(4)];
  for (u32 i = 1; i < 6; i++) address[i] = 0x5e * any(2) + (i == 5 ? any(16) : 0);
}

static void ask_address(struct qdma_message *message) {
  qdma_message_init(message, MERIDIAN_OP_ADDRESS, 0, 0);
  choose(&message->byte[MERIDIAN_ADDRESS_ADDRESS]);
  message->byte[MERIDIAN_ADDRESS_ADD] = any(4) != 0;
  message->byte[MERIDIAN_ADDRESS_OWN] = any(8) == 0;
}

// An operation that a PF knows, or nearly so, with fields that are small, huge or nonsense.
static void fill(struct qdma_message *message) {
  u32 op = any(4) ? any(QDMA_OP_PF_RESET_VF_BYE + 2) : any(4) ? MERIDIAN_OP_CONFIG + any(8) : any(256);

  qdma_message_init(message, op, any(2) ? 0 : any(0), any(2) ? 0 : any(0));
  if (!any(4)) message->byte[1] = any(256);
  for (u32 fields = any(12); fields--;) message->byte[6 + any(any(2) ? 42 : QDMA_MESSAGE_BYTES - 6)] = any(256);
  if (any(2)) qdma_message_put_range(message, 4 + any(64) * 8, any(12));
}

static void put(const struct qdma_message *message, u32 words) {
  for (u32 i = 0; i < words; i++) {
    const u8 *byte = &message->byte[4 * i];

    mail(QDMA_MAILBOX_OUT(i), byte[0] | byte[1] << 8 | byte[2] << 16 | (u32)byte[3] << 24);
  }
}

static void send(u32 words) {
  struct qdma_message message;

  if (any(4))
    fill(&message);
  else
    ask_address(&message);
  put(&message, words);
  mail(QDMA_MAILBOX_COMMAND, QDMA_MAILBOX_COMMAND_SEND);
}

static void act(void) {
  static const u32 bells[] = {QDMA_DOORBELL_RING_CIDX, QDMA_DOORBELL_H2C_PIDX, QDMA_DOORBELL_C2H_PIDX,
                              QDMA_DOORBELL_CMPT_CIDX};
  struct qdma_message answer;

  if (pages && !any(16)) stray();
  switch (any(64)) {
  case 0:
    if (!any(64)) come_up();
    if (any(8)) break;
    if (any(2)) send(QDMA_MAILBOX_WORDS);
    reset();
    if (any(2)) come_up();
    break;
  case 1:  // a flood
    for (u32 more = any(16); more--;) send(any(4));
    break;
  case 5:  // another, deaf to its answers
    for (u32 more = any(8); more--;) {
      for (int polls = 0;
           polls < LITTLE_PATIENCE && qdma_read(&qdma, qdma.mailbox + QDMA_MAILBOX_STATUS) & QDMA_MAILBOX_STATUS_OUT;
           polls++)
        usleep(500);
      send(QDMA_MAILBOX_WORDS);
    }
    break;
  case 2:  // words that nobody sends, or half of them
    put(&(struct qdma_message){}, any(QDMA_MAILBOX_WORDS));
    send(any(QDMA_MAILBOX_WORDS));
    break;
  case 3:
    mail(any(2) ? QDMA_MAILBOX_COMMAND : QDMA_MAILBOX_INTERRUPT, any(16));
    break;
  case 4:  // any register of what a VF has
    if (any(4))
      qdma_os_write(qdma.bar, 4 * any(BAR0_BYTES / 4), any(0));
    else
      page[any(BAR2_BYTES / 4)] = any(0);
    break;
  case 6 ... 11:  // polite, so that it is heard
    send(QDMA_MAILBOX_WORDS);
    if (any(2)) hear(&answer, LITTLE_PATIENCE);
    break;
  case 12 ... 15:
    send(QDMA_MAILBOX_WORDS);
    break;
  default:
    bell(any(4) ? any(QUEUES) : any(512), bells[any(4)], any(2) ? any(512) : any(0));
  }
}

int main(int count, char **words) {
  if (count != 4 && count != 5) return 2;
  folder = words[1];
  enable(folder);
  if (qdma_identify_vf(&qdma, map(words[1], "resource0", BAR0_BYTES))) {
    printf("this is no VF\n");
    return 1;
  }
  page = map(words[1], "resource2", BAR2_BYTES);
  state = strtoull(words[3], NULL, 0) * 0x9e3779b97f4a7c15ull | 1;
  if (count == 5) map_around(words[1]);
  come_up();
  while (messages + doorbells < strtoul(words[2], NULL, 0)) act();
  printf("%u %u %u %u", messages, doorbells, answers, resets);
  if (count == 5) printf(" %u %u", strays, pages);
  printf("\n");
  return 0;
}
