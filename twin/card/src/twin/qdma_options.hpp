// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/options.hpp"
#include "qdma/qdma_ip.hpp"

namespace meridian {

constexpr std::string_view qdma_options_help =
    R"(  --qdma eqdma5|eqdma4  version that the IP reports (eqdma5); eqdma4 also works with older public drivers
  --pfs N               physical functions, 1 to 4 (4)
  --pcie-functions N    functions on PCIe, 4 to 256; VFs begin at 4 (as many as the shell has)
  --pcie-reset link|all what a function level reset clears: only PCIe's own state, as the IP's product guide describes;
                        or queues and mailbox, too, and the shell is informed (all)
  --pcie GEN:LANES      speed of the link to host memory, such as 3:8 (unlimited)
  --pcie-payload N --pcie-request N   largest payload and read request, bytes (256, 512)
  --pcie-tags N         most reads in flight (256)
  --pcie-extended-tags  the host has enabled Extended Tag, which a shell with --extended-tags true needs
  --pcie-round-trip N   time of a read on an idle link, ns (800)
  --pcie-answers N --pcie-answer-bytes N   room for answers to reads under way: packets and bytes (128, 32768)
  --pcie-pipeline N     requests in the PCIe block that an answer to a register read waits for (32)
  --h2c-bytes N         what the IP's H2C engine has room for, from the request of data to the stream (32768)
)";

/// Takes the option at hand if it is one of these.
inline bool take_qdma_option(Arguments& arguments, QdmaSetting& qdma) {
  const std::string& option = arguments.option();
  const auto number = [&](unsigned least, unsigned most) {
    const auto value = arguments.number<unsigned>();
    if (value < least || value > most)
      throw InputError(option + ": choose " + std::to_string(least) + " to " + std::to_string(most));
    return value;
  };
  if (option == "--qdma") {
    const std::string& version = arguments.value();
    if (version != "eqdma5" && version != "eqdma4") throw InputError("--qdma: choose eqdma5 or eqdma4");
    qdma.version = version == "eqdma5" ? QdmaVersion::eqdma5 : QdmaVersion::eqdma4;
  } else if (option == "--pfs") {
    qdma.pfs = number(1, 4);
  } else if (option == "--pcie-functions") {
    qdma.functions = number(4, 256);
  } else if (option == "--pcie-reset") {
    const std::string& reset = arguments.value();
    if (reset != "link" && reset != "all") throw InputError("--pcie-reset: choose link or all");
    qdma.reset = reset == "link" ? PcieReset::link : PcieReset::all;
  } else if (option == "--pcie") {
    const std::string& text = arguments.value();
    const auto colon = text.find(':');
    Arguments parts({option, text.substr(0, colon), option, colon == std::string::npos ? "" : text.substr(colon + 1)});
    parts.next();
    qdma.pcie.generation = parts.number<unsigned>();
    parts.next();
    qdma.pcie.lanes = parts.number<unsigned>();
    const bool power_of_two = (qdma.pcie.lanes & (qdma.pcie.lanes - 1)) == 0;
    if (qdma.pcie.generation < 1 || qdma.pcie.generation > 5 || qdma.pcie.lanes < 1 || qdma.pcie.lanes > 16 ||
        !power_of_two)
      throw InputError("--pcie: choose a generation of 1 to 5 and 1, 2, 4, 8 or 16 lanes, as 3:8");
    qdma.pcie.unlimited = false;
  } else if (option == "--pcie-payload") {
    qdma.pcie.max_payload = number(128, 4096);
  } else if (option == "--pcie-request") {
    qdma.pcie.max_read_request = number(128, 4096);
  } else if (option == "--pcie-tags") {
    qdma.pcie.tags = number(1, 1024);
  } else if (option == "--pcie-extended-tags") {
    qdma.pcie.extended_tags = true;
  } else if (option == "--pcie-round-trip") {
    qdma.pcie.round_trip_ns = number(0, 1'000'000);
  } else if (option == "--pcie-answers") {
    qdma.pcie.completion_headers = number(1, 1'000'000);
  } else if (option == "--pcie-answer-bytes") {
    qdma.pcie.completion_bytes = number(128, 1'000'000'000);
  } else if (option == "--pcie-pipeline") {
    qdma.pcie.pipeline_requests = number(1, 1'000'000);
  } else if (option == "--h2c-bytes") {
    qdma.h2c_bytes = number(64, 1'000'000'000);
  } else {
    return false;
  }
  return true;
}

}  // namespace meridian
