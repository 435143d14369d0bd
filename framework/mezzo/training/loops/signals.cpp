#include <mezzo/training/loops/signals.hpp>

#include <array>
#include <atomic>
#include <csignal>

#include <mezzo/training/module/interrupt_request.hpp>
#include <mezzo/training/module/interrupted.hpp>

namespace mezzo::detail {
namespace {

constexpr std::array<int, 2> handled{SIGINT, SIGTERM};
std::atomic<bool> in_use{false};
volatile std::sig_atomic_t noted = 0;

extern "C" void note_signal(int number) {
  if (noted == SIGINT && number == SIGINT) {
    std::signal(number, SIG_DFL);
    std::raise(number);
    return;
  }
  noted = number;
}

}  // namespace

SignalScope::SignalScope() {
  if (in_use.exchange(true)) return;
  installed_ = true;
  noted = 0;
  for (const int number : handled) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) != 0 || now.sa_handler != SIG_DFL) continue;
    struct sigaction ours {};
    ours.sa_handler = note_signal;
    sigemptyset(&ours.sa_mask);
    ours.sa_flags = SA_RESTART;
    sigaction(number, &ours, nullptr);
  }
}

SignalScope::~SignalScope() {
  if (!installed_) return;
  for (const int number : handled) {
    struct sigaction now {};
    if (sigaction(number, nullptr, &now) == 0 && now.sa_handler == note_signal) std::signal(number, SIG_DFL);
  }
  in_use = false;
}

void check_interrupt_request() {
  if (take_interrupt_request()) throw Interrupted(0);
}

void SignalScope::check() {
  if (noted != 0) throw Interrupted(noted);
}

int SignalScope::pending() { return noted; }

}  // namespace mezzo::detail
