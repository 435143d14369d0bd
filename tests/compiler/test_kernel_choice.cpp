#include <boost/test/unit_test.hpp>

#include <algorithm>

#include <mezzo/backends/table.hpp>
#include <mezzo/compiler/kernel.hpp>

#include "support/kernels.hpp"
#include "support/precision.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

KernelRequest request(const char* op, const std::vector<Spec>& inputs, const std::vector<Spec>& outputs) {
  return {&find_op(op), {}, inputs, outputs, "[Dense \"head\"]"};
}

// "name: reason" of each implementation that declines, in the table's order.
std::vector<std::string> refusals(const KernelRequest& request) {
  std::vector<std::string> out;
  for (const detail::Implementation& implementation : kernel_table()) {
    if (implementation.op != request.op) continue;
    std::string reason;
    if (implementation.create(request, reason)) break;
    out.push_back(implementation.name + ": " + reason);
  }
  return out;
}

// Registers a kernel of a user's program for an op, which takes the requests of that place.
void register_for(const char* op, const std::string& where) {
  class Nothing final : public Kernel {
    void run(const KernelArguments& /*arguments*/) override {}
  };
  register_kernel({.name = "registered",
                   .op = &find_op(op),
                   .create = [where](const KernelRequest& request, std::string& /*reason*/) -> std::unique_ptr<Kernel> {
                     return request.where == where ? std::make_unique<Nothing>() : nullptr;
                   }});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(kernel_choice)

BOOST_AUTO_TEST_CASE(the_first_that_takes_it) {
  for (const DType dtype : float_dtypes) {
    const Spec spec{{64}, dtype};
    const KernelRequest exp = request("exp", {spec}, {spec});
    const detail::ChosenKernel chosen = choose_kernel(exp);
    BOOST_TEST(chosen.kernel != nullptr);
    BOOST_TEST(chosen.declined == refusals(exp), boost::test_tools::per_element());
    const auto table = kernel_table();
    const auto first = std::find_if(table.begin(), table.end(), [&](const detail::Implementation& implementation) {
      std::string reason;
      return implementation.op->name == "exp" && implementation.create(exp, reason) != nullptr;
    });
    BOOST_TEST(chosen.implementation == first->name);
  }
}

BOOST_AUTO_TEST_CASE(when_none_does_the_error_lists_every_reason) {
  const KernelRequest strings = request("exp", {{{3}, DType::int32}}, {{{3}, DType::int32}});
  std::string text = "[Dense \"head\"] no kernel computes exp(int32 (3,))";
  const std::vector<std::string> reasons = refusals(strings);
  BOOST_TEST(reasons.size() >= 2U);
  for (const std::string& reason : reasons) text += "; " + reason;
  check_throws<ValueError>(text, [&] { choose_kernel(strings); });
}

BOOST_AUTO_TEST_CASE(registered_kernels_get_no_attributes_of_passes) {
  const std::string where = "[registered]";
  for (const char* op : {"batch_norm", "matmul"}) register_for(op, where);
  const Spec images{{4, 8, 8, 16}, DType::float32}, channels{{16}, DType::float32}, table{{16, 16}, DType::float32};
  KernelRequest norm{&find_op("batch_norm"),
                     {{"epsilon", 1e-3}, {"momentum", 0.9}, {"training", false}},
                     {images, channels, channels, channels, channels},
                     {images, channels, channels, channels, channels},
                     where};
  BOOST_TEST(chosen_implementation(norm) == "registered");
  norm.attributes.set("again", true);
  const detail::ChosenKernel again = choose_kernel(norm);
  BOOST_TEST(again.implementation != "registered");
  BOOST_TEST(again.declined.at(0) == "registered: doesn't know the attribute \"again\"");
  KernelRequest product{&find_op("matmul"),
                        {{"transpose_a", false}, {"transpose_b", false}},
                        {{{4, 16}, DType::bfloat16}, table},
                        {{{4, 16}, DType::bfloat16}},
                        where};
  BOOST_TEST(chosen_implementation(product) == "registered");
  product.attributes.set("rounds_right", true);
  BOOST_TEST(chosen_implementation(product) != "registered");
}

BOOST_AUTO_TEST_CASE(operands_are_listed) {
  Op unknown;
  unknown.name = "unknown";
  const KernelRequest call{&unknown, {}, {{{2, 3}, DType::bfloat16}, {{}, DType::boolean}}, {}, "[unknown]"};
  check_throws<ValueError>("[unknown] no kernel computes unknown(bfloat16 (2, 3), bool ())",
                           [&] { choose_kernel(call); });
}

BOOST_AUTO_TEST_CASE(names_of_ops_are_checked) {
  std::string good;
  for (const Op* op : registered_ops()) good += (good.empty() ? "" : ", ") + op->name;
  check_throws<NameError>("unknown op \"swish\"; valid names: " + good, [] { find_op("swish"); });
}

BOOST_AUTO_TEST_SUITE_END()
