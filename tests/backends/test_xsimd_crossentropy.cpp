#include <boost/test/unit_test.hpp>

#include <limits>

#include "support/refused.hpp"
#include "support/xsimd.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const char* const loss_op = "sparse_categorical_crossentropy";
const char* const gradient_op = "sparse_categorical_crossentropy_gradient";

void check_both(const Tensor& labels, const Tensor& scores, bool from_logits) {
  const Attributes attributes{{"from_logits", from_logits}};
  const Tensor g = random_tensor(labels.shape(), DType::float32, 3);
  check_xsimd(loss_op, attributes, {labels, scores}, 2e-6);
  check_xsimd(gradient_op, attributes, {labels, scores, g}, 2e-6);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(xsimd_crossentropy)

BOOST_AUTO_TEST_CASE(values) {
  for (const DType dtype : xsimd_dtypes) {
    for (const std::int64_t classes : {1, 2, 3, 7, 8, 10, 16, 17, 100, 1003}) {
      for (const std::int64_t rows : {1, 5, 17}) {
        const Tensor labels = random_tensor({rows}, DType::int64, 2, 0, static_cast<double>(classes));
        check_both(labels, random_tensor({rows, classes}, dtype, 1, -10, 10), true);
        check_both(labels, random_tensor({rows, classes}, dtype, 1, 0.1, 1), false);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(labels_of_any_integer_dtype_and_many_rows) {
  for (const DType labels : {DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8}) {
    check_both(random_tensor({2, 3001}, labels, 2, 0, 10), random_tensor({2, 3001, 10}), true);
  }
}

BOOST_AUTO_TEST_CASE(extremes) {
  const float infinity = std::numeric_limits<float>::infinity();
  const float not_a_number = std::numeric_limits<float>::quiet_NaN();
  const Tensor labels({4}, std::vector<std::int32_t>{0, 0, 1, 1});
  check_both(labels, Tensor({4, 2}, std::vector<float>{3e38F, -3e38F, -1e4F, -1e4F, 1, not_a_number, -infinity, 0}),
             true);
  check_both(labels, Tensor({4, 2}, std::vector<float>{1, 3, 0, 1, 0, 1, 1, not_a_number}), false);
}

BOOST_AUTO_TEST_CASE(labels_out_of_range) {
  const Tensor labels({3}, std::vector<std::int32_t>{0, 4, 3}), scores({3, 4}), g({3});
  const Attributes attributes{{"from_logits", true}};
  for_each_isa([&](Isa isa) {
    for (const auto& [op, inputs] : {std::pair{loss_op, std::vector<Tensor>{labels, scores}},
                                     std::pair{gradient_op, std::vector<Tensor>{labels, scores, g}}}) {
      const KernelRequest request = kernel_request(op, attributes, inputs);
      std::string reason;
      const auto kernel = xsimd_kernel(request, isa, reason);
      Tensor out = garbage(request.outputs[0].shape, DType::float32);
      std::vector<const void*> in;
      for (const Tensor& input : inputs) in.push_back(input.raw());
      void* outputs[] = {out.mutable_raw()};
      const std::string text = refused<ValueError>([&] { kernel->run({in.data(), outputs, nullptr}); });
      BOOST_TEST(text == "[" + std::string(op) + "] labels must be in [0, 4); got 4 at index 1");
      BOOST_TEST(out.equal(garbage(request.outputs[0].shape, DType::float32)));
    }
  });
}

BOOST_AUTO_TEST_SUITE_END()
