#include <boost/test/unit_test.hpp>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Attributes matmul_attributes(bool transpose_a, bool transpose_b, DType dtype,
                             detail::Epilogue epilogue = detail::Epilogue::none) {
  return {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}, {"dtype", dtype}, {"epilogue", epilogue}};
}

Shape matrix_shape(Shape leading, std::int64_t rows, std::int64_t columns, bool transposed) {
  leading.push_back(transposed ? columns : rows);
  leading.push_back(transposed ? rows : columns);
  return leading;
}

/// By the definition, in double. `b_next`: from one matrix of b to the next.
std::vector<double> plain(const Tensor& a, const Tensor& b, std::int64_t batch, std::int64_t m, std::int64_t k,
                          std::int64_t n, bool ta, bool tb) {
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  const std::int64_t b_next = b.shape().size() > 2 ? k * n : 0;
  std::vector<double> out;
  for (std::int64_t p = 0; p < batch; ++p) {
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          sum += x[static_cast<std::size_t>(p * m * k + (ta ? l * m + i : i * k + l))] *
                 y[static_cast<std::size_t>(p * b_next + (tb ? j * k + l : l * n + j))];
        }
        out.push_back(sum);
      }
    }
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reference_matmul)

BOOST_AUTO_TEST_CASE(all_transposes_and_sizes) {
  const std::int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {65, 130, 33}, {64, 64, 32}, {7, 200, 1}, {1, 3, 100}};
  for (const auto& [m, k, n] : sizes) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      const bool ta = (transposes & 1) != 0, tb = (transposes & 2) != 0;
      const Tensor a = small_integers(matrix_shape({}, m, k, ta), DType::float64, 1);
      const Tensor b = small_integers(matrix_shape({}, k, n, tb), DType::float64, 2);
      const Tensor out = run_reference("matmul", matmul_attributes(ta, tb, DType::float64), {a, b}).front();
      BOOST_REQUIRE((out.shape() == Shape{m, n}));
      BOOST_TEST((out.to_doubles() == plain(a, b, 1, m, k, n, ta, tb)));
      const Tensor narrow = run_reference("matmul", matmul_attributes(ta, tb, DType::float32),
                                          {a.cast(DType::float32), b.cast(DType::float32)})
                                .front();
      BOOST_TEST(narrow.equal(out.cast(DType::float32)));
    }
  }
}

BOOST_AUTO_TEST_CASE(leading_axes) {
  for (const bool batched : {false, true}) {
    for (int transposes = 0; transposes < 4; ++transposes) {
      const bool ta = (transposes & 1) != 0, tb = (transposes & 2) != 0;
      if (ta && !batched) continue;
      const Tensor a = small_integers(matrix_shape({2, 3}, 4, 5, ta), DType::float64, 1);
      const Tensor b = small_integers(matrix_shape(batched ? Shape{2, 3} : Shape{}, 5, 7, tb), DType::float64, 2);
      const Tensor out = run_reference("matmul", matmul_attributes(ta, tb, DType::float64), {a, b}).front();
      BOOST_REQUIRE((out.shape() == Shape{2, 3, 4, 7}));
      BOOST_TEST((out.to_doubles() == plain(a, b, 6, 4, 5, 7, ta, tb)));
    }
  }
}

BOOST_AUTO_TEST_CASE(bias_and_activation) {
  const Tensor a = small_integers({6, 9}, DType::float32, 1), b = small_integers({9, 40}, DType::float32, 2);
  const Tensor bias = small_integers({40}, DType::float32, 3);
  const Tensor product = run_reference("matmul", matmul_attributes(false, false, DType::float32), {a, b}).front();
  const Tensor sum = run_reference("add", {}, {product, bias}).front();
  const auto with_bias = run_reference("matmul", matmul_attributes(false, false, DType::float32), {a, b, bias});
  BOOST_TEST(with_bias.front().equal(sum));
  const auto both =
      run_reference("matmul", matmul_attributes(false, false, DType::float32, detail::Epilogue::relu), {a, b, bias});
  BOOST_TEST(both.front().equal(run_reference("relu", {}, {sum}).front()));
}

BOOST_AUTO_TEST_CASE(output_of_another_dtype) {
  const Tensor a = random_tensor({6, 9}, DType::float64, 1), b = random_tensor({9, 4}, DType::float64, 2);
  const Tensor wide = run_reference("matmul", matmul_attributes(false, false, DType::float64), {a, b}).front();
  const Tensor narrow = run_reference("matmul", matmul_attributes(false, false, DType::float32), {a, b}).front();
  BOOST_TEST(narrow.equal(wide.cast(DType::float32)));
}

BOOST_AUTO_TEST_CASE(empty_operands) {
  const auto rows =
      run_reference("matmul", matmul_attributes(false, false, DType::float32), {Tensor({0, 3}), Tensor({3, 2})});
  BOOST_TEST((rows.front().shape() == Shape{0, 2}));
  const Tensor bias({2}, std::vector<float>{1, -1});
  const auto depth =
      run_reference("matmul", matmul_attributes(false, false, DType::float32), {Tensor({2, 0}), Tensor({0, 2}), bias});
  BOOST_TEST((depth.front().to_doubles() == std::vector<double>{1, -1, 1, -1}));
}

BOOST_AUTO_TEST_CASE(the_same_on_any_number_of_threads) {
  const Tensor a = random_tensor({200, 150}, DType::float32, 1), b = random_tensor({150, 100}, DType::float32, 2);
  BOOST_TEST(same_on_any_threads("reference", "matmul", matmul_attributes(false, false, DType::float32), {a, b}));
}

BOOST_AUTO_TEST_SUITE_END()
