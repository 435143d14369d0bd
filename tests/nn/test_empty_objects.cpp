// Empty handles and objects that were moved from are errors that name what is empty.
#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::refused;

namespace {

const std::string moved = " must not be used after it was moved from";

}  // namespace

BOOST_AUTO_TEST_SUITE(empty_objects)

BOOST_AUTO_TEST_CASE(empty_handles) {
  const Any<Initializer> none;
  BOOST_TEST(refused<ValueError>([&] { none->make({2}, DType::float32, 1); }) ==
             "[Initializer] the handle must hold an object; got an empty Any<Initializer>");
  BOOST_TEST(refused<ValueError>([&] { static_cast<void>((*Any<Loss>()).name()); }) ==
             "[Loss] the handle must hold an object; got an empty Any<Loss>");
  BOOST_TEST(refused<ValueError>([&] {
               Dense({.units = 2, .kernel_initializer = none}).build({1, 2});
             }) == "[Dense] kernel: the initializer must be given; got an empty Any<Initializer>");
  BOOST_TEST(refused<ValueError>([] {
               Sequential({ReLU(), Any<Layer>()});
             }) == "[Sequential] layer 1 must be given; got an empty Any<Layer>");
}

BOOST_AUTO_TEST_CASE(null_in_configs) {
  const auto text = [](const std::string& options) {
    return R"({"class_name": "Sequential", "config": {"layers": [{"name": "d", "class_name": "Dense", "config": )"
           R"({"units": 2, )" +
           options + R"(}}], "order": [0], "input": {"shape": [-1, 8], "dtype": "float32"}}})";
  };
  BOOST_TEST(refused<ValueError>([&] { model_from_json(text(R"("kernel_initializer": null)")); }) ==
             "[Dense \"d\"] kernel: the initializer must be given; got an empty Any<Initializer>");
  BOOST_CHECK_NO_THROW(model_from_json(text(R"("kernel_regularizer": null, "kernel_constraint": null)")));
}

// What is tested has been moved from. NOLINTBEGIN(bugprone-use-after-move)
BOOST_AUTO_TEST_CASE(a_layer_that_was_moved_from_before_it_was_built) {
  const Tensor x({1, 2}, std::vector<float>{-1, -1});
  Dense dense(2, {.activation = "relu", .kernel_initializer = "ones", .name = "d"});
  Dense other = std::move(dense);
  BOOST_TEST(refused<ValueError>([&] { dense(x); }) == "[Dense \"d\"] the object" + moved);
  BOOST_TEST(other(x).tensor().to_doubles()[0] == 0);
}

BOOST_AUTO_TEST_CASE(built_layers_and_models_that_were_moved_from) {
  const Tensor x({1, 2}, std::vector<float>{-1, -1});
  Dense dense(2, {.activation = "relu", .name = "d"});
  dense(x);
  const Dense other = std::move(dense);
  BOOST_TEST(refused<ValueError>([&] { dense(x); }) == "[Dense \"d\"] the object" + moved);
  BOOST_TEST(refused<ValueError>([&] { dense.build({1, 2}); }) == "[Dense \"d\"] the object" + moved);
  BOOST_TEST(refused<ValueError>([&] { clone(dense)(x); }) == "[Dense \"d\"] the object" + moved);
  BOOST_TEST(dense.count_params() == 6);
  dense = other;
  BOOST_TEST(dense(x).tensor().size() == 2);

  Lambda lambda([](const Value& v) { return v * 2; });
  const Lambda function = std::move(lambda);
  BOOST_TEST(refused<ValueError>([&] { lambda(x); }) == "[Lambda] the object" + moved);
  Sequential model({Input({2}), Dense(1)}, {.name = "m"});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  Sequential second = std::move(model);
  BOOST_TEST(refused<ValueError>([&] { model.predict(x); }) == "[Sequential \"m\"] the object" + moved);
  BOOST_TEST(second.predict(x).size() == 1);
}

