#include <boost/test/unit_test.hpp>

#include <atomic>
#include <thread>

#include <mezzo/compiler/eager.hpp>
#include <mezzo/core/tuning.hpp>
#include <mezzo/ops/host.hpp>

#include "compiler/steps.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(eager)

BOOST_AUTO_TEST_CASE(views_share_bytes) {
  const Tensor x = random_tensor({2, 3});
  BOOST_TEST(reshape(x, {6}).tensor().raw() == x.raw());
  BOOST_TEST(identity(x).tensor().raw() == x.raw());
  BOOST_TEST(stop_gradient(x).tensor().raw() == x.raw());
}

BOOST_AUTO_TEST_CASE(results_are_arrays_of_their_own) {
  const Tensor x = random_tensor({2, 3});
  const Tensor first = exp(x).tensor(), second = exp(x).tensor();
  BOOST_TEST(first.raw() != second.raw());
  BOOST_TEST(first.equal(second));
}

BOOST_AUTO_TEST_CASE(kernels_that_are_kept_name_the_layer_of_the_call) {
  const auto call = [](const std::string& entry) {
    const detail::Scope scope({std::make_shared<detail::ScopeInfo>(detail::ScopeInfo{"Loss", "", {}, true}), entry});
    sparse_crossentropy(Tensor({1}, std::vector<std::int32_t>{7}), Tensor({1, 3}), true);
  };
  for (const char* entry : {"a", "b"}) {
    try {
      call(entry);
      BOOST_ERROR("nothing was thrown");
    } catch (const ValueError& error) {
      BOOST_TEST(std::string(error.what()).find("[Loss \"" + std::string(entry) + "\"]") == 0U);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_thread_keeps_the_kernels_that_it_used_last) {
  const int before = eager_cache_size();
  set_eager_cache_size(3);
  for (std::int64_t size = 1; size < 20; ++size) exp(random_tensor({size}));
  BOOST_TEST(eager_kernels() == 3U);
  // The kernel of the host function is dropped while it runs.
  const Tensor doubled = host(
                             [](const Tensor& x) {
                               for (std::int64_t size = 1; size < 20; ++size) exp(random_tensor({size}));
                               return (Value(x) + x).tensor();
                             },
                             random_tensor({5}))
                             .tensor();
  BOOST_TEST(doubled.equal((Value(random_tensor({5})) * 2).tensor()));
  BOOST_TEST(eager_kernels() == 3U);
  set_eager_cache_size(before);
}

BOOST_AUTO_TEST_CASE(threads_do_not_share_kernels) {
  constexpr int count = 4;
  std::vector<int> wrong(count, 0);
  std::atomic<int> waiting{count};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor a = small_integers({128, 128}, DType::float32, i),
                 b = small_integers({128, 128}, DType::float32, i + 10);
    threads.emplace_back([a, b, expected = matmul(a, b).tensor(), &waiting, &errors = wrong[i]] {
      for (--waiting; waiting > 0;) std::this_thread::yield();
      for (int run = 0; run < 500; ++run) errors += matmul(a, b).tensor().equal(expected) ? 0 : 1;
    });
  }
  for (std::thread& thread : threads) thread.join();
  BOOST_TEST(wrong == std::vector<int>(count, 0), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_SUITE_END()
