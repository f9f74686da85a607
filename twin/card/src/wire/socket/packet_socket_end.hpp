// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "wire/socket/descriptor_end.hpp"

namespace meridian {

/// The wire ends at a network interface of Linux, by a packet socket: what the interface receives goes to the card,
/// what the card sends leaves by the interface. Meant for one end of a veth pair.
///
/// What Linux leaves to hardware is done here: VLAN tags are put back, checksums completed. Frames that wait for
/// segmentation are dropped and counted as too long; turn it off at the sender (ethtool -K ... tso off gso off).
class PacketSocketEnd : public DescriptorEnd {
 public:
  /// InputError with the system's reason if the interface cannot be used.
  PacketSocketEnd(const std::string& interface, const DescriptorSetting& setting);

 private:
  Io take(Bytes& frame) override;
  Io give(const Bytes& frame) override;

  Bytes buffer_;
};

}  // namespace meridian
