#include <boost/test/unit_test.hpp>

#include <mezzo/core/error.hpp>
#include <mezzo/precision/policy.hpp>

#include "support/throws.hpp"

using namespace mezzo;

BOOST_AUTO_TEST_SUITE(policy)

BOOST_AUTO_TEST_CASE(names_give_dtypes) {
  const struct {
    const char* name;
    const char* compute;
    const char* variable;
  } rows[] = {{"float32", "float32", "float32"},         {"float64", "float64", "float64"},
              {"bfloat16", "bfloat16", "bfloat16"},      {"float16", "float16", "float16"},
              {"mixed_bfloat16", "bfloat16", "float32"}, {"mixed_float16", "float16", "float32"}};
  for (const auto& row : rows) {
    BOOST_TEST(dtype_name(Policy(row.name).compute_dtype()) == row.compute);
    BOOST_TEST(dtype_name(Policy(row.name).variable_dtype()) == row.variable);
    BOOST_TEST(!Policy(row.name).inherits());
  }
  BOOST_TEST(Policy().inherits());
  BOOST_TEST(Policy(DType::float64).name() == "float64");
}

BOOST_AUTO_TEST_CASE(bad_names_list_the_good_ones) {
  mezzo_tests::check_throws<NameError>(
      "no policy \"bf16x\"; there are: float32, mixed_bfloat16, mixed_float16, bfloat16, float16, float64",
      [] { Policy("bf16x"); });
  BOOST_CHECK_THROW(Policy(DType::int32), NameError);
}

BOOST_AUTO_TEST_CASE(the_global_policy) {
  BOOST_TEST(dtype_policy().name() == "float32");
  set_dtype_policy("mixed_bfloat16");
  BOOST_TEST(dtype_policy().name() == "mixed_bfloat16");
  set_dtype_policy(Policy());
  BOOST_TEST(dtype_policy().name() == "float32");
}

BOOST_AUTO_TEST_CASE(precisions) {
  const struct {
    const char* precision;
    const char* policy;
  } rows[] = {{"32", "float32"},        {"32-true", "float32"},        {"64", "float64"},
              {"64-true", "float64"},   {"bf16", "mixed_bfloat16"},    {"bf16-mixed", "mixed_bfloat16"},
              {"16", "mixed_float16"},  {"16-mixed", "mixed_float16"}, {"bf16-true", "bfloat16"},
              {"16-true", "float16"},   {"float32", "float32"},        {"float64", "float64"},
              {"bfloat16", "bfloat16"}, {"float16", "float16"},        {"mixed_float16", "mixed_float16"}};
  for (const auto& row : rows) BOOST_TEST(Precision(row.precision).policy().name() == row.policy);
  BOOST_TEST(Precision(32).policy().name() == "float32");
  BOOST_TEST(Precision(16).policy().name() == "mixed_float16");
  BOOST_TEST(Precision(64).policy().name() == "float64");
  BOOST_TEST(Precision().policy().inherits());
  BOOST_TEST(Precision(Policy("bfloat16")).policy().name() == "bfloat16");
}

BOOST_AUTO_TEST_CASE(bad_precisions_list_the_good_ones) {
  mezzo_tests::check_throws<NameError>(
      "no precision \"8\"; there are: 32, 32-true, 64, 64-true, bf16, bf16-mixed, 16, 16-mixed, bf16-true, 16-true, "
      "mixed_bfloat16, mixed_float16, float32, bfloat16, float16, float64",
      [] { Precision(8); });
}

BOOST_AUTO_TEST_SUITE_END()
