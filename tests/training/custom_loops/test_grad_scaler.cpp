#include <boost/test/unit_test.hpp>

#include <limits>

#include <mezzo/mezzo.hpp>

#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A weight of two elements at 0, with its optimizer.
struct Line {
  Line() { weight.assign(Tensor({2})); }
  Gradients gradients(float second) const { return {{"w", weight, Value(Tensor({2}, std::vector<float>{1, second}))}}; }
  Variable weight{"w"};
  SGD optimizer{0.5};
};

GradScalerOptions options_of(const nlohmann::json& json) {
  const GradScalerOptions plain;
  return {.init_scale = json.value("init_scale", plain.init_scale),
          .growth_factor = json.value("growth_factor", plain.growth_factor),
          .backoff_factor = json.value("backoff_factor", plain.backoff_factor),
          .growth_interval = json.value("growth_interval", plain.growth_interval)};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(grad_scaler)

BOOST_AUTO_TEST_CASE(scales_are_those_of_torch) {
  for (const auto& row : recorded("training_loops").at("scales")) {
    for (const bool compiled : {false, true}) {
      Line line;
      GradScaler scaler(options_of(row.at("options")));
      const auto run = [&](const Values& second) {
        Gradients gradients = line.gradients(1);
        gradients[0].value = gradients[0].value * second[0];
        scaler.step(line.optimizer, gradients);
        scaler.update();
        return Values{second[0]};
      };
      StepFunction step = compile_step(run);
      std::size_t i = 0;
      for (const char overflows : row.at("overflows").get<std::string>()) {
        const Tensor factor = Tensor::scalar(overflows == '1' ? infinity : 1, DType::float32);
        if (compiled) {
          step({factor});
        } else {
          run({Value(factor)});
        }
        BOOST_TEST(scaler.get_scale() == row["rows"][i][0].get<double>());
        BOOST_TEST(scaler.state().growth_tracker == row["rows"][i++][1].get<int>());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_step_divides_gradients_by_the_scale) {
  Line line;
  GradScaler scaler({.init_scale = 4});
  scaler.step(line.optimizer, line.gradients(8));
  BOOST_TEST(line.weight.value().to_doubles() == (std::vector<double>{-0.125, -1}));
  scaler.update();
  Gradients unscaled = scaler.unscale(line.optimizer, line.gradients(8));
  BOOST_TEST(unscaled[0].value.tensor().to_doubles() == (std::vector<double>{0.25, 2}));
  scaler.step(line.optimizer, unscaled);
  BOOST_TEST(line.weight.value().to_doubles() == (std::vector<double>{-0.25, -2}));
  BOOST_TEST(scaler.scale(Value(Tensor::scalar(1.5, DType::float16))).item() == 6);
  BOOST_TEST((scaler.scale(Value(Tensor::scalar(1.5, DType::float16))).dtype() == DType::float32));
}

BOOST_AUTO_TEST_CASE(one_overflow_skips_that_optimizer_and_lowers_the_scale) {
  Line first, second;
  GradScaler scaler({.init_scale = 4});
  scaler.step(first.optimizer, first.gradients(infinity));
  scaler.step(second.optimizer, second.gradients(4));
  scaler.update();
  BOOST_TEST(first.optimizer.iterations() == 0);
  BOOST_TEST(second.optimizer.iterations() == 1);
  BOOST_TEST(first.weight.value().to_doubles() == (std::vector<double>{0, 0}));
  BOOST_TEST(scaler.get_scale() == 2);
}

BOOST_AUTO_TEST_CASE(a_disabled_scaler_only_updates) {
  Line line;
  GradScaler scaler({.enabled = false});
  BOOST_TEST(scaler.scale(Value(2.0)).item() == 2);
  scaler.step(line.optimizer, scaler.unscale(line.optimizer, line.gradients(2)));
  scaler.update();
  BOOST_TEST(line.weight.value().to_doubles() == (std::vector<double>{-0.5, -1}));
  BOOST_TEST(scaler.get_scale() == 1);
}

BOOST_AUTO_TEST_CASE(calls_in_another_order_are_refused) {
  Line line;
  GradScaler scaler;
  BOOST_TEST(refused<ValueError>([&] { scaler.update(); }) ==
             "[GradScaler] update must follow step() or unscale(), in compile_step() within the same function; got a "
             "call without");
  const Gradients unscaled = scaler.unscale(line.optimizer, line.gradients(1));
  BOOST_TEST(refused<ValueError>([&] { scaler.unscale(line.optimizer, unscaled); }) ==
             "[GradScaler] unscale must be called once for each optimizer between calls of update(); got a second call "
             "for SGD");
  scaler.step(line.optimizer, unscaled);
  BOOST_TEST(
      refused<ValueError>([&] { scaler.step(line.optimizer, unscaled); }) ==
      "[GradScaler] step must be called once for each optimizer between calls of update(); got a second call for "
      "SGD");
  BOOST_TEST(refused<ValueError>([&] { scaler.unscale(line.optimizer, unscaled); }) ==
             "[GradScaler] unscale must be called before step(); got a call after it, for SGD");
  scaler.update();
  BOOST_TEST(refused<ValueError>([&] {
               compile_step([&](const Values& x) {
                 scaler.update();
                 return x[0];
               })({1.0});
             }).find("[GradScaler] update must follow step()") == 0U);
  BOOST_TEST(
      refused<ValueError>([&] { compile_step([&](const Values& x) { return x[0] * scaler.get_scale(); })({1.0}); }) ==
      "[GradScaler] get_scale() must be called between steps; got a call inside the function of "
      "compile_step, which runs only when a plan is made: scale() reads the scale of each run");
}

BOOST_AUTO_TEST_CASE(a_failed_trace_leaves_no_calls_behind) {
  Line line;
  GradScaler scaler;
  const auto fails = [&](const Values& x) -> Value {
    scaler.step(line.optimizer, line.gradients(1));
    return x[0] + Value(Tensor({2}))(5);
  };
  for (int i = 0; i < 2; ++i) BOOST_CHECK_THROW(compile_step(std::function<Value(const Values&)>(fails))({1.0}), Error);
  scaler.step(line.optimizer, line.gradients(1));
  scaler.update();
  BOOST_TEST(line.optimizer.iterations() == 1);
}

BOOST_AUTO_TEST_CASE(the_scale_can_be_set) {
  GradScaler scaler({.init_scale = 8});
  scaler.update(32);
  BOOST_TEST(scaler.get_scale() == 32);
  scaler.set_state({.scale = 0.5, .growth_tracker = 7});
  BOOST_TEST(scaler.state().scale == 0.5);
  BOOST_TEST(scaler.state().growth_tracker == 7);
  BOOST_TEST(refused<ValueError>([&] { scaler.update(-1); }) ==
             "[GradScaler] update: new_scale must be greater than 0 and finite in float32; got -1");
  BOOST_TEST(refused<ValueError>([&] { scaler.set_state({.growth_tracker = -1}); }) ==
             "[GradScaler] state: growth_tracker must be at least 0; got -1");
}

BOOST_AUTO_TEST_CASE(options_out_of_their_range_are_refused) {
  const auto text = [](const GradScalerOptions& options) { return refused<ValueError>([&] { GradScaler{options}; }); };
  BOOST_TEST(text({.init_scale = 1e39}) ==
             "[GradScaler] init_scale must be greater than 0 and finite in float32; got 1e+39");
  BOOST_TEST(text({.growth_factor = 1}) == "[GradScaler] growth_factor must be finite and greater than 1; got 1");
  BOOST_TEST(text({.backoff_factor = 1}) == "[GradScaler] backoff_factor must be between 0 and 1; got 1");
  BOOST_TEST(text({.growth_interval = 0}) == "[GradScaler] growth_interval must be at least 1; got 0");
}

BOOST_AUTO_TEST_CASE(float16_trains_after_the_first_overflows) {
  Sequential model({Dense(8, {.activation = "relu"}), Dense(1)}, {.dtype = "mixed_float16"});
  model.build({-1, 4});
  Adam optimizer(0.01);
  GradScaler scaler({.init_scale = 0x1p30});
  StepFunction step = compile_step([&](const Values& batch) {
    const auto [scaled, gradients, aux] = value_and_grad(model, [&] {
      const Value loss = mean(square(cast(model(batch[0]), DType::float32) - batch[1]));
      return std::pair(scaler.scale(loss), Values{loss});
    });
    scaler.step(optimizer, gradients);
    scaler.update();
    return aux;
  });
  Tensor x({16, 4}), y({16, 1});
  for (std::int64_t i = 0; i < 64; ++i) x.mutable_data<float>()[i] = static_cast<float>(i % 7) - 3;
  for (std::int64_t i = 0; i < 16; ++i) y.mutable_data<float>()[i] = x.data<float>()[4 * i];
  const double first = step({x, y})[0].item();
  for (int i = 0; i < 80; ++i) step({x, y});
  BOOST_TEST(optimizer.iterations() < 81);
  BOOST_TEST(optimizer.iterations() > 40);
  BOOST_TEST(scaler.get_scale() < 0x1p30);
  BOOST_TEST(step({x, y})[0].item() < first / 2);
}

BOOST_AUTO_TEST_SUITE_END()
