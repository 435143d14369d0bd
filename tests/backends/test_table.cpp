#include <boost/test/unit_test.hpp>

#include <map>
#include <set>
#include <string>

#include "support/kernels.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::set<std::string> leaves{"constant", "input", "runtime", "variable"};

}  // namespace

BOOST_AUTO_TEST_SUITE(table)

BOOST_AUTO_TEST_CASE(the_reference_is_last_of_every_op) {
  std::map<std::string, std::string> last;
  for (const detail::Implementation& implementation : kernel_table())
    last[implementation.op->name] = implementation.name;
  for (const Op* op : registered_ops()) {
    if (leaves.count(op->name) == 0 && op->runs == nullptr)
      BOOST_TEST(last[op->name] == "reference", op->name << " ends with " << last[op->name]);
  }
}

BOOST_AUTO_TEST_CASE(each_entry_names_an_op_and_is_unique) {
  std::set<std::string> seen;
  for (const detail::Implementation& implementation : kernel_table()) {
    BOOST_TEST(&find_op(implementation.op->name) == implementation.op);
    BOOST_TEST(seen.insert(implementation.op->name + " " + implementation.name).second, implementation.op->name);
    BOOST_TEST(static_cast<bool>(implementation.create));
  }
}

BOOST_AUTO_TEST_CASE(special_implementations_come_before_general_ones) {
  const std::map<std::string, int> rank{{"depthwise", 0}, {"few_taps", 0}, {"few_rows", 0}, {"winograd", 0},
                                        {"int8", 0},      {"bfloat16", 0}, {"packed", 1},   {"outer", 2},
                                        {"pointwise", 2}, {"gemm", 2},     {"onednn", 3},   {"split", 4},
                                        {"emulated", 4},  {"xsimd", 5},    {"codes", 5},    {"dequantized", 5},
                                        {"apart", 6},     {"widen", 7},    {"reference", 8}};
  std::map<std::string, int> reached;
  for (const detail::Implementation& implementation : kernel_table()) {
    BOOST_REQUIRE(rank.count(implementation.name) == 1);
    BOOST_TEST(rank.at(implementation.name) >= reached[implementation.op->name], implementation.op->name);
    reached[implementation.op->name] = rank.at(implementation.name);
  }
}

BOOST_AUTO_TEST_CASE(float16_never_reaches_the_reference) {
  const KernelRequest request = kernel_request("exp", {}, {Tensor({3}, DType::float16)});
  const detail::ChosenKernel chosen = choose_kernel(request);
  BOOST_TEST(chosen.implementation != "reference");
}

BOOST_AUTO_TEST_SUITE_END()
