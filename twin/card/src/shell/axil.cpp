// SPDX-License-Identifier: Apache-2.0
#include "shell/axil.hpp"

#include <cstdio>
#include <utility>

#include "base/error.hpp"

namespace meridian {

std::uint64_t AxilMaster::write(std::uint32_t address, std::uint32_t data, unsigned function, unsigned strobe) {
  queue_.push_back(
      {next_id_, true, address, data, static_cast<std::uint8_t>(function), static_cast<std::uint8_t>(strobe & 15)});
  return next_id_++;
}

std::uint64_t AxilMaster::read(std::uint32_t address, unsigned function) {
  if (!pins_.araddr.fits(address)) throw InputError("the address is beyond the " + name_ + " bus");
  queue_.push_back({next_id_, false, address, 0, static_cast<std::uint8_t>(function), 0});
  return next_id_++;
}

std::optional<AxilResult> AxilMaster::pop() {
  if (done_.empty()) return std::nullopt;
  const AxilResult result = done_.front();
  done_.pop_front();
  return result;
}

std::string AxilMaster::waits_for() const {
  if (queue_.empty()) return {};
  const Access& access = queue_.front();
  char text[96];
  std::snprintf(text, sizeof text, " bus, function %u: %s of 0x%x", access.function, access.write ? "write" : "read",
                access.address);
  return "an answer on the " + name_ + text;
}

void AxilMaster::reset() {
  queue_.clear();
  open_ = false;
  pins_.awvalid = pins_.wvalid = pins_.arvalid = 0;
  pins_.bready = pins_.rready = 0;
}

void AxilMaster::finish(std::uint8_t response, std::uint32_t data, std::uint64_t now_ps) {
  const Access& access = queue_.front();
  done_.push_back({access.id, access.write, access.address, data, response, now_ps});
  queue_.pop_front();
  open_ = false;
}

void AxilMaster::sample(std::uint64_t now_ps) {
  const bool write = open_ && queue_.front().write;
  const bool read = open_ && !queue_.front().write;
  if (pins_.bvalid != 0 && !(write && address_taken_ && data_taken_))
    throw CheckError(name_ + " bus at " + std::to_string(now_ps) + " ps: a write response that nobody waits for");
  if (pins_.rvalid != 0 && !(read && address_taken_))
    throw CheckError(name_ + " bus at " + std::to_string(now_ps) + " ps: read data that nobody waits for");
  if (pins_.awvalid != 0 && pins_.awready != 0) address_taken_ = true;
  if (pins_.wvalid != 0 && pins_.wready != 0) data_taken_ = true;
  if (pins_.arvalid != 0 && pins_.arready != 0) address_taken_ = true;
  if (pins_.bvalid != 0 && pins_.bready != 0) finish(pins_.bresp, 0, now_ps);
  if (pins_.rvalid != 0 && pins_.rready != 0) finish(pins_.rresp, pins_.rdata, now_ps);
}

void AxilMaster::drive() {
  if (!open_ && !queue_.empty()) {
    open_ = true;
    address_taken_ = data_taken_ = false;
    address_delay_ = skew_ ? random_.below(4) : 0;
    data_delay_ = skew_ ? random_.below(4) : 0;
  }
  pins_.awvalid = pins_.wvalid = pins_.arvalid = 0;
  pins_.bready = pins_.rready = 0;
  if (!open_) return;
  const Access& access = queue_.front();
  if (access.write) {
    pins_.awaddr.set(access.address);
    if (pins_.awuser != nullptr) *pins_.awuser = access.function;
    pins_.awprot = 0;
    pins_.awvalid = !address_taken_ && address_delay_ == 0;
    pins_.wdata = access.data;
    pins_.wstrb = access.strobe;
    pins_.wvalid = !data_taken_ && data_delay_ == 0;
    pins_.bready = !skew_ || random_.percent(50);
  } else {
    pins_.araddr.set(access.address);
    if (pins_.aruser != nullptr) *pins_.aruser = access.function;
    pins_.arprot = 0;
    pins_.arvalid = !address_taken_ && address_delay_ == 0;
    pins_.rready = !skew_ || random_.percent(50);
  }
  if (address_delay_ != 0) --address_delay_;
  if (data_delay_ != 0) --data_delay_;
}

}  // namespace meridian
