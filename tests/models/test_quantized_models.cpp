// Language models with quantized weights.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <utility>

#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/nn/weight_product.hpp>

#include "small.hpp"
#include "support/folder.hpp"
#include "support/runs.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Tensor some_ids = random_tensor({2, 5}, DType::int64, 1, 0, 17);

LlamaOptions tied_llama() {
  LlamaOptions options = small_llama();
  options.tie_word_embeddings = true;
  return options;
}

/// Quantizes a model and returns its logits, and those of a model with the numbers that the codes mean.
template <class M, class Options>
std::pair<Tensor, Tensor> logits_of(const Options& options, const std::string& mode) {
  seed_everything(3);
  M model(options), numbers(options);
  for (M* each : {&model, &numbers}) each->build({1, 1});
  model.quantize(mode, {.activations = "none"});
  const auto codes = model.named_weights();
  for (const auto& [name, weight] : numbers.named_weights()) {
    const auto same = std::find_if(codes.begin(), codes.end(), [&n = name](const auto& one) { return one.first == n; });
    Variable(weight).assign(Value(same->second).tensor());
  }
  return {model(some_ids).tensor(), numbers(some_ids).tensor()};
}

template <class M, class Options>
void check_products(const Options& options, std::int64_t products) {
  for (const char* mode : {"int8", "int4/4"}) {
    const auto [codes, numbers] = logits_of<M>(options, mode);
    BOOST_TEST(largest_difference(codes, numbers) < 1e-5, mode);
    M model(options);
    model.build({1, 1});
    model.quantize(mode);
    Trace trace(Trace::Mode::graph);
    trace.output("y", model(trace.input("ids", Spec{some_ids.shape(), some_ids.dtype()})));
    BOOST_TEST(count_nodes(trace.graph(), "quantized_matmul") == products);
    for (const auto& node : trace.graph().nodes) {
      if (node->op->name != "dequantize") continue;
      BOOST_TEST((node->outputs[0].shape != Shape{17, 12} && node->outputs[0].shape != Shape{17, 24}));
    }
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(quantized_models)

BOOST_AUTO_TEST_CASE(all_products_of_weights_are_of_codes) {
  check_products<GPT>(small_gpt(), 2 * 4 + 1);
  check_products<Llama>(tied_llama(), 2 * 7 + 1);
}

BOOST_AUTO_TEST_CASE(adapters_of_a_table_leave_tied_logits_out) {
  Embedding layer({.input_dim = 7, .output_dim = 4});
  layer.build({1, 1});
  const Value x = random_tensor({3, 4}, DType::float32, 2);
  const Tensor without = detail::table_product(x, layer.embeddings()).tensor();
  layer.enable_lora({.rank = 2, .b_initializer = "ones"});
  BOOST_TEST(detail::tied_product(x, layer.embeddings()).tensor().equal(without));
  BOOST_TEST(!detail::table_product(x, layer.embeddings()).tensor().equal(without));
}

BOOST_AUTO_TEST_CASE(folders_of_floats_are_read_into_quantized_models) {
  const Folder folder;
  Llama floats(tied_llama());
  floats.build({1, 1});
  save_pretrained(floats, folder.path("llama"));
  floats.quantize("int4/4");
  auto read = from_pretrained<Llama>(folder.path("llama"), {.dtype = "int4/4_from_float32"});
  BOOST_TEST(read.model(some_ids).tensor().equal(floats(some_ids).tensor()));
}

BOOST_AUTO_TEST_SUITE_END()
