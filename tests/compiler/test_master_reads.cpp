#include <boost/test/unit_test.hpp>

#include <mezzo/core/isa.hpp>

#include "compiler/steps.hpp"
#include "support/skip.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t rows = 32, width = 64;

// A product of the inputs, whose kernel no gradient reads, and one of its results.
struct Layers {
  VariablePointer first = make_variable("first", random_tensor({width, width}, DType::float32, 1, -0.2, 0.2));
  VariablePointer second = make_variable("second", random_tensor({width, width}, DType::float32, 2, -0.2, 0.2));

  Graph trace(bool updates = true, bool other_reader = false) const {
    return traced([&](Trace& step) {
      const detail::PolicyScope scope("mixed_bfloat16");
      const Value open = step.input("open", Spec{{}, DType::boolean});
      const Value x = step.input("x", Spec{{rows, width}, DType::float32}).across_border();
      const Value y = matmul(matmul(x, read_variable(first)), read_variable(second));
      Value loss = sum(cast(y * y, DType::float32));
      if (other_reader) loss = loss + sum(cast(read_variable(first) * 1, DType::float32));
      step.output("loss", loss);
      if (!updates) return;
      const Values of_loss = gradients(loss, {step.read(first), step.read(second)});
      step.gate({.ok = open});
      update_by_sgd(first, of_loss[0] * 1e-4);
      update_by_sgd(second, of_loss[1] * 1e-4);
    });
  }

  static TensorList input(bool open = true) {
    return {Tensor::scalar(open ? 1 : 0, DType::boolean), random_tensor({rows, width}, DType::float32, 3)};
  }
};

int count_master_reads(const Graph& graph) {
  int count = 0;
  for (const detail::NodePtr& node : graph.nodes) count += node->attributes.has("rounds_right") ? 1 : 0;
  return count;
}

bool updates_copy(const Graph& graph, const VariablePointer& variable) {
  for (const detail::NodePtr& node : graph.nodes) {
    if (node->op->name != "sgd_update" || node->inputs[0].node()->variable != variable) continue;
    return node->attributes.has("copy_dtype");
  }
  return false;
}

// gemm is used with AVX2 alone.
bool packs() { return isa() == Isa::avx2; }
constexpr const char* no_gemm = "needs AVX2 without AVX-512 (MEZZO_MAX_ISA=AVX2)";

}  // namespace

BOOST_AUTO_TEST_SUITE(master_reads)

BOOST_AUTO_TEST_CASE(a_kernel_that_one_product_reads_has_no_copy) {
  const Layers layers;
  const Graph graph = run_passes(layers.trace());
  BOOST_TEST(count_master_reads(graph) == (packs() ? 1 : 0));
  BOOST_TEST(updates_copy(graph, layers.first) == !packs());
  BOOST_TEST(updates_copy(graph, layers.second));  // the gradient of the first product reads it too
  const auto arena = std::make_shared<Arena>();
  const detail::Plan plan(graph, arena);
  BOOST_TEST(arena->copies.size() == (packs() ? 1U : 2U));
}

BOOST_AUTO_TEST_CASE(no_bit_changes) {
  if (!packs()) return skip(no_gemm);
  const Layers one, other;
  detail::Plan fused = planned(one.trace()), unfused = planned(other.trace(), false);
  for (int i = 0; i < 4; ++i) {
    const bool open = i != 1;  // the second step is skipped
    for (detail::Plan* plan : {&fused, &unfused}) plan->run(Layers::input(open), {}, true);
    BOOST_TEST(fused.scalar(0) == unfused.scalar(0));
    BOOST_TEST(one.first->value.equal(other.first->value));
    BOOST_TEST(one.second->value.equal(other.second->value));
  }
  BOOST_TEST(!one.first->value.equal(Layers().first->value));
}

BOOST_AUTO_TEST_CASE(a_step_without_updates_reads_the_copy) {
  if (!packs()) return skip(no_gemm);
  const Layers layers;
  const Graph evaluation = run_passes(layers.trace(false));
  BOOST_TEST(count_master_reads(evaluation) == 0);
  const auto arena = std::make_shared<Arena>();
  detail::Plan training(run_passes(layers.trace()), arena), evaluating(evaluation, arena);
  for (int i = 0; i < 2; ++i) {
    training.run(Layers::input(), {});
    evaluating.run(Layers::input(), {});
    detail::Plan fresh = planned(layers.trace(false), false);
    fresh.run(Layers::input(), {});
    BOOST_TEST(evaluating.scalar(0) == fresh.scalar(0));
  }
}

BOOST_AUTO_TEST_CASE(a_copy_with_another_reader_stays) {
  const Layers layers;
  const Graph graph = run_passes(layers.trace(true, true));
  BOOST_TEST(count_master_reads(graph) == 0);
  BOOST_TEST(updates_copy(graph, layers.first));
}

BOOST_AUTO_TEST_CASE(only_kernels_that_round_are_offered_such_products) {
  const Spec left{{rows, width}, DType::bfloat16}, right{{width, width}, DType::float32};
  const KernelRequest request{.op = &find_op("matmul"),
                              .attributes = {{"transpose_a", false}, {"transpose_b", false}, {"rounds_right", true}},
                              .inputs = {left, right},
                              .outputs = {left},
                              .where = "[Dense]"};
  BOOST_TEST(chosen_implementation(request) == (packs() ? "gemm" : ""));
}

BOOST_AUTO_TEST_SUITE_END()
