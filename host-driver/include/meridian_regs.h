/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Registers of Meridian. Generated from spinal/src/main/scala/meridian/regs by
 * meridian.regs.reference.GenerateRegisters: change them there. docs/registers.md tells what they
 * mean.
 *
 * X_BASE is where a block begins in BAR2 of a PF, X_PS_BASE where in the address space of the PS;
 * X_MAX how many of it there are at most. Registers are offsets from the base of their block.
 * A 64-bit counter is two words, the low one first.
 */
#ifndef MERIDIAN_REGS_H
#define MERIDIAN_REGS_H

#define MERIDIAN_MAGIC                                          0x4d52444eu
#define MERIDIAN_MAP_MAJOR                                      1
#define MERIDIAN_MAP_MINOR                                      21
#define MERIDIAN_CMAC_VERSION                                   0x301

/* What became of a received frame, or of one copy of it. */
#define MERIDIAN_RX_VERDICT_DELIVERED                           0
#define MERIDIAN_RX_VERDICT_COPYING                             1
#define MERIDIAN_RX_VERDICT_NO_MATCH                            2
#define MERIDIAN_RX_VERDICT_NO_LISTENER                         3
#define MERIDIAN_RX_VERDICT_DISABLED                            4
#define MERIDIAN_RX_VERDICT_BAD_QUEUE                           5
#define MERIDIAN_RX_VERDICT_QUEUE_FULL                          6
#define MERIDIAN_RX_VERDICT_COPY_CUT                            7
#define MERIDIAN_RX_VERDICT_HOST_DISABLED                       8
#define MERIDIAN_RX_VERDICTS                                    9

/* What became of a frame of the host. */
#define MERIDIAN_TX_VERDICT_SENT                                0
#define MERIDIAN_TX_VERDICT_NO_FUNCTION                         1
#define MERIDIAN_TX_VERDICT_DISABLED                            2
#define MERIDIAN_TX_VERDICT_SPOOF                               3
#define MERIDIAN_TX_VERDICT_RUNT                                4
#define MERIDIAN_TX_VERDICT_OVERSIZE                            5
#define MERIDIAN_TX_VERDICT_ERROR                               6
#define MERIDIAN_TX_VERDICT_LINK_DOWN                           7
#define MERIDIAN_TX_VERDICT_HOST_DISABLED                       8
#define MERIDIAN_TX_VERDICT_SWITCHED                            9
#define MERIDIAN_TX_VERDICT_TO_PS                               10
#define MERIDIAN_TX_VERDICT_VEB_FULL                            11
#define MERIDIAN_TX_VERDICT_PS_FULL                             12
#define MERIDIAN_TX_VERDICT_HAIRPIN                             13
#define MERIDIAN_TX_VERDICT_CONTROL_FRAME                       14
#define MERIDIAN_TX_VERDICTS                                    15

/* mac_command.operation. */
#define MERIDIAN_MAC_OPERATION_ADD                              0
#define MERIDIAN_MAC_OPERATION_REMOVE                           1
#define MERIDIAN_MAC_OPERATION_FIND                             2
#define MERIDIAN_MAC_OPERATIONS                                 3

/* mac_status.result. */
#define MERIDIAN_MAC_RESULT_DONE                                0
#define MERIDIAN_MAC_RESULT_FULL                                1
#define MERIDIAN_MAC_RESULT_NOT_FOUND                           2
#define MERIDIAN_MAC_RESULT_EXISTS                              3
#define MERIDIAN_MAC_RESULTS                                    4

/* What the hash of a frame was made over. */
#define MERIDIAN_HASH_TYPE_NONE                                 0
#define MERIDIAN_HASH_TYPE_IPV4                                 1
#define MERIDIAN_HASH_TYPE_IPV4_TCP                             2
#define MERIDIAN_HASH_TYPE_IPV4_UDP                             3
#define MERIDIAN_HASH_TYPE_IPV6                                 4
#define MERIDIAN_HASH_TYPE_IPV6_TCP                             5
#define MERIDIAN_HASH_TYPE_IPV6_UDP                             6
#define MERIDIAN_HASH_TYPES                                     7

/* Verdict on a checksum of a frame. */
#define MERIDIAN_CHECKSUM_NOT_CHECKED                           0
#define MERIDIAN_CHECKSUM_GOOD                                  1
#define MERIDIAN_CHECKSUM_BAD                                   2
#define MERIDIAN_CHECKSUMS                                      3

/* What follows the IP header of a packet that is whole and no fragment. */
#define MERIDIAN_L4_KIND_OTHER                                  0
#define MERIDIAN_L4_KIND_TCP                                    1
#define MERIDIAN_L4_KIND_UDP                                    2
#define MERIDIAN_L4_KINDS                                       3

/* Why a self-test was not started. */
#define MERIDIAN_SELF_TEST_REFUSAL_NONE                         0
#define MERIDIAN_SELF_TEST_REFUSAL_RUNNING                      1
#define MERIDIAN_SELF_TEST_REFUSAL_NOTHING                      2
#define MERIDIAN_SELF_TEST_REFUSAL_NO_FUNCTION                  3
#define MERIDIAN_SELF_TEST_REFUSAL_CREDIT                       4
#define MERIDIAN_SELF_TEST_REFUSAL_SIZE_ZERO                    5
#define MERIDIAN_SELF_TEST_REFUSAL_SIZE_TOO_BIG                 6
#define MERIDIAN_SELF_TEST_REFUSAL_SIZE_SEQUENCE                7
#define MERIDIAN_SELF_TEST_REFUSAL_QUEUES                       8
#define MERIDIAN_SELF_TEST_REFUSAL_WINDOW                       9
#define MERIDIAN_SELF_TEST_REFUSAL_TRAFFIC                      10
#define MERIDIAN_SELF_TEST_REFUSAL_STOPPED                      11
#define MERIDIAN_SELF_TEST_REFUSALS                             12

/* What ended a self-test. */
#define MERIDIAN_SELF_TEST_END_NONE                             0
#define MERIDIAN_SELF_TEST_END_COMMAND                          1
#define MERIDIAN_SELF_TEST_END_COMPLETE                         2
#define MERIDIAN_SELF_TEST_END_FUNCTION_RESET                   3
#define MERIDIAN_SELF_TEST_END_QUEUES_CHANGED                   4
#define MERIDIAN_SELF_TEST_END_CREDIT_OFF                       5
#define MERIDIAN_SELF_TEST_ENDS                                 6

/* Why a setting of a transceiver was not taken over. */
#define MERIDIAN_TRANSCEIVER_REFUSAL_NONE                       0
#define MERIDIAN_TRANSCEIVER_REFUSAL_RESERVED                   1
#define MERIDIAN_TRANSCEIVER_REFUSAL_HOST_ENABLED               2
#define MERIDIAN_TRANSCEIVER_REFUSAL_PS_ENABLED                 3
#define MERIDIAN_TRANSCEIVER_REFUSAL_TRAFFIC                    4
#define MERIDIAN_TRANSCEIVER_REFUSALS                           5

/* How an access to a register of a transceiver ended. */
#define MERIDIAN_DRP_RESULT_NONE                                0
#define MERIDIAN_DRP_RESULT_DONE                                1
#define MERIDIAN_DRP_RESULT_TIMEOUT                             2
#define MERIDIAN_DRP_RESULT_HUNG                                3
#define MERIDIAN_DRP_RESULT_BUSY                                4
#define MERIDIAN_DRP_RESULTS                                    5

/* Why flow control is off although it was switched on. */
#define MERIDIAN_PAUSE_REFUSAL_NONE                             0
#define MERIDIAN_PAUSE_REFUSAL_RECEIVE_BOTH                     1
#define MERIDIAN_PAUSE_REFUSALS                                 2

/* What a test of a port does. */
#define MERIDIAN_PORT_TEST_STATE_IDLE                           0
#define MERIDIAN_PORT_TEST_STATE_STARTING                       1
#define MERIDIAN_PORT_TEST_STATE_RUNNING                        2
#define MERIDIAN_PORT_TEST_STATE_WAITING                        3
#define MERIDIAN_PORT_TEST_STATE_ENDING                         4
#define MERIDIAN_PORT_TEST_STATE_ARMED                          5
#define MERIDIAN_PORT_TEST_STATES                               6

/* Why a test of a port was not started. */
#define MERIDIAN_PORT_TEST_REFUSAL_NONE                         0
#define MERIDIAN_PORT_TEST_REFUSAL_RUNNING                      1
#define MERIDIAN_PORT_TEST_REFUSAL_NOTHING                      2
#define MERIDIAN_PORT_TEST_REFUSAL_SIZE_RANGE                   3
#define MERIDIAN_PORT_TEST_REFUSAL_SIZE_SEQUENCE                4
#define MERIDIAN_PORT_TEST_REFUSAL_FRAMES                       5
#define MERIDIAN_PORT_TEST_REFUSAL_INTERVAL                     6
#define MERIDIAN_PORT_TEST_REFUSAL_MAC                          7
#define MERIDIAN_PORT_TEST_REFUSAL_LINK_DOWN                    8
#define MERIDIAN_PORT_TEST_REFUSAL_TRAFFIC                      9
#define MERIDIAN_PORT_TEST_REFUSAL_STOPPED                      10
#define MERIDIAN_PORT_TEST_REFUSAL_PS_TRAFFIC                   11
#define MERIDIAN_PORT_TEST_REFUSALS                             12

/* What ended a test of a port. */
#define MERIDIAN_PORT_TEST_END_NONE                             0
#define MERIDIAN_PORT_TEST_END_COMMAND                          1
#define MERIDIAN_PORT_TEST_END_COMPLETE                         2
#define MERIDIAN_PORT_TEST_END_LINK_DOWN                        3
#define MERIDIAN_PORT_TEST_END_MAC                              4
#define MERIDIAN_PORT_TEST_ENDS                                 5

/*
 * Completion entry, in 32-bit words of little endian; the first two alone if the queue has entries
 * of 8 bytes.
 */
#define MERIDIAN_COMPLETION_BYTES                               8
#define MERIDIAN_COMPLETION16_BYTES                             16
#define MERIDIAN_COMPLETION_FORMAT_WORD                         0
#define MERIDIAN_COMPLETION_FORMAT_SHIFT                        0
#define MERIDIAN_COMPLETION_FORMAT_MASK                         0x00000001u
#define MERIDIAN_COMPLETION_COLOR_WORD                          0
#define MERIDIAN_COMPLETION_COLOR_SHIFT                         1
#define MERIDIAN_COMPLETION_COLOR_MASK                          0x00000002u
#define MERIDIAN_COMPLETION_ERROR_WORD                          0
#define MERIDIAN_COMPLETION_ERROR_SHIFT                         2
#define MERIDIAN_COMPLETION_ERROR_MASK                          0x00000004u
#define MERIDIAN_COMPLETION_USED_WORD                           0
#define MERIDIAN_COMPLETION_USED_SHIFT                          3
#define MERIDIAN_COMPLETION_USED_MASK                           0x00000008u
#define MERIDIAN_COMPLETION_LENGTH_WORD                         0
#define MERIDIAN_COMPLETION_LENGTH_SHIFT                        4
#define MERIDIAN_COMPLETION_LENGTH_MASK                         0x000ffff0u
#define MERIDIAN_COMPLETION_END_OF_FRAME_WORD                   0
#define MERIDIAN_COMPLETION_END_OF_FRAME_SHIFT                  20
#define MERIDIAN_COMPLETION_END_OF_FRAME_MASK                   0x00100000u
#define MERIDIAN_COMPLETION_OPENNIC_LENGTH_WORD                 1
#define MERIDIAN_COMPLETION_OPENNIC_LENGTH_SHIFT                0
#define MERIDIAN_COMPLETION_OPENNIC_LENGTH_MASK                 0x0000ffffu
#define MERIDIAN_COMPLETION_PACKET_WORD                         1
#define MERIDIAN_COMPLETION_PACKET_SHIFT                        16
#define MERIDIAN_COMPLETION_PACKET_MASK                         0xffff0000u
#define MERIDIAN_COMPLETION_HASH_WORD                           2
#define MERIDIAN_COMPLETION_HASH_SHIFT                          0
#define MERIDIAN_COMPLETION_HASH_MASK                           0xffffffffu
#define MERIDIAN_COMPLETION_VLAN_TCI_WORD                       3
#define MERIDIAN_COMPLETION_VLAN_TCI_SHIFT                      0
#define MERIDIAN_COMPLETION_VLAN_TCI_MASK                       0x0000ffffu
#define MERIDIAN_COMPLETION_HASH_TYPE_WORD                      3
#define MERIDIAN_COMPLETION_HASH_TYPE_SHIFT                     16
#define MERIDIAN_COMPLETION_HASH_TYPE_MASK                      0x000f0000u
#define MERIDIAN_COMPLETION_VLAN_STRIPPED_WORD                  3
#define MERIDIAN_COMPLETION_VLAN_STRIPPED_SHIFT                 20
#define MERIDIAN_COMPLETION_VLAN_STRIPPED_MASK                  0x00100000u
#define MERIDIAN_COMPLETION_IP_CHECKSUM_WORD                    3
#define MERIDIAN_COMPLETION_IP_CHECKSUM_SHIFT                   21
#define MERIDIAN_COMPLETION_IP_CHECKSUM_MASK                    0x00600000u
#define MERIDIAN_COMPLETION_L4_CHECKSUM_WORD                    3
#define MERIDIAN_COMPLETION_L4_CHECKSUM_SHIFT                   23
#define MERIDIAN_COMPLETION_L4_CHECKSUM_MASK                    0x01800000u
#define MERIDIAN_COMPLETION_L4_KIND_WORD                        3
#define MERIDIAN_COMPLETION_L4_KIND_SHIFT                       25
#define MERIDIAN_COMPLETION_L4_KIND_MASK                        0x06000000u

/*
 * What the metadata of an H2C stream descriptor (its first 32 bits) ask for, on a queue with
 * transmit_offload.
 */
#define MERIDIAN_H2C_REQUEST_INNER_START_SHIFT                  0
#define MERIDIAN_H2C_REQUEST_INNER_START_MASK                   0x000000ffu
#define MERIDIAN_H2C_REQUEST_VLAN_TCI_SHIFT                     0
#define MERIDIAN_H2C_REQUEST_VLAN_TCI_MASK                      0x0000ffffu
#define MERIDIAN_H2C_REQUEST_INSERT_VLAN_SHIFT                  16
#define MERIDIAN_H2C_REQUEST_INSERT_VLAN_MASK                   0x00010000u
#define MERIDIAN_H2C_REQUEST_IP_CHECKSUM_SHIFT                  17
#define MERIDIAN_H2C_REQUEST_IP_CHECKSUM_MASK                   0x00020000u
#define MERIDIAN_H2C_REQUEST_L4_CHECKSUM_SHIFT                  18
#define MERIDIAN_H2C_REQUEST_L4_CHECKSUM_MASK                   0x00040000u
#define MERIDIAN_H2C_REQUEST_SEGMENT_BYTES_SHIFT                19
#define MERIDIAN_H2C_REQUEST_SEGMENT_BYTES_MASK                 0xfff80000u

/* System configuration as the OpenNIC shell has it. */
#define MERIDIAN_SYSTEM_BASE                                    0x000
#define MERIDIAN_SYSTEM_BUILD_TIMESTAMP                         0x000
#define MERIDIAN_SYSTEM_RESET                                   0x004
#define MERIDIAN_SYSTEM_RESET_REQUEST_SHIFT                     0
#define MERIDIAN_SYSTEM_RESET_REQUEST_MASK                      0x00000001u
#define MERIDIAN_SYSTEM_STATUS                                  0x008
#define MERIDIAN_SYSTEM_STATUS_DONE_SHIFT                       0
#define MERIDIAN_SYSTEM_STATUS_DONE_MASK                        0x00000001u
#define MERIDIAN_SYSTEM_SHELL_RESET                             0x00c
#define MERIDIAN_SYSTEM_SHELL_RESET_REQUEST_SHIFT               0
#define MERIDIAN_SYSTEM_SHELL_RESET_REQUEST_MASK                0x000003ffu
#define MERIDIAN_SYSTEM_SHELL_STATUS                            0x010
#define MERIDIAN_SYSTEM_SHELL_STATUS_DONE_SHIFT                 0
#define MERIDIAN_SYSTEM_SHELL_STATUS_DONE_MASK                  0x000003ffu
#define MERIDIAN_SYSTEM_USER_RESET                              0x014
#define MERIDIAN_SYSTEM_USER_RESET_REQUEST_SHIFT                0
#define MERIDIAN_SYSTEM_USER_RESET_REQUEST_MASK                 0x00000001u
#define MERIDIAN_SYSTEM_USER_STATUS                             0x018
#define MERIDIAN_SYSTEM_USER_STATUS_DONE_SHIFT                  0
#define MERIDIAN_SYSTEM_USER_STATUS_DONE_MASK                   0x00000001u

