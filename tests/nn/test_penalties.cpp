// Regularizers, constraints and losses that layers add.
#include <mezzo/mezzo.hpp>

#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/graph/trace.hpp>
#include <mezzo/ops/gradients.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct AddsOptions {
  std::string name{};
  Policy dtype{};
};

/// Adds the mean of its input to the loss; a test of add_loss in a layer of a user's own.
class Adds : public Layer {
 public:
  explicit Adds(const AddsOptions& options = {}) : Layer("Adds", options) {}
  void build(const Shape&) override {}

 protected:
  Value call(const Value& x) override {
    add_loss(0.5 * mean(x));
    return x;
  }
};

Any<Regularizer> regularizer_of(const std::string& name) {
  if (name == "l1") return L1(0.3);
  if (name == "l2") return L2(0.2);
  if (name == "l1_l2") return L1L2(0.3, 0.2);
  if (name == "orthogonal rows") return OrthogonalRegularizer(0.5);
  if (name == "orthogonal columns") return OrthogonalRegularizer({.factor = 0.5, .mode = "columns"});
  return name.substr(5);  // "name l1"
}

Any<Constraint> constraint_of(const std::string& name) {
  if (name == "max_norm") return MaxNorm(1.2);
  if (name == "max_norm axis 1") return MaxNorm({.max_value = 0.7, .axis = 1});
  if (name == "max_norm of filters") return MaxNorm(0.7, {0, 1, 2});
  if (name == "min_max_norm") return MinMaxNorm(0.9, 1.1);
  if (name == "min_max_norm rate") return MinMaxNorm({.min_value = 0.9, .max_value = 1.1, .rate = 0.25});
  if (name == "unit_norm axis 1") return UnitNorm(1);
  return name;
}

/// The model of tests/parity/regularizers.py.
Model recorded_model(bool functional) {
  Dense hidden(5, {.activation = "tanh",
                   .kernel_regularizer = L2(0.1),
                   .activity_regularizer = L1(0.05),
                   .kernel_constraint = MaxNorm(0.9)});
  BatchNormalization norm({.gamma_regularizer = "l2", .beta_constraint = "non_neg"});
  Dense out(2, {.kernel_regularizer = OrthogonalRegularizer(0.3, "columns"),
                .bias_regularizer = L1(0.2),
                .bias_constraint = NonNeg()});
  const auto x = Input({3});
  if (functional) return Model(x, out(norm(hidden(x))));
  Sequential inner({hidden, norm, out});
  return Model(x, inner(x));
}

