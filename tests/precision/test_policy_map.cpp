#include <boost/test/unit_test.hpp>

#include <mezzo/core/error.hpp>
#include <mezzo/precision/policy_map.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

PolicyMap map_of(std::vector<std::pair<std::string, Policy>> policies, const Policy& rest = {}) {
  return PolicyMap({.default_policy = rest, .policies = std::move(policies)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(policy_map)

// Keras' DTypePolicyMap: the exact key first, then a full regular expression, then the default.
BOOST_AUTO_TEST_CASE(exact_path_then_expression_then_default) {
  const PolicyMap map = map_of({{".*dense.*", "bfloat16"}, {"body/dense", "float64"}}, "mixed_bfloat16");
  BOOST_TEST(map.at("body/dense").name() == "float64");
  BOOST_TEST(map.at("body/dense_1").name() == "bfloat16");
  BOOST_TEST(map.at("body/conv").name() == "mixed_bfloat16");
}

BOOST_AUTO_TEST_CASE(expressions_match_whole_paths) {
  const PolicyMap map = map_of({{"dense", "float64"}}, "float32");
  BOOST_TEST(map.at("dense_1").name() == "float32");
  BOOST_TEST(map.at("body/dense").name() == "float32");
}

BOOST_AUTO_TEST_CASE(nested_repetitions_take_linear_time) {
  const PolicyMap map = map_of({{"(a*)*b", "float64"}}, "float32");
  BOOST_TEST(map.at(std::string(50'000, 'a')).name() == "float32");
  BOOST_TEST(map.at(std::string(50'000, 'a') + "b").name() == "float64");
}

BOOST_AUTO_TEST_CASE(several_expressions_are_an_error) {
  const PolicyMap map = map_of({{"body/.*", "float64"}, {".*/dense", "float32"}});
  check_throws<ValueError>(
      "[PolicyMap] layer \"body/dense\" must match one entry or have an entry with its exact path; got \"body/.*\" and "
      "\".*/dense\"",
      [&] { map.at("body/dense"); });
}

BOOST_AUTO_TEST_CASE(without_a_default_it_inherits) {
  BOOST_TEST(map_of({{"a", "float64"}}).at("b").inherits());
  const std::vector<detail::PolicyLevel> levels{{"mixed_float16", ""}, {map_of({{"b", "float64"}}), "a"}};
  BOOST_TEST(detail::policy_at(levels, "a/b").name() == "float64");
  BOOST_TEST(detail::policy_at(levels, "a/c").name() == "mixed_float16");
  BOOST_TEST(detail::policy_at({}, "a").name() == "float32");
}

BOOST_AUTO_TEST_CASE(bad_maps_are_refused) {
  check_throws<ValueError>("[PolicyMap] entry \"a\" must be given once; got it twice", [] {
    map_of({{"a", "float32"}, {"a", "float64"}});
  });
  const auto refused_entry = [](const std::string& text, const std::string& reason) {
    check_throws<ValueError>(
        "[PolicyMap] entry \"" + text + "\" must be a path or a regular expression; got an invalid one: " + reason,
        [&] {
          PolicyMap({.policies = {{text, "float32"}}});
        });
  };
  refused_entry("(a)\\1", "invalid escape \\1; back references are not supported");
  refused_entry("a{1,12345678901234567890}", "a repetition must be at most 1000");
  refused_entry(".*(?!norm)",
                "invalid perl operator: (?!; look-around is not supported, and groups are named by (?P<name>...)");
  BOOST_CHECK_THROW(map_of({{std::string(100'000, '('), "float32"}}), ValueError);
  BOOST_CHECK_NO_THROW(PolicyMap({.policies = {{"run12345678901234567890/a{1,3}", "float32"}}}));
  check_throws<ValueError>(
      "[PolicyMap] entry \"a\" must have a policy that is neither empty nor a map; got an empty one", [] {
        map_of({{"a", Policy()}});
      });
  check_throws<ValueError>(
      "[PolicyMap] default_policy must not be a map; got PolicyMap(\"a\": float32, default: inherited)", [] {
        map_of({}, map_of({{"a", "float32"}}));
      });
  BOOST_CHECK_THROW(map_of({{"a(", "float32"}}), ValueError);
}

BOOST_AUTO_TEST_CASE(as_a_policy) {
  const Policy policy = map_of({{"head", "float32"}}, "mixed_bfloat16");
  BOOST_TEST(!policy.inherits());
  BOOST_TEST(policy.name() == "PolicyMap(\"head\": float32, default: mixed_bfloat16)");
  BOOST_TEST((policy.compute_dtype() == DType::bfloat16));
  BOOST_TEST(policy.at("head").name() == "float32");
  BOOST_TEST(Policy("float64").at("head").name() == "float64");
  BOOST_TEST((policy == Policy(map_of({{"head", "float32"}}, "mixed_bfloat16"))));
}

BOOST_AUTO_TEST_SUITE_END()