/* Queues and RSS of a function, as the OpenNIC shell has it; functions 0 to 3. */
#define MERIDIAN_OPENNIC_FUNCTION_BASE(i)                       (0x1000 + 0x1000 * (i))
#define MERIDIAN_OPENNIC_FUNCTION_MAX                           4
#define MERIDIAN_OPENNIC_FUNCTION_QCONF                         0x000
#define MERIDIAN_OPENNIC_FUNCTION_QCONF_COUNT_SHIFT             0
#define MERIDIAN_OPENNIC_FUNCTION_QCONF_COUNT_MASK              0x0000ffffu
#define MERIDIAN_OPENNIC_FUNCTION_QCONF_BASE_SHIFT              16
#define MERIDIAN_OPENNIC_FUNCTION_QCONF_BASE_MASK               0xffff0000u
#define MERIDIAN_OPENNIC_FUNCTION_INDIRECTION(i)                (0x400 + 0x4 * (i))
#define MERIDIAN_OPENNIC_FUNCTION_INDIRECTION_MAX               128
#define MERIDIAN_OPENNIC_FUNCTION_HASH_KEY(i)                   (0x600 + 0x4 * (i))
#define MERIDIAN_OPENNIC_FUNCTION_HASH_KEY_MAX                  10

/* MAC of a port as the OpenNIC shell has it; ports 0 and 1. */
#define MERIDIAN_CMAC_BASE(i)                                   (0x8000 + 0x4000 * (i))
#define MERIDIAN_CMAC_MAX                                       2
#define MERIDIAN_CMAC_CONF_TX_1                                 0x00c
#define MERIDIAN_CMAC_CONF_TX_1_ENABLE_SHIFT                    0
#define MERIDIAN_CMAC_CONF_TX_1_ENABLE_MASK                     0x00000001u
#define MERIDIAN_CMAC_CONF_RX_1                                 0x014
#define MERIDIAN_CMAC_CONF_RX_1_ENABLE_SHIFT                    0
#define MERIDIAN_CMAC_CONF_RX_1_ENABLE_MASK                     0x00000001u
#define MERIDIAN_CMAC_CORE_VERSION                              0x024
#define MERIDIAN_CMAC_STAT_TX_STATUS                            0x200
#define MERIDIAN_CMAC_STAT_TX_STATUS_STATUS_SHIFT               0
#define MERIDIAN_CMAC_STAT_TX_STATUS_STATUS_MASK                0x00000001u
#define MERIDIAN_CMAC_STAT_TX_STATUS_ALIGNED_SHIFT              1
#define MERIDIAN_CMAC_STAT_TX_STATUS_ALIGNED_MASK               0x00000002u
#define MERIDIAN_CMAC_STAT_RX_STATUS                            0x204
#define MERIDIAN_CMAC_STAT_RX_STATUS_STATUS_SHIFT               0
#define MERIDIAN_CMAC_STAT_RX_STATUS_STATUS_MASK                0x00000001u
#define MERIDIAN_CMAC_STAT_RX_STATUS_ALIGNED_SHIFT              1
#define MERIDIAN_CMAC_STAT_RX_STATUS_ALIGNED_MASK               0x00000002u
#define MERIDIAN_CMAC_TICK                                      0x2b0
#define MERIDIAN_CMAC_TICK_TICK_SHIFT                           0
#define MERIDIAN_CMAC_TICK_TICK_MASK                            0x00000001u
#define MERIDIAN_CMAC_COUNTERS(i)                               (0x2b8 + 0x4 * (i))
#define MERIDIAN_CMAC_COUNTERS_MAX                              296
#define MERIDIAN_CMAC_COUNTER_TX_FRAMES                         0x500
#define MERIDIAN_CMAC_COUNTER_TX_GOOD_FRAMES                    0x508
#define MERIDIAN_CMAC_COUNTER_TX_BYTES                          0x510
#define MERIDIAN_CMAC_COUNTER_TX_GOOD_BYTES                     0x518
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_64                        0x520
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_65_127                    0x528
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_128_255                   0x530
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_256_511                   0x538
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_512_1023                  0x540
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_1024_1518                 0x548
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_1519_1522                 0x550
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_1523_1548                 0x558
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_1549_2047                 0x560
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_2048_4095                 0x568
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_4096_8191                 0x570
#define MERIDIAN_CMAC_COUNTER_TX_SIZE_8192_9215                 0x578
#define MERIDIAN_CMAC_COUNTER_TX_LARGE                          0x580
#define MERIDIAN_CMAC_COUNTER_TX_SMALL                          0x588
#define MERIDIAN_CMAC_COUNTER_TX_UNICAST                        0x5d0
#define MERIDIAN_CMAC_COUNTER_TX_MULTICAST                      0x5d8
#define MERIDIAN_CMAC_COUNTER_TX_BROADCAST                      0x5e0
#define MERIDIAN_CMAC_COUNTER_TX_VLAN                           0x5e8
#define MERIDIAN_CMAC_COUNTER_RX_FRAMES                         0x608
#define MERIDIAN_CMAC_COUNTER_RX_GOOD_FRAMES                    0x610
#define MERIDIAN_CMAC_COUNTER_RX_BYTES                          0x618
#define MERIDIAN_CMAC_COUNTER_RX_GOOD_BYTES                     0x620
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_64                        0x628
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_65_127                    0x630
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_128_255                   0x638
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_256_511                   0x640
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_512_1023                  0x648
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_1024_1518                 0x650
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_1519_1522                 0x658
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_1523_1548                 0x660
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_1549_2047                 0x668
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_2048_4095                 0x670
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_4096_8191                 0x678
#define MERIDIAN_CMAC_COUNTER_RX_SIZE_8192_9215                 0x680
#define MERIDIAN_CMAC_COUNTER_RX_LARGE                          0x688
#define MERIDIAN_CMAC_COUNTER_RX_SMALL                          0x690
#define MERIDIAN_CMAC_COUNTER_RX_RUNT                           0x698
#define MERIDIAN_CMAC_COUNTER_RX_OVERSIZE                       0x6a8
#define MERIDIAN_CMAC_COUNTER_RX_BAD_FCS                        0x6c0
#define MERIDIAN_CMAC_COUNTER_RX_PACKET_BAD_FCS                 0x6c8
#define MERIDIAN_CMAC_COUNTER_RX_UNICAST                        0x6d8
#define MERIDIAN_CMAC_COUNTER_RX_MULTICAST                      0x6e0
#define MERIDIAN_CMAC_COUNTER_RX_BROADCAST                      0x6e8
#define MERIDIAN_CMAC_COUNTER_RX_VLAN                           0x6f0

/* Identification of the card and of its register map. */
#define MERIDIAN_IDENT_BASE                                     0x100000
#define MERIDIAN_IDENT_PS_BASE                                  0x000
#define MERIDIAN_IDENT_MAGIC                                    0x000
#define MERIDIAN_IDENT_VERSION                                  0x004
#define MERIDIAN_IDENT_VERSION_MINOR_SHIFT                      0
#define MERIDIAN_IDENT_VERSION_MINOR_MASK                       0x0000ffffu
#define MERIDIAN_IDENT_VERSION_MAJOR_SHIFT                      16
#define MERIDIAN_IDENT_VERSION_MAJOR_MASK                       0xffff0000u
#define MERIDIAN_IDENT_BUILD_DATE                               0x008
#define MERIDIAN_IDENT_BUILD_HASH                               0x00c
#define MERIDIAN_IDENT_CAPABILITIES                             0x010
#define MERIDIAN_IDENT_CAPABILITIES_PTP_CLOCK_SHIFT             0
#define MERIDIAN_IDENT_CAPABILITIES_PTP_CLOCK_MASK              0x00000001u
#define MERIDIAN_IDENT_CAPABILITIES_PS_PORT_SHIFT               1
#define MERIDIAN_IDENT_CAPABILITIES_PS_PORT_MASK                0x00000002u
#define MERIDIAN_IDENT_CAPABILITIES_MAC_TABLE_SHIFT             2
#define MERIDIAN_IDENT_CAPABILITIES_MAC_TABLE_MASK              0x00000004u
#define MERIDIAN_IDENT_CAPABILITIES_GROUPS_SHIFT                3
#define MERIDIAN_IDENT_CAPABILITIES_GROUPS_MASK                 0x00000008u
#define MERIDIAN_IDENT_CAPABILITIES_CREDIT_SHIFT                4
#define MERIDIAN_IDENT_CAPABILITIES_CREDIT_MASK                 0x00000010u
#define MERIDIAN_IDENT_CAPABILITIES_VF_PAGE_SHIFT               5
#define MERIDIAN_IDENT_CAPABILITIES_VF_PAGE_MASK                0x00000020u
#define MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_SHIFT          6
#define MERIDIAN_IDENT_CAPABILITIES_COMPLETION16_MASK           0x00000040u
#define MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_SHIFT        7
#define MERIDIAN_IDENT_CAPABILITIES_MICROSOFT_HASH_MASK         0x00000080u
#define MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_SHIFT            8
#define MERIDIAN_IDENT_CAPABILITIES_VLAN_STRIP_MASK             0x00000100u
#define MERIDIAN_IDENT_CAPABILITIES_PACING_SHIFT                9
#define MERIDIAN_IDENT_CAPABILITIES_PACING_MASK                 0x00000200u
#define MERIDIAN_IDENT_CAPABILITIES_VEB_SHIFT                   10
#define MERIDIAN_IDENT_CAPABILITIES_VEB_MASK                    0x00000400u
#define MERIDIAN_IDENT_CAPABILITIES_LINK_STATE_SHIFT            11
#define MERIDIAN_IDENT_CAPABILITIES_LINK_STATE_MASK             0x00000800u
#define MERIDIAN_IDENT_CAPABILITIES_VLAN_INSERT_SHIFT           12
#define MERIDIAN_IDENT_CAPABILITIES_VLAN_INSERT_MASK            0x00001000u
#define MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_SHIFT      13
#define MERIDIAN_IDENT_CAPABILITIES_TRANSMIT_OFFLOAD_MASK       0x00002000u
#define MERIDIAN_IDENT_CAPABILITIES_PS_LIMIT_SHIFT              14
#define MERIDIAN_IDENT_CAPABILITIES_PS_LIMIT_MASK               0x00004000u
#define MERIDIAN_IDENT_CAPABILITIES_STAMP_LATENCY_SHIFT         15
#define MERIDIAN_IDENT_CAPABILITIES_STAMP_LATENCY_MASK          0x00008000u
#define MERIDIAN_IDENT_CAPABILITIES_CONTROL_FRAMES_SHIFT        16
#define MERIDIAN_IDENT_CAPABILITIES_CONTROL_FRAMES_MASK         0x00010000u
#define MERIDIAN_IDENT_CAPABILITIES_HASH_KEY_SHIFT              17
#define MERIDIAN_IDENT_CAPABILITIES_HASH_KEY_MASK               0x00020000u
#define MERIDIAN_IDENT_CAPABILITIES_HASH_FIELDS_SHIFT           18
#define MERIDIAN_IDENT_CAPABILITIES_HASH_FIELDS_MASK            0x00040000u
#define MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_SHIFT             19
#define MERIDIAN_IDENT_CAPABILITIES_SELF_TEST_MASK              0x00080000u
#define MERIDIAN_IDENT_CAPABILITIES_USER_BOX_SHIFT              20
#define MERIDIAN_IDENT_CAPABILITIES_USER_BOX_MASK               0x00100000u
#define MERIDIAN_IDENT_CAPABILITIES_HOST_BOX_SHIFT              21
#define MERIDIAN_IDENT_CAPABILITIES_HOST_BOX_MASK               0x00200000u
#define MERIDIAN_IDENT_CAPABILITIES_EGRESS_SHIFT                24
#define MERIDIAN_IDENT_CAPABILITIES_EGRESS_MASK                 0x01000000u
#define MERIDIAN_IDENT_CAPABILITIES_FLOW_CONTROL_SHIFT          25
#define MERIDIAN_IDENT_CAPABILITIES_FLOW_CONTROL_MASK           0x02000000u
#define MERIDIAN_IDENT_CAPABILITIES_BOX_IRQ_SHIFT               27
#define MERIDIAN_IDENT_CAPABILITIES_BOX_IRQ_MASK                0x08000000u
#define MERIDIAN_IDENT_CAPABILITIES_EGRESS_POOL_SHIFT           28
#define MERIDIAN_IDENT_CAPABILITIES_EGRESS_POOL_MASK            0x10000000u
#define MERIDIAN_IDENT_CAPABILITIES_PIECES_SHIFT                29
#define MERIDIAN_IDENT_CAPABILITIES_PIECES_MASK                 0x20000000u
#define MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_SHIFT              30
#define MERIDIAN_IDENT_CAPABILITIES_SEGMENTS_MASK               0x40000000u
#define MERIDIAN_IDENT_CAPABILITIES_PUSH_SHIFT                  31
#define MERIDIAN_IDENT_CAPABILITIES_PUSH_MASK                   0x80000000u
#define MERIDIAN_IDENT_GEOMETRY                                 0x014
#define MERIDIAN_IDENT_GEOMETRY_PORTS_SHIFT                     0
#define MERIDIAN_IDENT_GEOMETRY_PORTS_MASK                      0x000000ffu
#define MERIDIAN_IDENT_GEOMETRY_HOST_BYTES_SHIFT                8
#define MERIDIAN_IDENT_GEOMETRY_HOST_BYTES_MASK                 0x0000ff00u
#define MERIDIAN_IDENT_GEOMETRY_FUNCTIONS_SHIFT                 16
#define MERIDIAN_IDENT_GEOMETRY_FUNCTIONS_MASK                  0xffff0000u
#define MERIDIAN_IDENT_QUEUES                                   0x018
#define MERIDIAN_IDENT_QUEUES_QUEUES_SHIFT                      0
#define MERIDIAN_IDENT_QUEUES_QUEUES_MASK                       0x0000ffffu
#define MERIDIAN_IDENT_QUEUES_GROUPS_SHIFT                      16
#define MERIDIAN_IDENT_QUEUES_GROUPS_MASK                       0xffff0000u
#define MERIDIAN_IDENT_TABLES                                   0x01c
#define MERIDIAN_IDENT_TABLES_MAC_ENTRIES_SHIFT                 0
#define MERIDIAN_IDENT_TABLES_MAC_ENTRIES_MASK                  0x0000ffffu
#define MERIDIAN_IDENT_TABLES_PS_ADDRESSES_SHIFT                16
#define MERIDIAN_IDENT_TABLES_PS_ADDRESSES_MASK                 0x00ff0000u
#define MERIDIAN_IDENT_MAX_FRAME                                0x020
#define MERIDIAN_IDENT_SCRATCH                                  0x024
#define MERIDIAN_IDENT_CLOCKS                                   0x028
#define MERIDIAN_IDENT_CLOCKS_HOST_MHZ_SHIFT                    0
#define MERIDIAN_IDENT_CLOCKS_HOST_MHZ_MASK                     0x0000ffffu
#define MERIDIAN_IDENT_UNMAPPED                                 0x030
#define MERIDIAN_IDENT_HOST_REFUSED                             0x034
#define MERIDIAN_IDENT_PARTIAL_WRITE                            0x038

/*
 * Interrupts of user's modules for the PS, on a card that has `user_box` or `host_box`. Written by
 * the PS only.
 */
#define MERIDIAN_PS_BOX_IRQ_BASE                                0x100800
#define MERIDIAN_PS_BOX_IRQ_PS_BASE                             0x800
#define MERIDIAN_PS_BOX_IRQ_ENABLE                              0x000
#define MERIDIAN_PS_BOX_IRQ_ENABLE_MODULES_SHIFT                0
#define MERIDIAN_PS_BOX_IRQ_ENABLE_MODULES_MASK                 0x0000001fu
#define MERIDIAN_PS_BOX_IRQ_PENDING                             0x004
#define MERIDIAN_PS_BOX_IRQ_PENDING_MODULES_SHIFT               0
#define MERIDIAN_PS_BOX_IRQ_PENDING_MODULES_MASK                0x0000001fu
#define MERIDIAN_PS_BOX_IRQ_GAP                                 0x008
#define MERIDIAN_PS_BOX_IRQ_GAP_CYCLES_SHIFT                    0
#define MERIDIAN_PS_BOX_IRQ_GAP_CYCLES_MASK                     0x00ffffffu

