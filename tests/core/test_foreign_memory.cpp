// Tensors that are views of memory of others.
#include <boost/test/unit_test.hpp>

#include <memory>
#include <vector>

#include <mezzo/core/tensor.hpp>

#include "support/throws.hpp"

using mezzo::DType;
using mezzo::Tensor;
using mezzo_tests::check_throws;

BOOST_AUTO_TEST_SUITE(foreign_memory)

BOOST_AUTO_TEST_CASE(views_share_and_copy_on_write) {
  std::vector<float> numbers{1, 2, 3, 4, 5, 6};
  Tensor view = Tensor::from_memory(numbers.data(), {2, 3}, nullptr);
  BOOST_TEST(view.describe() == "float32 (2, 3)");
  BOOST_TEST(view.raw() == numbers.data());
  BOOST_TEST(view.shared());
  numbers[0] = 10;  // by their owner
  const Tensor flat = view.reshape({6});
  BOOST_TEST(flat.to_doubles()[0] == 10);
  view.mutable_data<float>()[1] = 20;
  BOOST_TEST(numbers[1] == 2);
  BOOST_TEST(view.to_doubles() == (std::vector<double>{10, 20, 3, 4, 5, 6}), boost::test_tools::per_element());
  BOOST_TEST(!view.shared());
  BOOST_TEST(flat.shared());
  Tensor again = flat;
  BOOST_TEST(again.raw() == numbers.data());
  again = Tensor({2});
  BOOST_TEST(!again.shared());
  BOOST_TEST(flat.slice(1, 3).to_doubles()[0] == 2);
}

BOOST_AUTO_TEST_CASE(the_owner_lives_as_long_as_the_views) {
  auto owner = std::make_shared<const std::vector<std::int64_t>>(std::vector<std::int64_t>{1, 2, 3, 4});
  const std::weak_ptr<const std::vector<std::int64_t>> watch = owner;
  {
    Tensor kept;
    {
      const Tensor view = Tensor::from_memory(owner, {2, 2});
      owner.reset();
      kept = view.reshape({4});
    }
    BOOST_TEST(!watch.expired());
    BOOST_TEST(kept.to_doubles()[3] == 4);
    Tensor written = kept;
    written.mutable_data<std::int64_t>()[0] = 7;
    kept = Tensor();
    BOOST_TEST(watch.expired());
    BOOST_TEST(written.to_doubles()[0] == 7);
  }
  const auto numbers = std::make_shared<const std::vector<float>>(std::vector<float>{1, 2, 3});
  check_throws<mezzo::ShapeError>("[Tensor.from_memory] shape (2, 2) needs 4 elements; got 3", [&] {
    Tensor::from_memory(numbers, {2, 2});
  });
  const auto writable = std::make_shared<std::vector<float>>(std::vector<float>{1, 2, 3});
  const Tensor seen = Tensor::from_memory(writable, {3, 1});
  (*writable)[2] = 9;
  BOOST_TEST(seen.to_doubles()[2] == 9);
  const Tensor owned = seen.owned();
  BOOST_TEST(seen.raw() == writable->data());
  BOOST_TEST(owned.raw() != seen.raw());
  BOOST_TEST(owned.equal(seen));
  BOOST_TEST(owned.owned().raw() == owned.raw());
  const auto none = std::make_shared<const std::vector<float>>();
  BOOST_TEST(Tensor::from_memory(none, {0, 3}).describe() == "float32 (0, 3)");
}

BOOST_AUTO_TEST_CASE(pointers_and_sizes_are_checked) {
  check_throws<mezzo::ValueError>("[Tensor.from_memory] data must point to float32 (2,); got a null pointer",
                                  [] { Tensor::from_memory(nullptr, {2}, DType::float32, nullptr); });
  BOOST_TEST(Tensor::from_memory(nullptr, {2, 0}, DType::float32, nullptr).describe() == "float32 (2, 0)");
  const auto* const odd = reinterpret_cast<const void*>(std::uintptr_t{0x1002});
  check_throws<mezzo::ValueError>(
      "[Tensor.from_memory] data must be aligned to 4 bytes, the size of float32; got the address 0x1002",
      [&] { Tensor::from_memory(odd, {2}, DType::float32, nullptr); });
  const float one = 1;
  check_throws<mezzo::ShapeError>("[Tensor] sizes must be 0 or more; got -1 on axis 0 of 1",
                                  [&] { Tensor::from_memory(&one, {-1}, nullptr); });
  check_throws<mezzo::ShapeError>("[Tensor] the size in bytes must be below 2^63; got shape (4611686018427387904, 2)",
                                  [&] {
                                    Tensor::from_memory(&one, {std::int64_t{1} << 62, 2}, nullptr);
                                  });
}

BOOST_AUTO_TEST_SUITE_END()
