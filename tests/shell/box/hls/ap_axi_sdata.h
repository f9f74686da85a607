// SPDX-License-Identifier: Apache-2.0
// Stands for the header of Vitis HLS of this name: a beat of an AXI4-Stream without tuser, tid and tdest.
#pragma once
#include "ap_int.h"

template <int DataBits, int UserBits, int IdBits, int DestBits> struct ap_axiu {
  static_assert(UserBits == 0 && IdBits == 0 && DestBits == 0, "this stand-in has beats without tuser, tid and tdest");
  ap_uint<DataBits> data;
  ap_uint<DataBits / 8> keep;
  bool last = false;
};