/* The PTP clock. Written by the PS only. */
#define MERIDIAN_PTP_BASE                                       0x101000
#define MERIDIAN_PTP_PS_BASE                                    0x1000
#define MERIDIAN_PTP_COMMAND                                    0x000
#define MERIDIAN_PTP_COMMAND_LATCH_SHIFT                        0
#define MERIDIAN_PTP_COMMAND_LATCH_MASK                         0x00000001u
#define MERIDIAN_PTP_COMMAND_SET_SHIFT                          1
#define MERIDIAN_PTP_COMMAND_SET_MASK                           0x00000002u
#define MERIDIAN_PTP_COMMAND_ADJUST_SHIFT                       2
#define MERIDIAN_PTP_COMMAND_ADJUST_MASK                        0x00000004u
#define MERIDIAN_PTP_COMMAND_POP_SHIFT                          3
#define MERIDIAN_PTP_COMMAND_POP_MASK                           0x00000008u
#define MERIDIAN_PTP_STATUS                                     0x004
#define MERIDIAN_PTP_STATUS_FOLLOWERS_SHIFT                     0
#define MERIDIAN_PTP_STATUS_FOLLOWERS_MASK                      0x0000ffffu
#define MERIDIAN_PTP_STATUS_RUNNING_SHIFT                       16
#define MERIDIAN_PTP_STATUS_RUNNING_MASK                        0x00010000u
#define MERIDIAN_PTP_STATUS_STAMPED_SHIFT                       17
#define MERIDIAN_PTP_STATUS_STAMPED_MASK                        0x00020000u
#define MERIDIAN_PTP_EVENT                                      0x008
#define MERIDIAN_PTP_EVENT_SECOND_SHIFT                         0
#define MERIDIAN_PTP_EVENT_SECOND_MASK                          0x00000001u
#define MERIDIAN_PTP_EVENT_ENABLE                               0x00c
#define MERIDIAN_PTP_EVENT_ENABLE_SECOND_ENABLE_SHIFT           0
#define MERIDIAN_PTP_EVENT_ENABLE_SECOND_ENABLE_MASK            0x00000001u
#define MERIDIAN_PTP_EVENT_ENABLE_STAMPED_ENABLE_SHIFT          1
#define MERIDIAN_PTP_EVENT_ENABLE_STAMPED_ENABLE_MASK           0x00000002u
#define MERIDIAN_PTP_TIME_SECONDS_HIGH                          0x010
#define MERIDIAN_PTP_TIME_SECONDS_HIGH_SECONDS_HIGH_SHIFT       0
#define MERIDIAN_PTP_TIME_SECONDS_HIGH_SECONDS_HIGH_MASK        0x0000ffffu
#define MERIDIAN_PTP_TIME_SECONDS_LOW                           0x014
#define MERIDIAN_PTP_TIME_NANOSECONDS                           0x018
#define MERIDIAN_PTP_TIME_FRACTION                              0x01c
#define MERIDIAN_PTP_SET_SECONDS_HIGH                           0x020
#define MERIDIAN_PTP_SET_SECONDS_HIGH_SECONDS_HIGH_SHIFT        0
#define MERIDIAN_PTP_SET_SECONDS_HIGH_SECONDS_HIGH_MASK         0x0000ffffu
#define MERIDIAN_PTP_SET_SECONDS_LOW                            0x024
#define MERIDIAN_PTP_SET_NANOSECONDS                            0x028
#define MERIDIAN_PTP_SET_FRACTION                               0x02c
#define MERIDIAN_PTP_ADJUST_NANOSECONDS                         0x030
#define MERIDIAN_PTP_ADJUST_FRACTION                            0x034
#define MERIDIAN_PTP_INCREMENT_NANOSECONDS                      0x038
#define MERIDIAN_PTP_INCREMENT_NANOSECONDS_NANOSECONDS_SHIFT    0
#define MERIDIAN_PTP_INCREMENT_NANOSECONDS_NANOSECONDS_MASK     0x000000ffu
#define MERIDIAN_PTP_INCREMENT_FRACTION                         0x03c
#define MERIDIAN_PTP_NOMINAL_NANOSECONDS                        0x040
#define MERIDIAN_PTP_NOMINAL_NANOSECONDS__SHIFT                 0
#define MERIDIAN_PTP_NOMINAL_NANOSECONDS__MASK                  0x000000ffu
#define MERIDIAN_PTP_NOMINAL_FRACTION                           0x044
#define MERIDIAN_PTP_PPS                                        0x048
#define MERIDIAN_PTP_PPS_ENABLE_SHIFT                           0
#define MERIDIAN_PTP_PPS_ENABLE_MASK                            0x00000001u
#define MERIDIAN_PTP_PPS_WIDTH_SHIFT                            16
#define MERIDIAN_PTP_PPS_WIDTH_MASK                             0x03ff0000u
#define MERIDIAN_PTP_PEROUT                                     0x04c
#define MERIDIAN_PTP_PEROUT_ENABLE_SHIFT                        0
#define MERIDIAN_PTP_PEROUT_ENABLE_MASK                         0x00000001u
#define MERIDIAN_PTP_PEROUT_START_SECONDS_HIGH                  0x050
#define MERIDIAN_PTP_PEROUT_START_SECONDS_HIGH_SECONDS_HIGH_SHIFT 0
#define MERIDIAN_PTP_PEROUT_START_SECONDS_HIGH_SECONDS_HIGH_MASK 0x0000ffffu
#define MERIDIAN_PTP_PEROUT_START_SECONDS_LOW                   0x054
#define MERIDIAN_PTP_PEROUT_START_NANOSECONDS                   0x058
#define MERIDIAN_PTP_PEROUT_PERIOD_SECONDS                      0x05c
#define MERIDIAN_PTP_PEROUT_PERIOD_NANOSECONDS                  0x060
#define MERIDIAN_PTP_PEROUT_PERIOD_NANOSECONDS_NANOSECONDS_SHIFT 0
#define MERIDIAN_PTP_PEROUT_PERIOD_NANOSECONDS_NANOSECONDS_MASK 0x3fffffffu
#define MERIDIAN_PTP_PEROUT_WIDTH_SECONDS                       0x064
#define MERIDIAN_PTP_PEROUT_WIDTH_NANOSECONDS                   0x068
#define MERIDIAN_PTP_PEROUT_WIDTH_NANOSECONDS_NANOSECONDS_SHIFT 0
#define MERIDIAN_PTP_PEROUT_WIDTH_NANOSECONDS_NANOSECONDS_MASK  0x3fffffffu
#define MERIDIAN_PTP_EXTTS                                      0x06c
#define MERIDIAN_PTP_EXTTS_RISING_SHIFT                         0
#define MERIDIAN_PTP_EXTTS_RISING_MASK                          0x00000001u
#define MERIDIAN_PTP_EXTTS_FALLING_SHIFT                        1
#define MERIDIAN_PTP_EXTTS_FALLING_MASK                         0x00000002u
#define MERIDIAN_PTP_EXTTS_LOST_SHIFT                           16
#define MERIDIAN_PTP_EXTTS_LOST_MASK                            0xffff0000u
#define MERIDIAN_PTP_EXTTS_SECONDS_HIGH                         0x070
#define MERIDIAN_PTP_EXTTS_SECONDS_HIGH_SECONDS_HIGH_SHIFT      0
#define MERIDIAN_PTP_EXTTS_SECONDS_HIGH_SECONDS_HIGH_MASK       0x0000ffffu
#define MERIDIAN_PTP_EXTTS_SECONDS_LOW                          0x074
#define MERIDIAN_PTP_EXTTS_NANOSECONDS                          0x078

/*
 * An Ethernet port: link, host enables, addresses of the PFs, what the PS receives. The PS alone
 * writes the last.
 */
#define MERIDIAN_PORT_BASE(i)                                   (0x102000 + 0x1000 * (i))
#define MERIDIAN_PORT_PS_BASE(i)                                (0x2000 + 0x1000 * (i))
#define MERIDIAN_PORT_MAX                                       4
#define MERIDIAN_PORT_LINK_STATUS                               0x000
#define MERIDIAN_PORT_LINK_STATUS_LINK_UP_SHIFT                 0
#define MERIDIAN_PORT_LINK_STATUS_LINK_UP_MASK                  0x00000001u
#define MERIDIAN_PORT_LINK_STATUS_GIGABITS_SHIFT                8
#define MERIDIAN_PORT_LINK_STATUS_GIGABITS_MASK                 0x0000ff00u
#define MERIDIAN_PORT_HOST_ENABLE                               0x004
#define MERIDIAN_PORT_HOST_ENABLE_RX_SHIFT                      0
#define MERIDIAN_PORT_HOST_ENABLE_RX_MASK                       0x00000001u
#define MERIDIAN_PORT_HOST_ENABLE_TX_SHIFT                      1
#define MERIDIAN_PORT_HOST_ENABLE_TX_MASK                       0x00000002u
#define MERIDIAN_PORT_RECEIVER                                  0x008
#define MERIDIAN_PORT_RECEIVER_IN_RESET_SHIFT                   0
#define MERIDIAN_PORT_RECEIVER_IN_RESET_MASK                    0x00000001u
#define MERIDIAN_PORT_RECEIVER_RESETS_SHIFT                     8
#define MERIDIAN_PORT_RECEIVER_RESETS_MASK                      0xffffff00u
#define MERIDIAN_PORT_HOST_ADDRESS_LOW(i)                       (0x010 + 0x8 * (i))
#define MERIDIAN_PORT_HOST_ADDRESS_LOW_MAX                      4
#define MERIDIAN_PORT_HOST_ADDRESS_HIGH(i)                      (0x014 + 0x8 * (i))
#define MERIDIAN_PORT_HOST_ADDRESS_HIGH_MAX                     4
#define MERIDIAN_PORT_HOST_ADDRESS_HIGH_ADDRESS_SHIFT           0
#define MERIDIAN_PORT_HOST_ADDRESS_HIGH_ADDRESS_MASK            0x0000ffffu
#define MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_SHIFT             31
#define MERIDIAN_PORT_HOST_ADDRESS_HIGH_VALID_MASK              0x80000000u
#define MERIDIAN_PORT_CLOCK_LATCH                               0x030
#define MERIDIAN_PORT_CLOCK_LATCH_LATCH_SHIFT                   0
#define MERIDIAN_PORT_CLOCK_LATCH_LATCH_MASK                    0x00000001u
#define MERIDIAN_PORT_CLOCK_LATCH_BUSY_SHIFT                    8
#define MERIDIAN_PORT_CLOCK_LATCH_BUSY_MASK                     0x00000100u
#define MERIDIAN_PORT_CLOCK_LATCH_RX_STILL_SHIFT                9
#define MERIDIAN_PORT_CLOCK_LATCH_RX_STILL_MASK                 0x00000200u
#define MERIDIAN_PORT_CLOCK_LATCH_TX_STILL_SHIFT                10
#define MERIDIAN_PORT_CLOCK_LATCH_TX_STILL_MASK                 0x00000400u
#define MERIDIAN_PORT_CLOCK_LATCH_NUMBER_SHIFT                  16
#define MERIDIAN_PORT_CLOCK_LATCH_NUMBER_MASK                   0xffff0000u
#define MERIDIAN_PORT_RX_CLOCK                                  0x034
#define MERIDIAN_PORT_TX_CLOCK                                  0x038
#define MERIDIAN_PORT_CLOCK_NANOSECONDS                         0x03c
#define MERIDIAN_PORT_CLOCK_SECONDS                             0x040
#define MERIDIAN_PORT_PS_FILTER                                 0x100
#define MERIDIAN_PORT_PS_FILTER_ENABLE_SHIFT                    0
#define MERIDIAN_PORT_PS_FILTER_ENABLE_MASK                     0x00000001u
#define MERIDIAN_PORT_PS_FILTER_BROADCAST_SHIFT                 1
#define MERIDIAN_PORT_PS_FILTER_BROADCAST_MASK                  0x00000002u
#define MERIDIAN_PORT_PS_FILTER_ALL_MULTICAST_SHIFT             2
#define MERIDIAN_PORT_PS_FILTER_ALL_MULTICAST_MASK              0x00000004u
#define MERIDIAN_PORT_PS_FILTER_PROMISCUOUS_SHIFT               3
#define MERIDIAN_PORT_PS_FILTER_PROMISCUOUS_MASK                0x00000008u
#define MERIDIAN_PORT_PS_LIMIT                                  0x104
#define MERIDIAN_PORT_PS_LIMIT_RATE_SHIFT                       0
#define MERIDIAN_PORT_PS_LIMIT_RATE_MASK                        0x000003ffu
#define MERIDIAN_PORT_PS_LIMIT_BURST_SHIFT                      16
#define MERIDIAN_PORT_PS_LIMIT_BURST_MASK                       0x00ff0000u
#define MERIDIAN_PORT_PS_LIMIT_ENABLE_SHIFT                     31
#define MERIDIAN_PORT_PS_LIMIT_ENABLE_MASK                      0x80000000u
#define MERIDIAN_PORT_PS_PTP_LIMIT                              0x108
#define MERIDIAN_PORT_PS_PTP_LIMIT_RATE_SHIFT                   0
#define MERIDIAN_PORT_PS_PTP_LIMIT_RATE_MASK                    0x000003ffu
#define MERIDIAN_PORT_PS_PTP_LIMIT_BURST_SHIFT                  16
#define MERIDIAN_PORT_PS_PTP_LIMIT_BURST_MASK                   0x00ff0000u
#define MERIDIAN_PORT_RX_LATENCY                                0x110
#define MERIDIAN_PORT_TX_LATENCY                                0x114
#define MERIDIAN_PORT_PS_ADDRESS_LOW(i)                         (0x140 + 0x8 * (i))
#define MERIDIAN_PORT_PS_ADDRESS_LOW_MAX                        16
#define MERIDIAN_PORT_PS_ADDRESS_HIGH(i)                        (0x144 + 0x8 * (i))
#define MERIDIAN_PORT_PS_ADDRESS_HIGH_MAX                       16
#define MERIDIAN_PORT_PS_ADDRESS_HIGH_ADDRESS_SHIFT             0
#define MERIDIAN_PORT_PS_ADDRESS_HIGH_ADDRESS_MASK              0x0000ffffu
#define MERIDIAN_PORT_PS_ADDRESS_HIGH_VALID_SHIFT               31
#define MERIDIAN_PORT_PS_ADDRESS_HIGH_VALID_MASK                0x80000000u

/* PAUSE and PFC of an Ethernet port. */
#define MERIDIAN_FLOW_CONTROL_BASE(i)                           (0x102800 + 0x1000 * (i))
#define MERIDIAN_FLOW_CONTROL_PS_BASE(i)                        (0x2800 + 0x1000 * (i))
#define MERIDIAN_FLOW_CONTROL_MAX                               4
#define MERIDIAN_FLOW_CONTROL_RECEIVE                           0x000
#define MERIDIAN_FLOW_CONTROL_RECEIVE_PAUSE_SHIFT               0
#define MERIDIAN_FLOW_CONTROL_RECEIVE_PAUSE_MASK                0x00000001u
#define MERIDIAN_FLOW_CONTROL_RECEIVE_PFC_SHIFT                 8
#define MERIDIAN_FLOW_CONTROL_RECEIVE_PFC_MASK                  0x0000ff00u
#define MERIDIAN_FLOW_CONTROL_WATCHDOG                          0x00c
#define MERIDIAN_FLOW_CONTROL_WATCHDOG_LIMIT_SHIFT              0
#define MERIDIAN_FLOW_CONTROL_WATCHDOG_LIMIT_MASK               0x0000ffffu
#define MERIDIAN_FLOW_CONTROL_ADDRESS_LOW                       0x010
#define MERIDIAN_FLOW_CONTROL_ADDRESS_HIGH                      0x014
#define MERIDIAN_FLOW_CONTROL_ADDRESS_HIGH_ADDRESS_SHIFT        0
#define MERIDIAN_FLOW_CONTROL_ADDRESS_HIGH_ADDRESS_MASK         0x0000ffffu
#define MERIDIAN_FLOW_CONTROL_REFUSAL                           0x018
#define MERIDIAN_FLOW_CONTROL_REFUSAL_REASON_SHIFT              0
#define MERIDIAN_FLOW_CONTROL_REFUSAL_REASON_MASK               0x00000007u
#define MERIDIAN_FLOW_CONTROL_STATE                             0x01c
#define MERIDIAN_FLOW_CONTROL_STATE_PAUSED_SHIFT                0
#define MERIDIAN_FLOW_CONTROL_STATE_PAUSED_MASK                 0x000000ffu
#define MERIDIAN_FLOW_CONTROL_STATE_STORM_SHIFT                 8
#define MERIDIAN_FLOW_CONTROL_STATE_STORM_MASK                  0x0000ff00u
#define MERIDIAN_FLOW_CONTROL_EVENTS                            0x020
#define MERIDIAN_FLOW_CONTROL_EVENTS_STORM_SHIFT                0
#define MERIDIAN_FLOW_CONTROL_EVENTS_STORM_MASK                 0x000000ffu
#define MERIDIAN_FLOW_CONTROL_COUNTERS(i)                       (0x100 + 0x4 * (i))
#define MERIDIAN_FLOW_CONTROL_COUNTERS_MAX                      64
#define MERIDIAN_FLOW_CONTROL_COUNTER_RX_PAUSE                  0x100
#define MERIDIAN_FLOW_CONTROL_COUNTER_RX_PFC                    0x108
#define MERIDIAN_FLOW_CONTROL_COUNTER_RX_IGNORED                0x110
#define MERIDIAN_FLOW_CONTROL_COUNTER_PAUSED_0                  0x140
#define MERIDIAN_FLOW_CONTROL_COUNTER_PAUSED_1                  0x148
#define MERIDIAN_FLOW_CONTROL_COUNTER_PAUSED_2                  0x150
#define MERIDIAN_FLOW_CONTROL_COUNTER_PAUSED_3                  0x158
#define MERIDIAN_FLOW_CONTROL_COUNTER_PAUSED_4                  0x160
#define MERIDIAN_FLOW_CONTROL_COUNTER_PAUSED_5                  0x168
#define MERIDIAN_FLOW_CONTROL_COUNTER_PAUSED_6                  0x170
#define MERIDIAN_FLOW_CONTROL_COUNTER_PAUSED_7                  0x178
#define MERIDIAN_FLOW_CONTROL_COUNTER_STORMS_0                  0x180
#define MERIDIAN_FLOW_CONTROL_COUNTER_STORMS_1                  0x188
#define MERIDIAN_FLOW_CONTROL_COUNTER_STORMS_2                  0x190
#define MERIDIAN_FLOW_CONTROL_COUNTER_STORMS_3                  0x198
#define MERIDIAN_FLOW_CONTROL_COUNTER_STORMS_4                  0x1a0
#define MERIDIAN_FLOW_CONTROL_COUNTER_STORMS_5                  0x1a8
#define MERIDIAN_FLOW_CONTROL_COUNTER_STORMS_6                  0x1b0
#define MERIDIAN_FLOW_CONTROL_COUNTER_STORMS_7                  0x1b8

