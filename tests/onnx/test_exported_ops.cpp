// The rows of the conformance tests as ONNX files, which tests/parity/onnx_export.py compares with ONNX Runtime.
#include "onnx/exported.hpp"

#include <set>

#include <mezzo/onnx/export_message.hpp>
#include <mezzo/onnx/export_model.hpp>

#include "ops/activations.hpp"
#include "ops/arrays.hpp"
#include "ops/attention.hpp"
#include "ops/average_pooling.hpp"
#include "ops/blocks.hpp"
#include "ops/ctc.hpp"
#include "ops/elementwise.hpp"
#include "ops/functions.hpp"
#include "ops/gather.hpp"
#include "ops/indices.hpp"
#include "ops/keras_elementwise.hpp"
#include "ops/key_value_cache.hpp"
#include "ops/layer_norm.hpp"
#include "ops/linear_algebra.hpp"
#include "ops/movement.hpp"
#include "ops/normalization.hpp"
#include "ops/products.hpp"
#include "ops/recurrence.hpp"
#include "support/conformance.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

std::vector<OpRow> rows_of_ops() {
  std::vector<OpRow> all;
  for (const auto& rows : {elementwise_rows(), activation_rows(), attention_rows(), movement_rows(), block_rows(),
                           gather_rows(), average_pool_rows(), product_rows(), normalization_rows(), layer_norm_rows(),
                           function_rows(), keras_elementwise_rows(), array_rows(), index_rows(), linear_algebra_rows(),
                           ctc_rows(), recurrence_rows(), key_value_cache_rows()}) {
    all.insert(all.end(), rows.begin(), rows.end());
  }
  return all;
}

// Exports the first `outputs` outputs of a row with operands of fixed sizes.
void export_row(const OpRow& row, const TensorList& arguments, std::size_t outputs, const std::string& path,
                int opset) {
  const auto first = [&](const Values& xs) {
    Values out = row.call(xs);
    out.resize(std::min(out.size(), outputs));
    return out;
  };
  const Graph graph = trace_step(first, arguments);
  detail::ExportTraces traces{{}, {graph, graph, graph}};
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    traces.inputs.push_back({"x" + std::to_string(i), {arguments[i].shape(), arguments[i].dtype()}});
  }
  std::vector<std::string> names;
  for (std::size_t i = 0; i < graph.outputs.size(); ++i) names.push_back("y" + std::to_string(i));
  const detail::ExportedModel model = detail::export_model(traces, names, {}, {opset, false});
  detail::write_exported(model, {}, {.graph_name = row.op}, path, "[test]");
}

std::string file_name(std::size_t place, const OpRow& row, DType dtype) {
  std::string name = "op_" + describe(row) + "_" + dtype_name(dtype) + "_" + std::to_string(place);
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

// True if the row was exported, with all of its outputs or the first one.
bool exports(const OpRow& row, DType dtype, const std::string& name) {
  const CaseFolder folder;
  const TensorList arguments = arguments_in(row, dtype);
  constexpr int opset = 18;  // the first one with operators for bits
  for (const std::size_t outputs : {row.outputs.size(), std::size_t{1}}) {
    try {
      export_row(row, arguments, outputs, folder.path(name + ".onnx"), opset);
    } catch (const ValueError& error) {
      BOOST_TEST(std::string(error.what()).find("counterpart") != std::string::npos, error.what());
      continue;
    }
    TensorList results = run_in_eager_trace(row.call, arguments, row.training);
    results.resize(std::min(results.size(), outputs));
    write_runs(folder.path(name + ".npz"), {arguments}, {results});
    return true;
  }
  return false;
}

// Gradients and updates of optimizers, which inference has none of.
bool of_training(const std::string& op) {
  return op.find("gradient") != std::string::npos || op.find("update") != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exported_ops)

BOOST_AUTO_TEST_CASE(rows_of_the_conformance_tests) {
  std::set<std::string> equal, missing;
  std::size_t place = 0;
  for (const OpRow& row : rows_of_ops()) {
    ++place;
    // ONNX Runtime fails for many operators on arrays without elements.
    const bool empty = std::any_of(row.arguments.begin(), row.arguments.end(),
                                   [](const Argument& argument) { return argument.numbers.size() == 0; });
    if (row.training || empty) continue;
    BOOST_TEST_CONTEXT(describe(row)) {
      const bool exported = exports(row, DType::float32, file_name(place, row, DType::float32));
      (exported ? equal : missing).insert(row.op);
    }
  }
  std::string none;
  for (const std::string& op : missing) {
    if (equal.count(op) == 0 && !of_training(op)) none += (none.empty() ? "" : " ") + op;
  }
  BOOST_TEST(none ==
             "cached_attention cholesky ctc_loss cumprod dropout eigh elementwise_chain erfinv gcd host inv left_shift "
             "qr right_shift slogdet solve solve_triangular sparse_categorical_crossentropy svd");
  BOOST_TEST(equal.size() == 108U);
}

BOOST_AUTO_TEST_SUITE_END()
