// SPDX-License-Identifier: Apache-2.0
#include "qdma/function_reset.hpp"

#include <algorithm>
#include <utility>

namespace meridian {

void FunctionReset::start(unsigned function, std::function<void()> done) {
  Job job{function, {function}, std::move(done)};
  if (function < 4)
    for (unsigned vf = 4; vf < Contexts::functions; ++vf)
      if (mailbox_.parent(vf) == function) job.open.insert(vf);
  for (const unsigned each : job.open) {
    clear(each);
    // A reset that the shell has under way for the function holds until it answers, and serves this one too.
    if (!shell_.under_way(each)) shell_.request(each);
  }
  jobs_.push_back(std::move(job));
}

bool FunctionReset::under_way(unsigned function) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const Job& job) { return job.open.contains(function); });
}

void FunctionReset::clear(unsigned function) {
  using Kind = Contexts::Kind;
  Contexts& contexts = ip_.contexts;
  // Where PCIe's reset takes the link only, this one knows of no queues but those in the mailbox's map.
  const bool by_map = ip_.setting.reset == PcieReset::link;
  const unsigned base = by_map ? mailbox_.first_queue(function) : contexts.fmap(function).get(fmap::base);
  const unsigned count = by_map ? mailbox_.queue_count(function) : contexts.queue_count(function);
  for (unsigned queue = 0; queue < contexts.queues(); ++queue) {
    const bool mapped = queue >= base && queue - base < count;
    const auto owns = [&](bool c2h) {
      const SwContext& context = contexts.sw(c2h, queue);
      return mapped || (!by_map && context.get(sw::enable) != 0 && context.get(sw::function) == function);
    };
    const CompletionContext& completion = contexts.completion(queue);
    if (owns(false)) contexts.invalidate(Kind::sw_h2c, queue);
    if (owns(true)) {
      contexts.invalidate(Kind::sw_c2h, queue);
      contexts.invalidate(Kind::prefetch, queue);
    }
    const bool is_its_own = !by_map && completion.get(cmpt::valid) != 0 && completion.get(cmpt::function) == function;
    if (mapped || is_its_own) contexts.invalidate(Kind::completion, queue);
    if (mapped) doorbells_.reset(queue);
  }
  for (unsigned ring = 0; ring < Contexts::rings; ++ring)
    if (contexts.coalesce(ring).get(coalesce::valid) != 0 &&
        contexts.coalesce(ring).get(coalesce::function) == function)
      contexts.invalidate(Kind::coalesce, ring);
  contexts.fmap(function) = {};
  mailbox_.reset(function);
}

void FunctionReset::run() {
  while (const auto function = shell_.pop())
    for (Job& job : jobs_) job.open.erase(*function);
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    if (!job->open.empty()) {
      ++job;
      continue;
    }
    const auto done = std::move(job->done);
    job = jobs_.erase(job);
    if (done) done();
  }
}

std::string FunctionReset::waits_for() const {
  if (jobs_.empty()) return {};
  return "usr_flr_done of function " + std::to_string(*jobs_.front().open.begin());
}

void FunctionReset::reset() {
  for (const Job& job : std::exchange(jobs_, {}))
    if (job.done) job.done();
}

}  // namespace meridian
