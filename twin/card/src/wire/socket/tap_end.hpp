// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "wire/socket/descriptor_end.hpp"

namespace meridian {

/// The wire ends at a TAP device of Linux, which is made if it is not there and goes with this object.
class TapEnd : public DescriptorEnd {
 public:
  /// up: sets the device up. InputError with the system's reason if any of it fails.
  TapEnd(const std::string& name, bool up, const DescriptorSetting& setting);

 private:
  Io take(Bytes& frame) override;
  Io give(const Bytes& frame) override;
};

}  // namespace meridian