/*
 * Packet generator and checker at the MAC's side of a port; in a build that has the capability
 * self_test.
 */
#define MERIDIAN_PORT_TEST_BASE(i)                              (0x106000 + 0x400 * (i))
#define MERIDIAN_PORT_TEST_PS_BASE(i)                           (0x6000 + 0x400 * (i))
#define MERIDIAN_PORT_TEST_MAX                                  4
#define MERIDIAN_PORT_TEST_COMMAND                              0x000
#define MERIDIAN_PORT_TEST_COMMAND_START_SHIFT                  0
#define MERIDIAN_PORT_TEST_COMMAND_START_MASK                   0x00000001u
#define MERIDIAN_PORT_TEST_COMMAND_STOP_SHIFT                   1
#define MERIDIAN_PORT_TEST_COMMAND_STOP_MASK                    0x00000002u
#define MERIDIAN_PORT_TEST_COMMAND_OFF_SHIFT                    2
#define MERIDIAN_PORT_TEST_COMMAND_OFF_MASK                     0x00000004u
#define MERIDIAN_PORT_TEST_MODE                                 0x004
#define MERIDIAN_PORT_TEST_MODE_GENERATE_SHIFT                  0
#define MERIDIAN_PORT_TEST_MODE_GENERATE_MASK                   0x00000001u
#define MERIDIAN_PORT_TEST_MODE_CHECK_SHIFT                     1
#define MERIDIAN_PORT_TEST_MODE_CHECK_MASK                      0x00000002u
#define MERIDIAN_PORT_TEST_MODE_FORCE_SHIFT                     2
#define MERIDIAN_PORT_TEST_MODE_FORCE_MASK                      0x00000004u
#define MERIDIAN_PORT_TEST_MODE_DELAY_SHIFT                     3
#define MERIDIAN_PORT_TEST_MODE_DELAY_MASK                      0x00000008u
#define MERIDIAN_PORT_TEST_SIZE                                 0x008
#define MERIDIAN_PORT_TEST_SIZE_FIRST_SHIFT                     0
#define MERIDIAN_PORT_TEST_SIZE_FIRST_MASK                      0x0000ffffu
#define MERIDIAN_PORT_TEST_SIZE_LAST_SHIFT                      16
#define MERIDIAN_PORT_TEST_SIZE_LAST_MASK                       0xffff0000u
#define MERIDIAN_PORT_TEST_SIZE_STEP                            0x00c
#define MERIDIAN_PORT_TEST_SIZE_STEP_BYTES_SHIFT                0
#define MERIDIAN_PORT_TEST_SIZE_STEP_BYTES_MASK                 0x0000ffffu
#define MERIDIAN_PORT_TEST_INTERVAL                             0x010
#define MERIDIAN_PORT_TEST_FRAMES                               0x014
#define MERIDIAN_PORT_TEST_RUN                                  0x018
#define MERIDIAN_PORT_TEST_RUN_LABEL_SHIFT                      0
#define MERIDIAN_PORT_TEST_RUN_LABEL_MASK                       0x0000ffffu
#define MERIDIAN_PORT_TEST_RUN_PATIENCE_SHIFT                   16
#define MERIDIAN_PORT_TEST_RUN_PATIENCE_MASK                    0xffff0000u
#define MERIDIAN_PORT_TEST_DESTINATION_LOW                      0x01c
#define MERIDIAN_PORT_TEST_DESTINATION_HIGH                     0x020
#define MERIDIAN_PORT_TEST_DESTINATION_HIGH_ADDRESS_SHIFT       0
#define MERIDIAN_PORT_TEST_DESTINATION_HIGH_ADDRESS_MASK        0x0000ffffu
#define MERIDIAN_PORT_TEST_RATE                                 0x024
#define MERIDIAN_PORT_TEST_RATE_RATE_SHIFT                      0
#define MERIDIAN_PORT_TEST_RATE_RATE_MASK                       0x03ffffffu
#define MERIDIAN_PORT_TEST_BURST                                0x028
#define MERIDIAN_PORT_TEST_BURST_BYTES_SHIFT                    0
#define MERIDIAN_PORT_TEST_BURST_BYTES_MASK                     0x0000ffffu
#define MERIDIAN_PORT_TEST_STATUS                               0x040
#define MERIDIAN_PORT_TEST_STATUS_STATE_SHIFT                   0
#define MERIDIAN_PORT_TEST_STATUS_STATE_MASK                    0x00000007u
#define MERIDIAN_PORT_TEST_STATUS_REFUSAL_SHIFT                 8
#define MERIDIAN_PORT_TEST_STATUS_REFUSAL_MASK                  0x00000f00u
#define MERIDIAN_PORT_TEST_STATUS_END_SHIFT                     16
#define MERIDIAN_PORT_TEST_STATUS_END_MASK                      0x00070000u
#define MERIDIAN_PORT_TEST_CUT                                  0x044
#define MERIDIAN_PORT_TEST_LATENCY_LEAST                        0x048
#define MERIDIAN_PORT_TEST_LATENCY_MOST                         0x04c
#define MERIDIAN_PORT_TEST_COUNTERS(i)                          (0x080 + 0x4 * (i))
#define MERIDIAN_PORT_TEST_COUNTERS_MAX                         32
#define MERIDIAN_PORT_TEST_COUNTER_SENT                         0x080
#define MERIDIAN_PORT_TEST_COUNTER_SENT_BYTES                   0x088
#define MERIDIAN_PORT_TEST_COUNTER_GOOD                         0x090
#define MERIDIAN_PORT_TEST_COUNTER_DAMAGED_FCS                  0x098
#define MERIDIAN_PORT_TEST_COUNTER_DAMAGED_LENGTH               0x0a0
#define MERIDIAN_PORT_TEST_COUNTER_DAMAGED_PATTERN              0x0a8
#define MERIDIAN_PORT_TEST_COUNTER_FOREIGN                      0x0b0
#define MERIDIAN_PORT_TEST_COUNTER_RECEIVED_BYTES               0x0b8
#define MERIDIAN_PORT_TEST_COUNTER_SKIPPED                      0x0c0
#define MERIDIAN_PORT_TEST_COUNTER_LATE                         0x0c8
#define MERIDIAN_PORT_TEST_COUNTER_REPEATED                     0x0d0
#define MERIDIAN_PORT_TEST_COUNTER_TIMED                        0x0d8
#define MERIDIAN_PORT_TEST_COUNTER_LATENCY_SUM                  0x0e0
#define MERIDIAN_PORT_TEST_COUNTER_BIT_ERRORS                   0x0e8

/*
 * Transceiver of a port: loopback, test patterns, and its own registers (DRP); in a build that has
 * the self-test.
 */
#define MERIDIAN_TRANSCEIVER_BASE(i)                            (0x107000 + 0x400 * (i))
#define MERIDIAN_TRANSCEIVER_PS_BASE(i)                         (0x7000 + 0x400 * (i))
#define MERIDIAN_TRANSCEIVER_MAX                                4
#define MERIDIAN_TRANSCEIVER_LOOPBACK                           0x000
#define MERIDIAN_TRANSCEIVER_LOOPBACK_MODE_SHIFT                0
#define MERIDIAN_TRANSCEIVER_LOOPBACK_MODE_MASK                 0x0000000fu
#define MERIDIAN_TRANSCEIVER_LOOPBACK_FORCE_SHIFT               8
#define MERIDIAN_TRANSCEIVER_LOOPBACK_FORCE_MASK                0x00000100u
#define MERIDIAN_TRANSCEIVER_PRBS                               0x004
#define MERIDIAN_TRANSCEIVER_PRBS_TX_SHIFT                      0
#define MERIDIAN_TRANSCEIVER_PRBS_TX_MASK                       0x0000000fu
#define MERIDIAN_TRANSCEIVER_PRBS_RX_SHIFT                      8
#define MERIDIAN_TRANSCEIVER_PRBS_RX_MASK                       0x00000f00u
#define MERIDIAN_TRANSCEIVER_PRBS_FORCE_SHIFT                   16
#define MERIDIAN_TRANSCEIVER_PRBS_FORCE_MASK                    0x00010000u
#define MERIDIAN_TRANSCEIVER_COMMAND                            0x008
#define MERIDIAN_TRANSCEIVER_COMMAND_FORCE_ERROR_SHIFT          0
#define MERIDIAN_TRANSCEIVER_COMMAND_FORCE_ERROR_MASK           0x00000001u
#define MERIDIAN_TRANSCEIVER_COMMAND_RESET_COUNT_SHIFT          1
#define MERIDIAN_TRANSCEIVER_COMMAND_RESET_COUNT_MASK           0x00000002u
#define MERIDIAN_TRANSCEIVER_COMMAND_RESET_RX_SHIFT             2
#define MERIDIAN_TRANSCEIVER_COMMAND_RESET_RX_MASK              0x00000004u
#define MERIDIAN_TRANSCEIVER_COMMAND_RESET_TX_SHIFT             3
#define MERIDIAN_TRANSCEIVER_COMMAND_RESET_TX_MASK              0x00000008u
#define MERIDIAN_TRANSCEIVER_COMMAND_CLEAR_DRP_SHIFT            4
#define MERIDIAN_TRANSCEIVER_COMMAND_CLEAR_DRP_MASK             0x00000010u
#define MERIDIAN_TRANSCEIVER_COMMAND_FORCE_SHIFT                8
#define MERIDIAN_TRANSCEIVER_COMMAND_FORCE_MASK                 0x00000100u
#define MERIDIAN_TRANSCEIVER_STATUS                             0x00c
#define MERIDIAN_TRANSCEIVER_STATUS_REFUSAL_SHIFT               0
#define MERIDIAN_TRANSCEIVER_STATUS_REFUSAL_MASK                0x0000000fu
#define MERIDIAN_TRANSCEIVER_STATUS_PRBS_LOCKED_SHIFT           4
#define MERIDIAN_TRANSCEIVER_STATUS_PRBS_LOCKED_MASK            0x00000010u
#define MERIDIAN_TRANSCEIVER_STATUS_PRBS_ERROR_SHIFT            5
#define MERIDIAN_TRANSCEIVER_STATUS_PRBS_ERROR_MASK             0x00000020u
#define MERIDIAN_TRANSCEIVER_STATUS_RX_CLOCK_SHIFT              6
#define MERIDIAN_TRANSCEIVER_STATUS_RX_CLOCK_MASK               0x00000040u
#define MERIDIAN_TRANSCEIVER_STATUS_RESETTING_SHIFT             7
#define MERIDIAN_TRANSCEIVER_STATUS_RESETTING_MASK              0x00000080u
#define MERIDIAN_TRANSCEIVER_STATUS_TRAFFIC_SHIFT               8
#define MERIDIAN_TRANSCEIVER_STATUS_TRAFFIC_MASK                0x00000100u
#define MERIDIAN_TRANSCEIVER_STATUS_MAC_LOOP_SHIFT              9
#define MERIDIAN_TRANSCEIVER_STATUS_MAC_LOOP_MASK               0x00000200u
#define MERIDIAN_TRANSCEIVER_DRP_COMMAND                        0x010
#define MERIDIAN_TRANSCEIVER_DRP_COMMAND_ADDRESS_SHIFT          0
#define MERIDIAN_TRANSCEIVER_DRP_COMMAND_ADDRESS_MASK           0x000003ffu
#define MERIDIAN_TRANSCEIVER_DRP_COMMAND_WRITE_SHIFT            15
#define MERIDIAN_TRANSCEIVER_DRP_COMMAND_WRITE_MASK             0x00008000u
#define MERIDIAN_TRANSCEIVER_DRP_COMMAND_DATA_SHIFT             16
#define MERIDIAN_TRANSCEIVER_DRP_COMMAND_DATA_MASK              0xffff0000u
#define MERIDIAN_TRANSCEIVER_DRP_STATUS                         0x014
#define MERIDIAN_TRANSCEIVER_DRP_STATUS_DATA_SHIFT              0
#define MERIDIAN_TRANSCEIVER_DRP_STATUS_DATA_MASK               0x0000ffffu
#define MERIDIAN_TRANSCEIVER_DRP_STATUS_BUSY_SHIFT              16
#define MERIDIAN_TRANSCEIVER_DRP_STATUS_BUSY_MASK               0x00010000u
#define MERIDIAN_TRANSCEIVER_DRP_STATUS_RESULT_SHIFT            20
#define MERIDIAN_TRANSCEIVER_DRP_STATUS_RESULT_MASK             0x00f00000u
#define MERIDIAN_TRANSCEIVER_EYE_SCAN                           0x018
#define MERIDIAN_TRANSCEIVER_EYE_SCAN_RESET_SHIFT               0
#define MERIDIAN_TRANSCEIVER_EYE_SCAN_RESET_MASK                0x00000001u
#define MERIDIAN_TRANSCEIVER_EYE_SCAN_SCANS_SHIFT               1
#define MERIDIAN_TRANSCEIVER_EYE_SCAN_SCANS_MASK                0x00000002u
#define MERIDIAN_TRANSCEIVER_MAC_LOOP_LOST                      0x01c

/* 64-bit counters of an Ethernet port, since reset. */
#define MERIDIAN_PORT_COUNTERS_BASE(i)                          (0x108000 + 0x1000 * (i))
#define MERIDIAN_PORT_COUNTERS_PS_BASE(i)                       (0x8000 + 0x1000 * (i))
#define MERIDIAN_PORT_COUNTERS_MAX                              4
#define MERIDIAN_PORT_COUNTERS_COUNTERS(i)                      (0x000 + 0x4 * (i))
#define MERIDIAN_PORT_COUNTERS_COUNTERS_MAX                     512
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_FRAMES                0x000
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_GOOD_FRAMES           0x008
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_BYTES                 0x010
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_GOOD_BYTES            0x018
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_UNICAST               0x020
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_MULTICAST             0x028
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_BROADCAST             0x030
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_VLAN                  0x038
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_64               0x040
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_65_127           0x048
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_128_255          0x050
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_256_511          0x058
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_512_1023         0x060
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_1024_1518        0x068
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_1519_1522        0x070
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_1523_1548        0x078
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_1549_2047        0x080
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_2048_4095        0x088
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_4096_8191        0x090
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SIZE_8192_9215        0x098
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_SMALL                 0x0a0
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_LARGE                 0x0a8
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_BAD_FCS               0x0b0
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_RUNT                  0x0b8
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_OVERSIZE              0x0c0
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_TO_HOST               0x0c8
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_TO_PS                 0x0d0
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_HOST_OVERFLOW         0x0d8
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_PS_OVERFLOW           0x0e0
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_NOWHERE               0x0e8
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_PS_POLICED            0x0f0
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_PS_PTP_POLICED        0x0f8
#define MERIDIAN_PORT_COUNTERS_COUNTER_RX_UNCOUNTED             0x100
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_FRAMES                0x400
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_GOOD_FRAMES           0x408
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_BYTES                 0x410
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_GOOD_BYTES            0x418
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_UNICAST               0x420
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_MULTICAST             0x428
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_BROADCAST             0x430
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_VLAN                  0x438
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_64               0x440
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_65_127           0x448
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_128_255          0x450
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_256_511          0x458
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_512_1023         0x460
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_1024_1518        0x468
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_1519_1522        0x470
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_1523_1548        0x478
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_1549_2047        0x480
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_2048_4095        0x488
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_4096_8191        0x490
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SIZE_8192_9215        0x498
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_SMALL                 0x4a0
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_LARGE                 0x4a8
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_FROM_HOST             0x4b0
#define MERIDIAN_PORT_COUNTERS_COUNTER_TX_FROM_PS               0x4b8

