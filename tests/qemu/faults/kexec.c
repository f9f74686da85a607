// SPDX-License-Identifier: Apache-2.0
// Starts a kernel in place of the running one, as kexec -s and -e do: kexec KERNEL RAMDISK loads it, with the running one's
// command line, and kexec alone starts what is loaded.
#include <fcntl.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <string.h>
#include <sys/reboot.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char** argv) {
  char line[4096];
  if (argc == 1) {
    reboot(LINUX_REBOOT_CMD_KEXEC);
    perror("reboot");
    return 1;
  }
  if (argc != 3) return 2;
  const int kernel = open(argv[1], O_RDONLY), ramdisk = open(argv[2], O_RDONLY), words = open("/proc/cmdline", O_RDONLY);
  const ssize_t length = words < 0 ? -1 : read(words, line, sizeof line - 1);
  if (kernel < 0 || ramdisk < 0 || length < 1) {
    perror("kexec: its files");
    return 1;
  }
  line[length - 1] = 0;
  if (syscall(SYS_kexec_file_load, kernel, ramdisk, strlen(line) + 1, line, 0)) {
    perror("kexec_file_load");
    return 1;
  }
  return 0;
}
