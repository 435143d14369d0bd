#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include <mezzo/mezzo.hpp>

#include "support/captured.hpp"
#include "support/relative_error.hpp"
#include "support/report_models.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::Gain;
using mezzo_tests::ramp;

namespace {

// Relative error of a cast.
double rounding_error(const Tensor& x, DType dtype) { return mezzo_tests::relative_error(x.cast(dtype), x); }

Sequential of_one_gain() {
  Sequential model({Gain()});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.build({2, 4});
  return model;
}

const LayerPrecision& row(const PrecisionReport& report, const std::string& path) {
  for (const LayerPrecision& layer : report.layers) {
    if (layer.path == path) return layer;
  }
  throw std::runtime_error("no row " + path);
}

// A block with an addition of its own, and a layer that is called twice.
class Residual : public Model {
 public:
  Residual() : Model("Residual") {}

 protected:
  Value call(const Value& x) override { return block_(block_(x)) * 0.5; }

 private:
  class Block : public Layer {
   public:
    Block() : Layer("Block") {}

   protected:
    Value call(const Value& x) override { return dense_(x) + x; }

   private:
    Dense dense_ = sub("dense", Dense({.units = 4}));
  };
  Block block_ = sub("block", Block());
};

// A module with two optimizers, a weight outside of layers, and a step that calls its layers directly.
class Custom : public Module {
 public:
  Custom() : Module("Custom") { add_weight(shift_, {.shape = {4}, .initializer = "ones"}); }
  Value training_step(const Batch& batch) override {
    const Value hidden = first_(batch["x"] + shift_);
    const Value out = second_(hidden);
    const Value error = out - batch["y"];
    const Value one = error * error;
    const Value two = hidden * hidden;
    minimize(one, optimizer("a"));
    minimize(two, optimizer("b"));
    return one;
  }
  OptimizerConfigs configure_optimizers() override {
    return {{SGD(), second_.weights(), "a"}, {SGD(), first_.weights(), "b"}};
  }

 private:
  Variable shift_{"shift"};
  Dense first_ = sub("first", Dense({.units = 4}));
  Dense second_ = sub("second", Dense({.units = 4}));
};

}  // namespace

BOOST_AUTO_TEST_SUITE(precision_report)

