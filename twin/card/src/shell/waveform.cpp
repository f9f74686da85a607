// SPDX-License-Identifier: Apache-2.0
#include "shell/waveform.hpp"

#include "VShell.h"
#include "base/error.hpp"

#if VM_TRACE
#include "verilated_fst_c.h"
#endif

namespace meridian {

#if VM_TRACE

struct Waveform::Writer {
  VerilatedFstC file;
  std::uint64_t from_ps = 0;
  std::uint64_t to_ps = 0;
  ~Writer() { file.close(); }
};

void Waveform::require_tracing() {}

void Waveform::start(const std::string& file, std::uint64_t from_ps, std::uint64_t to_ps) {
  writer_ = std::make_unique<Writer>();
  writer_->from_ps = from_ps;
  writer_->to_ps = to_ps;
  model_.trace(&writer_->file, 99);
  writer_->file.open(file.c_str());
  if (writer_->file.isOpen()) return;
  writer_.reset();
  throw InputError("cannot write " + file);
}

void Waveform::sample(std::uint64_t now_ps) {
  if (writer_ == nullptr || now_ps < writer_->from_ps) return;
  if (now_ps <= writer_->to_ps)
    writer_->file.dump(now_ps);
  else
    writer_.reset();
}

#else

struct Waveform::Writer {};

void Waveform::require_tracing() {
  throw InputError("this program was built without tracing: configure with -DTRACE=ON");
}

void Waveform::start(const std::string&, std::uint64_t, std::uint64_t) {
  require_tracing();
}

void Waveform::sample(std::uint64_t) {}

#endif

Waveform::Waveform(VShell& model) : model_(model) {}
Waveform::~Waveform() = default;

}  // namespace meridian
