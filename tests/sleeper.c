// SPDX-License-Identifier: Apache-2.0
/*
 * sleeper EAL-OPTIONS -- QUEUES: an application of DPDK that never polls. It sleeps until a receive queue of port 0
 * interrupts or a line comes on standard input, and keeps count of frames that end in "slee" and a number of 32 bits.
 *
 *   show       what there was: see show()
 *   on, off    interrupts of all queues
 *   most N     of frames that a wake takes before the queue may interrupt again; 0: all there are
 *   restart    of the port
 *   quit
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <rte_byteorder.h>
#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_interrupts.h>
#include <rte_mbuf.h>

#define PORT 0
#define QUEUES 64
#define SLOTS 1024
#define BUFFERS 16384
#define BURST 64
#define NUMBERS 65536
#define INPUT ((void *)-1)

static uint16_t queues;
static struct rte_mempool *pool;
static struct rte_epoll_event input = {.epdata = {.event = EPOLLIN, .data = INPUT}};
static unsigned long most, wakes, empty, others, repeated, different, frames_of[QUEUES];
static unsigned char seen[NUMBERS];

static void must(int error, const char *what) {
  if (error < 0)
    rte_exit(1, "%s: %s\n", what, rte_strerror(-error));
}

static void interrupts(int on) {
  for (uint16_t queue = 0; queue < queues; queue++)
    must(on ? rte_eth_dev_rx_intr_enable(PORT, queue) : rte_eth_dev_rx_intr_disable(PORT, queue), "interrupt");
}

/* on: of all queues, and each has its number for the epoll. */
static void start(void) {
  must(rte_eth_dev_start(PORT), "start");
  for (uintptr_t queue = 0; queue < queues; queue++)
    must(rte_eth_dev_rx_intr_ctl_q(PORT, queue, RTE_EPOLL_PER_THREAD, RTE_INTR_EVENT_ADD, (void *)queue), "epoll");
  interrupts(1);
}

/* Who is woken and who receives may be two: bursts say that they know. */
static void show_way(void) {
  struct rte_eth_burst_mode mode;

  must(rte_eth_rx_burst_mode_get(PORT, 0, &mode), "burst mode");
  printf("bursts: %s\n", mode.info);
}

static void configure(void) {
  struct rte_eth_conf conf = {.intr_conf.rxq = 1};
  struct rte_eth_dev_info info;

  must(rte_eth_dev_info_get(PORT, &info), "port");
  if (queues > 1) {
    conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
    conf.rx_adv_conf.rss_conf.rss_hf = info.flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP);
  }
  must(rte_eth_dev_configure(PORT, queues, 1, &conf), "configure");
  pool = rte_pktmbuf_pool_create("frames", BUFFERS, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE, SOCKET_ID_ANY);
  if (pool == NULL)
    must(-rte_errno, "pool");
  for (uint16_t queue = 0; queue < queues; queue++)
    must(rte_eth_rx_queue_setup(PORT, queue, SLOTS, SOCKET_ID_ANY, NULL, pool), "receive queue");
  must(rte_eth_tx_queue_setup(PORT, 0, SLOTS, SOCKET_ID_ANY, NULL), "transmit queue");
}

static void keep(const struct rte_mbuf *mbuf) {
  const char *end = rte_pktmbuf_mtod_offset(mbuf, const char *, mbuf->data_len);
  rte_be32_t number;

  if (mbuf->data_len < 60 || memcmp(end - 8, "slee", 4) != 0) {
    others++;
    return;
  }
  memcpy(&number, end - 4, sizeof number);
  number = rte_be_to_cpu_32(number) % NUMBERS;
  if (seen[number])
    repeated++;
  else
    different++;
  seen[number] = 1;
}

static unsigned long receive(uint16_t queue) {
  struct rte_mbuf *mbufs[BURST];
  unsigned long total = 0;
  uint16_t count;

  do {
    count = rte_eth_rx_burst(PORT, queue, mbufs, most ? RTE_MIN(most - total, (unsigned long)BURST) : BURST);
    for (uint16_t i = 0; i < count; i++)
      keep(mbufs[i]);
    rte_pktmbuf_free_bulk(mbufs, count);
    total += count;
  } while (count && total != most);
  frames_of[queue] += total;
  return total;
}

/* Nobody looks again between the last frame and the sleep. */
static void wake(uint16_t queue) {
  wakes++;
  must(rte_eth_dev_rx_intr_disable(PORT, queue), "disable");
  if (receive(queue) == 0)
    empty++;
  must(rte_eth_dev_rx_intr_enable(PORT, queue), "enable");
}

/* empty: wakes without a frame; other: frames of somebody else; queue: frames of each. */
static void show(void) {
  printf("wakes %lu empty %lu numbers %lu repeated %lu other %lu", wakes, empty, different, repeated, others);
  for (uint16_t queue = 0; queue < queues; queue++)
    printf(" queue%u %lu", queue, frames_of[queue]);
  printf("\n");
}

static void do_line(char *line) {
  char word[16] = "";
  unsigned long number = 0;

  if (sscanf(line, "%15s %lu", word, &number) < 1)
    return;
  if (strcmp(word, "show") == 0) {
    show();
  } else if (strcmp(word, "on") == 0 || strcmp(word, "off") == 0) {
    interrupts(word[1] == 'n');
  } else if (strcmp(word, "most") == 0) {
    most = number;
  } else if (strcmp(word, "restart") == 0) {
    must(rte_eth_dev_stop(PORT), "stop");
    start();
  } else if (strcmp(word, "quit") == 0) {
    must(rte_eth_dev_stop(PORT), "stop");
    must(rte_eth_dev_close(PORT), "close");
    exit(rte_eal_cleanup() ? 1 : 0);
  } else {
    printf("what is %s?\n", word);
  }
}

/* A line is written at once, and no other before it is answered. */
static void hear(void) {
  char line[256];
  ssize_t bytes = read(STDIN_FILENO, line, sizeof line - 1);

  if (bytes <= 0)
    exit(0);
  line[bytes] = '\0';
  do_line(line);
  printf("sleeper> ");
  fflush(stdout);
}

int main(int count, char **words) {
  struct rte_epoll_event events[QUEUES + 1];
  int taken = rte_eal_init(count, words);

  if (taken < 0 || taken + 1 >= count)
    return 2;
  queues = atoi(words[taken + 1]);
  if (queues == 0 || queues > QUEUES)
    return 2;
  configure();
  start();
  show_way();
  must(rte_epoll_ctl(RTE_EPOLL_PER_THREAD, EPOLL_CTL_ADD, STDIN_FILENO, &input), "input");
  printf("sleeper> ");
  fflush(stdout);
  for (;;) {
    int woken = rte_epoll_wait(RTE_EPOLL_PER_THREAD, events, QUEUES + 1, -1);

    must(woken, "sleep");
    for (int i = 0; i < woken; i++) {
      if (events[i].epdata.data == INPUT)
        hear();
      else
        wake((uintptr_t)events[i].epdata.data);
    }
  }
}
