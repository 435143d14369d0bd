// The five loops of docs/training_loops.md beside PyTorch's, from the same weights and data, at once and compiled.
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include "training/custom_loops/torch_loops.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr double tolerance = 1e-5;
const auto modes = boost::unit_test::data::make({false, true});

const nlohmann::json& row_of(const char* name) { return recorded("training_loops").at(name); }

/// Batches of the recorded classification.
struct Classes {
  explicit Classes(const char* name) : x(recorded_tensor(row_of(name).at("x"))) {
    y = Tensor({4, 8}, row_of("plain").at("y").get<std::vector<std::int64_t>>());
  }
  std::vector<Tensor> batch(int step) const { return {entry(x, step % 4), entry(y, step % 4)}; }
  Tensor x, y;
};

const SparseCategoricalCrossentropy crossentropy({.from_logits = true});
const AdamOptions adam{.learning_rate = 0.02, .epsilon = 1e-12};

}  // namespace

BOOST_AUTO_TEST_SUITE(torch_loops)

BOOST_DATA_TEST_CASE(plain, modes, compiled) {
  const auto& row = row_of("plain");
  Sequential model = recorded_network(row.at("first"));
  Adam optimizer(adam);
  Loop step(compiled, [&](const Values& batch) {
    const auto [loss, gradients] = value_and_grad(model, [&] { return crossentropy(batch[1], model(batch[0])); });
    optimizer.apply(gradients);
    return Values{loss};
  });
  const Classes data("plain");
  for (int i = 0; i < 20; ++i)
    BOOST_TEST(std::abs(step(data.batch(i))[0] - row["losses"][i].get<double>()) < tolerance);
  BOOST_TEST(optimizer.iterations() == 20);
  check_weights(model, row.at("last"));
}

BOOST_DATA_TEST_CASE(accumulation_with_clipping, modes, compiled) {
  const auto& row = row_of("accumulation");
  Sequential model = recorded_network(row.at("first"));
  SGD optimizer({.learning_rate = 0.2, .momentum = 0.9});
  Loop update(compiled, [&](const Values& batches) {
    Gradients sum;
    Values out;
    for (std::size_t i = 0; i < batches.size(); i += 2) {
      const auto [loss, gradients] =
          value_and_grad(model, [&] { return crossentropy(batches[i + 1], model(batches[i])); });
      add_gradients(sum, gradients, 0.25);
      out.push_back(loss);
    }
    out.push_back(clip_grad_norm(sum, 0.3));
    optimizer.apply(sum);
    return out;
  });
  const Classes data("plain");
  for (int i = 0; i < 24; i += 4) {
    std::vector<Tensor> batches;
    for (int k = i; k < i + 4; ++k) {
      for (const Tensor& array : data.batch(k)) batches.push_back(array);
    }
    const std::vector<double> out = update(batches);
    for (int k = 0; k < 4; ++k) {
      BOOST_TEST(std::abs(out[static_cast<std::size_t>(k)] - row["losses"][i + k].get<double>()) < tolerance);
    }
    BOOST_TEST(std::abs(out[4] - row["norms"][i / 4].get<double>()) < tolerance);
  }
  BOOST_TEST(optimizer.iterations() == 6);
  check_weights(model, row.at("last"));
}

BOOST_DATA_TEST_CASE(accumulation_by_the_optimizer, modes, compiled) {
  const auto& row = row_of("accumulation");
  Sequential model = recorded_network(row.at("first"));
  SGD optimizer({.learning_rate = 0.2, .momentum = 0.9, .global_clipnorm = 0.3, .gradient_accumulation_steps = 4});
  Loop step(compiled, [&](const Values& batch) {
    const auto [loss, gradients] = value_and_grad(model, [&] { return crossentropy(batch[1], model(batch[0])); });
    optimizer.apply(gradients);
    return Values{loss};
  });
  const Classes data("plain");
  for (int i = 0; i < 24; ++i)
    BOOST_TEST(std::abs(step(data.batch(i))[0] - row["losses"][i].get<double>()) < tolerance);
  BOOST_TEST(optimizer.iterations() == 6);
  check_weights(model, row.at("last"));
}

