// Trainings that SIGKILL ends at random instants, half of them inside of a save, and that go on with ckpt_path "last".
// MEZZO_TEST_KILLS: number of instants, in place of 6.
#include <boost/test/unit_test.hpp>

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <random>
#include <thread>

#include "stopped_training.hpp"
#include "support/folder.hpp"
#include "support/killed_saves.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr int no_namespace = 77;  // exit code

/// Runs a function in a child process; in a namespace of its own the process number is always 2. Returns the number of
/// the process to kill; `ended` can be read when all processes have ended.
pid_t start(bool in_namespace, const std::function<int()>& run, int* ended) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  const pid_t child = ::fork();
  if (child != 0) {
    ::close(ends[1]);
    *ended = ends[0];
    return child;
  }
  if (!in_namespace) ::_exit(run());
  if (::unshare(CLONE_NEWPID) != 0 && ::unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) ::_exit(no_namespace);
  const auto forked = [](const std::function<int()>& inner) {
    const pid_t one = ::fork();
    if (one == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(inner());
    }
    int status = 0;
    ::waitpid(one, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  };
  ::_exit(forked([&] { return forked(run); }));
}

/// Waits until all processes of start() have ended. Returns the exit code, 128 after SIGKILL.
int wait_for(pid_t child, int ended) {
  char none = 0;
  while (::read(ended, &none, 1) != 0) continue;
  ::close(ended);
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// Trains in this process from the last checkpoint on and saves the result.
int train_on(const std::string& policy, const Folder& folder, bool links) {
  try {
    set_output([](const std::string&) {});
    StoppedTraining training(policy, false);
    Callbacks callbacks{ModelCheckpoint({.dirpath = folder.path("c"),
                                         .save_last = links ? detail::SaveLast("link") : detail::SaveLast(true),
                                         .save_top_k = links ? 1 : 0,
                                         .every_n_train_steps = 1})};
    LambdaCallback slow({.on_train_batch_end = [](std::int64_t, Logs&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // most instants fall between the steps
    }});
    callbacks.emplace_back(slow);
    training.fit(callbacks, "last", false);
    Trainer::save_checkpoint(training.model, folder.path("c/final"));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 3;
  }
}

/// Names of the tensors that differ.
std::string file_differences(const std::string& first, const std::string& second) {
  std::string out;
  const auto a = tensors_of(first), b = tensors_of(second);
  for (const auto& [name, tensor] : a) {
    if (b.count(name) == 0 || !tensor.equal(b.at(name))) out += name + " ";
  }
  return a.size() == b.size() ? out : out + "count";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(killed_trainings)

BOOST_AUTO_TEST_CASE(they_resume_from_a_whole_checkpoint) {
  const char* const wanted = std::getenv("MEZZO_TEST_KILLS");
  const int instants = wanted == nullptr ? 6 : std::atoi(wanted);
  constexpr int kills_of_a_run = 2;
  std::mt19937_64 random(wanted == nullptr ? 1 : static_cast<std::uint64_t>(::getpid()));
  const auto uniform = [&](double end) { return std::uniform_real_distribution<double>(0, end)(random); };
  int killed = 0, inside = 0, in_namespaces = 0, resumed = 0;
  for (int run = 0; killed < instants; ++run) {
    const char* const policy =
        std::array{"float32", "mixed_bfloat16", "mixed_float16"}[static_cast<std::size_t>(run % 3)];
    const bool links = run % 2 == 1;
    const Folder whole, folder;
    for (const Folder* one : {&whole, &folder}) std::filesystem::create_directories(one->path("c"));
    int ended = 0;
    const auto begin = std::chrono::steady_clock::now();
    const pid_t reference = start(
        false, [&] { return train_on(policy, whole, links); }, &ended);
    BOOST_TEST_REQUIRE(wait_for(reference, ended) == 0);
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    bool namespaced = run % 2 == 0;
    for (int kill = 0; kill < kills_of_a_run && killed < instants; ++kill) {
      const bool in_save = 2 * inside < killed;
      const auto call = static_cast<int>(uniform(400));
      const auto child = [&] {
        if (in_save) kill_in_save(call);
        return train_on(policy, folder, links);
      };
      const pid_t process = start(namespaced, child, &ended);
      if (!in_save) {
        std::this_thread::sleep_for(time * uniform(1));
        ::kill(process, SIGKILL);
      }
      const int code = wait_for(process, ended);
      if (code == no_namespace) {
        namespaced = false;
        --kill;
        continue;
      }
      BOOST_TEST((code == 128 || code == 0), "code " << code << " of run " << run);
      killed += code == 128 ? 1 : 0;
      inside += code == 128 && in_save ? 1 : 0;
      in_namespaces += code == 128 && namespaced ? 1 : 0;
      resumed += code == 128 && std::filesystem::exists(folder.path("c/last.ckpt")) ? 1 : 0;
    }
    const pid_t last = start(
        namespaced, [&] { return train_on(policy, folder, links); }, &ended);
    BOOST_TEST_REQUIRE(wait_for(last, ended) == 0);
    BOOST_TEST(file_differences(whole.path("c/final"), folder.path("c/final")) == "", policy << " run " << run);
    for (const auto& entry : std::filesystem::directory_iterator(folder.path("c"))) {
      // A temporary link has no lock. The next save deletes it when it is a minute old.
      if (entry.is_symlink()) continue;
      BOOST_TEST(entry.path().filename().string().rfind(".mezzo-", 0) != 0U, entry.path());
    }
  }
  BOOST_TEST_MESSAGE(killed << " processes killed, " << inside << " in a save, " << in_namespaces << " in a namespace; "
                            << resumed << " left a checkpoint to go on from");
  BOOST_TEST(killed > 0);
  BOOST_TEST(inside > 0);
}

BOOST_AUTO_TEST_SUITE_END()