/* The PS's rings of a port. BAR2 reads them only. */
#define MERIDIAN_PS_RING_BASE(i)                                (0x10c000 + 0x1000 * (i))
#define MERIDIAN_PS_RING_PS_BASE(i)                             (0xc000 + 0x1000 * (i))
#define MERIDIAN_PS_RING_MAX                                    4
#define MERIDIAN_PS_RING_RX_CONTROL                             0x000
#define MERIDIAN_PS_RING_RX_CONTROL_ENABLE_SHIFT                0
#define MERIDIAN_PS_RING_RX_CONTROL_ENABLE_MASK                 0x00000001u
#define MERIDIAN_PS_RING_RX_CONTROL_RESET_SHIFT                 1
#define MERIDIAN_PS_RING_RX_CONTROL_RESET_MASK                  0x00000002u
#define MERIDIAN_PS_RING_RX_CONTROL_SIZE_LOG2_SHIFT             8
#define MERIDIAN_PS_RING_RX_CONTROL_SIZE_LOG2_MASK              0x00000f00u
#define MERIDIAN_PS_RING_RX_STATUS                              0x004
#define MERIDIAN_PS_RING_RX_STATUS_RUNNING_SHIFT                0
#define MERIDIAN_PS_RING_RX_STATUS_RUNNING_MASK                 0x00000001u
#define MERIDIAN_PS_RING_RX_STATUS_ERROR_SHIFT                  4
#define MERIDIAN_PS_RING_RX_STATUS_ERROR_MASK                   0x00000030u
#define MERIDIAN_PS_RING_RX_BASE_LOW                            0x008
#define MERIDIAN_PS_RING_RX_BASE_LOW_BASE_SHIFT                 12
#define MERIDIAN_PS_RING_RX_BASE_LOW_BASE_MASK                  0xfffff000u
#define MERIDIAN_PS_RING_RX_BASE_HIGH                           0x00c
#define MERIDIAN_PS_RING_RX_BASE_HIGH_BASE_SHIFT                0
#define MERIDIAN_PS_RING_RX_BASE_HIGH_BASE_MASK                 0x000000ffu
#define MERIDIAN_PS_RING_RX_PRODUCER                            0x010
#define MERIDIAN_PS_RING_RX_PRODUCER_INDEX_SHIFT                0
#define MERIDIAN_PS_RING_RX_PRODUCER_INDEX_MASK                 0x0000ffffu
#define MERIDIAN_PS_RING_RX_CONSUMER                            0x014
#define MERIDIAN_PS_RING_RX_CONSUMER_INDEX_SHIFT                0
#define MERIDIAN_PS_RING_RX_CONSUMER_INDEX_MASK                 0x0000ffffu
#define MERIDIAN_PS_RING_RX_COALESCE                            0x018
#define MERIDIAN_PS_RING_RX_COALESCE_MICROSECONDS_SHIFT         0
#define MERIDIAN_PS_RING_RX_COALESCE_MICROSECONDS_MASK          0x0000ffffu
#define MERIDIAN_PS_RING_RX_COALESCE_FRAMES_SHIFT               16
#define MERIDIAN_PS_RING_RX_COALESCE_FRAMES_MASK                0x00ff0000u
#define MERIDIAN_PS_RING_TX_CONTROL                             0x020
#define MERIDIAN_PS_RING_TX_CONTROL_ENABLE_SHIFT                0
#define MERIDIAN_PS_RING_TX_CONTROL_ENABLE_MASK                 0x00000001u
#define MERIDIAN_PS_RING_TX_CONTROL_RESET_SHIFT                 1
#define MERIDIAN_PS_RING_TX_CONTROL_RESET_MASK                  0x00000002u
#define MERIDIAN_PS_RING_TX_CONTROL_SIZE_LOG2_SHIFT             8
#define MERIDIAN_PS_RING_TX_CONTROL_SIZE_LOG2_MASK              0x00000f00u
#define MERIDIAN_PS_RING_TX_STATUS                              0x024
#define MERIDIAN_PS_RING_TX_STATUS_RUNNING_SHIFT                0
#define MERIDIAN_PS_RING_TX_STATUS_RUNNING_MASK                 0x00000001u
#define MERIDIAN_PS_RING_TX_STATUS_ERROR_SHIFT                  4
#define MERIDIAN_PS_RING_TX_STATUS_ERROR_MASK                   0x00000030u
#define MERIDIAN_PS_RING_TX_BASE_LOW                            0x028
#define MERIDIAN_PS_RING_TX_BASE_LOW_BASE_SHIFT                 12
#define MERIDIAN_PS_RING_TX_BASE_LOW_BASE_MASK                  0xfffff000u
#define MERIDIAN_PS_RING_TX_BASE_HIGH                           0x02c
#define MERIDIAN_PS_RING_TX_BASE_HIGH_BASE_SHIFT                0
#define MERIDIAN_PS_RING_TX_BASE_HIGH_BASE_MASK                 0x000000ffu
#define MERIDIAN_PS_RING_TX_PRODUCER                            0x030
#define MERIDIAN_PS_RING_TX_PRODUCER_INDEX_SHIFT                0
#define MERIDIAN_PS_RING_TX_PRODUCER_INDEX_MASK                 0x0000ffffu
#define MERIDIAN_PS_RING_TX_CONSUMER                            0x034
#define MERIDIAN_PS_RING_TX_CONSUMER_INDEX_SHIFT                0
#define MERIDIAN_PS_RING_TX_CONSUMER_INDEX_MASK                 0x0000ffffu
#define MERIDIAN_PS_RING_TX_COALESCE                            0x038
#define MERIDIAN_PS_RING_TX_COALESCE_MICROSECONDS_SHIFT         0
#define MERIDIAN_PS_RING_TX_COALESCE_MICROSECONDS_MASK          0x0000ffffu
#define MERIDIAN_PS_RING_TX_COALESCE_FRAMES_SHIFT               16
#define MERIDIAN_PS_RING_TX_COALESCE_FRAMES_MASK                0x00ff0000u
#define MERIDIAN_PS_RING_INTERRUPT_STATUS                       0x040
#define MERIDIAN_PS_RING_INTERRUPT_STATUS_RX_SHIFT              0
#define MERIDIAN_PS_RING_INTERRUPT_STATUS_RX_MASK               0x00000001u
#define MERIDIAN_PS_RING_INTERRUPT_STATUS_TX_SHIFT              1
#define MERIDIAN_PS_RING_INTERRUPT_STATUS_TX_MASK               0x00000002u
#define MERIDIAN_PS_RING_INTERRUPT_STATUS_TX_TIMESTAMP_SHIFT    2
#define MERIDIAN_PS_RING_INTERRUPT_STATUS_TX_TIMESTAMP_MASK     0x00000004u
#define MERIDIAN_PS_RING_INTERRUPT_STATUS_ERROR_SHIFT           3
#define MERIDIAN_PS_RING_INTERRUPT_STATUS_ERROR_MASK            0x00000008u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE                       0x044
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_RX_SHIFT              0
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_RX_MASK               0x00000001u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_TX_SHIFT              1
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_TX_MASK               0x00000002u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_TX_TIMESTAMP_SHIFT    2
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_TX_TIMESTAMP_MASK     0x00000004u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_ERROR_SHIFT           3
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_ERROR_MASK            0x00000008u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_SET                   0x048
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_SET_RX_SHIFT          0
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_SET_RX_MASK           0x00000001u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_SET_TX_SHIFT          1
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_SET_TX_MASK           0x00000002u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_SET_TX_TIMESTAMP_SHIFT 2
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_SET_TX_TIMESTAMP_MASK 0x00000004u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_SET_ERROR_SHIFT       3
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_SET_ERROR_MASK        0x00000008u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_CLEAR                 0x04c
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_CLEAR_RX_SHIFT        0
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_CLEAR_RX_MASK         0x00000001u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_CLEAR_TX_SHIFT        1
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_CLEAR_TX_MASK         0x00000002u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_CLEAR_TX_TIMESTAMP_SHIFT 2
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_CLEAR_TX_TIMESTAMP_MASK 0x00000004u
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_CLEAR_ERROR_SHIFT     3
#define MERIDIAN_PS_RING_INTERRUPT_ENABLE_CLEAR_ERROR_MASK      0x00000008u
#define MERIDIAN_PS_RING_TIMESTAMP_STATUS                       0x050
#define MERIDIAN_PS_RING_TIMESTAMP_STATUS_VALID_SHIFT           0
#define MERIDIAN_PS_RING_TIMESTAMP_STATUS_VALID_MASK            0x00000001u
#define MERIDIAN_PS_RING_TIMESTAMP_STATUS_TAG_SHIFT             16
#define MERIDIAN_PS_RING_TIMESTAMP_STATUS_TAG_MASK              0xffff0000u
#define MERIDIAN_PS_RING_TIMESTAMP_NANOSECONDS                  0x054
#define MERIDIAN_PS_RING_TIMESTAMP_SECONDS_LOW                  0x058
#define MERIDIAN_PS_RING_TIMESTAMP_SECONDS_HIGH                 0x05c
#define MERIDIAN_PS_RING_TIMESTAMP_SECONDS_HIGH_SECONDS_SHIFT   0
#define MERIDIAN_PS_RING_TIMESTAMP_SECONDS_HIGH_SECONDS_MASK    0x0000ffffu
#define MERIDIAN_PS_RING_TIMESTAMP_POP                          0x060
#define MERIDIAN_PS_RING_TIMESTAMP_POP_POP_SHIFT                0
#define MERIDIAN_PS_RING_TIMESTAMP_POP_POP_MASK                 0x00000001u
#define MERIDIAN_PS_RING_RX_FRAMES_LOW                          0x080
#define MERIDIAN_PS_RING_RX_FRAMES_HIGH                         0x084
#define MERIDIAN_PS_RING_RX_BYTES_LOW                           0x088
#define MERIDIAN_PS_RING_RX_BYTES_HIGH                          0x08c
#define MERIDIAN_PS_RING_RX_NO_DESCRIPTOR_LOW                   0x090
#define MERIDIAN_PS_RING_RX_NO_DESCRIPTOR_HIGH                  0x094
#define MERIDIAN_PS_RING_RX_BUFFER_SMALL_LOW                    0x098
#define MERIDIAN_PS_RING_RX_BUFFER_SMALL_HIGH                   0x09c
#define MERIDIAN_PS_RING_RX_DISABLED_LOW                        0x0a0
#define MERIDIAN_PS_RING_RX_DISABLED_HIGH                       0x0a4
#define MERIDIAN_PS_RING_RX_ERRORS_LOW                          0x0a8
#define MERIDIAN_PS_RING_RX_ERRORS_HIGH                         0x0ac
#define MERIDIAN_PS_RING_TX_FRAMES_LOW                          0x0b0
#define MERIDIAN_PS_RING_TX_FRAMES_HIGH                         0x0b4
#define MERIDIAN_PS_RING_TX_BYTES_LOW                           0x0b8
#define MERIDIAN_PS_RING_TX_BYTES_HIGH                          0x0bc
#define MERIDIAN_PS_RING_TX_BAD_DESCRIPTOR_LOW                  0x0c0
#define MERIDIAN_PS_RING_TX_BAD_DESCRIPTOR_HIGH                 0x0c4
#define MERIDIAN_PS_RING_TX_BUS_ERRORS_LOW                      0x0c8
#define MERIDIAN_PS_RING_TX_BUS_ERRORS_HIGH                     0x0cc
#define MERIDIAN_PS_RING_TX_ABORTED_LOW                         0x0d0
#define MERIDIAN_PS_RING_TX_ABORTED_HIGH                        0x0d4
#define MERIDIAN_PS_RING_TIMESTAMPS_LOST_LOW                    0x0d8
#define MERIDIAN_PS_RING_TIMESTAMPS_LOST_HIGH                   0x0dc
#define MERIDIAN_PS_RING_BUS_ERRORS_LOW                         0x0e0
#define MERIDIAN_PS_RING_BUS_ERRORS_HIGH                        0x0e4
#define MERIDIAN_PS_RING_RX_INSIDE_LOW                          0x0e8
#define MERIDIAN_PS_RING_RX_INSIDE_HIGH                         0x0ec
#define MERIDIAN_PS_RING_TX_SWITCHED_LOW                        0x0f0
#define MERIDIAN_PS_RING_TX_SWITCHED_HIGH                       0x0f4
#define MERIDIAN_PS_RING_TX_VEB_FULL_LOW                        0x0f8
#define MERIDIAN_PS_RING_TX_VEB_FULL_HIGH                       0x0fc
#define MERIDIAN_PS_RING_TX_COPIES_SWITCHED_LOW                 0x100
#define MERIDIAN_PS_RING_TX_COPIES_SWITCHED_HIGH                0x104
#define MERIDIAN_PS_RING_TX_COPIES_VEB_FULL_LOW                 0x108
#define MERIDIAN_PS_RING_TX_COPIES_VEB_FULL_HIGH                0x10c

/* Receive filter: MAC table, multicast groups, receive buffers. */
#define MERIDIAN_FILTER_BASE                                    0x110000
#define MERIDIAN_FILTER_MAC_KEY_LOW                             0x000
#define MERIDIAN_FILTER_MAC_KEY_HIGH                            0x004
#define MERIDIAN_FILTER_MAC_KEY_HIGH_ADDRESS_SHIFT              0
#define MERIDIAN_FILTER_MAC_KEY_HIGH_ADDRESS_MASK               0x0000ffffu
#define MERIDIAN_FILTER_MAC_SCOPE                               0x008
#define MERIDIAN_FILTER_MAC_SCOPE_VID_SHIFT                     0
#define MERIDIAN_FILTER_MAC_SCOPE_VID_MASK                      0x00000fffu
#define MERIDIAN_FILTER_MAC_SCOPE_ANY_VLAN_SHIFT                15
#define MERIDIAN_FILTER_MAC_SCOPE_ANY_VLAN_MASK                 0x00008000u
#define MERIDIAN_FILTER_MAC_SCOPE_PORT_SHIFT                    16
#define MERIDIAN_FILTER_MAC_SCOPE_PORT_MASK                     0x00030000u
#define MERIDIAN_FILTER_MAC_VALUE                               0x00c
#define MERIDIAN_FILTER_MAC_VALUE_INDEX_SHIFT                   0
#define MERIDIAN_FILTER_MAC_VALUE_INDEX_MASK                    0x000000ffu
#define MERIDIAN_FILTER_MAC_VALUE_IS_GROUP_SHIFT                8
#define MERIDIAN_FILTER_MAC_VALUE_IS_GROUP_MASK                 0x00000100u
#define MERIDIAN_FILTER_MAC_COMMAND                             0x010
#define MERIDIAN_FILTER_MAC_COMMAND_OPERATION_SHIFT             0
#define MERIDIAN_FILTER_MAC_COMMAND_OPERATION_MASK              0x00000003u
#define MERIDIAN_FILTER_MAC_STATUS                              0x014
#define MERIDIAN_FILTER_MAC_STATUS_BUSY_SHIFT                   0
#define MERIDIAN_FILTER_MAC_STATUS_BUSY_MASK                    0x00000001u
#define MERIDIAN_FILTER_MAC_STATUS_RESULT_SHIFT                 4
#define MERIDIAN_FILTER_MAC_STATUS_RESULT_MASK                  0x00000030u
#define MERIDIAN_FILTER_MAC_STATUS_INDEX_SHIFT                  8
#define MERIDIAN_FILTER_MAC_STATUS_INDEX_MASK                   0x0000ff00u
#define MERIDIAN_FILTER_MAC_STATUS_IS_GROUP_SHIFT               16
#define MERIDIAN_FILTER_MAC_STATUS_IS_GROUP_MASK                0x00010000u
#define MERIDIAN_FILTER_MAC_IGNORED                             0x018
#define MERIDIAN_FILTER_GROUP_SELECT                            0x020
#define MERIDIAN_FILTER_GROUP_SELECT_GROUP_SHIFT                0
#define MERIDIAN_FILTER_GROUP_SELECT_GROUP_MASK                 0x000000ffu
#define MERIDIAN_FILTER_GROUP_SELECT_WORD_SHIFT                 16
#define MERIDIAN_FILTER_GROUP_SELECT_WORD_MASK                  0x00070000u
#define MERIDIAN_FILTER_GROUP_DATA                              0x024
#define MERIDIAN_FILTER_CREDIT                                  0x030
#define MERIDIAN_FILTER_CREDIT_ENFORCE_SHIFT                    0
#define MERIDIAN_FILTER_CREDIT_ENFORCE_MASK                     0x00000001u
#define MERIDIAN_FILTER_BUFFER_SIZE                             0x034
#define MERIDIAN_FILTER_BUFFER_SIZE_BYTES_SHIFT                 0
#define MERIDIAN_FILTER_BUFFER_SIZE_BYTES_MASK                  0x0000ffffu
#define MERIDIAN_FILTER_BUFFER_SIZE_QUEUE_SHIFT                 16
#define MERIDIAN_FILTER_BUFFER_SIZE_QUEUE_MASK                  0x07ff0000u
#define MERIDIAN_FILTER_HASH_KEY_0                              0x040
#define MERIDIAN_FILTER_HASH_KEY_1                              0x044
#define MERIDIAN_FILTER_HASH_KEY_2                              0x048
#define MERIDIAN_FILTER_HASH_KEY_2_KEY_SHIFT                    0
#define MERIDIAN_FILTER_HASH_KEY_2_KEY_MASK                     0x0000ffffu
#define MERIDIAN_FILTER_HASH_STATUS                             0x04c
#define MERIDIAN_FILTER_HASH_STATUS_BUSY_SHIFT                  0
#define MERIDIAN_FILTER_HASH_STATUS_BUSY_MASK                   0x00000001u
#define MERIDIAN_FILTER_HASH_STATUS_DRAWN_SHIFT                 1
#define MERIDIAN_FILTER_HASH_STATUS_DRAWN_MASK                  0x00000002u
#define MERIDIAN_FILTER_HASH_IGNORED                            0x050

