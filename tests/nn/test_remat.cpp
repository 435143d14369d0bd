#include <boost/test/unit_test.hpp>

#include <functional>
#include <string>
#include <utility>

#include <mezzo/compiler/plan.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/models/gpt.hpp>

#include "support/tensors.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::random_tensor;

namespace {

constexpr std::int64_t samples = 512, width = 16;  // activations are larger than weights

Tensor inputs() { return random_tensor({samples, width}); }

/// Dense, normalization, ReLU and dropout, as one layer, which adds a loss.
class Block : public Layer {
 public:
  Block() : Layer("Block") {}

 protected:
  Value call(const Value& x) override {
    const Value y = drop_(relu(norm_(dense_(x))));
    add_loss(mean(y) * 0.1);
    return y;
  }

 private:
  Dense dense_ = sub("dense", Dense({.units = width}));
  BatchNormalization norm_ = sub("norm", BatchNormalization());
  Dropout drop_ = sub("drop", Dropout({.rate = 0.5}));
};

struct Result {
  std::vector<std::vector<double>> weights;  // after three steps
  std::size_t bytes = 0;                     // of a step's arena
};

/// Trains the model for three steps of one batch.
Result train(Model& model) {
  model.compile({.optimizer = SGD({.learning_rate = 0.1}), .loss = "mse"});
  model.fit(inputs(), random_tensor({samples, width}, DType::float32, 2),
            {.batch_size = samples, .epochs = 3, .verbose = false});
  Result out;
  for (const Tensor& weight : model.get_weights()) out.weights.push_back(weight.to_doubles());
  out.bytes = model.run_state()->last_plan->arena_bytes();
  return out;
}

using Make = std::function<std::unique_ptr<Model>()>;

/// Trains the models, made of the same seed. They must end with the same bits. Returns the second one's share of
/// memory.
double share_of_memory(const Make& kept, const Make& again) {
  const auto trained = [](const Make& make) {
    seed_everything(3);
    return train(*make());
  };
  const Result first = trained(kept), second = trained(again);
  BOOST_TEST(first.weights == second.weights);
  return static_cast<double>(second.bytes) / static_cast<double>(first.bytes);
}

std::unique_ptr<Model> deep(bool remat, const Policy& policy = {}) {
  auto model = std::make_unique<Sequential>(SequentialOptions{.dtype = policy});
  for (int i = 0; i < 8; ++i) {
    Block block;
    block.set_remat(remat);
    model->add(block);
  }
  return model;
}

/// The same layers in a functional model, with a residual sum around each.
std::unique_ptr<Model> functional(bool remat) {
  const Value x = Input({.shape = {width}});
  Value y = x;
  for (int i = 0; i < 8; ++i) {
    Block block;
    block.set_remat(remat);
    y = y + block(y);
  }
  return std::make_unique<Model>(ModelOptions{.inputs = {x}, .outputs = {y}});
}

/// Number of kernels of the op in a training step.
int kernels(const Model& model, const std::string& op) {
  int out = 0;
  for (const detail::Plan::Row& row : model.run_state()->last_plan->rows()) out += row.op == op ? 1 : 0;
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(remat)

BOOST_AUTO_TEST_CASE(marked_layers_give_the_same_bits_with_less_memory) {
  // Arrays that have no 16 bits, such as masks of dropout, are a larger part of the memory of a step in 16 bits.
  const std::pair<const char*, double> shares[] = {
      {"float32", 0.7}, {"mixed_bfloat16", 0.75}, {"mixed_float16", 0.75}, {"float64", 0.7}};
  for (const auto& [policy, most] : shares) {
    BOOST_TEST_CONTEXT(policy) {
      const std::string name = policy;
      BOOST_TEST(share_of_memory([&] { return deep(false, name); }, [&] { return deep(true, name); }) < most);
    }
  }
}

BOOST_AUTO_TEST_CASE(functional_models_compute_marked_layers_again) {
  BOOST_TEST(share_of_memory([] { return functional(false); }, [] { return functional(true); }) < 0.7);
}

// Each call keeps its own input, also those of one layer.
BOOST_AUTO_TEST_CASE(a_layer_that_is_called_several_times_keeps_the_input_of_each_call) {
  const auto shared = [](bool remat) {
    auto model = std::make_unique<Sequential>();
    Block block;
    block.set_remat(remat);
    for (int i = 0; i < 8; ++i) model->add(block);
    return model;
  };
  BOOST_TEST(share_of_memory([&] { return shared(false); }, [&] { return shared(true); }) < 0.7);
}

BOOST_AUTO_TEST_CASE(a_functional_model_that_is_called_twice_gives_the_same_bits) {
  const auto twice = [](bool remat) {
    const Any<Layer> inner(*functional(remat));
    const Value x = Input({.shape = {width}});
    return std::make_unique<Model>(ModelOptions{.inputs = {x}, .outputs = {inner(inner(x))}});
  };
  BOOST_TEST(share_of_memory([&] { return twice(false); }, [&] { return twice(true); }) < 0.7);
}

BOOST_AUTO_TEST_CASE(a_scope_marks_the_layers_of_models_but_not_models) {
  const auto scoped = [](const char* mode) {
    const RematScope scope({.mode = mode});
    auto model = std::make_unique<Sequential>();
    for (int i = 0; i < 8; ++i) model->add(Block());
    BOOST_TEST(!model->remat());
    BOOST_TEST(model->layers()[0]->remat() == (mode != std::string("none")));
    return model;
  };
  BOOST_TEST(share_of_memory([&] { return scoped("none"); }, [&] { return scoped("full"); }) < 0.7);
  BOOST_TEST(!Dense({.units = 1}).remat());
  const RematScope outer;
  {
    const RematScope inner({.mode = "none"});
    BOOST_TEST(!Dense({.units = 1}).remat());
  }
  BOOST_TEST(Dense({.units = 1}).remat());
}

BOOST_AUTO_TEST_CASE(a_threshold_counts_the_elements_of_a_sample) {
  const auto products = [](std::int64_t threshold) {
    const RematScope scope({.mode = "larger_than", .output_size_threshold = threshold});
    Sequential model({Dense({.units = width, .activation = "tanh"}), Dense({.units = width, .activation = "tanh"}),
                      Dense({.units = width})});
    train(model);
    return kernels(model, "matmul");
  };
  const int once = products(width), again = products(width - 1);
  BOOST_TEST(again > once);
}

BOOST_AUTO_TEST_CASE(the_mark_may_change_between_two_trainings) {
  Block block;
  Sequential model({block, Dense({.units = width})});
  const std::size_t kept = train(model).bytes;
  block.set_remat(true);
  BOOST_TEST(train(model).bytes < kept);
  block.set_remat(false);
  BOOST_TEST(train(model).bytes == kept);

  Block in_graph;
  const Value x = Input({.shape = {width}});
  Model graph({.inputs = {x}, .outputs = {Dense({.units = width})(in_graph(x))}});
  BOOST_TEST(train(graph).bytes == kept);
  in_graph.set_remat(true);
  BOOST_TEST(train(graph).bytes < kept);
}

BOOST_AUTO_TEST_CASE(blocks_of_a_gpt_are_computed_again) {
  const auto bytes = [](const char* mode) {
    const RematScope scope({.mode = mode});
    seed_everything(4);
    GPT model({.vocab_size = 11, .n_positions = 32, .n_embd = 16, .n_layer = 6, .n_head = 2});
    model.compile(
        {.optimizer = SGD({.learning_rate = 0.1}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
    const Tensor ids = random::randint({4, 32}, 0, 11, {.seed = 5}).tensor();
    const History history = model.fit(ids, ids, {.batch_size = 4, .epochs = 2, .verbose = false});
    return std::make_pair(model.run_state()->last_plan->arena_bytes(), history.history.at("loss"));
  };
  const auto kept = bytes("none"), again = bytes("full");
  BOOST_TEST(again.first < 0.6 * static_cast<double>(kept.first));
  BOOST_TEST(again.second == kept.second);
}

// Recurrent layers are loops; their step's values are kept by the loop's gradient.
BOOST_AUTO_TEST_CASE(recurrent_layers_give_the_same_bits) {
  const auto recurrent = [](bool remat) {
    LSTM lstm({.units = width, .dropout = 0.2, .recurrent_dropout = 0.2});
    lstm.set_remat(remat);
    const Value x = Input({.shape = {width}});
    return std::make_unique<Model>(ModelOptions{.inputs = {x}, .outputs = {lstm(reshape(x, {-1, 8, width / 8}))}});
  };
  share_of_memory([&] { return recurrent(false); }, [&] { return recurrent(true); });
}

BOOST_AUTO_TEST_CASE(clones_are_marked_and_inference_has_no_second_computation) {
  Block block;
  block.set_remat(true);
  Sequential model({block});
  model.predict(inputs());
  BOOST_TEST(kernels(model, "matmul") == 1);
  BOOST_TEST(clone(model).layers()[0]->remat());
}

BOOST_AUTO_TEST_CASE(a_profile_names_what_is_computed_again) {
  const auto model = deep(true);
  train(*model);
  BOOST_TEST(model->explain().find("(again)") != std::string::npos);
  const auto kept = deep(false);
  train(*kept);
  BOOST_TEST(kept->explain().find("(again)") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(wrong_options_are_refused) {
  check_throws<ValueError>("[RematScope] mode must be \"full\", \"larger_than\" or \"none\"; got \"activations\"",
                           [] { const RematScope scope({.mode = "activations"}); });
  check_throws<ValueError>("[RematScope] output_size_threshold must be at least 0; got -1",
                           [] { const RematScope scope({.mode = "larger_than", .output_size_threshold = -1}); });
}

BOOST_AUTO_TEST_SUITE_END()
