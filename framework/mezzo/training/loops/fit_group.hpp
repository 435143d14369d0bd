#pragma once
#include <mezzo/training/loops/fit_loop.hpp>

namespace mezzo::detail {

/// Starts a fit in its group of processes, when its layers are built and its optimizers made. See start_fit().
void start_in_group(const Fit& fit);

/// Makes decisions of single processes those of all, between two steps: stops, signals (an Interrupted), the time that
/// limits the fit. No effect for a process alone. Errors are those of agree().
void agree_in_group(Fit& fit);

}  // namespace mezzo::detail