void check_fit(const std::string& name, bool functional, const Policy& policy, double tolerance) {
  const detail::PolicyScope scope(policy);
  const auto& expected = recorded("regularizers").at(name);
  Model model = recorded_model(functional);
  std::vector<Tensor> initial;
  for (const auto& array : expected.at("initial")) initial.push_back(recorded_tensor(array));
  model.set_weights(initial);
  model.compile({.optimizer = Adam({.learning_rate = 0.05}), .loss = "mse"});
  const Tensor x = recorded_tensor(expected.at("x")), y = recorded_tensor(expected.at("y"));
  const auto close = [&](double got, double wanted) { return std::abs(got - wanted) <= tolerance * std::abs(wanted); };
  const double before = model.evaluate(x, y, {.batch_size = 4}).at("loss");
  BOOST_TEST(close(before, expected.at("evaluate").get<double>()), before);
  const History history = model.fit(x, y, {.batch_size = 4, .epochs = 3, .verbose = false, .shuffle = false});
  for (std::size_t i = 0; i < 3; ++i) {
    const double got = history.history.at("loss")[i];
    BOOST_TEST(close(got, expected.at("loss")[i].get<double>()), "epoch " << i << ": " << got);
  }
  const std::vector<Tensor> final = model.get_weights();
  for (std::size_t i = 0; i < final.size(); ++i) {
    BOOST_TEST(largest_difference(final[i], recorded_tensor(expected.at("final")[i])) <= tolerance, "weight " << i);
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(penalties)

BOOST_AUTO_TEST_CASE(regularizers_equal_keras) {
  for (const auto& [name, row] : recorded("regularizers").at("penalties").items()) {
    const Any<Regularizer> regularizer = regularizer_of(name);
    Trace trace(Trace::Mode::eager);
    const Value x = trace.input("x", recorded_tensor(row.at("x")));
    const Value penalty = regularizer->call(x);
    BOOST_TEST(penalty.item() == row.at("value").get<double>(), boost::test_tools::tolerance(1e-12));
    const Tensor gradient = gradients(penalty, {x})[0].tensor();
    BOOST_TEST(largest_difference(gradient, recorded_tensor(row.at("gradient"))) < 1e-12, name);
  }
}

BOOST_AUTO_TEST_CASE(constraints_equal_keras) {
  for (const auto& [name, row] : recorded("regularizers").at("constraints").items()) {
    const Tensor x = recorded_tensor(row.at("x")), wanted = recorded_tensor(row.at("value"));
    BOOST_TEST(largest_difference(constraint_of(name)->call(x).tensor(), wanted) < 1e-12, name);
    const Tensor single = constraint_of(name)->call(x.cast(DType::float32)).tensor();
    BOOST_TEST(largest_difference(single, wanted.cast(DType::float32)) < 1e-6, name);
  }
  const Value zeros(Tensor({3, 2}, DType::float32));
  for (const char* name : {"max_norm", "min_max_norm", "unit_norm", "non_neg"}) {
    BOOST_TEST(Any<Constraint>(name)->call(zeros).tensor().equal(zeros.tensor()), name);
  }
}

BOOST_AUTO_TEST_CASE(orthogonal_rows_of_zeros_have_a_gradient) {
  Trace trace(Trace::Mode::eager);
  const Value x = trace.input("x", Tensor({2, 2}, DType::float64));
  for (const double g : gradients(OrthogonalRegularizer().call(x), {x})[0].tensor().to_doubles()) BOOST_TEST(g == 0);
}

BOOST_AUTO_TEST_CASE(fits_equal_keras) {
  for (const bool functional : {false, true}) {
    const std::string name = functional ? "fit functional" : "fit";
    check_fit(name, functional, "float64", 1e-10);
    check_fit(name, functional, "float32", 2e-5);
  }
  check_fit("fit", false, "mixed_bfloat16", 0.05);
}

BOOST_AUTO_TEST_CASE(losses_of_layers) {
  const Value x(Tensor({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}));
  Dense dense(2, {.kernel_initializer = "ones",
                  .bias_initializer = "ones",
                  .kernel_regularizer = L2(0.5),
                  .bias_regularizer = [](const Value& w) { return w * 3; },
                  .activity_regularizer = L1(1)});
  BOOST_TEST(dense.losses().empty());
  BOOST_TEST(dense.added_loss().item() == 0);
  for (int i = 0; i < 2; ++i) dense(x);  // the last call only: (7 + 7 + 16 + 16) / 2
  const Values losses = dense.losses();
  BOOST_TEST_REQUIRE(losses.size() == 3U);
  BOOST_TEST(losses[0].item() == 23);
  BOOST_TEST(losses[1].item() == 3);
  BOOST_TEST(losses[2].item() == 6);
  BOOST_TEST(dense.added_loss().item() == 32);
  dense.set_trainable(false);  // penalties of weights are those of trainable ones
  BOOST_TEST(dense.losses().size() == 1U);
  // As in Keras, each projection of attention has its activity regularizer: 4 x 6 ones, for a batch of one.
  MultiHeadAttention attention(1, 3, {.kernel_initializer = Constant(1.0 / 3), .activity_regularizer = L1(1)});
  const Value ones(Tensor({1, 2, 3}, std::vector<float>(6, 1)));
  attention(ones, ones);
  BOOST_TEST(attention.losses().size() == 4U);
  BOOST_TEST(attention.added_loss().item() == 24, boost::test_tools::tolerance(1e-5));
  Sequential model({Adds(), Adds()});
  model(x);
  BOOST_TEST(model.added_loss().item() == 3.5);
  const auto in = Input({3});
  Model functional(in, Adds()(Adds()(in)));
  functional(x);
  BOOST_TEST(functional.added_loss().item() == 3.5);
  functional(x * 2);
  BOOST_TEST(functional.added_loss().item() == 7);
  const Model nested(in, functional(in));
  Model copy = nested;
  copy(x);
  BOOST_TEST(copy.added_loss().item() == 3.5);
}

BOOST_AUTO_TEST_CASE(modules_add_the_losses_themselves) {
  class Fits : public Module {
   public:
    Value training_step(const Batch& batch) override { return mean(dense(batch["x"])) * 0 + added_loss(); }
    OptimizerConfigs configure_optimizers() override { return {{.optimizer = SGD({.learning_rate = 1})}}; }

    Dense dense = sub("dense", Dense(1, {.kernel_initializer = "ones", .kernel_regularizer = L1(0.25)}));
  };
  Fits fits;
  Trainer({.max_epochs = 1, .enable_progress_bar = false})
      .fit(fits, DataLoader(Dataset::from_tensors({{"x", Tensor({4, 2}), Role::input}}), {.batch_size = 4}));
  BOOST_TEST(fits.dense.get_weights()[0].to_doubles() == (std::vector<double>{0.75, 0.75}));
}

BOOST_AUTO_TEST_CASE(constraints_hold_after_every_step) {
  for (const char* policy : {"float32", "mixed_bfloat16", "bfloat16"}) {
    for (const bool split : {false, true}) {
      if (split && std::string(policy) != "mixed_bfloat16") continue;
      Sequential model({Embedding(6, 4, {.embeddings_constraint = "unit_norm"}), Flatten(),
                        Dense(2, {.kernel_constraint = MaxNorm(0.25), .bias_constraint = NonNeg()})},
                       {.dtype = policy});
      model.compile({.optimizer = Adam({.learning_rate = 0.5, .split_master_weights = split}), .loss = "mse"});
      const Tensor ids({4, 2}, std::vector<std::int32_t>{0, 1, 2, 3, 1, 1, 0, 2});
      model.fit(ids, Tensor({4, 2}, std::vector<float>{-9, 9, -9, 9, -9, 9, -9, 9}),
                {.batch_size = 2, .epochs = 3, .verbose = false});
      const auto weights = model.get_weights();
      const auto kernel = weights[1].to_doubles(), bias = weights[2].to_doubles();
      for (std::size_t column = 0; column < 2; ++column) {
        double square = 0;
        for (std::size_t i = column; i < kernel.size(); i += 2) square += kernel[i] * kernel[i];
        BOOST_TEST(std::sqrt(square) == 0.25, boost::test_tools::tolerance(0.01));
      }
      BOOST_TEST(bias[0] == 0);
      BOOST_TEST(bias[1] > 0);
      const auto table = weights[0].to_doubles();  // axis 0: the norm of each column
      for (std::size_t column = 0; column < 4; ++column) {
        double square = 0;
        for (std::size_t i = column; i < table.size(); i += 4) square += table[i] * table[i];
        BOOST_TEST(std::sqrt(square) == 1, boost::test_tools::tolerance(0.01));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(bad_options_are_refused) {
  BOOST_TEST(refused<ValueError>([] { L2(-1); }) == "[L1L2] l2 must be finite and not negative; got -1");
  BOOST_TEST(refused<NameError>([] { OrthogonalRegularizer(1, "row"); }) ==
             "[OrthogonalRegularizer] unknown mode \"row\"; valid names: columns, rows; nearest: \"rows\"");
  BOOST_TEST(refused<ShapeError>([] { OrthogonalRegularizer().call(Tensor({3})); }) ==
             "[OrthogonalRegularizer] the weight must be a matrix; got shape (3,)");
  BOOST_TEST(refused<NameError>([] { Dense(1, {.kernel_regularizer = "l3"}); }) ==
             "unknown regularizer \"l3\"; valid names: L1, L1L2, L2, OrthogonalRegularizer, l1, l1_l2, l2, "
             "orthogonal_regularizer; nearest: \"l1\"");
  BOOST_TEST(refused<NameError>([] { Dense(1, {.kernel_constraint = "norm"}); }) ==
             "unknown constraint \"norm\"; valid names: MaxNorm, MinMaxNorm, NonNeg, UnitNorm, max_norm, min_max_norm, "
             "non_neg, unit_norm; nearest: \"MaxNorm\"");
  BOOST_TEST(refused<ValueError>([] { MaxNorm(-1); }) == "[MaxNorm] max_value must not be negative; got -1");
  BOOST_TEST(refused<ValueError>([] { MinMaxNorm(2, 1); }) ==
             "[MinMaxNorm] max_value must not be below min_value; got min_value 2, max_value 1");
  BOOST_TEST(refused<ValueError>([] { MinMaxNorm({.rate = 2}); }) == "[MinMaxNorm] rate must lie in [0, 1]; got 2");
  BOOST_TEST(refused<ValueError>([] { Adds().add_loss(Value()); }) ==
             "[Adds] add_loss: the loss must be defined; got an undefined Value");
}

BOOST_AUTO_TEST_SUITE_END()
