// SPDX-License-Identifier: Apache-2.0
#include "qdma/pcie_link.hpp"

#include <algorithm>
#include <utility>

#include "base/error.hpp"

namespace meridian {

namespace {

std::uint64_t byte_fs_of(const PcieSetting& setting) {
  constexpr double gigatransfers[] = {2.5, 5, 8, 16, 32};
  if (setting.generation < 1 || setting.generation > 5) throw InputError("pcie: choose generation 1 to 5");
  if (setting.lanes < 1 || setting.lanes > 16) throw InputError("pcie: choose 1 to 16 lanes");
  if (setting.max_payload < 128 || setting.max_read_request < 128 || setting.tags == 0)
    throw InputError("pcie: choose a payload and a read request of at least 128 bytes, and at least one tag");
  const std::uint64_t most_answers = setting.max_read_request / setting.max_payload + 2;
  if (setting.completion_bytes < setting.max_read_request || setting.completion_headers < most_answers ||
      setting.pipeline_requests == 0)
    throw InputError("pcie: choose room for the answers to one read request at least, and one request in the block");
  const double coding = setting.generation < 3 ? 8.0 / 10 : 128.0 / 130;
  return static_cast<std::uint64_t>(8e6 / (gigatransfers[setting.generation - 1] * coding * setting.lanes));
}

/// Packets that carry bytes from address on, none across a multiple of limit.
std::uint64_t packets(std::uint64_t address, std::uint64_t bytes, std::uint64_t limit) {
  return bytes == 0 ? 0 : (address % limit + bytes + limit - 1) / limit;
}

}  // namespace

struct PcieLink::Inbox {
  std::vector<Answer> fresh;
  std::uint64_t order = 0;
};

PcieLink::PcieLink(const PcieSetting& setting, MemoryBus& host)
    : setting_(setting), host_(host), byte_fs_(byte_fs_of(setting)), inbox_(std::make_shared<Inbox>()) {}

PcieLink::~PcieLink() = default;

void PcieLink::enable(unsigned function, bool enabled) {
  if (function < enabled_.size()) enabled_[function] = enabled;
}

bool PcieLink::later(const Answer& a, const Answer& b) {
  return a.at_ps != b.at_ps ? a.at_ps > b.at_ps : a.order > b.order;
}

/// Packets of about the same size.
std::uint64_t PcieLink::up(std::uint64_t bytes, std::uint64_t packets) {
  if (setting_.unlimited) return now_ps_;
  const std::uint64_t start_ps = std::max(up_free_ps_, now_ps_), time = time_ps(bytes);
  while (!leaving_.empty() && leaving_.front() <= now_ps_) leaving_.pop_front();
  for (std::uint64_t packet = 1; packet <= packets; ++packet) leaving_.push_back(start_ps + time * packet / packets);
  up_free_ps_ = start_ps + time;
  return up_free_ps_;
}

std::uint64_t PcieLink::answer() {
  if (setting_.unlimited) return now_ps_;
  const std::uint64_t time = time_ps(register_answer_bytes);
  while (!leaving_.empty() && leaving_.front() <= now_ps_) leaving_.pop_front();
  const bool passes = leaving_.size() > setting_.pipeline_requests;
  const std::uint64_t front_ps = passes ? leaving_[setting_.pipeline_requests - 1] : std::max(up_free_ps_, now_ps_);
  up_free_ps_ = std::max(up_free_ps_, now_ps_) + time;
  return front_ps + time;
}

/// The read that comes back first gives back what it took: returns when.
std::uint64_t PcieLink::land_first() {
  const Flight flight = flights_.front();
  flights_.pop_front();
  answer_headers_ -= flight.headers;
  answer_bytes_ -= flight.bytes;
  return flight.back_ps;
}

void PcieLink::schedule(Read& read) {
  read.sent_ps = read.back_ps = now_ps_;
  if (setting_.unlimited) return;
  const std::uint64_t limit = setting_.max_read_request;
  std::uint64_t address = read.address, left = read.bytes;
  for (bool first = true; left != 0; first = false) {
    const std::uint64_t bytes = std::min(left, limit - address % limit);
    const std::uint64_t answers = packets(address, bytes, setting_.max_payload);
    while (!flights_.empty() && flights_.front().back_ps <= now_ps_) land_first();
    std::uint64_t free_ps = now_ps_;
    while (flights_.size() >= setting_.tags || answer_headers_ + answers > setting_.completion_headers ||
           answer_bytes_ + bytes > setting_.completion_bytes)
      free_ps = land_first();
    // A request that waits for a tag or for room does not hold up the writes behind it.
    const std::uint64_t sent_ps = std::max(up(request_overhead), free_ps);
    const std::uint64_t data = bytes + completion_overhead * answers;
    down_free_ps_ = std::max(down_free_ps_, sent_ps + std::uint64_t{setting_.round_trip_ns} * 1000) + time_ps(data);
    flights_.push_back({down_free_ps_, answers, bytes});
    answer_headers_ += answers;
    answer_bytes_ += bytes;
    if (first) read.sent_ps = sent_ps;
    address += bytes;
    left -= bytes;
  }
  read.back_ps = down_free_ps_;
}

std::uint64_t PcieLink::access_wait_ps() const {
  const bool gapless = down_free_ps_ > now_ps_ + std::uint64_t{setting_.round_trip_ns} * 1000;
  return setting_.unlimited || !gapless ? 0 : time_ps(setting_.max_payload + completion_overhead);
}

void PcieLink::read(unsigned function, std::uint64_t address, std::uint32_t bytes, ReadDone done) {
  Read read{0, 0, address, bytes, function, std::move(done)};
  schedule(read);
  ++under_way_;
  reads_.push_back(std::move(read));
}

void PcieLink::write(unsigned function, std::uint64_t address, std::span<const std::uint8_t> data) {
  if (!enabled(function)) return;
  if (setting_.unlimited) return host_.write(function, address, data);
  const std::uint64_t count = packets(address, data.size(), setting_.max_payload);
  const std::uint64_t bytes = data.size() + request_overhead * count;
  posted_.push_back({up(bytes, count), address, function, 0, false, Bytes(data.begin(), data.end())});
}

void PcieLink::interrupt(unsigned function, unsigned vector) {
  if (!enabled(function)) return;
  if (setting_.unlimited) return host_.interrupt(function, vector);
  posted_.push_back({up(request_overhead + 4), 0, function, vector, true, {}});
}

void PcieLink::carry_out(Posted& posted) {
  if (!enabled(posted.function)) return;
  if (posted.interrupt)
    host_.interrupt(posted.function, posted.vector);
  else
    host_.write(posted.function, posted.address, posted.data);
}

void PcieLink::ask(Read read) {
  if (!enabled(read.function)) {
    inbox_->fresh.push_back({read.back_ps, inbox_->order++, false, {}, std::move(read.done)});
    return;
  }
  auto finish = [inbox = std::weak_ptr(inbox_), back_ps = read.back_ps, bytes = read.bytes,
                 done = std::move(read.done)](MemoryBus::Status status, std::span<const std::uint8_t> data) {
    const auto alive = inbox.lock();
    if (!alive) return;
    const bool ok = status == MemoryBus::Status::ok && data.size() == bytes;
    alive->fresh.push_back({back_ps, alive->order++, ok, ok ? Bytes(data.begin(), data.end()) : Bytes(), done});
  };
  host_.read(read.function, read.address, read.bytes, std::move(finish));
}

void PcieLink::flush() {
  while (!posted_.empty()) {
    Posted posted = std::move(posted_.front());
    posted_.pop_front();
    carry_out(posted);
  }
}

void PcieLink::run(std::uint64_t now_ps) {
  now_ps_ = now_ps;
  // A read asked at the same moment as a write was asked for after it.
  for (;;) {
    const bool write = !posted_.empty() && posted_.front().at_ps <= now_ps_;
    const bool read = !reads_.empty() && reads_.front().sent_ps <= now_ps_;
    if (!write && !read) break;
    if (write && (!read || posted_.front().at_ps <= reads_.front().sent_ps)) {
      Posted posted = std::move(posted_.front());
      posted_.pop_front();
      carry_out(posted);
    } else {
      Read next = std::move(reads_.front());
      reads_.pop_front();
      ask(std::move(next));
    }
  }
  for (Answer& answer : inbox_->fresh) {
    answers_.push_back(std::move(answer));
    std::push_heap(answers_.begin(), answers_.end(), later);
  }
  inbox_->fresh.clear();
  while (!answers_.empty() && answers_.front().at_ps <= now_ps_) {
    std::pop_heap(answers_.begin(), answers_.end(), later);
    Answer answer = std::move(answers_.back());
    answers_.pop_back();
    --under_way_;
    answer.done(answer.ok, std::move(answer.data));
  }
}

void PcieLink::reset() {
  inbox_ = std::make_shared<Inbox>();
  posted_.clear();
  reads_.clear();
  answers_.clear();
  flights_.clear();
  leaving_.clear();
  answer_headers_ = answer_bytes_ = 0;
  under_way_ = 0;
  up_free_ps_ = down_free_ps_ = 0;
  enabled_.fill(false);
}

bool PcieLink::idle() const {
  return under_way_ == 0 && posted_.empty();
}

}  // namespace meridian
