// SPDX-License-Identifier: Apache-2.0
#include "bench/dma/model_engine.hpp"

#include <string>

#include "base/error.hpp"

namespace meridian {

void ModelEngine::push(unsigned, std::uint32_t, std::span<const std::uint8_t>) {
  throw CheckError("the QDMA IP has no window for pushed frames: choose a shell that is made with --dma meridian");
}

std::uint32_t ModelEngine::read_register(std::uint32_t address) {
  const AxilResult got = card_->read(card_->pf_bus(), address);
  if (got.response != 0) throw CheckError("the shell refuses a read of BAR2 address " + std::to_string(address));
  return got.data;
}

void ModelEngine::write_register(std::uint32_t address, std::uint32_t value) {
  const AxilResult done = card_->write(card_->pf_bus(), address, value);
  if (done.response != 0) throw CheckError("the shell refuses a write of BAR2 address " + std::to_string(address));
}

}  // namespace meridian
