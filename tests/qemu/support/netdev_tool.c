// SPDX-License-Identifier: Apache-2.0
/*
 * Asks the kernel by netlink's family netdev: netdev_tool COMMAND [ATTRIBUTE VALUE]...
 * COMMAND and ATTRIBUTE are numbers of linux/netdev.h, VALUE is one of 32 bits. Each answer is a line of
 * ATTRIBUTE=VALUE.
 */
#include <err.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define AT_ATTRIBUTES (NLMSG_HDRLEN + GENL_HDRLEN)

static char buffer[65536] __attribute__((aligned(8)));

static void put(struct nlmsghdr *message, uint16_t type, const void *data, size_t bytes)
{
	struct nlattr *attribute = (void *)((char *)message + NLMSG_ALIGN(message->nlmsg_len));

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + bytes;
	memcpy((char *)attribute + NLA_HDRLEN, data, bytes);
	message->nlmsg_len = NLMSG_ALIGN(message->nlmsg_len) + NLA_ALIGN(attribute->nla_len);
}

static struct nlmsghdr *begin(uint16_t family, uint8_t command, uint16_t flags)
{
	struct nlmsghdr *message = (void *)buffer;
	struct genlmsghdr *header = NLMSG_DATA(message);

	memset(buffer, 0, sizeof(buffer));
	message->nlmsg_len = AT_ATTRIBUTES;
	message->nlmsg_type = family;
	message->nlmsg_flags = NLM_F_REQUEST | flags;
	header->cmd = command;
	header->version = 1;
	return message;
}

static uint64_t value(const struct nlattr *attribute)
{
	size_t bytes = attribute->nla_len - NLA_HDRLEN;
	uint64_t number = 0;

	memcpy(&number, (const char *)attribute + NLA_HDRLEN, bytes < 8 ? bytes : 8);
	return number;
}

static const struct nlattr *next(const struct nlmsghdr *message, const struct nlattr *attribute)
{
	const char *at = attribute ? (const char *)attribute + NLA_ALIGN(attribute->nla_len) :
				     (const char *)message + AT_ATTRIBUTES;

	return at + NLA_HDRLEN <= (const char *)message + message->nlmsg_len ? (const void *)at : NULL;
}

/* Each message that answers goes to take; ends with the last, and of no dump there is one. */
static void talk(int fd, struct nlmsghdr *request, void (*take)(const struct nlmsghdr *, void *),
		 void *data)
{
	int is_dump = request->nlmsg_flags & NLM_F_DUMP;

	if (send(fd, request, request->nlmsg_len, 0) < 0)
		err(1, "send");
	for (;;) {
		ssize_t left = recv(fd, buffer, sizeof(buffer), 0);

		if (left <= 0)
			err(1, "recv");
		for (struct nlmsghdr *it = (void *)buffer; NLMSG_OK(it, left); it = NLMSG_NEXT(it, left)) {
			if (it->nlmsg_type == NLMSG_DONE)
				return;
			if (it->nlmsg_type == NLMSG_ERROR)
				errx(1, "error %d", ((struct nlmsgerr *)NLMSG_DATA(it))->error);
			take(it, data);
			if (!is_dump)
				return;
		}
	}
}

static void take_family(const struct nlmsghdr *message, void *family)
{
	for (const struct nlattr *it = next(message, NULL); it; it = next(message, it)) {
		if ((it->nla_type & NLA_TYPE_MASK) == CTRL_ATTR_FAMILY_ID)
			*(uint16_t *)family = value(it);
	}
}

static void print(const struct nlmsghdr *message, void *data)
{
	(void)data;
	for (const struct nlattr *it = next(message, NULL); it; it = next(message, it))
		printf("%u=%llu ", it->nla_type & NLA_TYPE_MASK, (unsigned long long)value(it));
	printf("\n");
}

int main(int count, char **words)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_GENERIC);
	struct sockaddr_nl own = { .nl_family = AF_NETLINK };
	struct nlmsghdr *message;
	uint16_t family = 0;

	if (count < 2 || fd < 0 || bind(fd, (void *)&own, sizeof(own)))
		err(1, "usage: COMMAND [ATTRIBUTE VALUE]...; socket");
	message = begin(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0);
	put(message, CTRL_ATTR_FAMILY_NAME, "netdev", sizeof("netdev"));
	talk(fd, message, take_family, &family);
	message = begin(family, atoi(words[1]), NLM_F_DUMP);
	for (int i = 2; i + 1 < count; i += 2) {
		uint32_t number = strtoul(words[i + 1], NULL, 0);

		put(message, atoi(words[i]), &number, sizeof(number));
	}
	talk(fd, message, print, NULL);
	return 0;
}