BOOST_AUTO_TEST_CASE(values_and_others_that_were_moved_from) {
  const mezzo_tests::Folder folder;
  Tensor tensor({2});
  const Tensor kept = std::move(tensor);
  BOOST_TEST(refused<ValueError>([&] { tensor.data<float>(); }) == "[Tensor] the object" + moved);
  BOOST_TEST(refused<ValueError>([&] { tensor.mutable_data<float>(); }) == "[Tensor] the object" + moved);
  BOOST_TEST(refused<ValueError>([&] { relu(tensor); }) == "[Tensor] the object" + moved);
  Value value = kept;
  const Value other = std::move(value);
  BOOST_TEST(!value.defined());
  BOOST_TEST(refused<ValueError>([&] { relu(value); }) == "[relu] input 0 must be defined; got an undefined Value");
  tensor = kept;
  value = other;
  BOOST_TEST(relu(value + tensor).tensor().equal(kept));

  PolicyMap map({.default_policy = "float32"});
  const PolicyMap second = std::move(map);
  BOOST_TEST(refused<ValueError>([&] { map.at("x"); }) == "[PolicyMap] the object" + moved);
  loggers::CSVLogger logger(folder.path("logs"));
  const loggers::CSVLogger first = std::move(logger);
  BOOST_TEST(refused<ValueError>([&] { logger.log_metrics({{"a", 1}}, 0); }) == "[CSVLogger] the object" + moved);
  profilers::SimpleProfiler profiler;
  const profilers::SimpleProfiler used = std::move(profiler);
  BOOST_TEST(refused<ValueError>([&] { profiler.start("a"); }) == "[SimpleProfiler] the object" + moved);
}

BOOST_AUTO_TEST_CASE(schedules_and_data_that_were_moved_from) {
  const Tensor x({2, 1}, std::vector<float>{0, 1});
  const DataLoader loader(Dataset::from_tensors({{"x", x}}), {.batch_size = 1});
  PiecewiseConstantDecay steps({1}, {0.1, 0.2});
  const PiecewiseConstantDecay more_steps = std::move(steps);
  BOOST_TEST(refused<ValueError>([&] { steps(5); }) == "[PiecewiseConstantDecay] the object" + moved);
  LearningRateScheduler scheduler([](int) { return 0.1; });
  const LearningRateScheduler second_scheduler = std::move(scheduler);
  Sequential model({Input({1}), Dense(1)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  BOOST_TEST(refused<ValueError>([&] { model.fit(x, x, {.verbose = 0, .callbacks = {scheduler}}); }) ==
             "[LearningRateScheduler] the object" + moved);
  CombinedLoader combined({{"a", loader}});
  const CombinedLoader second_combined = std::move(combined);
  BOOST_TEST(refused<ValueError>([&] { combined.size(); }) == "[CombinedLoader] the object" + moved);
  BOOST_TEST(refused<ValueError>([&] { DataLoader{combined}; }) == "[CombinedLoader] the object" + moved);
  WeightedRandomSampler sampler({1, 2}, 2);
  const WeightedRandomSampler second_sampler = std::move(sampler);
  BOOST_TEST(refused<ValueError>([&] { sampler.describe(); }) == "[WeightedRandomSampler] the object" + moved);
  StringLookup strings({.vocabulary = {"a"}});
  const StringLookup second_strings = std::move(strings);
  BOOST_TEST(refused<ValueError>([&] { strings.vocabulary_size(); }) == "[StringLookup] the object" + moved);
  TextVectorization text({.vocabulary = {"a"}});
  const TextVectorization second_text = std::move(text);
  BOOST_TEST(refused<ValueError>([&] { text.get_vocabulary(); }) == "[StringLookup] the object" + moved);
  IntegerLookup integers({.vocabulary = {1}});
  const IntegerLookup second_integers = std::move(integers);
  BOOST_TEST(refused<ValueError>([&] { integers.vocabulary_size(); }) == "[IntegerLookup] the object" + moved);
  Discretization bins({.num_bins = 2});
  const Discretization second_bins = std::move(bins);
  BOOST_TEST(refused<ValueError>([&] { bins.adapt(x); }) == "[Discretization] the object" + moved);
}

// NOLINTEND(bugprone-use-after-move)

BOOST_AUTO_TEST_SUITE_END()
