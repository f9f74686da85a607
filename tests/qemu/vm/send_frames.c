// SPDX-License-Identifier: Apache-2.0
/*
 * send_frames INTERFACE COUNT SOURCE: broadcasts of 64 bytes from a source address of one's choice (aa:bb:...), past all
 * that Linux would say to it. Ends with 1 if Linux does not take one.
 */
#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int main(int count, char **words) {
  unsigned char frame[64] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, [12] = 0x88, [13] = 0xb5};
  struct sockaddr_ll address = {.sll_family = AF_PACKET};
  int fd = socket(AF_PACKET, SOCK_RAW, 0);

  if (count != 4 || sscanf(words[3], "%hhx:%hhx:%hhx:%hhx:%hhx:%hhx", frame + 6, frame + 7, frame + 8, frame + 9,
                           frame + 10, frame + 11) != 6)
    return 2;
  address.sll_ifindex = if_nametoindex(words[1]);
  for (int i = atoi(words[2]); i > 0; i--) {
    if (sendto(fd, frame, sizeof frame, 0, (struct sockaddr *)&address, sizeof address) != sizeof frame) {
      perror(words[1]);
      return 1;
    }
  }
  return 0;
}
