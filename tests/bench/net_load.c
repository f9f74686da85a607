// SPDX-License-Identifier: Apache-2.0
// Ethernet frames for a bench of network drivers, with the mark that QEMU's plugin count_instructions knows around them.
//   net_load send INTERFACE TO BYTES COUNT THREADS   sends COUNT frames of BYTES (with FCS) and waits until all have left
//   net_load watch INTERFACE COUNT                   waits until COUNT more frames have been received, or none for a while
//   net_load idle INTERFACE SECONDS                  the same waiting, and no frame
// Each prints "COUNT NANOSECONDS": frames that passed, and the time from the first to the last. A frame is UDP over
// IPv4 of one of 64 flows, so that RSS spreads it; one of more than 9600 bytes is TCP, and the kernel or the card cuts it
// into segments of 1448 bytes of payload. Full queues are waited for asleep, so that waiting costs nothing.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <linux/sockios.h>

enum { BATCH = 32, FLOWS = 64, LONGEST = 65535, WHOLE = 9600, SEGMENT = 1448, HEADERS = 54, VNET = 10 };
static const uint64_t QUIET_NS = 2000000000;

struct sender {
  pthread_t thread;
  int processor, socket;
  unsigned count, bytes;
  uint8_t to[6], of[6];
  uint8_t *frames[FLOWS];
};

