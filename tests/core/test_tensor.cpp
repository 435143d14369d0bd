#include <boost/test/unit_test.hpp>

#include <cstdint>
#include <limits>

#include <mezzo/core/tensor.hpp>
#include <mezzo/core/visit.hpp>

#include "support/memory.hpp"
#include "support/skip.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

const std::vector<DType> all_dtypes = {DType::float32, DType::float64, DType::bfloat16, DType::float16, DType::int8,
                                       DType::int16,   DType::int32,   DType::int64,    DType::uint8,   DType::boolean};

Tensor counting() { return Tensor({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(tensor)

BOOST_AUTO_TEST_CASE(starts_as_zeros_on_an_aligned_address) {
  for (const DType dtype : all_dtypes) {
    const Tensor t({3, 5}, dtype);
    BOOST_TEST(t.size() == 15);
    BOOST_TEST(t.bytes() == 15 * dtype_size(dtype));
    BOOST_TEST(reinterpret_cast<std::uintptr_t>(t.raw()) % 64 == 0U);
    BOOST_TEST(t.to_doubles() == std::vector<double>(15), boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(may_be_empty) {
  BOOST_TEST(Tensor().describe() == "float32 (0,)");
  const Tensor t({4, 0, 2}, DType::int64);
  BOOST_TEST(t.size() == 0);
  BOOST_TEST(t.raw() != nullptr);
  BOOST_TEST(t.equal(t.copy()));
  BOOST_TEST(t.slice(1, 3).describe() == "int64 (2, 0, 2)");
  BOOST_TEST(t.cast(DType::bfloat16).describe() == "bfloat16 (4, 0, 2)");
  BOOST_TEST(Tensor({0, 3}).slice(0, 0).size() == 0);
  Tensor writable = t;
  BOOST_TEST(writable.mutable_raw() != nullptr);
}

BOOST_AUTO_TEST_CASE(refuses_impossible_shapes) {
  check_throws<ShapeError>("[Tensor] sizes must be 0 or more; got -3 on axis 1 of 2", [] { Tensor({2, -3}); });
  const std::int64_t big = std::int64_t{1} << 40;
  check_throws<ShapeError>("[Tensor] the size in bytes must be below 2^63; got shape (1099511627776, 1099511627776)",
                           [&] {
                             Tensor({big, big});
                           });
  check_throws<ShapeError>("[Tensor] shape (2, 2) needs 4 elements; got 3", [] {
    Tensor({2, 2}, std::vector<float>{1, 2, 3});
  });
}

BOOST_AUTO_TEST_CASE(copies_share_until_one_is_written_to) {
  Tensor a = counting();
  BOOST_TEST(!a.shared());
  Tensor b = a;
  const Tensor flat = a.reshape({6});
  BOOST_TEST(a.shared());
  BOOST_TEST(b.raw() == a.raw());
  BOOST_TEST(flat.raw() == a.raw());
  b.mutable_data<float>()[0] = 10;
  BOOST_TEST(b.raw() != a.raw());
  BOOST_TEST(a.to_doubles()[0] == 1);
  BOOST_TEST(flat.to_doubles()[0] == 1);
  BOOST_TEST(b.to_doubles()[0] == 10);
  BOOST_TEST(b.to_doubles()[5] == 6);
  const void* own = b.raw();
  b.mutable_data<float>()[1] = 11;
  BOOST_TEST(b.raw() == own);
  BOOST_TEST(!a.copy().shared());
}

BOOST_AUTO_TEST_CASE(elements_are_given_out_in_their_own_type_only) {
  Tensor t = counting();
  BOOST_TEST(t.data<float>()[2] == 3.0F);
  check_throws<DTypeError>("[Tensor] the elements must be accessed as float32; got an access as int64",
                           [&] { t.data<std::int64_t>(); });
  check_throws<DTypeError>("[Tensor] the elements must be accessed as float32; got an access as bool",
                           [&] { t.mutable_data<bool>(); });
}

BOOST_AUTO_TEST_CASE(every_dtype_casts_to_every_other) {
  const Tensor numbers({4}, std::vector<std::int8_t>{0, 1, 2, 100});
  for (const DType from : all_dtypes) {
    for (const DType to : all_dtypes) {
      const Tensor t = numbers.cast(from).cast(to);
      BOOST_TEST((t.dtype() == to));
      const bool bits = from == DType::boolean || to == DType::boolean;
      const std::vector<double> expected = bits ? std::vector<double>{0, 1, 1, 1} : std::vector<double>{0, 1, 2, 100};
      BOOST_TEST(t.to_doubles() == expected, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(item_takes_one_element) {
  BOOST_TEST(Tensor::scalar(0.1, DType::float64).item() == 0.1);
  BOOST_TEST(Tensor::scalar(3, DType::uint8).describe() == "uint8 ()");
  BOOST_TEST(Tensor({1, 1}, std::vector<std::int64_t>{7}).item() == 7);
  check_throws<ShapeError>("[Tensor.item] there must be 1 element; got float32 (2, 3)", [] { counting().item(); });
}

BOOST_AUTO_TEST_CASE(reshape_works_out_one_size) {
  BOOST_TEST(counting().reshape({3, -1}).describe() == "float32 (3, 2)");
  BOOST_TEST(counting().reshape({1, 6}).to_doubles() == counting().to_doubles(), boost::test_tools::per_element());
  BOOST_TEST(Tensor({0, 2}).reshape({-1, 2}).describe() == "float32 (0, 2)");
  const std::string must = "[Tensor.reshape] the new shape must have 6 elements, with at most one -1; got ";
  check_throws<ShapeError>(must + "(4, ?) for float32 (2, 3)", [] { counting().reshape({4, -1}); });
  check_throws<ShapeError>(must + "(?, ?) for float32 (2, 3)", [] { counting().reshape({-1, -1}); });
  check_throws<ShapeError>(must + "(5,) for float32 (2, 3)", [] { counting().reshape({5}); });
}

BOOST_AUTO_TEST_CASE(slice_copies_rows) {
  const Tensor row = counting().slice(1, 2);
  BOOST_TEST(row.describe() == "float32 (1, 3)");
  BOOST_TEST(row.to_doubles() == (std::vector<double>{4, 5, 6}), boost::test_tools::per_element());
  BOOST_TEST(counting().slice(2, 2).size() == 0);
  check_throws<ValueError>("[Tensor.slice] rows must lie in [0, 2); got [1, 3)", [] { counting().slice(1, 3); });
  check_throws<ValueError>("[Tensor.slice] rows must lie in [0, 2); got [-1, 1)", [] { counting().slice(-1, 1); });
  check_throws<ShapeError>("[Tensor.slice] the tensor must have an axis 0; got float32 ()",
                           [] { Tensor::scalar(1).slice(0, 1); });
}

BOOST_AUTO_TEST_CASE(equal_compares_shape_dtype_and_bits) {
  BOOST_TEST(counting().equal(counting()));
  BOOST_TEST(!counting().equal(counting().reshape({6})));
  BOOST_TEST(!counting().equal(counting().cast(DType::float64)));
  BOOST_TEST(!Tensor::scalar(0.0).equal(Tensor::scalar(-0.0)));
  const Tensor nan = Tensor::scalar(std::numeric_limits<double>::quiet_NaN());
  BOOST_TEST(nan.equal(nan.copy()));
}

BOOST_AUTO_TEST_CASE(visit_dtype_gives_each_dtype_its_type) {
  for (const DType dtype : all_dtypes) {
    visit_dtype(dtype, [&](auto zero) {
      BOOST_TEST((DTypeOf<decltype(zero)>::value == dtype));
      BOOST_TEST(sizeof zero == dtype_size(dtype));
    });
  }
}

BOOST_AUTO_TEST_CASE(memory_that_the_system_does_not_have_is_an_error_with_its_size) {
  if (!mezzo_tests::reports_missing_memory()) return mezzo_tests::skip("needs the system's allocator");
  constexpr std::int64_t many = std::int64_t{1} << 46;
  const std::string text =
      "[Tensor] float32 (70368744177664,) needs 281474976710656 bytes (262144.0 GiB); the system has not that much "
      "memory";
  check_throws<MemoryError>(text, [] { Tensor({many}); });
  check_throws<MemoryError>(text, [] { Tensor::uninitialized({many}, DType::float32); });
  check_throws<MemoryError>(
      "[Tensor] uint8 (2, 70368744177664) needs 140737488355328 bytes (131072.0 GiB); the system "
      "has not that much memory",
      [] {
        Tensor::uninitialized({2, many}, DType::uint8);
      });
}

BOOST_AUTO_TEST_SUITE_END()
