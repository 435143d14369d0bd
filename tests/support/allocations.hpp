// Counts the allocations of a test program, of its libraries' too, by a replacement of operator new. One file of a
// program may include it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace mezzo_tests {

// Of all threads since the program began.
inline std::atomic<std::int64_t> allocations{0}, allocated_bytes{0};

inline void* counted_memory(std::size_t bytes, std::size_t alignment) {
  ++allocations;
  allocated_bytes += static_cast<std::int64_t>(bytes);
  void* const pointer = std::aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
  if (pointer == nullptr) throw std::bad_alloc();
  return pointer;
}

// Number of allocations of `call` in all threads.
template <class Call>
std::int64_t allocations_of(Call call) {
  const std::int64_t before = allocations;
  call();
  return allocations - before;
}

}  // namespace mezzo_tests

// Arrays have their own, since sanitizers replace these, too. Not inlined: GCC would warn that free() doesn't match
// ::operator new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  return mezzo_tests::counted_memory(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) {
  return mezzo_tests::counted_memory(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return mezzo_tests::counted_memory(bytes, alignof(std::max_align_t));
}
[[gnu::noinline]] void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return mezzo_tests::counted_memory(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return mezzo_tests::counted_memory(bytes, static_cast<std::size_t>(alignment));
}
[[gnu::noinline]] void operator delete(void* pointer) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete[](void* pointer) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::size_t) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete[](void* pointer, std::size_t) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::align_val_t) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete[](void* pointer, std::align_val_t) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept { std::free(pointer); }
[[gnu::noinline]] void operator delete[](void* pointer, std::size_t, std::align_val_t) noexcept { std::free(pointer); }
