// SPDX-License-Identifier: Apache-2.0
/*
 * Two threads write the same latency of a port at once, again and again, while a third keeps the card's registers busy.
 * Whoever was last, the file and the register have to agree. usage: latency_race FILE REGISTER ROUNDS, as root.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define NS (1 << 16) /* the register's unit is 2^-16 ns */

static const char *file;
static volatile uint32_t *latency;
static pthread_barrier_t begin, end;
static volatile int over;
static int rounds;

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void *write_it(void *value)
{
	int fd = open(file, O_WRONLY);
	char text[16];
	int length = snprintf(text, sizeof(text), "%d000", (int)(intptr_t)value);

	if (fd < 0)
		fail(file);
	for (int i = 0; i < rounds; i++) {
		pthread_barrier_wait(&begin);
		if (pwrite(fd, text, length, 0) != length)
			fail("write");
		pthread_barrier_wait(&end);
	}
	return NULL;
}

static void *keep_busy(void *unused)
{
	while (!over)
		(void)*latency;
	return unused;
}

int main(int argc, char **argv)
{
	long page = sysconf(_SC_PAGESIZE);
	pthread_t thread[3];
	int apart = 0;

	if (argc != 4)
		return 2;
	file = argv[1];
	rounds = atoi(argv[3]);
	off_t at = strtoull(argv[2], NULL, 0);
	int memory = open("/dev/mem", O_RDWR | O_SYNC);
	char *mapped = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, memory, at & -page);
	int fd = open(file, O_RDONLY);

	if (mapped == MAP_FAILED || fd < 0)
		fail("open");
	latency = (volatile uint32_t *)(mapped + (at & (page - 1)));
	pthread_barrier_init(&begin, NULL, 3);
	pthread_barrier_init(&end, NULL, 3);
	for (intptr_t i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, write_it, (void *)(i + 1));
	pthread_create(&thread[2], NULL, keep_busy, NULL);
	for (int i = 0; i < rounds; i++) {
		char text[16] = "";

		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
		if (pread(fd, text, sizeof(text) - 1, 0) <= 0)
			fail("read");
		apart += atoi(text) / 1000 * NS != (int)*latency;
	}
	over = 1;
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	printf("%d of %d rounds leave file and register apart\n", apart, rounds);
	return apart != 0;
}
