#include <boost/test/unit_test.hpp>

#include <mezzo/core/cpu.hpp>
#include <mezzo/core/isa.hpp>

#include "ops/activations.hpp"
#include "ops/arrays.hpp"
#include "ops/attention.hpp"
#include "ops/average_pooling.hpp"
#include "ops/blocks.hpp"
#include "ops/ctc.hpp"
#include "ops/elementwise.hpp"
#include "ops/fake_quantize.hpp"
#include "ops/functions.hpp"
#include "ops/gather.hpp"
#include "ops/indices.hpp"
#include "ops/keras_elementwise.hpp"
#include "ops/key_value_cache.hpp"
#include "ops/layer_norm.hpp"
#include "ops/linear_algebra.hpp"
#include "ops/movement.hpp"
#include "ops/normalization.hpp"
#include "ops/normalized_convolutions.hpp"
#include "ops/products.hpp"
#include "ops/quantized.hpp"
#include "ops/quantized_convolutions.hpp"
#include "ops/recurrence.hpp"
#include "ops/recurrent_kernel_gradient.hpp"
#include "ops/tile_matmul.hpp"
#include "ops/training.hpp"
#include "support/conformance.hpp"
#include "support/subnormals.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

template <class Entry>
std::vector<Entry> concatenate(const std::vector<std::vector<Entry>>& lists) {
  std::vector<Entry> all;
  for (const auto& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

const std::vector<OpRow>& all_rows() {
  static const std::vector<OpRow> rows = concatenate<OpRow>({elementwise_rows(),
                                                             activation_rows(),
                                                             attention_rows(),
                                                             movement_rows(),
                                                             block_rows(),
                                                             gather_rows(),
                                                             average_pool_rows(),
                                                             product_rows(),
                                                             quantized_rows(),
                                                             fake_quantize_rows(),
                                                             tile_matmul_rows(),
                                                             normalization_rows(),
                                                             layer_norm_rows(),
                                                             training_rows(),
                                                             function_rows(),
                                                             keras_elementwise_rows(),
                                                             array_rows(),
                                                             index_rows(),
                                                             linear_algebra_rows(),
                                                             ctc_rows(),
                                                             recurrence_rows(),
                                                             recurrent_kernel_gradient_rows(),
                                                             key_value_cache_rows(),
                                                             normalized_convolution_rows(),
                                                             quantized_convolution_rows()});
  return rows;
}

std::vector<Refusal> all_refusals() {
  return concatenate<Refusal>({elementwise_refusals(),
                               activation_refusals(),
                               attention_refusals(),
                               movement_refusals(),
                               block_refusals(),
                               gather_refusals(),
                               average_pool_refusals(),
                               product_refusals(),
                               normalization_refusals(),
                               layer_norm_refusals(),
                               training_refusals(),
                               function_refusals(),
                               keras_elementwise_refusals(),
                               array_refusals(),
                               linear_algebra_refusals(),
                               ctc_refusals(),
                               recurrence_refusals(),
                               recurrent_kernel_gradient_refusals(),
                               key_value_cache_refusals(),
                               quantized_refusals(),
                               quantized_convolution_refusals(),
                               fake_quantize_refusals(),
                               tile_matmul_refusals(),
                               normalized_convolution_refusals()});
}

// Calls check(row) for each row of the table, which a failure names.
template <class Check>
void for_each_row(Check check) {
  for (const OpRow& row : all_rows()) {
    BOOST_TEST_CONTEXT(describe(row)) check(row);
  }
}

template <class Check>
void for_each_row_and_dtype(Check check) {
  for_each_row([&](const OpRow& row) {
    for (const DType dtype : float_dtypes) {
      BOOST_TEST_CONTEXT(dtype_name(dtype)) check(row, dtype);
    }
  });
}

bool leaf(const Op& op) { return op.infer == nullptr; }

// Whose nodes are another op's: see test_in_place.cpp.
bool alias(const Op& op) { return op.runs != nullptr; }

}  // namespace

BOOST_AUTO_TEST_SUITE(conformance)

BOOST_AUTO_TEST_CASE(each_op_has_a_row) {
  std::set<std::string> rows, empty, differentiable, leaves;
  for (const OpRow& row : all_rows()) {
    rows.insert(row.op);
    for (const Argument& argument : row.arguments) {
      if (argument.numbers.size() == 0) empty.insert(row.op);
    }
    if (!row.differentiable.empty()) differentiable.insert(row.op);
  }
  for (const Op* op : registered_ops()) {
    if (leaf(*op)) {
      leaves.insert(op->name);
      continue;
    }
    if (alias(*op)) continue;
    BOOST_TEST(rows.count(op->name) == 1U, op->name << " has no row");
    BOOST_TEST(empty.count(op->name) == 1U, op->name << " has no row with a size of 0");
    if (op->name == "host") continue;  // its gradient is an error: test_functions.cpp
    if (op->name == "quantize_and_dequantize")
      continue;                                    // steps, whose gradient isn't theirs: test_float8_products.cpp
    if (op->name == "quantized_conv2d") continue;  // likewise: test_quantized_convolutions.cpp
    BOOST_TEST(static_cast<bool>(op->gradient) == (differentiable.count(op->name) == 1),
               op->name << ": is its gradient tested?");
  }
  BOOST_TEST((leaves == std::set<std::string>{"constant", "input", "runtime", "variable"}));
}

BOOST_AUTO_TEST_CASE(values_are_those_of_plain_loops) { for_each_row(check_values); }

BOOST_AUTO_TEST_CASE(gradients_are_differences) { for_each_row(check_gradients); }

BOOST_AUTO_TEST_CASE(gradients_in_every_dtype) { for_each_row_and_dtype(check_gradients_in); }

BOOST_AUTO_TEST_CASE(kernels_in_every_dtype) {
  std::set<std::string> ran, listed;
  for_each_row_and_dtype([&](const OpRow& row, DType dtype) {
    for (const std::string& name : KernelCheck(row, dtype).run()) ran.insert(row.op + " " + name);
  });
  for (const detail::Implementation& implementation : kernel_table()) {
    // They take larger operands than any here: backends/test_onednn_split_matmul.cpp, on AMX alone,
    // test_xsimd_winograd.cpp, test_xsimd_outer_products.cpp, test_xsimd_gemm.cpp, test_xsimd_strides.cpp and
    // test_xsimd_pointwise.cpp. Or they take operands of frozen graphs: test_xsimd_packed.cpp,
    // compiler/test_freezing.cpp. Or they compute as policies and settings say: test_xsimd_int8.cpp,
    // test_int8_convolutions.cpp, training/test_int8_training.cpp, training/test_float32_matmul_option.cpp.
    const std::string name = implementation.op->name + " " + implementation.name;
    const bool missing = (implementation.name == "pointwise" && isa() < Isa::avx2) ||
                         ((name == "tile_matmul int8" || name == "quantized_conv2d codes") && !has_int8_products());
    const bool frozen = implementation.name == "packed" || implementation.name == "apart";
    const bool chosen = (implementation.name == "int8" && name != "tile_matmul int8") ||
                        implementation.name == "emulated" || name == "matmul bfloat16";
    if (!frozen && !chosen && implementation.name != "split" && implementation.name != "winograd" &&
        name != "matmul outer" && name != "matmul gemm" && name != "pointwise_norm_gradient pointwise" && !missing) {
      listed.insert(name);
    }
  }
  for (const std::string& name : listed) BOOST_TEST(ran.count(name) == 1U, name << " has no row that it takes");
  for (const std::string& name : ran) BOOST_TEST(listed.count(name) == 1U, name << " is not in the list");
}

BOOST_AUTO_TEST_CASE(subnormal_operands_are_zeros_if_flushed) {
  for_each_row([](const OpRow& row) {
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
      BOOST_TEST_CONTEXT(dtype_name(dtype)) check_flushed_subnormals(row, dtype);
    }
  });
}

