#include <boost/test/unit_test.hpp>

#include <mezzo/backends/common/kernel.hpp>
#include <mezzo/backends/common/one_thread.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/graph/op_registry.hpp>

using namespace mezzo;

namespace {

/// Numbers of threads that an implementation of matmul sees when it makes a kernel and when the kernel runs.
struct Seen {
  int made = 0, run = 0;
  std::size_t scratch = 0;
  bool overwrites = false;
};

Seen threads_of(std::int64_t size) {
  Seen seen;
  const detail::Implementation inner{
      "test", &find_op("matmul"), [&seen](const KernelRequest&, std::string&) {
        seen.made = thread_count();
        return make_kernel([&seen](const KernelArguments&) { seen.run = thread_count(); }, {false, true}, 64);
      }};
  const Spec spec{{size, size}, DType::float32};
  std::string reason;
  const auto kernel = one_thread_if_small(inner).create({&find_op("matmul"), {}, {spec, spec}, {spec}, ""}, reason);
  seen.scratch = kernel->scratch_bytes();
  seen.overwrites = kernel->may_overwrite(1, 0) && !kernel->may_overwrite(0, 0) && !kernel->may_overwrite(1, 1);
  kernel->run({});
  return seen;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(one_thread)

BOOST_AUTO_TEST_CASE(small_products_use_one_thread) {
  const int before = thread_count();
  set_thread_count(3);
  for (const std::int64_t size : {8, 512}) {
    const Seen seen = threads_of(size);
    BOOST_TEST(seen.made == (size == 8 ? 1 : 3));
    BOOST_TEST(seen.run == seen.made);
    BOOST_TEST(seen.scratch == 64U);
    BOOST_TEST(seen.overwrites);
    BOOST_TEST(thread_count() == 3);
  }
  set_thread_count(before);
}

BOOST_AUTO_TEST_CASE(an_implementation_that_declines_still_does) {
  const detail::Implementation inner{"test", &find_op("matmul"),
                                     [](const KernelRequest&, std::string& reason) { return decline(reason, "no"); }};
  const Spec spec{{2, 2}, DType::float32};
  std::string reason;
  BOOST_TEST(!one_thread_if_small(inner).create({&find_op("matmul"), {}, {spec, spec}, {spec}, ""}, reason));
  BOOST_TEST(reason == "no");
}

BOOST_AUTO_TEST_SUITE_END()