/* What the receive filter does with a port. */
#define MERIDIAN_HOST_PORT_BASE                                 0x111000
#define MERIDIAN_HOST_PORT_DEFAULT_FUNCTION(i)                  (0x000 + 0x10 * (i))
#define MERIDIAN_HOST_PORT_DEFAULT_FUNCTION_MAX                 4
#define MERIDIAN_HOST_PORT_DEFAULT_FUNCTION_FUNCTION_SHIFT      0
#define MERIDIAN_HOST_PORT_DEFAULT_FUNCTION_FUNCTION_MASK       0x000000ffu
#define MERIDIAN_HOST_PORT_DEFAULT_FUNCTION_VALID_SHIFT         31
#define MERIDIAN_HOST_PORT_DEFAULT_FUNCTION_VALID_MASK          0x80000000u
#define MERIDIAN_HOST_PORT_STATE(i)                             (0x004 + 0x10 * (i))
#define MERIDIAN_HOST_PORT_STATE_MAX                            4
#define MERIDIAN_HOST_PORT_STATE_LINK_UP_SHIFT                  0
#define MERIDIAN_HOST_PORT_STATE_LINK_UP_MASK                   0x00000001u
#define MERIDIAN_HOST_PORT_STATE_RX_ENABLE_SHIFT                1
#define MERIDIAN_HOST_PORT_STATE_RX_ENABLE_MASK                 0x00000002u
#define MERIDIAN_HOST_PORT_STATE_TX_ENABLE_SHIFT                2
#define MERIDIAN_HOST_PORT_STATE_TX_ENABLE_MASK                 0x00000004u
#define MERIDIAN_HOST_PORT_SWITCHING(i)                         (0x008 + 0x10 * (i))
#define MERIDIAN_HOST_PORT_SWITCHING_MAX                        4
#define MERIDIAN_HOST_PORT_SWITCHING_VEB_SHIFT                  0
#define MERIDIAN_HOST_PORT_SWITCHING_VEB_MASK                   0x00000001u
#define MERIDIAN_HOST_PORT_HIGH_PRIORITIES(i)                   (0x00c + 0x10 * (i))
#define MERIDIAN_HOST_PORT_HIGH_PRIORITIES_MAX                  4
#define MERIDIAN_HOST_PORT_HIGH_PRIORITIES_PCP_SHIFT            0
#define MERIDIAN_HOST_PORT_HIGH_PRIORITIES_PCP_MASK             0x000000ffu
#define MERIDIAN_HOST_PORT_TX_LOWER_FULL_LOW(i)                 (0x040 + 0x10 * (i))
#define MERIDIAN_HOST_PORT_TX_LOWER_FULL_LOW_MAX                4
#define MERIDIAN_HOST_PORT_TX_LOWER_FULL_HIGH(i)                (0x044 + 0x10 * (i))
#define MERIDIAN_HOST_PORT_TX_LOWER_FULL_HIGH_MAX               4
#define MERIDIAN_HOST_PORT_TX_UPPER_FULL_LOW(i)                 (0x080 + 0x10 * (i))
#define MERIDIAN_HOST_PORT_TX_UPPER_FULL_LOW_MAX                4
#define MERIDIAN_HOST_PORT_TX_UPPER_FULL_HIGH(i)                (0x084 + 0x10 * (i))
#define MERIDIAN_HOST_PORT_TX_UPPER_FULL_HIGH_MAX               4

/* Counters of the host side as a whole, and of accesses by BAR2. */
#define MERIDIAN_HOST_EVENTS_BASE                               0x112000
#define MERIDIAN_HOST_EVENTS_C2H_DROP_LOW                       0x000
#define MERIDIAN_HOST_EVENTS_C2H_DROP_HIGH                      0x004
#define MERIDIAN_HOST_EVENTS_C2H_ERROR_LOW                      0x008
#define MERIDIAN_HOST_EVENTS_C2H_ERROR_HIGH                     0x00c
#define MERIDIAN_HOST_EVENTS_RESET_TIMEOUT_LOW                  0x010
#define MERIDIAN_HOST_EVENTS_RESET_TIMEOUT_HIGH                 0x014
#define MERIDIAN_HOST_EVENTS_VF_WRITE_REFUSED_LOW               0x018
#define MERIDIAN_HOST_EVENTS_VF_WRITE_REFUSED_HIGH              0x01c
#define MERIDIAN_HOST_EVENTS_WRITE_REFUSED_LOW                  0x020
#define MERIDIAN_HOST_EVENTS_WRITE_REFUSED_HIGH                 0x024
#define MERIDIAN_HOST_EVENTS_PARTIAL_WRITE_LOW                  0x028
#define MERIDIAN_HOST_EVENTS_PARTIAL_WRITE_HIGH                 0x02c
#define MERIDIAN_HOST_EVENTS_UNMAPPED_LOW                       0x030
#define MERIDIAN_HOST_EVENTS_UNMAPPED_HIGH                      0x034
#define MERIDIAN_HOST_EVENTS_CARD_TIMEOUT_LOW                   0x038
#define MERIDIAN_HOST_EVENTS_CARD_TIMEOUT_HIGH                  0x03c

/* Counters of a port's frames that belong to no function. */
#define MERIDIAN_HOST_PORT_COUNTERS_BASE(i)                     (0x113000 + 0x1000 * (i))
#define MERIDIAN_HOST_PORT_COUNTERS_MAX                         4
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTERS(i)                 (0x800 + 0x4 * (i))
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTERS_MAX                128
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_DELIVERED        0x800
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_COPYING          0x808
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_NO_MATCH         0x810
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_NO_LISTENER      0x818
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_DISABLED         0x820
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_BAD_QUEUE        0x828
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_QUEUE_FULL       0x830
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_COPY_CUT         0x838
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_HOST_DISABLED    0x840
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_SENT             0x880
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_NO_FUNCTION      0x888
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_DISABLED         0x890
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_SPOOF            0x898
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_RUNT             0x8a0
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_OVERSIZE         0x8a8
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_ERROR            0x8b0
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_LINK_DOWN        0x8b8
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_HOST_DISABLED    0x8c0
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_SWITCHED         0x8c8
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_TO_PS            0x8d0
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_VEB_FULL         0x8d8
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_PS_FULL          0x8e0
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_HAIRPIN          0x8e8
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_CONTROL_FRAME    0x8f0
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_BYTES            0x900
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_BYTES            0x908
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_RX_COPIES           0x910
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_OFFLOAD_SKIPPED  0x918
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_QUEUE_FULL       0x920
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_COPIES_SWITCHED  0x940
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_COPIES_VEB_FULL  0x948
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_COPIES_TO_PS     0x950
#define MERIDIAN_HOST_PORT_COUNTERS_COUNTER_TX_COPIES_PS_FULL   0x958

/*
 * Packet generator, checker and latency counters at the host streams; in a build that has the
 * capability.
 */
#define MERIDIAN_SELF_TEST_BASE                                 0x117000
#define MERIDIAN_SELF_TEST_COMMAND                              0x000
#define MERIDIAN_SELF_TEST_COMMAND_START_SHIFT                  0
#define MERIDIAN_SELF_TEST_COMMAND_START_MASK                   0x00000001u
#define MERIDIAN_SELF_TEST_COMMAND_STOP_SHIFT                   1
#define MERIDIAN_SELF_TEST_COMMAND_STOP_MASK                    0x00000002u
#define MERIDIAN_SELF_TEST_COMMAND_OFF_SHIFT                    2
#define MERIDIAN_SELF_TEST_COMMAND_OFF_MASK                     0x00000004u
#define MERIDIAN_SELF_TEST_MODE                                 0x004
#define MERIDIAN_SELF_TEST_MODE_GENERATE_SHIFT                  0
#define MERIDIAN_SELF_TEST_MODE_GENERATE_MASK                   0x00000001u
#define MERIDIAN_SELF_TEST_MODE_CHECK_SHIFT                     1
#define MERIDIAN_SELF_TEST_MODE_CHECK_MASK                      0x00000002u
#define MERIDIAN_SELF_TEST_MODE_TAKE_SHIFT                      2
#define MERIDIAN_SELF_TEST_MODE_TAKE_MASK                       0x00000004u
#define MERIDIAN_SELF_TEST_MODE_FORCE_SHIFT                     3
#define MERIDIAN_SELF_TEST_MODE_FORCE_MASK                      0x00000008u
#define MERIDIAN_SELF_TEST_FUNCTION                             0x008
#define MERIDIAN_SELF_TEST_FUNCTION_FUNCTION_SHIFT              0
#define MERIDIAN_SELF_TEST_FUNCTION_FUNCTION_MASK               0x000000ffu
#define MERIDIAN_SELF_TEST_QUEUES                               0x00c
#define MERIDIAN_SELF_TEST_QUEUES_FIRST_SHIFT                   0
#define MERIDIAN_SELF_TEST_QUEUES_FIRST_MASK                    0x000007ffu
#define MERIDIAN_SELF_TEST_QUEUES_COUNT_SHIFT                   16
#define MERIDIAN_SELF_TEST_QUEUES_COUNT_MASK                    0x0fff0000u
#define MERIDIAN_SELF_TEST_SIZE                                 0x010
#define MERIDIAN_SELF_TEST_SIZE_FIRST_SHIFT                     0
#define MERIDIAN_SELF_TEST_SIZE_FIRST_MASK                      0x0000ffffu
#define MERIDIAN_SELF_TEST_SIZE_LAST_SHIFT                      16
#define MERIDIAN_SELF_TEST_SIZE_LAST_MASK                       0xffff0000u
#define MERIDIAN_SELF_TEST_SIZE_STEP                            0x014
#define MERIDIAN_SELF_TEST_SIZE_STEP_BYTES_SHIFT                0
#define MERIDIAN_SELF_TEST_SIZE_STEP_BYTES_MASK                 0x0000ffffu
#define MERIDIAN_SELF_TEST_INTERVAL                             0x018
#define MERIDIAN_SELF_TEST_RATE                                 0x01c
#define MERIDIAN_SELF_TEST_RATE_RATE_SHIFT                      0
#define MERIDIAN_SELF_TEST_RATE_RATE_MASK                       0x03ffffffu
#define MERIDIAN_SELF_TEST_BURST                                0x020
#define MERIDIAN_SELF_TEST_BURST_BYTES_SHIFT                    0
#define MERIDIAN_SELF_TEST_BURST_BYTES_MASK                     0x0000ffffu
#define MERIDIAN_SELF_TEST_FRAMES                               0x024
#define MERIDIAN_SELF_TEST_DESTINATION_LOW                      0x028
#define MERIDIAN_SELF_TEST_DESTINATION_HIGH                     0x02c
#define MERIDIAN_SELF_TEST_DESTINATION_HIGH_ADDRESS_SHIFT       0
#define MERIDIAN_SELF_TEST_DESTINATION_HIGH_ADDRESS_MASK        0x0000ffffu
#define MERIDIAN_SELF_TEST_SOURCE_LOW                           0x030
#define MERIDIAN_SELF_TEST_SOURCE_HIGH                          0x034
#define MERIDIAN_SELF_TEST_SOURCE_HIGH_ADDRESS_SHIFT            0
#define MERIDIAN_SELF_TEST_SOURCE_HIGH_ADDRESS_MASK             0x0000ffffu
#define MERIDIAN_SELF_TEST_STATUS                               0x040
#define MERIDIAN_SELF_TEST_STATUS_STATE_SHIFT                   0
#define MERIDIAN_SELF_TEST_STATUS_STATE_MASK                    0x00000003u
#define MERIDIAN_SELF_TEST_STATUS_CHECKS_SHIFT                  4
#define MERIDIAN_SELF_TEST_STATUS_CHECKS_MASK                   0x00000010u
#define MERIDIAN_SELF_TEST_STATUS_TAKES_SHIFT                   5
#define MERIDIAN_SELF_TEST_STATUS_TAKES_MASK                    0x00000020u
#define MERIDIAN_SELF_TEST_STATUS_REFUSAL_SHIFT                 8
#define MERIDIAN_SELF_TEST_STATUS_REFUSAL_MASK                  0x00000f00u
#define MERIDIAN_SELF_TEST_STATUS_WINDOW_SHIFT                  12
#define MERIDIAN_SELF_TEST_STATUS_WINDOW_MASK                   0x0000f000u
#define MERIDIAN_SELF_TEST_STATUS_END_SHIFT                     16
#define MERIDIAN_SELF_TEST_STATUS_END_MASK                      0x00070000u
#define MERIDIAN_SELF_TEST_STATUS_RUN_SHIFT                     24
#define MERIDIAN_SELF_TEST_STATUS_RUN_MASK                      0x1f000000u
#define MERIDIAN_SELF_TEST_COUNTERS(i)                          (0x048 + 0x4 * (i))
#define MERIDIAN_SELF_TEST_COUNTERS_MAX                         46
#define MERIDIAN_SELF_TEST_WINDOW_LOW                           0x100
#define MERIDIAN_SELF_TEST_WINDOW_HIGH                          0x104
#define MERIDIAN_SELF_TEST_CONTROL                              0x108
#define MERIDIAN_SELF_TEST_CONTROL_RESET_SHIFT                  0
#define MERIDIAN_SELF_TEST_CONTROL_RESET_MASK                   0x00000001u
#define MERIDIAN_SELF_TEST_CONTROL_MODE_SHIFT                   1
#define MERIDIAN_SELF_TEST_CONTROL_MODE_MASK                    0x00000002u
#define MERIDIAN_SELF_TEST_LATENCY_MAX_LOW                      0x10c
#define MERIDIAN_SELF_TEST_LATENCY_MAX_HIGH                     0x110
#define MERIDIAN_SELF_TEST_LATENCY_MIN_LOW                      0x114
#define MERIDIAN_SELF_TEST_LATENCY_MIN_HIGH                     0x118
#define MERIDIAN_SELF_TEST_LATENCY_SUM_LOW                      0x11c
#define MERIDIAN_SELF_TEST_LATENCY_SUM_HIGH                     0x120
#define MERIDIAN_SELF_TEST_LATENCY_FRAMES_LOW                   0x124
#define MERIDIAN_SELF_TEST_LATENCY_FRAMES_HIGH                  0x128
#define MERIDIAN_SELF_TEST_HISTOGRAM(i)                         (0x200 + 0x4 * (i))
#define MERIDIAN_SELF_TEST_HISTOGRAM_MAX                        64
#define MERIDIAN_SELF_TEST_COUNTER_SENT_FRAMES                  0x048
#define MERIDIAN_SELF_TEST_COUNTER_SENT_BYTES                   0x050
#define MERIDIAN_SELF_TEST_COUNTER_SENT_DENIED                  0x058
#define MERIDIAN_SELF_TEST_COUNTER_SENT_CUT                     0x060
#define MERIDIAN_SELF_TEST_COUNTER_CHECKED_FRAMES               0x080
#define MERIDIAN_SELF_TEST_COUNTER_CHECKED_BYTES                0x088
#define MERIDIAN_SELF_TEST_COUNTER_CHECKED_GOOD                 0x090
#define MERIDIAN_SELF_TEST_COUNTER_CHECKED_DAMAGED              0x098
#define MERIDIAN_SELF_TEST_COUNTER_CHECKED_FOREIGN              0x0a0
#define MERIDIAN_SELF_TEST_COUNTER_CHECKED_TOO_SHORT            0x0a8
#define MERIDIAN_SELF_TEST_COUNTER_CHECKED_MARKED               0x0b0
#define MERIDIAN_SELF_TEST_COUNTER_CHECKED_BIT_ERRORS           0x0b8
#define MERIDIAN_SELF_TEST_COUNTER_CHECKED_SKIPPED              0x0c0
#define MERIDIAN_SELF_TEST_COUNTER_CHECKED_LATE                 0x0c8

/*
 * The user's module of a port, on a card that has the capability `user_box`. That at the host is
 * number 4, on a card that has `host_box`.
 */
