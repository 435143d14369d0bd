#pragma once

namespace mezzo_tests {

// False under sanitizers whose allocators end the program where the system's returns nothing.
constexpr bool reports_missing_memory() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
  return false;
#else
  return true;
#endif
#else
  return true;
#endif
}

}  // namespace mezzo_tests