static void mark(void) { __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00,'M','A','R','K'" ::: "memory"); }

static void fail(const char *what) {
  perror(what);
  exit(1);
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000ull + time.tv_nsec;
}

static void rest(long nanoseconds) { nanosleep(&(struct timespec){0, nanoseconds}, NULL); }

// Between two looks at what has passed: in a long run they are few, as each is paid by the machine that is measured.
static long pause_of(uint64_t start) { return now() - start < 500000000 ? 20000000 : 200000000; }

static unsigned long long received(const char *interface) {
  char path[128];
  unsigned long long count;
  snprintf(path, sizeof path, "/sys/class/net/%s/statistics/rx_packets", interface);
  FILE *file = fopen(path, "r");
  if (!file || fscanf(file, "%llu", &count) != 1) fail(path);
  fclose(file);
  return count;
}

static void build(uint8_t *frame, const struct sender *my, unsigned flow) {
  static const uint8_t head[] = {
      0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x08, 0x00,                               // Ethernet
      0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 99, 0, 1, 10, 99, 0, 2,       // IPv4
      0, 0, 0, 9, 0, 0, 0, 0};                                                      // UDP without checksum
  unsigned ip = my->bytes - 4 - 14, sum = 0;
  memcpy(frame, head, sizeof head);
  memcpy(frame, my->to, 6);
  memcpy(frame + 6, my->of, 6);
  frame[16] = ip >> 8, frame[17] = ip;
  for (int i = 14; i < 34; i += 2) sum += frame[i] << 8 | frame[i + 1];
  sum = (sum & 0xffff) + (sum >> 16);
  sum = ~((sum & 0xffff) + (sum >> 16));
  frame[24] = sum >> 8, frame[25] = sum;
  frame[34] = 0x40, frame[35] = flow;
  frame[38] = (ip - 20) >> 8, frame[39] = ip - 20;
}

// TCP behind the header that says where to cut it.
static void build_large(uint8_t *frame, const struct sender *my, unsigned flow) {
  struct virtio_net_hdr say = {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
                               .hdr_len = HEADERS, .gso_size = SEGMENT, .csum_start = 34, .csum_offset = 16};
  unsigned sum = 0, length = my->bytes - 4 - 34;
  memcpy(frame, &say, VNET);
  frame += VNET;
  build(frame, my, flow);
  frame[23] = 6, frame[24] = frame[25] = 0;
  for (int i = 14; i < 34; i += 2) sum += frame[i] << 8 | frame[i + 1];
  sum = (sum & 0xffff) + (sum >> 16);
  sum = ~((sum & 0xffff) + (sum >> 16));
  frame[24] = sum >> 8, frame[25] = sum;
  memset(frame + 34, 0, 20);
  frame[34] = 0x40, frame[35] = flow, frame[37] = 9, frame[46] = 5 << 4, frame[47] = 0x10;
  // The sum of the pseudo header, which is what the card begins with.
  sum = 6 + length;
  for (int i = 26; i < 34; i += 2) sum += frame[i] << 8 | frame[i + 1];
  sum = (sum & 0xffff) + (sum >> 16);
  frame[50] = sum >> 8, frame[51] = sum;
}

static void *send_all(void *argument) {
  uint64_t start = now();
  struct sender *my = argument;
  unsigned more = my->bytes > WHOLE ? VNET : 0;
  struct iovec parts[FLOWS];
  struct mmsghdr messages[FLOWS];
  cpu_set_t set;

  CPU_ZERO(&set);
  CPU_SET(my->processor, &set);
  if (sched_setaffinity(0, sizeof set, &set)) fail("sched_setaffinity");
  for (int flow = 0; flow < FLOWS; flow++) {
    parts[flow] = (struct iovec){my->frames[flow], my->bytes - 4 + more};
    messages[flow] = (struct mmsghdr){.msg_hdr = {.msg_iov = &parts[flow], .msg_iovlen = 1}};
  }
  for (unsigned sent = 0; sent < my->count;) {
    unsigned first = sent % FLOWS, size = BATCH;
    if (size > FLOWS - first) size = FLOWS - first;
    if (size > my->count - sent) size = my->count - sent;
    int taken = sendmmsg(my->socket, messages + first, size, 0);
    if (taken < 0 && errno != ENOBUFS) fail("sendmmsg");
    if (taken < 0) rest(1000000);
    else sent += taken;
  }
  for (int left = 1; left;) {  // frames that the driver has not given back
    if (ioctl(my->socket, SIOCOUTQ, &left)) fail("SIOCOUTQ");
    if (left) rest(pause_of(start));
  }
  return NULL;
}

static void send_frames(char **words) {
  unsigned threads = atoi(words[4]), bytes = atoi(words[2]), count = atoi(words[3]);
  struct sender senders[8] = {0};
  int room = bytes > WHOLE ? 1 << 23 : 1 << 18;  // fewer frames than a queue of the kernel holds
  int one = 1;
  if (threads < 1 || threads > 8 || bytes < 64 || bytes > LONGEST) exit(2);
  for (unsigned i = 0; i < threads; i++) {
    struct sender *it = &senders[i];
    struct sockaddr_ll at = {.sll_family = AF_PACKET, .sll_ifindex = if_nametoindex(words[0])};
    *it = (struct sender){.processor = i, .count = count / threads, .bytes = bytes};
    if (sscanf(words[1], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", &it->to[0], &it->to[1], &it->to[2], &it->to[3], &it->to[4],
               &it->to[5]) != 6)
      exit(2);
    it->socket = socket(AF_PACKET, SOCK_RAW, 0);  // protocol 0: it receives nothing
    if (it->socket < 0 || bind(it->socket, (struct sockaddr *)&at, sizeof at)) fail(words[0]);
    struct ifreq own = {0};
    strncpy(own.ifr_name, words[0], IFNAMSIZ - 1);
    if (ioctl(it->socket, SIOCGIFHWADDR, &own)) fail(words[0]);
    memcpy(it->of, own.ifr_hwaddr.sa_data, 6);
    if (setsockopt(it->socket, SOL_SOCKET, SO_SNDBUFFORCE, &room, sizeof room)) fail("SO_SNDBUFFORCE");
    for (int flow = 0; flow < FLOWS; flow++) {
      it->frames[flow] = malloc(VNET + bytes);
      if (!it->frames[flow]) fail("malloc");
      memset(it->frames[flow], 1, VNET + bytes);  // so that the kernel has given the memory before it is counted
      (bytes > WHOLE ? build_large : build)(it->frames[flow], it, flow);
    }
    if (bytes > WHOLE && setsockopt(it->socket, SOL_PACKET, PACKET_VNET_HDR, &one, sizeof one)) fail("PACKET_VNET_HDR");
  }
  uint64_t start = now();
  mark();
  for (unsigned i = 0; i < threads; i++)
    if (pthread_create(&senders[i].thread, NULL, send_all, &senders[i])) fail("pthread_create");
  for (unsigned i = 0; i < threads; i++) pthread_join(senders[i].thread, NULL);
  mark();
  printf("%u %llu\n", count / threads * threads, (unsigned long long)(now() - start));
}

static void watch(const char *interface, unsigned count) {
  unsigned long long before = received(interface), last = before;
  uint64_t began = 0, changed = now(), patience = 10 * QUIET_NS;  // for the first
  puts("ready");
  fflush(stdout);
  mark();
  while (last - before < count && now() - changed < patience) {
    long pause = pause_of(began ? began : now());
    rest(pause);
    unsigned long long seen = received(interface);
    if (seen == last) continue;
    changed = now();
    if (!began) began = changed - pause, patience = QUIET_NS;
    last = seen;
  }
  mark();
  printf("%llu %llu\n", last - before, (unsigned long long)(changed - began));
}

static void idle(const char *interface, unsigned seconds) {
  uint64_t start = now();
  mark();
  while (now() - start < seconds * 1000000000ull) {
    rest(200000000);
    received(interface);
  }
  mark();
  printf("0 %llu\n", (unsigned long long)(now() - start));
}

int main(int count, char **words) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  if (count == 7 && !strcmp(words[1], "send")) send_frames(words + 2);
  else if (count == 4 && !strcmp(words[1], "watch")) watch(words[2], atoi(words[3]));
  else if (count == 4 && !strcmp(words[1], "idle")) idle(words[2], atoi(words[3]));
  else return 2;
  return 0;
}
