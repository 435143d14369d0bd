// Training with products of int8: which products they are, their gradients and the losses that they give.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include <mezzo/compiler/kernel.hpp>
#include <mezzo/compiler/pipeline.hpp>
#include <mezzo/compiler/plan.hpp>
#include <mezzo/graph/trace.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/table_product.hpp>
#include <mezzo/training/step/int8_policy.hpp>

#include "support/captured.hpp"
#include "support/environment.hpp"
#include "support/folder.hpp"
#include "support/kernels.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr std::int64_t classes = 4, features = 20;

/// Points around a center for each class.
DataLoader points(std::int64_t samples = 256) {
  const Tensor noise = random_tensor({samples, features}, DType::float32, 7, -0.6, 0.6);
  const Tensor centers = random_tensor({classes, features}, DType::float32, 8, -1, 1);
  Tensor x = noise.copy();
  std::vector<std::int64_t> labels;
  for (std::int64_t i = 0; i < samples; ++i) {
    labels.push_back(i % classes);
    for (std::int64_t k = 0; k < features; ++k) {
      x.mutable_data<float>()[i * features + k] += centers.data<float>()[i % classes * features + k];
    }
  }
  return DataLoader(Dataset::from_tensors({{"x", x}, {"y", Tensor({samples}, labels), Role::target}}),
                    {.batch_size = 32});
}