BOOST_AUTO_TEST_CASE(errors_are_relative_norms) {
  const Tensor x = ramp({2, 4}, 0.1, 3.3);
  const PrecisionReport report = mezzo::precision_report(of_one_gain(), {x, Tensor({2, 4})}, {.precision = "bf16"});
  BOOST_TEST(report.policy == "mixed_bfloat16");
  BOOST_TEST_REQUIRE(report.layers.size() == 1U);
  const LayerPrecision& layer = report.layers[0];
  BOOST_TEST(layer.path == "gain");
  BOOST_TEST(layer.kind == "Gain");
  BOOST_TEST((layer.compute_dtype == DType::bfloat16));
  // The gain is 1, so the only error is that of casting x. Sums of eight squares in double differ by some ulps.
  const double error = rounding_error(x, DType::bfloat16);
  BOOST_TEST(error > 1e-3);
  for (const double measured : {layer.own_error, layer.output_error, report.output_error}) {
    BOOST_TEST(measured == error, boost::test_tools::tolerance(1e-13));
  }
  // With one weight, its gradient is that of the model.
  BOOST_TEST(layer.gradient_error == report.gradient_error);
  BOOST_TEST(layer.gradient_error > 0);
  BOOST_TEST(layer.effect == std::max(report.output_error, report.gradient_error));
  // mse of x and 0, in float32
  BOOST_TEST(report.float32_loss == std::pow(mezzo_tests::norm(x.to_doubles()), 2) / 8,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(report.loss != report.float32_loss);
  BOOST_TEST(report.loss_scale == 1);
  for (const double time : {report.time, layer.time, layer.float32_time})
    BOOST_TEST((time >= 0 && std::isfinite(time)));
}

BOOST_AUTO_TEST_CASE(times_that_rounds_do_not_agree_on_are_left_out) {
  PrecisionReport report;
  report.time = 12;
  report.float32_time = 20;
  BOOST_TEST(report.text().find("; a step takes 12.0 us, in float32 20.0 us\n") != std::string::npos);
  report.float32_time = 0;
  BOOST_TEST(report.text().find("a step takes") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(ranges_say_what_the_compute_dtype_loses) {
  // In float16 70000 becomes infinite and 1e-6 subnormal; 0 stays 0.
  const Tensor x({1, 4}, std::vector<float>{70000, -1e-6F, 0, 3});
  const Tensor y({1, 4}, std::vector<float>{70000, 0, 0, 1});
  const PrecisionReport report =
      mezzo::precision_report(of_one_gain(), {x, y}, {.precision = 16, .steps = 0, .loss_scale = 1024});
  const LayerPrecision& layer = report.layers.at(0);
  BOOST_TEST(layer.activations.largest == 70000);
  BOOST_TEST(layer.activations.smallest == static_cast<double>(1e-6F));
  BOOST_TEST(layer.activations.overflow == 0.25);
  BOOST_TEST(layer.activations.underflow == 0.25);
  // The cotangent of the mean of (x - y)^2 over an axis of 4 is (x - y) / 2, times the loss scale of 1024.
  BOOST_TEST(report.loss_scale == 1024);
  BOOST_TEST(layer.gradients.largest == 1024);
  BOOST_TEST(layer.gradients.smallest == static_cast<double>(1e-6F) * 512, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(layer.gradients.overflow == 0);
  BOOST_TEST(layer.gradients.underflow == 0);
  BOOST_TEST(std::isinf(layer.output_error));
  BOOST_TEST(report.time == 0);
}

BOOST_AUTO_TEST_CASE(the_layer_that_does_most_harm_comes_first) {
  const mezzo_tests::CapturedOutput output;
  const Sequential model = mezzo_tests::fragile();
  const PrecisionReport report =
      mezzo::precision_report(model, {ramp({8, 6}, 0.5, 2), Tensor({8, 3})}, {.precision = "16-mixed"});
  BOOST_TEST_REQUIRE(report.layers.size() == 4U);
  BOOST_TEST(report.layers[0].path == "softplus");
  BOOST_TEST(!std::isfinite(report.layers[0].effect));
  BOOST_TEST(!std::isfinite(report.layers[0].own_error));
  for (std::size_t i = 1; i < 4; ++i) {
    BOOST_TEST(report.layers[i].effect > 0);
    BOOST_TEST(report.layers[i].effect < 0.01);  // some ulps of float16, 2^-11 each
  }
  // Later layers have the error of their inputs, but none of their own.
  const LayerPrecision& head = row(report, "head");
  BOOST_TEST(!std::isfinite(head.output_error));
  BOOST_TEST(head.own_error < 0.01);
  BOOST_TEST(!std::isfinite(report.output_error));
  BOOST_TEST(output.text() == "");
}

BOOST_AUTO_TEST_CASE(a_step_that_is_not_finite_in_float32_is_reported_and_timed) {
  const mezzo_tests::CapturedOutput output;
  const Sequential model = mezzo_tests::fragile();
  const PrecisionReport report =
      mezzo::precision_report(model, {ramp({8, 6}, 10, 20), Tensor({8, 3})}, {.precision = "bf16", .steps = 2});
  BOOST_TEST(std::isnan(report.output_error));  // inf - inf
  BOOST_TEST(!std::isfinite(report.float32_loss));
  BOOST_TEST(std::isinf(row(report, "softplus").activations.largest));
  BOOST_TEST(row(report, "stem").output_error < 0.01);
  BOOST_TEST((report.time >= 0 && std::isfinite(report.time)));
  BOOST_TEST(report.text().find("output error nan") != std::string::npos);
  BOOST_TEST(output.text() == "");
}

BOOST_AUTO_TEST_CASE(text_and_json_show_what_is_not_finite) {
  PrecisionReport report;
  report.policy = "mixed_float16";
  report.output_error = std::numeric_limits<double>::quiet_NaN();
  report.gradient_error = std::numeric_limits<double>::infinity();
  report.loss = 1.5;
  report.float32_loss = 1.25;
  report.loss_scale = 1024;
  LayerPrecision layer;
  layer.path = "a \"b\"";
  layer.kind = "Dense";
  layer.compute_dtype = DType::float16;
  layer.effect = report.output_error;
  layer.own_error = report.gradient_error;
  layer.output_error = 0.00125;
  layer.activations = {70000, 0.5, 0.25, 0};
  layer.time = 12.34;
  report.layers.push_back(layer);
  BOOST_TEST(report.text() ==
             R"(mixed_float16 against float32: output error nan, gradient error inf
loss 1.5, in float32 1.25; loss scale 1024
Layer (type)   Compute  Effect  Own    Output  Gradient  Activations      Over, under  Cotangents  Over, under    us  us float32
--------------------------------------------------------------------------------------------------------------------------------
a "b" (Dense)  float16     nan  inf  1.25e-03         0  5.0e-01 7.0e+04  25 %, 0      0           0, 0         12.3           -
)");
  const nlohmann::json json = nlohmann::json::parse(report.json());
  BOOST_TEST(json.at("output_error") == "nan");
  BOOST_TEST(json.at("gradient_error") == "inf");
  BOOST_TEST(json.at("loss") == 1.5);
  const nlohmann::json& first = json.at("layers").at(0);
  BOOST_TEST(first.at("path") == "a \"b\"");
  BOOST_TEST(first.at("compute_dtype") == "float16");
  BOOST_TEST(first.at("activations").at("overflow") == 0.25);
  BOOST_TEST(first.size() == 12U);
  BOOST_TEST(report.mime().at("text/plain") == report.text());
  BOOST_TEST(report.mime().at("application/json") == report.json());
}

BOOST_AUTO_TEST_CASE(nothing_of_the_model_changes) {
  Sequential model({Dense({.units = 8}), BatchNormalization(), Dropout({.rate = 0.5}), Dense({.units = 2})});
  const Adam adam;
  model.compile({.optimizer = adam, .loss = "mse"});
  const Tensor x = ramp({6, 4}, -1, 1);
  const Tensor y = ramp({6, 2}, 0, 1);
  model.fit(x, y, {.batch_size = 6, .verbose = false, .shuffle = false});
  Sequential twin = clone(model);
  std::vector<Tensor> before;
  for (const Variable& weight : model.weights()) before.push_back(weight.value().copy());
  std::vector<Tensor> slots;
  for (const auto& entry : adam.state()->slots) {
    for (const auto& slot : entry.values) slots.push_back(slot->value.copy());
  }
  BOOST_TEST(slots.size() == 12U);  // two for each of six trained weights
  const std::string plan = model.explain();
  const std::string summary = model.summary_text();
  const auto last_plan = model.run_state()->last_plan;
  const std::uint64_t stream = detail::next_stream();
  for (const char* precision : {"bf16-mixed", "16-true", "64"}) {
    mezzo::precision_report(model, {x, y}, {.precision = precision});
  }
  mezzo::suggest_policy(model, {x, y}, {.max_error = 1e-4});
  BOOST_TEST(detail::next_stream() == stream + 1);
  BOOST_TEST(adam.iterations() == 1);
  BOOST_TEST(adam.state()->loss_scale.scale() == 65536);
  BOOST_TEST(adam.state()->loss_scale.skipped() == 0);
  std::size_t next = 0;
  for (const auto& entry : adam.state()->slots) {
    for (const auto& slot : entry.values) BOOST_TEST(slot->value.equal(slots.at(next++)));
  }
  BOOST_TEST((model.run_state()->last_plan == last_plan));
  BOOST_TEST(model.explain() == plan);
  BOOST_TEST(model.summary_text() == summary);
  for (std::size_t i = 0; i < before.size(); ++i) BOOST_TEST(model.weights()[i].value().equal(before[i]));
  // Except for dropout masks, its next steps equal those of a copy that was not reported on.
  BOOST_TEST(model.evaluate(x, y).at("loss") == twin.evaluate(x, y).at("loss"));
}

BOOST_AUTO_TEST_CASE(float32_is_float32_whatever_dtypes_layers_have) {
  const Tensor x = ramp({2, 4}, 0.1, 3.3);
  Sequential model({Gain("low"), Dense({.units = 4, .name = "full", .dtype = "float32"})}, {.dtype = "mixed_bfloat16"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.build({2, 4});
  const PrecisionReport report = mezzo::precision_report(model, {x, Tensor({2, 4})}, {.steps = 0});
  BOOST_TEST(report.policy == "");
  BOOST_TEST(row(report, "low").own_error == rounding_error(x, DType::bfloat16), boost::test_tools::tolerance(1e-13));
  BOOST_TEST((row(report, "full").compute_dtype == DType::float32));
  BOOST_TEST(row(report, "full").effect == 0);
  BOOST_TEST(row(report, "full").output_error > 0);  // its inputs have an error
  BOOST_TEST(report.text().substr(0, 47) == "the model's own policies against float32: outpu");
}

BOOST_AUTO_TEST_CASE(containers_that_compute_and_layers_called_twice_are_one_row_each) {
  Residual model;
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.build({2, 4});
  const detail::ReportBatch batch(ramp({2, 4}, 0.1, 3.3), Tensor({2, 4}));
  const PrecisionReport report = mezzo::precision_report(model, batch, {.precision = "bf16", .steps = 0});
  BOOST_TEST(report.layers.size() == 3U);
  BOOST_TEST(row(report, "block").kind == "Block");
  BOOST_TEST(row(report, "block/dense").effect > 0);
  BOOST_TEST(row(report, "").kind == "Residual");
  BOOST_TEST(row(report, "").output_error == report.output_error);
  const PrecisionReport cheap =
      mezzo::precision_report(model, batch, {.precision = "bf16", .by_layer = false, .steps = 0});
  BOOST_TEST(cheap.layers[0].effect == 0);
  BOOST_TEST(cheap.layers[0].output_error >= cheap.layers[1].output_error);
}

BOOST_AUTO_TEST_CASE(functional_models_have_the_same_rows_as_sequential_ones) {
  const Tensor x = ramp({2, 4}, 0.1, 3.3);
  const Dense first({.units = 5, .activation = "relu", .name = "first"});
  const Dense second({.units = 4, .name = "second"});
  Sequential sequential({first, second});
  sequential.compile({.optimizer = "sgd", .loss = "mse"});
  sequential.build({2, 4});
  const Input input({.shape = {4}});
  Model functional({.inputs = {input}, .outputs = {Dense(second)(Dense(first)(input))}});
  functional.compile({.optimizer = "sgd", .loss = "mse"});
  const detail::ReportBatch batch(x, Tensor({2, 4}));
  const PrecisionReportOptions options{.precision = "p=f32,c=bf16,o=f32", .steps = 0};
  BOOST_TEST(mezzo::precision_report(functional, batch, options).json() ==
             mezzo::precision_report(sequential, batch, options).json());
}

BOOST_AUTO_TEST_CASE(a_module_with_steps_of_its_own_is_reported_on_too) {
  Custom model;
  const Dataset data = Dataset::from_tensors({{"x", ramp({4, 4}, -1, 1)}, {"y", ramp({4, 4}, 0, 1), Role::target}});
  const DataLoader loader(data, {.batch_size = 2});
  Trainer({.max_steps = 1, .enable_progress_bar = false}).fit(model, loader);
  const PrecisionReport report = mezzo::precision_report(model, loader, {.precision = "bf16"});
  BOOST_TEST(report.layers.size() == 3U);
  BOOST_TEST((row(report, "").compute_dtype == DType::bfloat16));
  BOOST_TEST(row(report, "first").effect > 0);
  BOOST_TEST(row(report, "second").effect > 0);
  BOOST_TEST(report.output_error > 0);
}

BOOST_AUTO_TEST_CASE(split_masters_are_reported_on_as_whole_ones_are) {
  const auto reported = [](bool split) {
    Sequential model({Dense({.units = 4, .kernel_initializer = "ones", .name = "only"})});
    model.compile({.optimizer = AdamW({.split_master_weights = split}), .loss = "mse"});
    const detail::ReportBatch batch(ramp({2, 4}, -1, 1), Tensor({2, 4}));
    const DataLoader loader(Dataset::from_tensors({{"x", ramp({2, 4}, -1, 1)}, {"y", Tensor({2, 4}), Role::target}}),
                            {.batch_size = 2});
    Trainer({.max_epochs = 1, .precision = "bf16", .enable_progress_bar = false}).fit(model, loader);
    const PrecisionReport report = mezzo::precision_report(model, batch, {.precision = "bf16", .steps = 1});
    BOOST_TEST(static_cast<bool>(model.weights()[0].state()->remainder) == split);
    return report;
  };
  const PrecisionReport whole = reported(false), split = reported(true);
  BOOST_TEST(split.loss == whole.loss);
  BOOST_TEST(split.output_error == whole.output_error);
  BOOST_TEST(split.output_error > 0);
}

BOOST_AUTO_TEST_CASE(op_lists_are_reported_on_as_policies_are) {
  Sequential model({Dense({.units = 4, .name = "product"}), Softmax({.name = "softmax"})});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  model.build({2, 4});
  const detail::ReportBatch batch(ramp({2, 4}, 0.1, 3.3), Tensor({2, 4}));
  const PrecisionReport report = mezzo::precision_report(model, batch, {.precision = OpLists(), .steps = 0});
  BOOST_TEST((row(report, "product").compute_dtype == DType::bfloat16));
  BOOST_TEST(row(report, "product").own_error > 1e-4);
  BOOST_TEST(row(report, "softmax").own_error == 0);  // listed as float32
  BOOST_TEST(row(report, "softmax").output_error > 0);
}

BOOST_AUTO_TEST_CASE(the_loss_scale_is_halved_until_gradients_are_finite) {
  const detail::ReportBatch batch(ramp({2, 4}, 1, 2), ramp({2, 4}, 100, 101));
  const PrecisionReport report = mezzo::precision_report(of_one_gain(), batch, {.precision = 16, .steps = 0});
  // The cotangents, 2 (x - y) / 8, are near -25. In float16 2048 times that is finite, and 4096 times is not.
  BOOST_TEST(report.loss_scale == 2048);
  BOOST_TEST(report.gradient_error < 0.01);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_reported_on_is_told) {
  const detail::ReportBatch batch(Tensor({2, 4}), Tensor({2, 4}));
  Sequential unbuilt({Dense({.units = 4})});
  unbuilt.compile({.optimizer = "sgd", .loss = "mse"});
  check_throws<ValueError>("[precision_report] the model must be built, by build() or a call; got one without weights",
                           [&] { mezzo::precision_report(unbuilt, batch); });
  Sequential uncompiled({Dense({.units = 4})});
  uncompiled.build({2, 4});
  check_throws<ValueError>("[Sequential] fit: the model must be compiled; got one without a loss",
                           [&] { mezzo::precision_report(uncompiled, batch); });
  const Sequential model = of_one_gain();
  const Model& base = model;
  check_throws<ValueError>(
      "[precision_report] the model must be passed as its own class, Sequential; got a reference to a base class",
      [&] { mezzo::precision_report(base, batch); });
  check_throws<ValueError>("[precision_report] precision must name a policy; got \"auto\", which only fit resolves",
                           [&] { mezzo::precision_report(model, batch, {.precision = "auto"}); });
  check_throws<ValueError>("[precision_report] steps must be 0 or more; got -1",
                           [&] { mezzo::precision_report(model, batch, {.steps = -1}); });
  check_throws<ValueError>(
      "[precision_report] loss_scale as initial_scale must be from 1.52587890625e-05 to 16777216; got 0",
      [&] { mezzo::precision_report(model, batch, {.loss_scale = 0}); });
  check_throws<ValueError>("[ReportBatch] the loader must have batches; got an absent loader",
                           [&] { mezzo::precision_report(model, DataLoader()); });
  check_throws<ValueError>("[ReportBatch] x must have samples; got shape (0, 4)", [&] {
    mezzo::precision_report(model, {Tensor({0, 4}), Tensor({0, 4})});
  });
}

BOOST_AUTO_TEST_SUITE_END()
