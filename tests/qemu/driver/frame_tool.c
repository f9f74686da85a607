// SPDX-License-Identifier: Apache-2.0
/*
 * Says of frames what the driver has told Linux of them: hash, whether checksums need no look, tag.
 * frame_tool INTERFACE COUNT: waits for so many frames of the tests' small host, 30 seconds at most.
 *
 * A filter sees the hash, the program does not: four sockets get as much of a frame as one byte of the hash says.
 */
#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define LEAST 64 /* bytes that each socket gets in any case */
#define SHORT 400 /* frames below are not counted: they would not show a byte's value */
#define OF_THE_TESTS 0xbbbbbb02 /* end of the small host's address */
#define NUMBER 7 /* second byte of that address: what comes by two queues may change places */

static int check(int result, const char *what) {
  if (result < 0) {
    perror(what);
    exit(1);
  }
  return result;
}

static int listen_for(const char *interface, int byte) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_LEN, 0),
      BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, SHORT, 0, 7),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 8),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OF_THE_TESTS, 0, 5),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, SKF_AD_OFF + SKF_AD_RXHASH),
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 8 * byte),
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xff),
      BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, LEAST),
      BPF_STMT(BPF_RET | BPF_A, 0),
      BPF_STMT(BPF_RET | BPF_K, 0),
  };
  struct sock_fprog program = {.len = sizeof(code) / sizeof(*code), .filter = code};
  struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
  int on = 1, size = 1 << 20;
  int fd = check(socket(AF_PACKET, SOCK_RAW, 0), "socket");

  address.sll_ifindex = if_nametoindex(interface);
  check(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)), "filter");
  check(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)), "buffer");
  check(setsockopt(fd, SOL_PACKET, PACKET_AUXDATA, &on, sizeof(on)), "auxdata");
  check(bind(fd, (struct sockaddr *)&address, sizeof(address)), interface);
  return fd;
}

/* What is told of the frames, by their numbers. */
static unsigned hash[256];
static struct tpacket_auxdata told[256];
static int is_there[256];

/* Takes one frame from the socket that is for this byte of the hash. */
static void take(int fd, int byte) {
  unsigned char frame[LEAST + 256], control[CMSG_SPACE(sizeof(*told))];
  struct iovec part = {frame, sizeof(frame)};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  int bytes = check(recvmsg(fd, &message, 0), "recvmsg"), number = frame[NUMBER];

  hash[number] |= (unsigned)(bytes - LEAST) << 8 * byte;
  told[number] = *(struct tpacket_auxdata *)CMSG_DATA(CMSG_FIRSTHDR(&message));
  is_there[number]++;
}

int main(int argc, char **argv) {
  int fds[4], byte, frame;

  if (argc != 3) {
    fprintf(stderr, "usage: %s INTERFACE COUNT\n", argv[0]);
    return 2;
  }
  for (byte = 0; byte < 4; byte++)
    fds[byte] = listen_for(argv[1], byte);
  setbuf(stdout, NULL);
  puts("ready");
  alarm(30);
  for (byte = 0; byte < 4; byte++)
    for (frame = 0; frame < atoi(argv[2]); frame++)
      take(fds[byte], byte);
  for (frame = 0; frame < 256; frame++)
    if (is_there[frame] == 4)
      printf("number=%d hash=%08x good=%d tci=%d length=%u\n", frame, hash[frame],
             !!(told[frame].tp_status & TP_STATUS_CSUM_VALID),
             told[frame].tp_status & TP_STATUS_VLAN_VALID ? told[frame].tp_vlan_tci : -1, told[frame].tp_len);
  puts("done");
}
