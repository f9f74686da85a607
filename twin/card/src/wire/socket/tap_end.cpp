// SPDX-License-Identifier: Apache-2.0
#include "wire/socket/tap_end.hpp"

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.hpp"

namespace meridian {

namespace {

constexpr std::size_t largest_read = 65'536 + 64;

[[noreturn]] void fail(const std::string& name, const char* what) {
  throw InputError("TAP device " + name + ": " + what + ": " + std::strerror(errno));
}

void set_up(const std::string& name, ifreq request) {
  const int socket_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_fd < 0) fail(name, "socket");
  bool done = ioctl(socket_fd, SIOCGIFFLAGS, &request) == 0;
  if (done && (request.ifr_flags & IFF_UP) == 0) {
    request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
    done = ioctl(socket_fd, SIOCSIFFLAGS, &request) == 0;
  }
  const int error = errno;
  close(socket_fd);
  errno = error;
  if (!done) fail(name, "cannot be set up");
}

}  // namespace

TapEnd::TapEnd(const std::string& name, bool up, const DescriptorSetting& setting) : DescriptorEnd(setting) {
  ifreq request{};
  if (name.empty() || name.size() >= sizeof request.ifr_name)
    throw InputError("TAP device \"" + name + "\": a name has 1 to 15 characters");
  descriptor_ = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (descriptor_ < 0) fail(name, "/dev/net/tun");
  std::memcpy(request.ifr_name, name.data(), name.size());
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  if (ioctl(descriptor_, TUNSETIFF, &request) != 0) fail(name, "cannot be made");
  if (up) set_up(name, request);
}

DescriptorEnd::Io TapEnd::take(Bytes& frame) {
  frame.resize(largest_read);
  const ssize_t length = read(descriptor_, frame.data(), frame.size());
  if (length < 0) return result_of(errno);
  frame.resize(static_cast<std::size_t>(length));
  return Io::done;
}

DescriptorEnd::Io TapEnd::give(const Bytes& frame) {
  return write(descriptor_, frame.data(), frame.size()) >= 0 ? Io::done : result_of(errno);
}

}  // namespace meridian
