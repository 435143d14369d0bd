#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::refused;

namespace {

/// First line that contains a text; "" if there is none.
std::string line_with(const std::string& text, const std::string& part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return "";
  const std::size_t begin = text.rfind('\n', at) + 1;
  return text.substr(begin, text.find('\n', at) - begin);
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

BOOST_AUTO_TEST_SUITE(explain)

BOOST_AUTO_TEST_CASE(there_is_nothing_to_explain_before_a_run) {
  Sequential model({Dense({.units = 2})});
  BOOST_TEST(refused<ValueError>([&] { model.explain(); }) == "[Sequential] explain: a step must have run; got none");
}

BOOST_AUTO_TEST_CASE(a_line_per_kernel_with_layer_and_dtypes) {
  Sequential model({Dense({.units = 2, .activation = "relu", .name = "low"}), Dense({.units = 1, .name = "head"})},
                   {.dtype = "mixed_bfloat16"});
  model.compile({.optimizer = "adam", .loss = "mse"});
  model.fit(Tensor({4, 3}), Tensor({4, 1}), {.verbose = false});
  const std::string text = model.explain();
  const std::string matmul = line_with(text, "matmul");
  BOOST_TEST(contains(matmul, "  low  "));
  BOOST_TEST(contains(matmul, "bfloat16 (4, 2)"));
  BOOST_TEST(contains(text, "adam_update"));
  BOOST_TEST(contains(text, "head"));
  BOOST_TEST(contains(text, " kernels, "));
  BOOST_TEST(contains(text, "arena "));
  BOOST_TEST(!contains(text, "\n    not "));
  model.predict(Tensor({4, 3}));
  BOOST_TEST(model.explain() == text);  // the last training step
}

BOOST_AUTO_TEST_CASE(it_tells_why_kernels_were_passed_over) {
  Sequential model({Dense({.units = 2})}, {.dtype = "float64"});
  model.predict(Tensor({4, 3}));
  BOOST_TEST(contains(model.explain({.declined = true}), "\n    not "));
}

BOOST_AUTO_TEST_SUITE_END()