#define MERIDIAN_BOX_BASE(i)                                    (0x118000 + 0x1000 * (i))
#define MERIDIAN_BOX_PS_BASE(i)                                 (0x18000 + 0x1000 * (i))
#define MERIDIAN_BOX_MAX                                        5
#define MERIDIAN_BOX_ID                                         0x000
#define MERIDIAN_BOX_VERSION                                    0x004
#define MERIDIAN_BOX_CONTROL                                    0x008
#define MERIDIAN_BOX_CONTROL_RESET_SHIFT                        0
#define MERIDIAN_BOX_CONTROL_RESET_MASK                         0x00000001u
#define MERIDIAN_BOX_STATUS                                     0x00c
#define MERIDIAN_BOX_STATUS_READY_SHIFT                         0
#define MERIDIAN_BOX_STATUS_READY_MASK                          0x00000001u
#define MERIDIAN_BOX_STATUS_RX_HUNG_SHIFT                       1
#define MERIDIAN_BOX_STATUS_RX_HUNG_MASK                        0x00000002u
#define MERIDIAN_BOX_STATUS_TX_HUNG_SHIFT                       2
#define MERIDIAN_BOX_STATUS_TX_HUNG_MASK                        0x00000004u
#define MERIDIAN_BOX_STATUS_REGISTERS_HUNG_SHIFT                3
#define MERIDIAN_BOX_STATUS_REGISTERS_HUNG_MASK                 0x00000008u
#define MERIDIAN_BOX_STATUS_IRQ_SHIFT                           4
#define MERIDIAN_BOX_STATUS_IRQ_MASK                            0x00000010u
#define MERIDIAN_BOX_STATUS_DMA_SHIFT                           5
#define MERIDIAN_BOX_STATUS_DMA_MASK                            0x00000020u
#define MERIDIAN_BOX_HANG_CYCLES                                0x010
#define MERIDIAN_BOX_HANG_CYCLES_CYCLES_SHIFT                   0
#define MERIDIAN_BOX_HANG_CYCLES_CYCLES_MASK                    0x0fffffffu
#define MERIDIAN_BOX_EVENTS                                     0x014
#define MERIDIAN_BOX_EVENTS_RX_HUNG_SHIFT                       0
#define MERIDIAN_BOX_EVENTS_RX_HUNG_MASK                        0x00000001u
#define MERIDIAN_BOX_EVENTS_TX_HUNG_SHIFT                       1
#define MERIDIAN_BOX_EVENTS_TX_HUNG_MASK                        0x00000002u
#define MERIDIAN_BOX_EVENTS_REGISTERS_HUNG_SHIFT                2
#define MERIDIAN_BOX_EVENTS_REGISTERS_HUNG_MASK                 0x00000004u
#define MERIDIAN_BOX_EVENTS_IRQ_SHIFT                           3
#define MERIDIAN_BOX_EVENTS_IRQ_MASK                            0x00000008u
#define MERIDIAN_BOX_IRQ_GAP                                    0x018
#define MERIDIAN_BOX_IRQ_GAP_CYCLES_SHIFT                       0
#define MERIDIAN_BOX_IRQ_GAP_CYCLES_MASK                        0x00ffffffu
#define MERIDIAN_BOX_HOST_IRQ                                   0x01c
#define MERIDIAN_BOX_HOST_IRQ_ENABLE_SHIFT                      0
#define MERIDIAN_BOX_HOST_IRQ_ENABLE_MASK                       0x00000001u
#define MERIDIAN_BOX_HOST_IRQ_FUNCTION_SHIFT                    8
#define MERIDIAN_BOX_HOST_IRQ_FUNCTION_MASK                     0x0000ff00u
#define MERIDIAN_BOX_HOST_IRQ_VECTOR_SHIFT                      16
#define MERIDIAN_BOX_HOST_IRQ_VECTOR_MASK                       0x07ff0000u
#define MERIDIAN_BOX_HOST_PENDING                               0x020
#define MERIDIAN_BOX_HOST_PENDING_IRQ_SHIFT                     0
#define MERIDIAN_BOX_HOST_PENDING_IRQ_MASK                      0x00000001u
#define MERIDIAN_BOX_RX_PASSED_LOW                              0x040
#define MERIDIAN_BOX_RX_PASSED_HIGH                             0x044
#define MERIDIAN_BOX_RX_DROPPED_LOW                             0x048
#define MERIDIAN_BOX_RX_DROPPED_HIGH                            0x04c
#define MERIDIAN_BOX_RX_SENT_LOW                                0x050
#define MERIDIAN_BOX_RX_SENT_HIGH                               0x054
#define MERIDIAN_BOX_RX_REFUSED_LOW                             0x058
#define MERIDIAN_BOX_RX_REFUSED_HIGH                            0x05c
#define MERIDIAN_BOX_TX_PASSED_LOW                              0x060
#define MERIDIAN_BOX_TX_PASSED_HIGH                             0x064
#define MERIDIAN_BOX_TX_DROPPED_LOW                             0x068
#define MERIDIAN_BOX_TX_DROPPED_HIGH                            0x06c
#define MERIDIAN_BOX_TX_SENT_LOW                                0x070
#define MERIDIAN_BOX_TX_SENT_HIGH                               0x074
#define MERIDIAN_BOX_TX_REFUSED_LOW                             0x078
#define MERIDIAN_BOX_TX_REFUSED_HIGH                            0x07c
#define MERIDIAN_BOX_RX_DENIED_LOW                              0x080
#define MERIDIAN_BOX_RX_DENIED_HIGH                             0x084
#define MERIDIAN_BOX_RX_NO_BUFFER_LOW                           0x088
#define MERIDIAN_BOX_RX_NO_BUFFER_HIGH                          0x08c
#define MERIDIAN_BOX_TX_INVALID_LOW                             0x090
#define MERIDIAN_BOX_TX_INVALID_HIGH                            0x094
#define MERIDIAN_BOX_IRQ_RAISED_LOW                             0x098
#define MERIDIAN_BOX_IRQ_RAISED_HIGH                            0x09c
#define MERIDIAN_BOX_IRQ_SENT_LOW                               0x0a0
#define MERIDIAN_BOX_IRQ_SENT_HIGH                              0x0a4
#define MERIDIAN_BOX_IRQ_FAILED_LOW                             0x0a8
#define MERIDIAN_BOX_IRQ_FAILED_HIGH                            0x0ac
#define MERIDIAN_BOX_DMA_READ_LOW                               0x0b0
#define MERIDIAN_BOX_DMA_READ_HIGH                              0x0b4
#define MERIDIAN_BOX_DMA_READ_FAILED_LOW                        0x0b8
#define MERIDIAN_BOX_DMA_READ_FAILED_HIGH                       0x0bc
#define MERIDIAN_BOX_DMA_WRITTEN_LOW                            0x0c0
#define MERIDIAN_BOX_DMA_WRITTEN_HIGH                           0x0c4
#define MERIDIAN_BOX_DMA_WRITE_FAILED_LOW                       0x0c8
#define MERIDIAN_BOX_DMA_WRITE_FAILED_HIGH                      0x0cc

/* Switches of the queues. */
#define MERIDIAN_QUEUE_BASE                                     0x120000
#define MERIDIAN_QUEUE_SWITCHES(i)                              (0x000 + 0x4 * (i))
#define MERIDIAN_QUEUE_SWITCHES_MAX                             2048
#define MERIDIAN_QUEUE_SWITCHES_COMPLETION16_SHIFT              0
#define MERIDIAN_QUEUE_SWITCHES_COMPLETION16_MASK               0x00000001u
#define MERIDIAN_QUEUE_SWITCHES_TRANSMIT_OFFLOAD_SHIFT          1
#define MERIDIAN_QUEUE_SWITCHES_TRANSMIT_OFFLOAD_MASK           0x00000002u
#define MERIDIAN_QUEUE_SWITCHES_PACED_SHIFT                     2
#define MERIDIAN_QUEUE_SWITCHES_PACED_MASK                      0x00000004u
#define MERIDIAN_QUEUE_SWITCHES_TRANSMIT_SEGMENTS_SHIFT         3
#define MERIDIAN_QUEUE_SWITCHES_TRANSMIT_SEGMENTS_MASK          0x00000008u

/*
 * Transmit queues of all ports in one memory, in a build with a pool of cells. Every value of its
 * settings is defined.
 */
#define MERIDIAN_EGRESS_BASE                                    0x122000
#define MERIDIAN_EGRESS_SIZES                                   0x000
#define MERIDIAN_EGRESS_SIZES_CELLS_SHIFT                       0
#define MERIDIAN_EGRESS_SIZES_CELLS_MASK                        0x0000ffffu
#define MERIDIAN_EGRESS_SIZES_CELL_BYTES_SHIFT                  16
#define MERIDIAN_EGRESS_SIZES_CELL_BYTES_MASK                   0xffff0000u
#define MERIDIAN_EGRESS_RESERVES                                0x004
#define MERIDIAN_EGRESS_RESERVES_PACED_SHIFT                    0
#define MERIDIAN_EGRESS_RESERVES_PACED_MASK                     0x0000ffffu
#define MERIDIAN_EGRESS_RESERVES_CLASS_SHIFT                    16
#define MERIDIAN_EGRESS_RESERVES_CLASS_MASK                     0xffff0000u
#define MERIDIAN_EGRESS_CELLS                                   0x008
#define MERIDIAN_EGRESS_CELLS_USED_SHIFT                        0
#define MERIDIAN_EGRESS_CELLS_USED_MASK                         0x0000ffffu
#define MERIDIAN_EGRESS_CELLS_PEAK_SHIFT                        16
#define MERIDIAN_EGRESS_CELLS_PEAK_MASK                         0xffff0000u
#define MERIDIAN_EGRESS_THRESHOLDS                              0x00c
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS0_SHIFT                 0
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS0_MASK                  0x00000007u
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS1_SHIFT                 4
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS1_MASK                  0x00000070u
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS2_SHIFT                 8
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS2_MASK                  0x00000700u
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS3_SHIFT                 12
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS3_MASK                  0x00007000u
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS4_SHIFT                 16
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS4_MASK                  0x00070000u
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS5_SHIFT                 20
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS5_MASK                  0x00700000u
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS6_SHIFT                 24
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS6_MASK                  0x07000000u
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS7_SHIFT                 28
#define MERIDIAN_EGRESS_THRESHOLDS_CLASS7_MASK                  0x70000000u
#define MERIDIAN_EGRESS_RATE_UNIT                               0x010
#define MERIDIAN_EGRESS_CLASSES(i)                              (0x040 + 0x10 * (i))
#define MERIDIAN_EGRESS_CLASSES_MAX                             4
#define MERIDIAN_EGRESS_CLASSES_PRIORITY0_SHIFT                 0
#define MERIDIAN_EGRESS_CLASSES_PRIORITY0_MASK                  0x00000007u
#define MERIDIAN_EGRESS_CLASSES_PRIORITY1_SHIFT                 4
#define MERIDIAN_EGRESS_CLASSES_PRIORITY1_MASK                  0x00000070u
#define MERIDIAN_EGRESS_CLASSES_PRIORITY2_SHIFT                 8
#define MERIDIAN_EGRESS_CLASSES_PRIORITY2_MASK                  0x00000700u
#define MERIDIAN_EGRESS_CLASSES_PRIORITY3_SHIFT                 12
#define MERIDIAN_EGRESS_CLASSES_PRIORITY3_MASK                  0x00007000u
#define MERIDIAN_EGRESS_CLASSES_PRIORITY4_SHIFT                 16
#define MERIDIAN_EGRESS_CLASSES_PRIORITY4_MASK                  0x00070000u
#define MERIDIAN_EGRESS_CLASSES_PRIORITY5_SHIFT                 20
#define MERIDIAN_EGRESS_CLASSES_PRIORITY5_MASK                  0x00700000u
#define MERIDIAN_EGRESS_CLASSES_PRIORITY6_SHIFT                 24
#define MERIDIAN_EGRESS_CLASSES_PRIORITY6_MASK                  0x07000000u
#define MERIDIAN_EGRESS_CLASSES_PRIORITY7_SHIFT                 28
#define MERIDIAN_EGRESS_CLASSES_PRIORITY7_MASK                  0x70000000u
#define MERIDIAN_EGRESS_STRICT(i)                               (0x044 + 0x10 * (i))
#define MERIDIAN_EGRESS_STRICT_MAX                              4
#define MERIDIAN_EGRESS_STRICT_CLASS_SHIFT                      0
#define MERIDIAN_EGRESS_STRICT_CLASS_MASK                       0x000000ffu
#define MERIDIAN_EGRESS_WEIGHTS_0_TO_3(i)                       (0x048 + 0x10 * (i))
#define MERIDIAN_EGRESS_WEIGHTS_0_TO_3_MAX                      4
#define MERIDIAN_EGRESS_WEIGHTS_0_TO_3_CLASS0_SHIFT             0
#define MERIDIAN_EGRESS_WEIGHTS_0_TO_3_CLASS0_MASK              0x000000ffu
#define MERIDIAN_EGRESS_WEIGHTS_0_TO_3_CLASS1_SHIFT             8
#define MERIDIAN_EGRESS_WEIGHTS_0_TO_3_CLASS1_MASK              0x0000ff00u
#define MERIDIAN_EGRESS_WEIGHTS_0_TO_3_CLASS2_SHIFT             16
#define MERIDIAN_EGRESS_WEIGHTS_0_TO_3_CLASS2_MASK              0x00ff0000u
#define MERIDIAN_EGRESS_WEIGHTS_0_TO_3_CLASS3_SHIFT             24
#define MERIDIAN_EGRESS_WEIGHTS_0_TO_3_CLASS3_MASK              0xff000000u
#define MERIDIAN_EGRESS_WEIGHTS_4_TO_7(i)                       (0x04c + 0x10 * (i))
#define MERIDIAN_EGRESS_WEIGHTS_4_TO_7_MAX                      4
#define MERIDIAN_EGRESS_WEIGHTS_4_TO_7_CLASS4_SHIFT             0
#define MERIDIAN_EGRESS_WEIGHTS_4_TO_7_CLASS4_MASK              0x000000ffu
#define MERIDIAN_EGRESS_WEIGHTS_4_TO_7_CLASS5_SHIFT             8
#define MERIDIAN_EGRESS_WEIGHTS_4_TO_7_CLASS5_MASK              0x0000ff00u
#define MERIDIAN_EGRESS_WEIGHTS_4_TO_7_CLASS6_SHIFT             16
#define MERIDIAN_EGRESS_WEIGHTS_4_TO_7_CLASS6_MASK              0x00ff0000u
#define MERIDIAN_EGRESS_WEIGHTS_4_TO_7_CLASS7_SHIFT             24
#define MERIDIAN_EGRESS_WEIGHTS_4_TO_7_CLASS7_MASK              0xff000000u
#define MERIDIAN_EGRESS_RATES(i)                                (0x400 + 0x4 * (i))
#define MERIDIAN_EGRESS_RATES_MAX                               128
#define MERIDIAN_EGRESS_MARKS(i)                                (0x600 + 0x4 * (i))
#define MERIDIAN_EGRESS_MARKS_MAX                               64
#define MERIDIAN_EGRESS_COUNTERS(i)                             (0x800 + 0x4 * (i))
#define MERIDIAN_EGRESS_COUNTERS_MAX                            256
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS0_FRAMES             0x800
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS0_BYTES              0x808
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS0_LOST               0x810
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS0_MARKED             0x818
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS1_FRAMES             0x820
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS1_BYTES              0x828
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS1_LOST               0x830
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS1_MARKED             0x838
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS2_FRAMES             0x840
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS2_BYTES              0x848
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS2_LOST               0x850
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS2_MARKED             0x858
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS3_FRAMES             0x860
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS3_BYTES              0x868
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS3_LOST               0x870
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS3_MARKED             0x878
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS4_FRAMES             0x880
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS4_BYTES              0x888
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS4_LOST               0x890
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS4_MARKED             0x898
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS5_FRAMES             0x8a0
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS5_BYTES              0x8a8
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS5_LOST               0x8b0
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS5_MARKED             0x8b8
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS6_FRAMES             0x8c0
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS6_BYTES              0x8c8
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS6_LOST               0x8d0
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS6_MARKED             0x8d8
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS7_FRAMES             0x8e0
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS7_BYTES              0x8e8
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS7_LOST               0x8f0
#define MERIDIAN_EGRESS_COUNTER_PORT0_CLASS7_MARKED             0x8f8
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS0_FRAMES             0x900
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS0_BYTES              0x908
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS0_LOST               0x910
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS0_MARKED             0x918
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS1_FRAMES             0x920
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS1_BYTES              0x928
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS1_LOST               0x930
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS1_MARKED             0x938
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS2_FRAMES             0x940
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS2_BYTES              0x948
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS2_LOST               0x950
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS2_MARKED             0x958
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS3_FRAMES             0x960
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS3_BYTES              0x968
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS3_LOST               0x970
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS3_MARKED             0x978
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS4_FRAMES             0x980
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS4_BYTES              0x988
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS4_LOST               0x990
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS4_MARKED             0x998
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS5_FRAMES             0x9a0
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS5_BYTES              0x9a8
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS5_LOST               0x9b0
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS5_MARKED             0x9b8
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS6_FRAMES             0x9c0
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS6_BYTES              0x9c8
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS6_LOST               0x9d0
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS6_MARKED             0x9d8
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS7_FRAMES             0x9e0
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS7_BYTES              0x9e8
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS7_LOST               0x9f0
#define MERIDIAN_EGRESS_COUNTER_PORT1_CLASS7_MARKED             0x9f8
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS0_FRAMES             0xa00
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS0_BYTES              0xa08
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS0_LOST               0xa10
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS0_MARKED             0xa18
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS1_FRAMES             0xa20
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS1_BYTES              0xa28
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS1_LOST               0xa30
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS1_MARKED             0xa38
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS2_FRAMES             0xa40
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS2_BYTES              0xa48
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS2_LOST               0xa50
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS2_MARKED             0xa58
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS3_FRAMES             0xa60
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS3_BYTES              0xa68
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS3_LOST               0xa70
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS3_MARKED             0xa78
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS4_FRAMES             0xa80
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS4_BYTES              0xa88
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS4_LOST               0xa90
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS4_MARKED             0xa98
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS5_FRAMES             0xaa0
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS5_BYTES              0xaa8
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS5_LOST               0xab0
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS5_MARKED             0xab8
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS6_FRAMES             0xac0
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS6_BYTES              0xac8
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS6_LOST               0xad0
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS6_MARKED             0xad8
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS7_FRAMES             0xae0
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS7_BYTES              0xae8
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS7_LOST               0xaf0
#define MERIDIAN_EGRESS_COUNTER_PORT2_CLASS7_MARKED             0xaf8
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS0_FRAMES             0xb00
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS0_BYTES              0xb08
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS0_LOST               0xb10
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS0_MARKED             0xb18
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS1_FRAMES             0xb20
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS1_BYTES              0xb28
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS1_LOST               0xb30
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS1_MARKED             0xb38
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS2_FRAMES             0xb40
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS2_BYTES              0xb48
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS2_LOST               0xb50
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS2_MARKED             0xb58
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS3_FRAMES             0xb60
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS3_BYTES              0xb68
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS3_LOST               0xb70
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS3_MARKED             0xb78
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS4_FRAMES             0xb80
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS4_BYTES              0xb88
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS4_LOST               0xb90
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS4_MARKED             0xb98
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS5_FRAMES             0xba0
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS5_BYTES              0xba8
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS5_LOST               0xbb0
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS5_MARKED             0xbb8
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS6_FRAMES             0xbc0
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS6_BYTES              0xbc8
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS6_LOST               0xbd0
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS6_MARKED             0xbd8
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS7_FRAMES             0xbe0
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS7_BYTES              0xbe8
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS7_LOST               0xbf0
#define MERIDIAN_EGRESS_COUNTER_PORT3_CLASS7_MARKED             0xbf8

