// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "qdma/interrupts.hpp"
#include "qdma/pcie_link.hpp"
#include "qdma/qdma_ip.hpp"
#include "qdma/ring/descriptor_status.hpp"
#include "qdma/state/contexts.hpp"
#include "qdma/state/csr.hpp"
#include "qdma/state/errors.hpp"

namespace meridian {

/// What all engines of the IP share.
struct IpState {
  IpState(const QdmaSetting& s, MemoryBus& host)
      : setting(s),
        csr(s),
        contexts(s.queues),
        link(s.pcie, host),
        interrupts(contexts, link),
        errors(csr, interrupts),
        status(s.queues) {}

  QdmaSetting setting;
  Csr csr;
  Contexts contexts;
  PcieLink link;
  Interrupts interrupts;
  Errors errors;
  DescriptorStatus status;
  std::uint64_t now_ps = 0;
};

}  // namespace meridian