BOOST_DATA_TEST_CASE(gan_with_frequencies, modes, compiled) {
  const auto& row = row_of("gan");
  Sequential generator = recorded_network(row.at("first")), critic = recorded_network(row.at("first"), 4);
  Adam of_critic({.learning_rate = 0.02, .beta_1 = 0.5, .beta_2 = 0.9, .epsilon = 1e-12});
  Adam of_generator({.learning_rate = 0.05, .beta_1 = 0.5, .beta_2 = 0.9, .epsilon = 1e-12});
  Loop step(compiled, [&](const Values& in) {
    const Value fake = generator(in[1]);
    const auto [loss, gradients] = value_and_grad(critic, [&] { return mean(critic(fake)) - mean(critic(in[0])); });
    of_critic.apply(gradients);
    const auto [cost, slopes] = value_and_grad(generator, [&] { return -mean(critic(generator(in[1]))); });
    of_generator.apply(slopes, {.condition = equal(mod(in[2], 5), 4)});
    return Values{loss, cost};
  });
  const Tensor real = recorded_tensor(row.at("real")), noise = recorded_tensor(row.at("noise"));
  for (int i = 0; i < 20; ++i) {
    const auto out = step({entry(real, i), entry(noise, i), Tensor::scalar(i, DType::float32)});
    BOOST_TEST(std::abs(out[0] - row["losses"][i][0].get<double>()) < tolerance);
    BOOST_TEST(std::abs(out[1] - row["losses"][i][1].get<double>()) < tolerance);
  }
  BOOST_TEST(of_critic.iterations() == 20);
  BOOST_TEST(of_generator.iterations() == 4);
  check_weights(generator, row.at("last"));
  check_weights(critic, row.at("last"), 4);
}

BOOST_DATA_TEST_CASE(loss_scaling, modes, compiled) {
  const auto& row = row_of("scaled");
  Sequential model = recorded_network(row.at("first"));
  Adam optimizer(adam);
  GradScaler scaler({.init_scale = 0x1p127, .growth_interval = 3});
  const SparseCategoricalCrossentropy summed({.from_logits = true, .reduction = "sum"});
  Loop step(compiled, [&](const Values& batch) {
    const auto [scaled, gradients, aux] = value_and_grad(model, [&] {
      const Value loss = summed(batch[1], model(batch[0]));
      return std::pair(scaler.scale(loss), Values{loss});
    });
    Gradients unscaled = scaler.unscale(optimizer, gradients);
    clip_grad_norm(unscaled, 1.0);
    scaler.step(optimizer, unscaled);
    scaler.update();
    return aux;
  });
  const Classes data("scaled");
  for (int i = 0; i < 20; ++i) {
    const double expected = row["losses"][i].get<double>();
    BOOST_TEST(std::abs(step(data.batch(i))[0] - expected) < tolerance * expected);
    BOOST_TEST(scaler.get_scale() == row["scales"][i].get<double>());
  }
  BOOST_TEST(optimizer.iterations() == row.at("updates").get<int>());
  check_weights(model, row.at("last"));
}

BOOST_DATA_TEST_CASE(meta_gradient, modes, compiled) {
  const auto& row = row_of("meta");
  Sequential model = recorded_network(row.at("first"));
  Adam optimizer(adam);
  const auto error_of = [&](const Values& weights, const Value& x, const Value& y) {
    return mean(square(functional_call(model, weights, x) - y));
  };
  Loop step(compiled, [&](const Values& task) {
    const auto [loss, gradients] = value_and_grad(model, [&] {
      const std::vector<Variable> weights = model.trainable_weights();
      Values fast(weights.begin(), weights.end());
      for (int i = 0; i < 2; ++i) {
        const Values slopes = grad([&](const Values& at) { return error_of(at, task[0], task[1]); })(fast);
        for (std::size_t k = 0; k < fast.size(); ++k) fast[k] = fast[k] - 0.1 * slopes[k];
      }
      return error_of(fast, task[2], task[3]);
    });
    optimizer.apply(gradients);
    return Values{loss};
  });
  const Tensor x = recorded_tensor(row.at("x")), y = recorded_tensor(row.at("y"));
  for (int i = 0; i < 10; ++i) {
    const Tensor xs = entry(x, i), ys = entry(y, i);
    const double loss = step({entry(xs, 0), entry(ys, 0), entry(xs, 1), entry(ys, 1)})[0];
    BOOST_TEST(std::abs(loss - row["losses"][i].get<double>()) < tolerance);
  }
  BOOST_TEST(optimizer.iterations() == 10);
  check_weights(model, row.at("last"));
}

BOOST_AUTO_TEST_SUITE_END()
