// SPDX-License-Identifier: Apache-2.0
// Writes the macro `PORT(N)` once for each Ethernet port, and forgets it. The Ethernet IP and the shell number the names
// of their pins, which only text can follow. MERIDIAN_MORE_THAN_1_PORT and MERIDIAN_MORE_THAN_2_PORTS come from the board: 1, 2 or 4 ports.
`PORT(0)
`ifdef MERIDIAN_MORE_THAN_1_PORT
`PORT(1)
`endif
`ifdef MERIDIAN_MORE_THAN_2_PORTS
`PORT(2)
`PORT(3)
`endif
`undef PORT
