// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

namespace meridian {

/// What kept a test from running here, other than its failing.
class CannotTest : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A network namespace for this process alone; as a normal user in a user namespace of its own too.
inline void enter_own_network() {
  const auto uid = getuid();
  const auto gid = getgid();
  if (unshare(CLONE_NEWNET) == 0) return;
  if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
    throw CannotTest(std::string("no network namespace of its own: ") + std::strerror(errno));
  std::ofstream("/proc/self/setgroups") << "deny";
  std::ofstream("/proc/self/uid_map") << "0 " << uid << " 1";
  std::ofstream("/proc/self/gid_map") << "0 " << gid << " 1";
}

/// A command of iproute2.
inline void ip(const std::string& arguments) {
  const int status = std::system(("PATH=$PATH:/usr/sbin:/sbin ip " + arguments + " 2>/dev/null").c_str());
  if (status != 0) throw CannotTest("ip " + arguments + " does not work here");
}

/// Runs the body in a child process with a network of its own, 30 s at most. The body throws what it finds wrong.
inline void in_own_network(const std::function<void()>& body) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(30);
    std::string verdict = "ok";
    try {
      enter_own_network();
      body();
    } catch (const CannotTest& reason) {
      verdict = std::string("skip ") + reason.what();
    } catch (const std::exception& error) {
      verdict = std::string("fail ") + error.what();
    }
    if (write(ends[1], verdict.data(), verdict.size()) < 0) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  std::string verdict;
  char part[256];
  for (ssize_t length = 0; (length = read(ends[0], part, sizeof part)) > 0;)
    verdict.append(part, static_cast<std::size_t>(length));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (verdict.starts_with("skip ")) GTEST_SKIP() << verdict.substr(5);
  EXPECT_EQ(verdict, "ok") << "status " << status;
}

}  // namespace meridian