BOOST_AUTO_TEST_CASE(subnormal_operands_are_numbers_if_kept) {
  for_each_row([](const OpRow& row) {
    if (row.depth > 0 || row.op == "elementwise_chain") return;  // chains compare numbers that they have rounded
    for (const DType dtype : {DType::float32, DType::bfloat16, DType::float16}) {
      BOOST_TEST_CONTEXT(dtype_name(dtype)) check_kept_subnormals(row, dtype);
    }
  });
}

BOOST_AUTO_TEST_CASE(eager_and_traced_agree) { for_each_row_and_dtype(check_eager_and_traced); }

BOOST_AUTO_TEST_CASE(autocast_in_every_policy) {
  for_each_row([](const OpRow& row) {
    for (const std::string& policy : policy_names) {
      BOOST_TEST_CONTEXT(policy) check_autocast(row, policy);
    }
  });
}

BOOST_AUTO_TEST_CASE(undefined_operands_are_refused) {
  std::set<std::string> seen;
  for_each_row([&](const OpRow& row) {
    if (!seen.insert(row.op).second) return;
    Values values = values_of(arguments_in(row, DType::float32));
    values.back() = Value();
    check_throws<ValueError>(
        "[" + row.op + "] input " + std::to_string(values.size() - 1) + " must be defined; got an undefined Value",
        [&] { row.call(values); });
  });
}

BOOST_AUTO_TEST_CASE(wrong_operands_are_refused) {
  // What one operand of any shape and dtype can't go wrong with: undefined, above.
  const std::set<std::string> anything{
      "cast", "gelu", "identity", "nan_to_num", "print", "silu", "stop_gradient", "trunc",
#define MEZZO_OP(...)
#define MEZZO_UNARY_OP(name, ...) #name,
#define MEZZO_ALIAS_OP(...)
#include <mezzo/ops/rows/ops.def>
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP
  };
  std::set<std::string> refused;
  for (const Refusal& entry : all_refusals()) {
    BOOST_TEST_CONTEXT(entry.op) entry.check();
    refused.insert(entry.op);
  }
  for (const Op* op : registered_ops()) {
    if (!leaf(*op) && !alias(*op))
      BOOST_TEST(refused.count(op->name) + anything.count(op->name) == 1U, op->name << " refuses nothing");
  }
}

BOOST_AUTO_TEST_SUITE_END()
