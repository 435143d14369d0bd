#include <boost/test/unit_test.hpp>

#include <sched.h>
#include <xmmintrin.h>

#include <thread>

#include <mezzo/core/cpu.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Large enough for every thread.
constexpr std::int64_t many = std::int64_t{1} << 20;

Tensor filled(float value) { return {{many}, std::vector<float>(static_cast<std::size_t>(many), value)}; }

/// How many of 1e-30 * 1e-10 come out as 0.
std::int64_t zeros() {
  const Tensor product = (Value(filled(1e-30F)) * filled(1e-10F)).tensor();
  std::int64_t count = 0;
  for (std::int64_t i = 0; i < many; ++i) count += product.data<float>()[i] == 0 ? 1 : 0;
  return count;
}

struct Restore {
  ~Restore() {
    set_flush_denormals(true);
    set_thread_binding(false);
    set_huge_pages(true);
  }
};

cpu_set_t affinity() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof(mask), &mask);
  return mask;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tuning)

BOOST_AUTO_TEST_CASE(denormals_are_flushed_on_every_thread_or_kept) {
  const Restore restore;
  BOOST_TEST(flush_denormals());
  BOOST_TEST(zeros() == many);
  set_flush_denormals(false);
  BOOST_TEST(zeros() == 0);
  set_flush_denormals(true);
  BOOST_TEST(zeros() == many);
}

BOOST_AUTO_TEST_CASE(the_callers_own_arithmetic_is_untouched) {
  const unsigned before = _mm_getcsr();
  zeros();
  BOOST_TEST(_mm_getcsr() == before);
  volatile float tiny = 1e-30F;
  BOOST_TEST(tiny * 1e-10F != 0.0F);
}

BOOST_AUTO_TEST_CASE(bound_threads_stay_on_a_core_each) {
  const Restore restore;
  if (available_cores() < 2 || thread_count() < 2) return;
  const cpu_set_t before = affinity();
  set_thread_binding(true);
  zeros();
  const cpu_set_t after = affinity();
  BOOST_TEST(CPU_EQUAL(&before, &after) != 0);  // the caller's threads don't inherit one core
  std::vector<int> cores(static_cast<std::size_t>(thread_count()));
  const auto count = [&](int thread, int) {
    const cpu_set_t mask = affinity();
    cores[static_cast<std::size_t>(thread)] = CPU_COUNT(&mask);
  };
  parallel_threads(thread_count(), count);
  for (std::size_t i = 1; i < cores.size(); ++i) BOOST_TEST(cores[i] == 1);
  set_thread_binding(false);
  zeros();
  parallel_threads(thread_count(), count);
  for (const int number : cores) BOOST_TEST(number == CPU_COUNT(&before));
}

BOOST_AUTO_TEST_CASE(each_thread_of_the_caller_has_the_same_count) {
  int other = 0;
  std::thread([&] { other = thread_count(); }).join();
  BOOST_TEST(other >= 1);
  BOOST_TEST(other <= available_cores());
}

BOOST_AUTO_TEST_CASE(large_arrays_are_aligned_to_huge_pages) {
  const Restore restore;
  constexpr std::uintptr_t page = std::uintptr_t{2} << 20;
  const auto offset = [] {
    const Tensor large({4 << 20}, DType::float32);
    return reinterpret_cast<std::uintptr_t>(large.raw()) % page;
  };
  BOOST_TEST(offset() == 0U);
  set_huge_pages(false);
  BOOST_TEST(!huge_pages());
  BOOST_TEST(offset() % 64 == 0U);
}

BOOST_AUTO_TEST_SUITE_END()
