#include <boost/test/unit_test.hpp>

#include <mezzo/core/error.hpp>
#include <mezzo/precision/policy.hpp>
#include <mezzo/precision/policy_map.hpp>

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

BOOST_AUTO_TEST_CASE(products_of_int8) {
  const Policy mixed("mixed_int8");
  BOOST_TEST((mixed.compute_dtype() == DType::bfloat16));
  BOOST_TEST((mixed.variable_dtype() == DType::float32));
  BOOST_TEST((mixed.output_dtype() == DType::bfloat16));
  BOOST_TEST((mixed.products() == ProductFormat::int8));
  BOOST_TEST((Policy("mixed_bfloat16").products() == ProductFormat::same));
  BOOST_TEST((mixed != Policy("mixed_bfloat16")));
  BOOST_TEST((Policy("p=f32,c=bf16,products=int8") == mixed));
  const Policy wide("c=f32,products=int8");
  BOOST_TEST(wide.name() == "p=float32,c=float32,o=float32,products=int8");
  BOOST_TEST((Policy(wide.name()) == wide));
  BOOST_TEST((Policy(wide.name()).products() == ProductFormat::int8));
  const Policy tiles("p=f32,c=bf16,products=int8_tiles");
  BOOST_TEST((tiles.products() == ProductFormat::int8_tiles));
  BOOST_TEST((Policy(tiles.name()) == tiles));
  BOOST_TEST((tiles != Policy("mixed_int8")));
  const PolicyMap map({.default_policy = mixed, .policies = {{"head", "mixed_bfloat16"}}});
  BOOST_TEST((Policy(map).products() == ProductFormat::int8));
  BOOST_TEST((Policy(map).at("body").products() == ProductFormat::int8));
  BOOST_TEST((Policy(map).at("head").products() == ProductFormat::same));
  mezzo_tests::check_throws<NameError>("[Policy] products of int8 need a compute dtype of at most 32 bits; got float64",
                                       [] { Policy("p=f64,products=int8"); });
  mezzo_tests::check_throws<NameError>(
      "unknown products \"int4\" in policy \"c=bf16,products=int4\"; valid names: int8, int8_tiles",
      [] { Policy("c=bf16,products=int4"); });
  BOOST_TEST(Precision("int8-mixed").int8_inside());
  BOOST_TEST((Precision("int8-mixed").policy() == mixed));
  BOOST_TEST(!Precision(mixed).int8_inside());
  BOOST_TEST(Precision("auto-int8").automatic());
  BOOST_TEST(!Precision("auto").int8_inside());
}

BOOST_AUTO_TEST_CASE(bad_names_list_the_good_ones) {
  mezzo_tests::check_throws<NameError>(
      "unknown policy \"bf16x\"; valid names: float32, mixed_bfloat16, mixed_float16, bfloat16, float16, float64, "
      "mixed_int8, or as "
      "p=f32,c=bf16,o=f32, or quantized as int8_from_float32",
      [] { Policy("bf16x"); });
  mezzo_tests::check_throws<NameError>("[Policy] dtypes must be floating; got int32", [] { Policy{DType::int32}; });
  mezzo_tests::check_throws<NameError>("[Policy] dtypes must be floating; got bool", [] { Policy{DType::boolean}; });
}

// jmp.get_policy: compute follows params, output follows compute.
BOOST_AUTO_TEST_CASE(jmps_strings) {
  const struct {
    const char* text;
    const char* dtypes;  // compute, variable, output
  } rows[] = {{"p=f32,c=bf16,o=f32", "bfloat16 float32 float32"},
              {"params=float32,compute=float16,output=full", "float16 float32 float32"},
              {"p=bf16", "bfloat16 bfloat16 bfloat16"},
              {"c=half", "float16 float32 float16"},
              {"p=full,c=bfloat16,o=f16", "bfloat16 float32 float16"},
              {"params=float16,output=float64", "float16 float16 float64"},
              {"p=f64,o=f32", "float64 float64 float32"}};
  for (const auto& row : rows) {
    const Policy policy(row.text);
    BOOST_TEST(dtype_name(policy.compute_dtype()) + std::string(" ") + dtype_name(policy.variable_dtype()) + " " +
                   dtype_name(policy.output_dtype()) ==
               row.dtypes);
  }
  BOOST_TEST((Policy("p=f32,c=bf16") == Policy("mixed_bfloat16")));
  BOOST_TEST((Policy(DType::bfloat16, DType::float32, DType::float32) == Policy("p=f32,c=bf16,o=f32")));
  BOOST_TEST(Policy("p=f32,c=bf16,o=f32").name() == "p=float32,c=bfloat16,o=float32");
  BOOST_TEST((Precision("p=f32,c=bf16").policy() == Policy("mixed_bfloat16")));
  mezzo_tests::check_throws<NameError>("unknown dtype \"int8\" in policy \"p=int8\"; valid names: f16, bf16, f32, f64",
                                       [] { Policy("p=int8"); });
  for (const char* bad : {"q=f32", "p=f32,p=f32"}) {
    const std::string last = std::string(bad).substr(std::string(bad).rfind(',') + 1);
    mezzo_tests::check_throws<NameError>(
        std::string("policy \"") + bad + "\" must be written as p=f32,c=bf16,o=f32; got the part \"" + last + "\"",
        [&] { Policy{std::string(bad)}; });
  }
}

BOOST_AUTO_TEST_CASE(outputs_follow_compute_unless_they_are_named) {
  for (const char* name : {"float32", "float64", "bfloat16", "float16", "mixed_bfloat16", "mixed_float16"}) {
    BOOST_TEST((Policy(name).output_dtype() == Policy(name).compute_dtype()));
  }
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
      "unknown precision \"8\"; valid names: 32, 32-true, 64, 64-true, bf16, bf16-mixed, 16, 16-mixed, bf16-true, "
      "16-true, int8-mixed, mixed_int8, "
      "mixed_bfloat16, mixed_float16, float32, bfloat16, float16, float64, auto, auto-int8",
      [] { Precision(8); });
}

BOOST_AUTO_TEST_CASE(precisions_that_are_absent_are_named) {
  for (const char* name : {"transformer-engine", "transformer-engine-float16"}) {
    mezzo_tests::check_throws<NameError>(
        "precision \"" + std::string(name) +
            "\" is absent: it is for float8, which CPUs don't compute; valid names: 32, 32-true, 64, 64-true, bf16, "
            "bf16-mixed, 16, 16-mixed, bf16-true, 16-true, int8-mixed, mixed_int8, mixed_bfloat16, mixed_float16, "
            "float32, bfloat16, float16, float64, auto, auto-int8",
        [&] { Precision{std::string(name)}; });
  }
}

BOOST_AUTO_TEST_SUITE_END()
