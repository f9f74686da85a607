// SPDX-License-Identifier: Apache-2.0
#include "twin/qdma_port.hpp"

#include <utility>

namespace meridian {

void QdmaPort::read(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, Read done) {
  if (!fits(function, bar, offset, width)) return done(MERIDIAN_LINK_UNSUPPORTED, ones(width));
  if (bar == 0) return done(MERIDIAN_LINK_OK, qdma_.read(function, static_cast<std::uint32_t>(offset)));
  registers_.read(function, offset, width,
                  [this, done = std::move(done)](meridian_link_status status, std::uint64_t value) {
                    qdma_.flush();
                    done(status, value);
                  });
}

void QdmaPort::write(unsigned function, unsigned bar, std::uint64_t offset, unsigned width, std::uint64_t value) {
  if (!fits(function, bar, offset, width)) return;
  if (bar == 0)
    qdma_.write(function, static_cast<std::uint32_t>(offset), static_cast<std::uint32_t>(value));
  else
    registers_.write(function, offset, width, value);
}

void QdmaPort::reset() {
  qdma_.reset();
  registers_.reset();
}

}  // namespace meridian