Sequential compiled(Sequential model) {
  model.compile(
      {.optimizer = Adam({.learning_rate = 1e-2}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  model.build({32, features});
  return model;
}

Sequential three_layers(const Policy& policy = {}) {
  seed_everything(3);
  return compiled(Sequential(
      {Dense({.units = 64, .activation = "relu", .name = "first"}),
       Dense({.units = 64, .activation = "relu", .name = "middle"}), Dense({.units = classes, .name = "last"})},
      {.dtype = policy}));
}

Trainer trainer(Precision precision, bool eager = false) {
  return Trainer({.max_epochs = 2, .precision = std::move(precision), .enable_progress_bar = false, .eager = eager});
}

/// "first 1 0, ...": numbers of products of int8 and of others, by layer, in the model's last plan.
std::string products_of(const Module& model) {
  std::vector<std::string> paths;
  std::map<std::string, std::pair<int, int>> counts;
  for (const detail::Plan::Row& row : model.run_state()->last_plan->rows()) {
    if (row.op != "matmul" && row.op != "matmul int8") continue;
    if (counts.count(row.path) == 0) paths.push_back(row.path);
    ++(row.op == "matmul" ? counts[row.path].second : counts[row.path].first);
  }
  std::string text;
  for (const std::string& path : paths) {
    text += fmt::format("{}{} {} {}", text.empty() ? "" : ", ", path, counts[path].first, counts[path].second);
  }
  return text;
}

std::vector<double> epoch_losses(const Precision& precision, bool eager = false) {
  Sequential model = three_layers();
  return trainer(precision, eager).fit(model, points()).history.at("loss");
}

/// A block of a transformer and a head.
class Block : public Model {
 public:
  Block() : Model("Block") {}

 protected:
  Value call(const Value& x) override {
    const Value y = norm_(embedding_(x));
    return head_(mean(y + attention_(y, y), {.axes = {1}}));
  }

 private:
  Embedding embedding_ = sub("embedding", Embedding({.input_dim = 16, .output_dim = 32}));
  LayerNormalization norm_ = sub("norm", LayerNormalization());
  MultiHeadAttention attention_ = sub("attention", MultiHeadAttention({.num_heads = 2, .key_dim = 16}));
  Dense head_ = sub("head", Dense({.units = classes}));
};

constexpr const char* products_in_int8 = "p=f32,c=f32,products=int8";

/// A product in a policy with int8, and its gradients.
struct Product {
  template <class Multiply>
  Product(const Shape& shape, const Multiply& multiply) : weight(random_tensor(shape, DType::float32, 2)) {
    const detail::PolicyScope scope{Policy(products_in_int8)};
    Trace trace(Trace::Mode::eager, true);
    const Value a = trace.input("a", x), b = trace.input("b", weight);
    const Value product = multiply(a, b);
    const Values gradients = mezzo::gradients(sum(product * cotangent), {a, b});
    y = product.tensor();
    of_x = gradients[0].tensor();
    of_weight = gradients[1].tensor();
  }

  Tensor x = random_tensor({6, 8}, DType::float32, 1), weight;
  Tensor cotangent = random_tensor({6, 5}, DType::float32, 3);
  Tensor y, of_x, of_weight;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(int8_training)

BOOST_AUTO_TEST_CASE(by_name_the_trainer_leaves_out_the_first_and_last_layer) {
  const bool fast =
      detail::int8_policy(three_layers(), true) == detail::completed_policy("mixed_int8", true, three_layers());
  for (const char* name : {"int8-mixed", "mixed_int8"}) {
    Sequential model = three_layers();
    trainer(name).fit(model, points());
    // Forward pass and gradient of the inputs in int8, the gradient of the kernel in the compute dtype.
    BOOST_TEST(products_of(model) == "first 0 2, middle 2 1, last 0 3");
    BOOST_TEST((model.get_layer("middle").dtype_policy() == Policy("mixed_int8")) == fast);
    BOOST_TEST((model.weights()[0].dtype() == DType::float32));
  }
}

BOOST_AUTO_TEST_CASE(a_model_without_layers_for_int8_is_named_once) {
  const auto output_of = [](Sequential model, Precision precision) {
    const CapturedOutput output;
    trainer(std::move(precision)).fit(model, points());
    return output.text();
  };
  const auto two_layers = [] { return compiled(Sequential({Dense(8), Dense(classes)})); };
  const std::string warning =
      "mezzo: warning: [Trainer] precision int8-mixed computes no product in int8: the first and the last layer with a "
      "matrix are left out, and no other layer has such a product; Policy(\"mixed_int8\") leaves none out\n";
  const std::string text = output_of(two_layers(), "int8-mixed");
  BOOST_TEST(text.find(warning) != text.npos, text);
  BOOST_TEST(text.find(warning) == text.rfind(warning), text);
  const std::string part = "computes no product in int8";
  BOOST_TEST(output_of(three_layers(), "int8-mixed").find(part) == std::string::npos);
  BOOST_TEST(output_of(two_layers(), Policy("mixed_int8")).find(part) == std::string::npos);
  BOOST_TEST(output_of(two_layers(), "bf16").find(part) == std::string::npos);
}

BOOST_AUTO_TEST_CASE(gradients_of_kernels_may_have_8_bits) {
  const Policy tiles("p=f32,c=f32,products=int8_tiles");
  Sequential model = three_layers(tiles);
  const History history = trainer(Precision()).fit(model, points());
  int by_tiles = 0;
  for (const detail::Plan::Row& row : model.run_state()->last_plan->rows()) by_tiles += row.op == "tile_matmul" ? 1 : 0;
  BOOST_TEST(by_tiles == 3);
  BOOST_TEST(products_of(model) == "first 1 0, middle 2 0, last 2 0");
  // A seed decides the rounding, in plans as in eager steps.
  Sequential again = three_layers(tiles), eager = three_layers(tiles);
  const std::vector<double> losses = history.history.at("loss");
  BOOST_TEST(trainer(Precision()).fit(again, points()).history.at("loss") == losses);
  const std::vector<double> of_eager = trainer(Precision(), true).fit(eager, points()).history.at("loss");
  const std::vector<double> wide = epoch_losses("p=f32,c=f32,products=int8");
  BOOST_TEST(losses != wide);
  for (std::size_t i = 0; i < losses.size(); ++i) {
    BOOST_CHECK_CLOSE_FRACTION(of_eager[i], losses[i], 1e-4);
    BOOST_CHECK_CLOSE_FRACTION(losses[i], wide[i], 0.05);  // the two formats round differently
  }
}

BOOST_AUTO_TEST_CASE(the_policy_itself_is_for_every_layer) {
  Sequential own = three_layers("mixed_int8");
  own.fit(points(), {.epochs = 1, .verbose = false});
  BOOST_TEST(products_of(own) == "first 1 1, middle 2 1, last 2 1");
  Sequential given = three_layers();
  trainer(Policy("mixed_int8")).fit(given, points());
  BOOST_TEST(products_of(given) == "first 1 1, middle 2 1, last 2 1");
  Sequential mapped = three_layers();
  const PolicyMap map({.default_policy = "mixed_bfloat16", .policies = {{"last", "mixed_int8"}}});
  trainer(map).fit(mapped, points());
  BOOST_TEST(products_of(mapped) == "first 0 2, middle 0 3, last 2 1");
}

BOOST_AUTO_TEST_CASE(calls_outside_of_training_use_them_too) {
  Sequential model = three_layers();
  const Tensor narrow = trainer("bf16").predict(model, points(32));
  const Tensor int8 = trainer("int8-mixed").predict(model, points(32));
  BOOST_TEST(products_of(model) == "first 0 1, middle 1 0, last 0 1");
  BOOST_TEST(!int8.equal(narrow));
  BOOST_TEST(largest_difference(int8, narrow) < 0.1);
  trainer("int8-mixed").validate(model, points(32));
  BOOST_TEST(products_of(model) == "first 0 1, middle 1 0, last 0 1");
  Predictor predictor(model, {.precision = "int8-mixed"});
  const Tensor x = random_tensor({32, features}, DType::float32, 4);
  const DataLoader loader(Dataset::from_tensors({{"x", x}}), {.batch_size = 32});
  BOOST_TEST(largest_difference(predictor(x), trainer("int8-mixed").predict(model, loader)) < 1e-2);
}

BOOST_AUTO_TEST_CASE(functional_models_and_attention) {
  seed_everything(3);
  const Value x = Input({features});
  const Value y = Dense({.units = 16, .name = "b"})(Dense({.units = 16, .name = "a"})(x));
  Model functional(x, Dense({.units = classes, .name = "c"})(y));
  functional.compile({.loss = SparseCategoricalCrossentropy({.from_logits = true})});
  trainer("int8-mixed").fit(functional, points());
  BOOST_TEST(products_of(functional) == "a 0 2, b 2 1, c 0 3");
  trainer("bf16").fit(functional, points());
  BOOST_TEST(products_of(functional) == "a 0 2, b 0 3, c 0 3");

  Block block;
  block.compile({.loss = SparseCategoricalCrossentropy({.from_logits = true})});
  const DataLoader tokens(Dataset::from_tensors({{"x", random::randint({64, 8}, 0, 16)},
                                                 {"y", random::randint({64}, 0, classes), Role::target}}),
                          {.batch_size = 32});
  trainer("int8-mixed").fit(block, tokens);
  const std::string products = products_of(block);
  for (const char* projection : {"query", "key", "value", "output"}) {
    BOOST_TEST(products.find(fmt::format("{} 2 1", projection)) != std::string::npos, products);
  }
  BOOST_TEST(products.find("head 0 3") != std::string::npos, products);
}

BOOST_AUTO_TEST_CASE(gradients_of_inputs_are_int8_and_those_of_kernels_are_not) {
  const Product product({8, 5},
                        [](const Value& x, const Value& kernel) { return detail::matmul_of_kernel(x, kernel); });
  const auto int8 = [](const Tensor& left, const Tensor& right, bool transpose_b) {
    return run_reference("matmul",
                         {{"transpose_a", false}, {"transpose_b", transpose_b}, {"products", std::string("int8")}},
                         {left, right})
        .front();
  };
  BOOST_TEST(product.y.equal(int8(product.x, product.weight, false)));
  BOOST_TEST(product.of_x.equal(int8(product.cotangent, product.weight, true)));
  const Tensor plain =
      run_reference("matmul", {{"transpose_a", true}, {"transpose_b", false}}, {product.x, product.cotangent}).front();
  BOOST_TEST(largest_difference(product.of_weight, plain) < 1e-5);
}

BOOST_AUTO_TEST_CASE(gradients_of_tables_are_not_int8) {
  const Product product({5, 8}, [](const Value& x, const Value& table) { return detail::matmul_of_table(x, table); });
  const Tensor &x = product.x, &table = product.weight, &cotangent = product.cotangent;
  const auto multiply = [](const Tensor& left, const Tensor& right, bool transpose_a, bool transpose_b, bool int8) {
    Attributes attributes{{"transpose_a", transpose_a}, {"transpose_b", transpose_b}};
    if (int8) attributes.set("products", std::string("int8"));
    return run_reference("matmul", attributes, {left, right}).front();
  };
  BOOST_TEST(product.y.equal(multiply(x, table, false, true, true)));
  BOOST_TEST(product.of_x.equal(multiply(cotangent, table, false, false, true)));
  BOOST_TEST(largest_difference(product.of_weight, multiply(cotangent, x, true, false, false)) < 1e-5);
  const detail::PolicyScope scope{Policy(products_in_int8)};
  const auto off = disable_casts();
  BOOST_TEST(detail::matmul_of_table(x, table).tensor().equal(matmul(x, table, {.transpose_b = true}).tensor()));
}

// A language model's table is its first and its last layer.
BOOST_AUTO_TEST_CASE(logits_of_tied_tables) {
  const DataLoader tokens(Dataset::from_tensors({{"x", random::randint({32, 8}, 0, 16)},
                                                 {"y", random::randint({32, 8}, 0, 16), Role::target}}),
                          {.batch_size = 32});
  const auto logits = [&](const Precision& precision) {
    GPT model({.vocab_size = 16, .n_positions = 8, .n_embd = 32, .n_layer = 2, .n_head = 2});
    model.compile({.optimizer = Adam(), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
    trainer(precision).fit(model, tokens);
    std::string ops;
    for (const detail::Plan::Row& row : model.run_state()->last_plan->rows()) {
      if (row.path.empty() && row.op.rfind("matmul", 0) == 0) ops += row.op + ", ";
    }
    return ops;
  };
  BOOST_TEST(logits(Policy("mixed_int8")) == "matmul int8, matmul int8, matmul, ");
  BOOST_TEST(logits("int8-mixed") == "matmul, matmul, matmul, ");
}

BOOST_AUTO_TEST_CASE(passes_fuse_them_and_keep_them_apart_from_others) {
  const detail::PolicyScope scope{Policy(products_in_int8)};
  Trace trace(Trace::Mode::graph, false);
  const Spec square{{8, 8}, DType::float32};
  const Value x = trace.input("x", square), kernel = trace.input("kernel", square);
  const Value bias = trace.input("bias", Spec{{8}, DType::float32});
  trace.output("int8", relu(bias_add(detail::matmul_of_kernel(x, kernel), bias)));
  trace.output("twice", detail::matmul_of_kernel(x, kernel) * 2);
  trace.output("again", detail::matmul_of_kernel(x, kernel) * 3);
  trace.output("plain", matmul(x, kernel));
  std::string products;
  const Graph graph = run_passes(trace.graph(), {});
  for (const detail::NodePtr& node : graph.nodes) {
    if (node->op->name != "matmul") continue;
    products += fmt::format("{}{} of {}; ", node->attributes.has("products") ? "int8" : "plain",
                            node->attributes.has("epilogue") ? " with relu" : "", node->inputs.size());
  }
  BOOST_TEST(products == "int8 of 2; plain of 2; ");  // three equal ones are one node, which the bias doesn't join
  Trace single(Trace::Mode::graph, false);
  const Value a = single.input("x", square), b = single.input("kernel", square);
  const Value c = single.input("bias", Spec{{8}, DType::float32});
  single.output("int8", relu(bias_add(detail::matmul_of_kernel(a, b), c)));
  const Graph fused = run_passes(single.graph(), {});
  BOOST_TEST(fused.nodes.back()->attributes.has("products"));
  BOOST_TEST(fused.nodes.back()->attributes.has("epilogue"));
  BOOST_TEST(fused.nodes.back()->inputs.size() == 3U);
}

BOOST_AUTO_TEST_CASE(computed_again_they_are_the_same) {
  const auto trained = [](bool again) {
    seed_everything(3);
    Sequential model = compiled(Sequential({Dense({.units = 16, .activation = "relu", .name = "first"}),
                                            Dense({.units = 16, .activation = "relu", .name = "middle"}),
                                            Dense({.units = classes, .name = "last"})}));
    if (again) model.get_layer("middle").set_remat(true);
    return trainer(Policy(products_in_int8)).fit(model, points()).history.at("loss").back();
  };
  BOOST_TEST(trained(true) == trained(false), boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(casts_turned_off_turn_them_off) {
  const Value x = random_tensor({6, 8}, DType::float32, 1), kernel = random_tensor({8, 5}, DType::float32, 2);
  const detail::PolicyScope scope{Policy(products_in_int8)};
  const Tensor int8 = detail::matmul_of_kernel(x, kernel).tensor();
  const auto off = disable_casts();
  BOOST_TEST(!detail::matmul_of_kernel(x, kernel).tensor().equal(int8));
  BOOST_TEST(detail::matmul_of_kernel(x, kernel).tensor().equal(matmul(x, kernel).tensor()));
}

BOOST_AUTO_TEST_CASE(losses_follow_those_of_16_bits) {
  const std::vector<double> narrow = epoch_losses("bf16"), int8 = epoch_losses("int8-mixed");
  const std::vector<double> all = epoch_losses(Policy("mixed_int8"));
  for (std::size_t epoch = 0; epoch < narrow.size(); ++epoch) {
    BOOST_TEST(int8[epoch] == narrow[epoch], boost::test_tools::tolerance(0.05));
    BOOST_TEST(all[epoch] == narrow[epoch], boost::test_tools::tolerance(0.05));
    BOOST_TEST(int8[epoch] != narrow[epoch]);
  }
}

BOOST_AUTO_TEST_CASE(eager_steps_compute_the_same) {
  // In bfloat16 plans round less than single ops, since they fuse bias and ReLU.
  const Policy policy("p=f32,c=f32,products=int8");
  const std::vector<double> planned = epoch_losses(policy), eager = epoch_losses(policy, true);
  for (std::size_t i = 0; i < planned.size(); ++i) {
    BOOST_TEST(eager[i] == planned[i], boost::test_tools::tolerance(1e-4));
  }
}

BOOST_AUTO_TEST_CASE(slow_bfloat16_leaves_float32) {
  const Policy policy = detail::int8_policy(three_layers(), false);
  BOOST_TEST(policy.name() ==
             "PolicyMap(\"first\": float32, \"last\": float32, default: p=float32,c=float32,o=float32,products=int8)");
  BOOST_TEST(detail::int8_policy(three_layers(), true).name() ==
             "PolicyMap(\"first\": mixed_bfloat16, \"last\": mixed_bfloat16, default: mixed_int8)");
  Sequential model = three_layers();
  trainer(policy).fit(model, points());
  BOOST_TEST(products_of(model) == "first 0 2, middle 2 1, last 0 3");
}

BOOST_AUTO_TEST_CASE(files_keep_the_policy) {
  const Folder folder;
  Sequential model = three_layers("mixed_int8");
  model.save(folder.path("model.mezzo"));
  auto read = load_model(folder.path("model.mezzo"));
  BOOST_TEST((read->dtype_policy() == Policy("mixed_int8")));
  BOOST_TEST(read->predict(random_tensor({4, features})).equal(model.predict(random_tensor({4, features}))));
  Sequential trained = three_layers();
  trainer("int8-mixed").fit(trained, points());
  trained.save(folder.path("trained.mezzo"));
  BOOST_TEST((load_model(folder.path("trained.mezzo"))->dtype_policy() == Policy("float32")));
}

BOOST_AUTO_TEST_CASE(summary_explain_and_notices) {
  const Environment on("MEZZO_WARN_SLOW_POLICY", "1");
  const CapturedOutput output;
  Sequential model = three_layers("mixed_int8");
  model.fit(points(), {.epochs = 1, .verbose = false});
  BOOST_TEST(model.summary_text().find("bfloat16, int8 products") != std::string::npos);
  BOOST_TEST(model.explain().find("matmul int8") != std::string::npos);
  const std::vector<detail::Plan::Row> rows = model.run_state()->last_plan->rows();
  const bool emulated =
      std::none_of(rows.begin(), rows.end(), [](const detail::Plan::Row& row) { return row.kernel == "int8"; });
  const std::string notice = "[Trainer] products of int8 are emulated on this CPU";
  BOOST_TEST((output.text().find(notice) != std::string::npos) == emulated);
}

BOOST_AUTO_TEST_CASE(auto_int8_tries_it) {
  const CapturedOutput output;
  Sequential model = three_layers();
  trainer("auto-int8").fit(model, points());
  BOOST_TEST(output.text().find("[Trainer] precision \"auto-int8\" is ") != std::string::npos);
  BOOST_TEST(output.text().find("mixed_int8 ") != std::string::npos);
  trainer("auto-int8").predict(model, points(32));  // keeps the choice
}

BOOST_AUTO_TEST_SUITE_END()