/*
 * Registers of the user's module of a port, as the module has them; without AXI4-Lite ports it
 * refuses all accesses. Number 4 is that at the host.
 */
#define MERIDIAN_BOX_WINDOW_BASE(i)                             (0x180000 + 0x10000 * (i))
#define MERIDIAN_BOX_WINDOW_PS_BASE(i)                          (0x80000 + 0x10000 * (i))
#define MERIDIAN_BOX_WINDOW_MAX                                 5

/* A function: switches, queues, RSS, counters. */
#define MERIDIAN_FUNCTION_BASE(i)                               (0x200000 + 0x1000 * (i))
#define MERIDIAN_FUNCTION_MAX                                   256
#define MERIDIAN_FUNCTION_QCONF                                 0x000
#define MERIDIAN_FUNCTION_QCONF_COUNT_SHIFT                     0
#define MERIDIAN_FUNCTION_QCONF_COUNT_MASK                      0x0000ffffu
#define MERIDIAN_FUNCTION_QCONF_BASE_SHIFT                      16
#define MERIDIAN_FUNCTION_QCONF_BASE_MASK                       0xffff0000u
#define MERIDIAN_FUNCTION_FLAGS                                 0x004
#define MERIDIAN_FUNCTION_FLAGS_BROADCAST_SHIFT                 0
#define MERIDIAN_FUNCTION_FLAGS_BROADCAST_MASK                  0x00000001u
#define MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_SHIFT             1
#define MERIDIAN_FUNCTION_FLAGS_ALL_MULTICAST_MASK              0x00000002u
#define MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_SHIFT               2
#define MERIDIAN_FUNCTION_FLAGS_PROMISCUOUS_MASK                0x00000004u
#define MERIDIAN_FUNCTION_FLAGS_TRUSTED_SHIFT                   3
#define MERIDIAN_FUNCTION_FLAGS_TRUSTED_MASK                    0x00000008u
#define MERIDIAN_FUNCTION_FLAGS_CONTROL_FRAMES_SHIFT            4
#define MERIDIAN_FUNCTION_FLAGS_CONTROL_FRAMES_MASK             0x00000010u
#define MERIDIAN_FUNCTION_PORT                                  0x008
#define MERIDIAN_FUNCTION_PORT_PORT_SHIFT                       0
#define MERIDIAN_FUNCTION_PORT_PORT_MASK                        0x00000003u
#define MERIDIAN_FUNCTION_STATUS                                0x00c
#define MERIDIAN_FUNCTION_STATUS_ENABLED_SHIFT                  0
#define MERIDIAN_FUNCTION_STATUS_ENABLED_MASK                   0x00000001u
#define MERIDIAN_FUNCTION_STATUS_IN_RESET_SHIFT                 1
#define MERIDIAN_FUNCTION_STATUS_IN_RESET_MASK                  0x00000002u
#define MERIDIAN_FUNCTION_STATUS_LINK_UP_SHIFT                  2
#define MERIDIAN_FUNCTION_STATUS_LINK_UP_MASK                   0x00000004u
#define MERIDIAN_FUNCTION_TX_MAX_RATE                           0x010
#define MERIDIAN_FUNCTION_TX_MAX_RATE_RATE_SHIFT                0
#define MERIDIAN_FUNCTION_TX_MAX_RATE_RATE_MASK                 0x03ffffffu
#define MERIDIAN_FUNCTION_TX_MIN_RATE                           0x014
#define MERIDIAN_FUNCTION_TX_MIN_RATE_RATE_SHIFT                0
#define MERIDIAN_FUNCTION_TX_MIN_RATE_RATE_MASK                 0x03ffffffu
#define MERIDIAN_FUNCTION_VLAN                                  0x018
#define MERIDIAN_FUNCTION_VLAN_TCI_SHIFT                        0
#define MERIDIAN_FUNCTION_VLAN_TCI_MASK                         0x0000ffffu
#define MERIDIAN_FUNCTION_VLAN_INSERT_SHIFT                     16
#define MERIDIAN_FUNCTION_VLAN_INSERT_MASK                      0x00010000u
#define MERIDIAN_FUNCTION_VLAN_STRIP_SHIFT                      17
#define MERIDIAN_FUNCTION_VLAN_STRIP_MASK                       0x00020000u
#define MERIDIAN_FUNCTION_LINK                                  0x01c
#define MERIDIAN_FUNCTION_LINK_LINK_STATE_SHIFT                 0
#define MERIDIAN_FUNCTION_LINK_LINK_STATE_MASK                  0x00000003u
#define MERIDIAN_FUNCTION_INDIRECTION(i)                        (0x400 + 0x4 * (i))
#define MERIDIAN_FUNCTION_INDIRECTION_MAX                       128
#define MERIDIAN_FUNCTION_HASH_KEY(i)                           (0x600 + 0x4 * (i))
#define MERIDIAN_FUNCTION_HASH_KEY_MAX                          10
#define MERIDIAN_FUNCTION_HASH_ORDER                            0x628
#define MERIDIAN_FUNCTION_HASH_ORDER_MICROSOFT_SHIFT            0
#define MERIDIAN_FUNCTION_HASH_ORDER_MICROSOFT_MASK             0x00000001u
#define MERIDIAN_FUNCTION_HASH_ORDER_SYMMETRIC_SHIFT            1
#define MERIDIAN_FUNCTION_HASH_ORDER_SYMMETRIC_MASK             0x00000006u
#define MERIDIAN_FUNCTION_HASH_ORDER_LEFT_OUT_SHIFT             16
#define MERIDIAN_FUNCTION_HASH_ORDER_LEFT_OUT_MASK              0xffff0000u
#define MERIDIAN_FUNCTION_COUNTERS(i)                           (0x800 + 0x4 * (i))
#define MERIDIAN_FUNCTION_COUNTERS_MAX                          128
#define MERIDIAN_FUNCTION_COUNTER_RX_DELIVERED                  0x800
#define MERIDIAN_FUNCTION_COUNTER_RX_COPYING                    0x808
#define MERIDIAN_FUNCTION_COUNTER_RX_NO_MATCH                   0x810
#define MERIDIAN_FUNCTION_COUNTER_RX_NO_LISTENER                0x818
#define MERIDIAN_FUNCTION_COUNTER_RX_DISABLED                   0x820
#define MERIDIAN_FUNCTION_COUNTER_RX_BAD_QUEUE                  0x828
#define MERIDIAN_FUNCTION_COUNTER_RX_QUEUE_FULL                 0x830
#define MERIDIAN_FUNCTION_COUNTER_RX_COPY_CUT                   0x838
#define MERIDIAN_FUNCTION_COUNTER_RX_HOST_DISABLED              0x840
#define MERIDIAN_FUNCTION_COUNTER_TX_SENT                       0x880
#define MERIDIAN_FUNCTION_COUNTER_TX_NO_FUNCTION                0x888
#define MERIDIAN_FUNCTION_COUNTER_TX_DISABLED                   0x890
#define MERIDIAN_FUNCTION_COUNTER_TX_SPOOF                      0x898
#define MERIDIAN_FUNCTION_COUNTER_TX_RUNT                       0x8a0
#define MERIDIAN_FUNCTION_COUNTER_TX_OVERSIZE                   0x8a8
#define MERIDIAN_FUNCTION_COUNTER_TX_ERROR                      0x8b0
#define MERIDIAN_FUNCTION_COUNTER_TX_LINK_DOWN                  0x8b8
#define MERIDIAN_FUNCTION_COUNTER_TX_HOST_DISABLED              0x8c0
#define MERIDIAN_FUNCTION_COUNTER_TX_SWITCHED                   0x8c8
#define MERIDIAN_FUNCTION_COUNTER_TX_TO_PS                      0x8d0
#define MERIDIAN_FUNCTION_COUNTER_TX_VEB_FULL                   0x8d8
#define MERIDIAN_FUNCTION_COUNTER_TX_PS_FULL                    0x8e0
#define MERIDIAN_FUNCTION_COUNTER_TX_HAIRPIN                    0x8e8
#define MERIDIAN_FUNCTION_COUNTER_TX_CONTROL_FRAME              0x8f0
#define MERIDIAN_FUNCTION_COUNTER_RX_BYTES                      0x900
#define MERIDIAN_FUNCTION_COUNTER_TX_BYTES                      0x908
#define MERIDIAN_FUNCTION_COUNTER_RX_COPIES                     0x910
#define MERIDIAN_FUNCTION_COUNTER_TX_OFFLOAD_SKIPPED            0x918
#define MERIDIAN_FUNCTION_COUNTER_TX_QUEUE_FULL                 0x920
#define MERIDIAN_FUNCTION_COUNTER_TX_COPIES_SWITCHED            0x940
#define MERIDIAN_FUNCTION_COUNTER_TX_COPIES_VEB_FULL            0x948
#define MERIDIAN_FUNCTION_COUNTER_TX_COPIES_TO_PS               0x950
#define MERIDIAN_FUNCTION_COUNTER_TX_COPIES_PS_FULL             0x958

/* What a VF sees of itself in its own BAR2; read only. */
#define MERIDIAN_VF_MAGIC                                       0x000
#define MERIDIAN_VF_VERSION                                     0x004
#define MERIDIAN_VF_FUNCTION                                    0x008
#define MERIDIAN_VF_FUNCTION_FUNCTION_SHIFT                     0
#define MERIDIAN_VF_FUNCTION_FUNCTION_MASK                      0x000000ffu
#define MERIDIAN_VF_FUNCTION_PORT_SHIFT                         16
#define MERIDIAN_VF_FUNCTION_PORT_MASK                          0x00030000u
#define MERIDIAN_VF_STATUS                                      0x00c
#define MERIDIAN_VF_STATUS_ENABLED_SHIFT                        0
#define MERIDIAN_VF_STATUS_ENABLED_MASK                         0x00000001u
#define MERIDIAN_VF_STATUS_LINK_UP_SHIFT                        2
#define MERIDIAN_VF_STATUS_LINK_UP_MASK                         0x00000004u
#define MERIDIAN_VF_STATUS_GIGABITS_SHIFT                       8
#define MERIDIAN_VF_STATUS_GIGABITS_MASK                        0x0000ff00u
#define MERIDIAN_VF_FLAGS                                       0x010
#define MERIDIAN_VF_FLAGS_BROADCAST_SHIFT                       0
#define MERIDIAN_VF_FLAGS_BROADCAST_MASK                        0x00000001u
#define MERIDIAN_VF_FLAGS_ALL_MULTICAST_SHIFT                   1
#define MERIDIAN_VF_FLAGS_ALL_MULTICAST_MASK                    0x00000002u
#define MERIDIAN_VF_FLAGS_PROMISCUOUS_SHIFT                     2
#define MERIDIAN_VF_FLAGS_PROMISCUOUS_MASK                      0x00000004u
#define MERIDIAN_VF_FLAGS_TRUSTED_SHIFT                         3
#define MERIDIAN_VF_FLAGS_TRUSTED_MASK                          0x00000008u
#define MERIDIAN_VF_FLAGS_CONTROL_FRAMES_SHIFT                  4
#define MERIDIAN_VF_FLAGS_CONTROL_FRAMES_MASK                   0x00000010u
#define MERIDIAN_VF_QUEUES                                      0x014
#define MERIDIAN_VF_QUEUES_COUNT_SHIFT                          0
#define MERIDIAN_VF_QUEUES_COUNT_MASK                           0x0000ffffu
#define MERIDIAN_VF_COUNTERS(i)                                 (0x800 + 0x4 * (i))
#define MERIDIAN_VF_COUNTERS_MAX                                128
#define MERIDIAN_VF_COUNTER_RX_DELIVERED                        0x800
#define MERIDIAN_VF_COUNTER_RX_COPYING                          0x808
#define MERIDIAN_VF_COUNTER_RX_NO_MATCH                         0x810
#define MERIDIAN_VF_COUNTER_RX_NO_LISTENER                      0x818
#define MERIDIAN_VF_COUNTER_RX_DISABLED                         0x820
#define MERIDIAN_VF_COUNTER_RX_BAD_QUEUE                        0x828
#define MERIDIAN_VF_COUNTER_RX_QUEUE_FULL                       0x830
#define MERIDIAN_VF_COUNTER_RX_COPY_CUT                         0x838
#define MERIDIAN_VF_COUNTER_RX_HOST_DISABLED                    0x840
#define MERIDIAN_VF_COUNTER_TX_SENT                             0x880
#define MERIDIAN_VF_COUNTER_TX_NO_FUNCTION                      0x888
#define MERIDIAN_VF_COUNTER_TX_DISABLED                         0x890
#define MERIDIAN_VF_COUNTER_TX_SPOOF                            0x898
#define MERIDIAN_VF_COUNTER_TX_RUNT                             0x8a0
#define MERIDIAN_VF_COUNTER_TX_OVERSIZE                         0x8a8
#define MERIDIAN_VF_COUNTER_TX_ERROR                            0x8b0
#define MERIDIAN_VF_COUNTER_TX_LINK_DOWN                        0x8b8
#define MERIDIAN_VF_COUNTER_TX_HOST_DISABLED                    0x8c0
#define MERIDIAN_VF_COUNTER_TX_SWITCHED                         0x8c8
#define MERIDIAN_VF_COUNTER_TX_TO_PS                            0x8d0
#define MERIDIAN_VF_COUNTER_TX_VEB_FULL                         0x8d8
#define MERIDIAN_VF_COUNTER_TX_PS_FULL                          0x8e0
#define MERIDIAN_VF_COUNTER_TX_HAIRPIN                          0x8e8
#define MERIDIAN_VF_COUNTER_TX_CONTROL_FRAME                    0x8f0
#define MERIDIAN_VF_COUNTER_RX_BYTES                            0x900
#define MERIDIAN_VF_COUNTER_TX_BYTES                            0x908
#define MERIDIAN_VF_COUNTER_RX_COPIES                           0x910
#define MERIDIAN_VF_COUNTER_TX_OFFLOAD_SKIPPED                  0x918
#define MERIDIAN_VF_COUNTER_TX_QUEUE_FULL                       0x920
#define MERIDIAN_VF_COUNTER_TX_COPIES_SWITCHED                  0x940
#define MERIDIAN_VF_COUNTER_TX_COPIES_VEB_FULL                  0x948
#define MERIDIAN_VF_COUNTER_TX_COPIES_TO_PS                     0x950
#define MERIDIAN_VF_COUNTER_TX_COPIES_PS_FULL                   0x958

#endif /* MERIDIAN_REGS_H */
