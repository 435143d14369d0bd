#pragma once
#include <mezzo/compiler/kernel.hpp>

namespace mezzo {

/// The implementation with kernels that use one thread for small requests (is_small()), for kernels that would share
/// any work among all threads.
detail::Implementation one_thread_if_small(detail::Implementation implementation);

}  // namespace mezzo
