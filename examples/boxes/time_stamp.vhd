-- SPDX-License-Identifier: Apache-2.0
-- A box that writes the time of arrival into received frames of EtherType 0x88B5, one of two that IEEE 802 keeps for
-- experiments: 48 bits of seconds and 32 of nanoseconds by the PTP clock, in network order, behind the EtherType, from
-- byte 14 on. Frames of the host of that EtherType get the time at which they leave the box, by the port phc_time. A frame
-- without a time, as the MAC does not follow the PTP clock, or the clock is not known, gets zeros; one that is too short
-- passes as it is. All other frames pass as they are, in both directions. A module at the host is told the time of
-- arrival, too. It has no registers, and no latency.
library ieee;
use ieee.std_logic_1164.all;

entity time_stamp is
  generic (DATA_BITS : positive := 256);
  port (
    clk, rst                   : in  std_logic;
    phc_time                   : in  std_logic_vector(79 downto 0);
    -- from the wire
    s_axis_rx_tvalid           : in  std_logic;
    s_axis_rx_tready           : out std_logic;
    s_axis_rx_tdata            : in  std_logic_vector(DATA_BITS - 1 downto 0);
    s_axis_rx_tkeep            : in  std_logic_vector(DATA_BITS / 8 - 1 downto 0);
    s_axis_rx_tlast            : in  std_logic;
    s_axis_rx_tuser_time       : in  std_logic_vector(79 downto 0);
    s_axis_rx_tuser_time_valid : in  std_logic;
    -- to the host
    m_axis_rx_tvalid           : out std_logic;
    m_axis_rx_tready           : in  std_logic;
    m_axis_rx_tdata            : out std_logic_vector(DATA_BITS - 1 downto 0);
    m_axis_rx_tkeep            : out std_logic_vector(DATA_BITS / 8 - 1 downto 0);
    m_axis_rx_tlast            : out std_logic;
    m_axis_rx_tuser_time       : out std_logic_vector(79 downto 0);
    m_axis_rx_tuser_time_valid : out std_logic;
    -- from the host
    s_axis_tx_tvalid           : in  std_logic;
    s_axis_tx_tready           : out std_logic;
    s_axis_tx_tdata            : in  std_logic_vector(DATA_BITS - 1 downto 0);
    s_axis_tx_tkeep            : in  std_logic_vector(DATA_BITS / 8 - 1 downto 0);
    s_axis_tx_tlast            : in  std_logic;
    -- to the wire
    m_axis_tx_tvalid           : out std_logic;
    m_axis_tx_tready           : in  std_logic;
    m_axis_tx_tdata            : out std_logic_vector(DATA_BITS - 1 downto 0);
    m_axis_tx_tkeep            : out std_logic_vector(DATA_BITS / 8 - 1 downto 0);
    m_axis_tx_tlast            : out std_logic
  );
end entity;

architecture rtl of time_stamp is
  constant PLACE : natural := 14;
  constant BYTES : natural := 10;
  signal rx_first : std_logic; -- the next beat begins a frame
  signal tx_first : std_logic;
  signal waits    : std_logic; -- a beat of the host is on offer since an earlier cycle, and
  signal since    : std_logic_vector(79 downto 0); -- it was at that time

  -- The first beat of a frame, with the time in it if it is for it; byte 0 of a frame is in bits 7 to 0.
  function stamped (data : std_logic_vector; keep : std_logic_vector; at : std_logic_vector; valid : std_logic)
    return std_logic_vector is
    variable result : std_logic_vector(DATA_BITS - 1 downto 0) := data;
    variable byte   : std_logic_vector(7 downto 0);
  begin
    if result(8 * 14 - 1 downto 8 * 12) = x"B588" and keep(PLACE + BYTES - 1) = '1' then
      for i in 0 to BYTES - 1 loop
        byte := at(8 * (BYTES - i) - 1 downto 8 * (BYTES - i - 1));
        if valid = '0' then
          byte := x"00";
        end if;
        result(8 * (PLACE + i + 1) - 1 downto 8 * (PLACE + i)) := byte;
      end loop;
    end if;
    return result;
  end function;
begin
  s_axis_tx_tready <= m_axis_tx_tready;
  m_axis_tx_tvalid <= s_axis_tx_tvalid;
  m_axis_tx_tkeep  <= s_axis_tx_tkeep;
  m_axis_tx_tlast  <= s_axis_tx_tlast;

  s_axis_rx_tready <= m_axis_rx_tready;
  m_axis_rx_tvalid <= s_axis_rx_tvalid;
  m_axis_rx_tkeep  <= s_axis_rx_tkeep;
  m_axis_rx_tlast  <= s_axis_rx_tlast;
  m_axis_rx_tuser_time       <= s_axis_rx_tuser_time;
  m_axis_rx_tuser_time_valid <= s_axis_rx_tuser_time_valid;

  process (clk)
  begin
    if rising_edge(clk) then
      waits <= s_axis_tx_tvalid and not m_axis_tx_tready;
      if waits = '0' then
        since <= phc_time;
      end if;
      if rst = '1' then
        rx_first <= '1';
        tx_first <= '1';
        waits    <= '0';
      else
        if s_axis_rx_tvalid = '1' and m_axis_rx_tready = '1' then
          rx_first <= s_axis_rx_tlast;
        end if;
        if s_axis_tx_tvalid = '1' and m_axis_tx_tready = '1' then
          tx_first <= s_axis_tx_tlast;
        end if;
      end if;
    end if;
  end process;

  process (all)
    variable at : std_logic_vector(79 downto 0);
  begin
    m_axis_rx_tdata <= s_axis_rx_tdata;
    if rx_first = '1' then
      m_axis_rx_tdata <= stamped(s_axis_rx_tdata, s_axis_rx_tkeep, s_axis_rx_tuser_time, s_axis_rx_tuser_time_valid);
    end if;
    -- A beat on offer does not change: AXI4-Stream.
    at := phc_time;
    if waits = '1' then
      at := since;
    end if;
    m_axis_tx_tdata <= s_axis_tx_tdata;
    if tx_first = '1' then
      -- The shell gives 0 while the time is not known.
      m_axis_tx_tdata <= stamped(s_axis_tx_tdata, s_axis_tx_tkeep, at, '1');
    end if;
  end process;
end architecture;
