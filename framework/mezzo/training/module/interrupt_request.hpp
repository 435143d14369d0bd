#pragma once

namespace mezzo::detail {

/// Forgets calls of interrupt_training() before a fit.
void forget_interrupt_requests();

/// True if interrupt_training() was called since the last call of these two functions.
bool take_interrupt_request();

}  // namespace mezzo::detail
