// SPDX-License-Identifier: Apache-2.0
#include "link/listener.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace meridian {
namespace {

sockaddr_un address_of(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string text = path.string();
  if (text.empty() || text.size() >= sizeof(address.sun_path))
    throw InputError("socket " + text + ": a path of 1 to " + std::to_string(sizeof(address.sun_path) - 1) + " bytes");
  std::memcpy(address.sun_path, text.data(), text.size());
  return address;
}

Descriptor unix_socket(int type) {
  return Descriptor(::socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

bool somebody_answers(const sockaddr_un& address, int type) {
  const Descriptor probe = unix_socket(type);
  // A full backlog (EAGAIN) is somebody too.
  return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0 || errno == EAGAIN;
}

void clear_the_way(const std::filesystem::path& path, const sockaddr_un& address, int type) {
  struct stat found{};
  if (::lstat(path.c_str(), &found) != 0) return;
  if (!S_ISSOCK(found.st_mode)) throw InputError("socket " + path.string() + ": there is a file that is no socket");
  if (somebody_answers(address, type)) throw InputError("socket " + path.string() + ": another program listens there");
  ::unlink(path.c_str());
}

}  // namespace

Listener::Listener(const std::filesystem::path& path, int type) : path_(path), socket_(unix_socket(type)) {
  const sockaddr_un address = address_of(path);
  clear_the_way(path, address, type);
  const mode_t mask = ::umask(0177);
  const int bound = ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  const int error = errno;
  ::umask(mask);
  if (bound != 0) throw InputError("socket " + path.string() + ": " + std::strerror(error));
  if (::listen(socket_.get(), 8) != 0) throw InputError("socket " + path.string() + ": " + std::strerror(errno));
}

Listener::~Listener() {
  ::unlink(path_.c_str());
}

Descriptor Listener::accept() {
  return Descriptor(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

}  // namespace meridian
