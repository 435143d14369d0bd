// EinsumDense under policies with products of int8.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const char* const products_in_int8 = "p=f32,c=f32,products=int8";

struct Result {
  Tensor y, of_kernel, of_x;
};

/// Output and gradients of a layer with this kernel.
template <class L>
Result result_of(L layer, const Tensor& x, const Tensor& kernel) {
  layer.build(x.shape());
  layer.set_weights({kernel});
  const auto loss = [&](const Value& v) { return sum(square(layer(v))); };
  const auto of_weights = value_and_grad(layer, [&] { return loss(Value(x)); });
  return {layer(Value(x)).tensor(), of_weights.gradients.front().value.tensor(), grad(loss)(Value(x)).tensor()};
}

Result einsum_of(const std::string& equation, const Shape& out, const Tensor& x, const Tensor& kernel,
                 const char* policy) {
  return result_of(EinsumDense({.equation = equation, .output_shape = detail::Ints(out), .dtype = policy}), x, kernel);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(einsum_formats)

BOOST_AUTO_TEST_CASE(products_are_those_of_dense) {
  const struct {
    const char* equation;
    Shape out, kernel;
  } rows[] = {
      {"abc,cd->abd", {-1, 6}, {40, 6}}, {"...c,cd->...d", {6}, {40, 6}}, {"abc,cde->abde", {-1, 2, 3}, {40, 2, 3}}};
  const Tensor x = random_tensor({4, 5, 40}, DType::float32, 1), kernel = random_tensor({40, 6}, DType::float32, 2);
  const Result dense = result_of(Dense({.units = 6, .use_bias = false, .dtype = products_in_int8}), x, kernel);
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.equation) {
      const Result codes = einsum_of(row.equation, row.out, x, kernel.reshape(row.kernel), products_in_int8);
      const Result floats = einsum_of(row.equation, row.out, x, kernel.reshape(row.kernel), "float32");
      BOOST_TEST(codes.y.reshape({4, 5, 6}).equal(dense.y));
      BOOST_TEST(codes.of_x.equal(dense.of_x));
      BOOST_TEST(largest_difference(codes.of_kernel.reshape({40, 6}), dense.of_kernel) < 1e-4);
      BOOST_TEST(!codes.y.equal(floats.y));
      BOOST_TEST(largest_difference(codes.y, floats.y) < 0.1);
    }
  }
}

BOOST_AUTO_TEST_CASE(several_axes_are_summed_and_others_stay_in_the_compute_dtype) {
  const Tensor x = random_tensor({4, 5, 8}, DType::float32, 1), joined = random_tensor({5, 8, 6}, DType::float32, 2);
  const Result codes = einsum_of("abc,bcd->ad", {6}, x, joined, products_in_int8);
  const Result dense = result_of(Dense({.units = 6, .use_bias = false, .dtype = products_in_int8}), x.reshape({4, 40}),
                                 joined.reshape({40, 6}));
  BOOST_TEST(codes.y.equal(dense.y));
  BOOST_TEST(codes.of_x.reshape({4, 40}).equal(dense.of_x));
  const Tensor turned = random_tensor({6, 8}, DType::float32, 3), beside = random_tensor({5, 8, 6}, DType::float32, 4);
  BOOST_TEST(einsum_of("abc,dc->abd", {-1, 6}, x, turned, products_in_int8)
                 .y.equal(einsum_of("abc,dc->abd", {-1, 6}, x, turned, "float32").y));
  BOOST_TEST(einsum_of("abc,bcd->abd", {-1, 6}, x, beside, products_in_int8)
                 .y.equal(einsum_of("abc,bcd->abd", {-1, 6}, x, beside, "float32").y));
}

BOOST_AUTO_TEST_SUITE_END()
