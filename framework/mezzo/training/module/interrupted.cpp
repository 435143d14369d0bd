#include <mezzo/training/module/interrupted.hpp>

#include <atomic>

#include <mezzo/training/module/interrupt_request.hpp>

namespace mezzo {
namespace {

std::atomic<bool> requested{false};

}  // namespace

void interrupt_training() noexcept { requested = true; }

void detail::forget_interrupt_requests() { requested = false; }

bool detail::take_interrupt_request() { return requested.exchange(false); }

}  // namespace mezzo
