// SPDX-License-Identifier: Apache-2.0
/*
 * mailbox_tool RESOURCE0 MESSAGE...: a VF without a driver, told word by word what it asks its PF. A message is
 * OP[@OFFSET=BYTES]..., all hexadecimal but OFFSET. For each answer there is a line: status and bytes from the eighth on.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mailbox/qdma_mailbox.h"

#define BAR_BYTES (32 << 10)
#define POLLS 20000

u32 qdma_os_read(const void *bar, u32 offset) {
  return *(const volatile u32 *)((const char *)bar + offset);
}

void qdma_os_write(void *bar, u32 offset, u32 value) {
  *(volatile u32 *)((char *)bar + offset) = value;
}

void qdma_os_delay_us(u32 us) {
  usleep(us);
}

static void fail(const char *what) {
  printf("%s\n", what);
  exit(1);
}

/* Fills in what follows the operation. */
static void parse(const char *text, struct qdma_message *message) {
  char *at;

  qdma_message_init(message, strtoul(text, &at, 16), 0, 0);
  while (*at == '@') {
    unsigned offset = strtoul(at + 1, &at, 10), byte;

    for (at++; sscanf(at, "%2x", &byte) == 1 && *at != '@'; at += 2) {
      if (offset >= QDMA_MESSAGE_BYTES) fail("a message has 128 bytes");
      message->byte[offset++] = byte;
    }
  }
}

static void ask(struct qdma_device *qdma, const char *text) {
  struct qdma_message request, answer;
  int polls, i;
  u32 source;

  parse(text, &request);
  for (polls = 0; qdma_mailbox_send(qdma, 0, &request) == -EBUSY; polls++) {
    if (polls == POLLS) fail("the PF takes nothing");
    usleep(500);
  }
  for (polls = 0; qdma_mailbox_receive(qdma, &answer, &source); polls++) {
    if (polls == POLLS) fail("the PF does not answer");
    usleep(500);
  }
  if (qdma_message_op(&answer) != (qdma_message_op(&request) | QDMA_RESPONSE)) fail("an answer to something else");
  printf("%d ", qdma_message_status(&answer));
  for (i = 8; i < 32; i++) printf("%02x", answer.byte[i]);
  printf("\n");
}

int main(int argc, char **argv) {
  struct qdma_device qdma;
  void *bar;
  int fd, i;

  if (argc < 3) return 2;
  fd = open(argv[1], O_RDWR);
  bar = fd < 0 ? MAP_FAILED : mmap(NULL, BAR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (bar == MAP_FAILED) fail("BAR 0 cannot be mapped");
  if (qdma_identify_vf(&qdma, bar)) fail("this is no VF");
  qdma_mailbox_clear(&qdma);
  for (i = 2; i < argc; i++) ask(&qdma, argv[i]);
  return 0;
}
