// SPDX-License-Identifier: Apache-2.0
/*
 * Sends the kernel one message of data center bridging, without what dcb checks before.
 *   dcb_tool INTERFACE pfc ENABLED              priorities, as a bitmap
 *   dcb_tool INTERFACE ets PERCENT TSA CLASS    for all traffic classes and priorities alike
 * It prints the kernel's answer: 0, or a number of errno.
 */
#include <arpa/inet.h>
#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static char message[1024];

static struct nlattr *put(unsigned short type, const void *data, unsigned short bytes)
{
	struct nlmsghdr *head = (struct nlmsghdr *)message;
	struct nlattr *attribute = (struct nlattr *)(message + NLMSG_ALIGN(head->nlmsg_len));

	attribute->nla_type = type;
	attribute->nla_len = NLA_HDRLEN + bytes;
	if (bytes)
		memcpy((char *)attribute + NLA_HDRLEN, data, bytes);
	head->nlmsg_len = NLMSG_ALIGN(head->nlmsg_len) + NLA_ALIGN(attribute->nla_len);
	return attribute;
}

int main(int count, char **words)
{
	struct nlmsghdr *head = (struct nlmsghdr *)message;
	struct dcbmsg *dcb = NLMSG_DATA(head);
	struct ieee_ets ets = { 0 };
	struct ieee_pfc pfc = { 0 };
	char answer[1024];
	struct nlattr *all;
	int to, is_pfc = count == 4 && !strcmp(words[2], "pfc");

	if (!is_pfc && !(count == 6 && !strcmp(words[2], "ets"))) {
		fprintf(stderr, "dcb_tool: the arguments are INTERFACE pfc ENABLED, or INTERFACE ets PERCENT TSA CLASS\n");
		return 2;
	}
	head->nlmsg_len = NLMSG_LENGTH(sizeof(*dcb));
	head->nlmsg_type = RTM_SETDCB;
	head->nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK;
	dcb->dcb_family = AF_UNSPEC;
	dcb->cmd = DCB_CMD_IEEE_SET;
	put(DCB_ATTR_IFNAME, words[1], strlen(words[1]) + 1);
	all = put(DCB_ATTR_IEEE, NULL, 0);
	if (is_pfc) {
		pfc.pfc_en = strtoul(words[3], NULL, 0);
		put(DCB_ATTR_IEEE_PFC, &pfc, sizeof(pfc));
	} else {
		memset(ets.tc_tx_bw, atoi(words[3]), sizeof(ets.tc_tx_bw));
		memset(ets.tc_tsa, atoi(words[4]), sizeof(ets.tc_tsa));
		memset(ets.prio_tc, atoi(words[5]), sizeof(ets.prio_tc));
		put(DCB_ATTR_IEEE_ETS, &ets, sizeof(ets));
	}
	all->nla_len = message + head->nlmsg_len - (char *)all;
	to = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
	if (to < 0 || send(to, message, head->nlmsg_len, 0) < 0) {
		perror("dcb_tool: the kernel takes no message");
		return 1;
	}
	/* An answer to the command itself may come before the acknowledgement. */
	while (recv(to, answer, sizeof(answer), 0) > 0) {
		struct nlmsghdr *got = (struct nlmsghdr *)answer;
		unsigned char *value;

		if (got->nlmsg_type == NLMSG_ERROR) {
			printf("%d\n", -((struct nlmsgerr *)NLMSG_DATA(got))->error);
			return 0;
		}
		/* struct dcbmsg, then DCB_ATTR_IEEE as a byte. */
		value = (unsigned char *)NLMSG_DATA(got) + NLMSG_ALIGN(sizeof(*dcb)) + NLA_HDRLEN;
		printf("%d\n", (unsigned char)-*value);
		return 0;
	}
	return 1;
}
