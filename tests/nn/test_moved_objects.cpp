// Objects of all families that were moved from are errors that name their class.
#include <boost/test/unit_test.hpp>

#include <set>

#include <mezzo/mezzo.hpp>
#include <mezzo/nn/config_json.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using mezzo_tests::refused;

// What is tested has been moved from. NOLINTBEGIN(bugprone-use-after-move)
namespace {

std::string moved(const std::string& name) {
  return "[" + name + "] the object must not be used after it was moved from";
}

const Tensor x({2, 2}, std::vector<float>{0, 1, 1, 0});

/// Moves from an object and uses it; then gives it a value again and uses it.
template <class C, class Use>
void check(C object, const std::string& name, const Use& use) {
  const C kept = std::move(object);
  BOOST_TEST(refused<Error>([&] { use(object); }) == moved(name));
  const C copy = object;
  BOOST_TEST(refused<Error>([&] { use(copy); }) == moved(name));
  object = kept;
  BOOST_TEST(refused<Error>([&] { use(object); }).find("moved from") == std::string::npos, name);
}

/// The same for objects of all registered classes of a family, but for those of `inner`.
template <class Base, class Use, class... C>
void check_all(const std::set<std::string>& inner, const Use& use, const C&... objects) {
  std::set<std::string> seen = inner, registered;
  const auto check_one = [&](const auto& object) {
    const std::string name = detail::write_object<Base>(object).at("class_name");
    seen.insert(name);
    check(object, name == "Identity" ? "IdentityInitializer" : name, use);
  };
  (check_one(objects), ...);
  for (const std::string& name : detail::class_names<Base>()) {
    if (name.find('>') == std::string::npos) registered.insert(name);  // others are of other tests
  }
  BOOST_TEST(seen == registered, boost::test_tools::per_element());
}

/// A loss of a user's own, whose function is gone once it was moved from.
class Mine : public Loss {
 public:
  Mine() : Loss("mine"), function_([](const Value& y) { return y; }) {}
  Value call(const Value&, const Value& y_pred) const override { return function_(y_pred); }

 private:
  std::function<Value(const Value&)> function_;
};

class MyRate : public Schedule {
 public:
  double operator()(std::int64_t) const override { return rates_.at(0); }

 private:
  std::vector<double> rates_{0.5};
};

class MyValues : public Initializer {
 public:
  Tensor make(const Shape& shape, DType dtype, std::uint64_t) const override { return Tensor(shape, dtype); }
};

/// A schedule with a destructor of its own: it has no move.
class Copied : public Schedule {
 public:
  Copied() = default;
  Copied(const Copied&) = default;
  Copied& operator=(const Copied&) = default;
  ~Copied() override = default;
  double operator()(std::int64_t step) const override { return function_(step); }

 private:
  std::function<double(std::int64_t)> function_ = [](std::int64_t step) { return static_cast<double>(step); };
};

}  // namespace

BOOST_AUTO_TEST_SUITE(moved_objects)

BOOST_AUTO_TEST_CASE(optimizers) {
  const auto check_optimizers = [](const auto& use) {
    check_all<Optimizer>({}, use, Adadelta(), Adafactor(), Adagrad(), Adam(), AdamW(), Adamax(), Ftrl(), LARS(), Lamb(),
                         Lion(), Muon(), Nadam(), RMSprop(), SGD(), ScheduleFreeAdamW());
  };
  check_optimizers([](const auto& optimizer) {
    Sequential model({Input({2}), Dense(1)});
    model.compile({.optimizer = optimizer, .loss = "mse"});
  });
  check_optimizers([](const auto& optimizer) { optimizer.learning_rate(); });
  check_optimizers([](auto optimizer) { optimizer.apply(Values(), {}); });
  check_optimizers([](const auto& optimizer) { static_cast<void>(optimizer.name()); });
}

BOOST_AUTO_TEST_CASE(all_losses) {
  using namespace losses;
  const auto use = [](const Loss& loss) { loss(x, x); };
  check_all<Loss>({"Crossentropy"}, use, BinaryCrossentropy(), BinaryFocalCrossentropy(), CTC(),
                  CategoricalCrossentropy(), CategoricalFocalCrossentropy(), CategoricalGeneralizedCrossEntropy(),
                  CategoricalHinge(), Circle(), CosineSimilarity(), Dice(), Hinge(), Huber(), KLDivergence(), LogCosh(),
                  MeanAbsoluteError(), MeanAbsolutePercentageError(), MeanSquaredError(), MeanSquaredLogarithmicError(),
                  Poisson(), SparseCategoricalCrossentropy(), SquaredHinge(), Tversky());
  check(Mine(), "Mine", use);
  const std::function<Value(const Value&, const Value&)> function = [](const Value&, const Value& y) { return y; };
  check(detail::LossFunction(function), "LossFunction", use);
  check(detail::LossFunction(function), "LossFunction", [](const Loss& loss) { loss.call(x, x); });
  check(Mine(), "Mine", [](const Mine& mine) { const Any<Metric> metric(mine); });
}

BOOST_AUTO_TEST_CASE(all_metrics) {
  const auto check_metrics = [](const auto& use) {
    check_all<Metric>(
        {"FittingAccuracy", "LossMetric"}, use, metrics::FalseNegatives(), metrics::FalsePositives(),
        metrics::TrueNegatives(), metrics::TruePositives(), metrics::Precision(), metrics::Recall(),
        metrics::PrecisionAtRecall(0.5), metrics::RecallAtPrecision(0.5), metrics::SensitivityAtSpecificity(0.5),
        metrics::SpecificityAtSensitivity(0.5), metrics::AUC(), metrics::Accuracy(), metrics::BinaryAccuracy(),
        metrics::BinaryCrossentropy(), metrics::BinaryIoU(), metrics::CategoricalAccuracy(),
        metrics::CategoricalCrossentropy(), metrics::CategoricalHinge(), metrics::ConcordanceCorrelation(),
        metrics::CosineSimilarity(), metrics::F1Score(), metrics::FBetaScore(), metrics::Hinge(),
        metrics::IoU({.num_classes = 2, .target_class_ids = {0}}), metrics::KLDivergence(), metrics::LogCoshError(),
        metrics::Mean(), metrics::MeanAbsoluteError(), metrics::MeanAbsolutePercentageError(),
        metrics::MeanIoU({.num_classes = 2}), metrics::MeanSquaredError(), metrics::MeanSquaredLogarithmicError(),
        metrics::OneHotIoU({.num_classes = 2, .target_class_ids = {0}}), metrics::OneHotMeanIoU({.num_classes = 2}),
        metrics::PearsonCorrelation(), metrics::Poisson(), metrics::R2Score(), metrics::RootMeanSquaredError(),
        metrics::SparseCategoricalAccuracy(), metrics::SparseCategoricalCrossentropy(),
        metrics::SparseTopKCategoricalAccuracy(), metrics::SquaredHinge(), metrics::Sum(),
        metrics::TopKCategoricalAccuracy());
  };
  check_metrics([](const Metric& metric) { metric.result(); });
  check_metrics([](auto metric) { static_cast<Metric&>(metric).update_state(x, x); });
  const MeanMetricWrapper wrapper([](const Value&, const Value& y) { return y; });
  check(wrapper, "MeanMetricWrapper", [](const Metric& metric) { metric.call(x, x); });
}

BOOST_AUTO_TEST_CASE(schedules) {
  const auto check_schedules = [](const auto& use) {
    check_all<Schedule>({}, use, CosineDecay({.decay_steps = 10}), CosineDecayRestarts({.first_decay_steps = 10}),
                        ExponentialDecay({.decay_steps = 10}), InverseTimeDecay({.decay_steps = 10}),
                        LinearWarmup(0.1, 3), PiecewiseConstantDecay({5}, {0.5, 0.25}),
                        PolynomialDecay({.decay_steps = 10}));
  };
  const auto call = [](const Schedule& schedule) { schedule(0); };
  const auto as_rate = [](const auto& schedule) { SGD sgd(schedule); };
  check_schedules(call);
  check_schedules(as_rate);
  const detail::FunctionSchedule function([](std::int64_t) { return 0.1; });
  check(function, "FunctionSchedule", call);
  check(function, "FunctionSchedule", as_rate);
  check(MyRate(), "MyRate", as_rate);
  const std::function<double(std::int64_t)> empty;
  BOOST_TEST(refused<ValueError>([&] { detail::FunctionSchedule{empty}; }) ==
             "[FunctionSchedule] function must be given; got an empty one");

  const auto at = [](const detail::LearningRate& rate) { return rate.at(3); };
  check(detail::LearningRate(function), "LearningRate", at);
  detail::LearningRate constant(0.5);
  const detail::LearningRate same = std::move(constant);  // its move is a copy
  BOOST_TEST(at(constant) == at(same));
  Copied schedule;
  const Copied second = std::move(schedule);
  BOOST_TEST(schedule(7) == second(7));
  BOOST_TEST(at(schedule) == 3);
}

BOOST_AUTO_TEST_CASE(initializers) {
  const auto check_initializers = [](const auto& use) {
    check_all<Initializer>({}, use, Constant(x), IdentityInitializer(), Ones(), Zeros(), Orthogonal(), RandomNormal(),
                           RandomUniform(), TruncatedNormal(), VarianceScaling(), GlorotNormal(), GlorotUniform(),
                           HeNormal(), HeUniform(), LecunNormal(), LecunUniform());
  };
  check_initializers([](const Initializer& initializer) { initializer.make({2, 2}, DType::float32, 1); });
  const auto in_layer = [](const auto& initializer) { Dense(2, {.kernel_initializer = initializer}).build({1, 2}); };
  check_initializers(in_layer);
  check(MyValues(), "MyValues", in_layer);
}

BOOST_AUTO_TEST_CASE(regularizers_and_constraints) {
  const auto call = [](const auto& object) { object.call(x); };
  const auto in_layer = [](const auto& regularizer) {
    Dense layer(2, {.kernel_regularizer = regularizer});
    layer(x);
    layer.losses();
  };
  const auto in_step = [](const auto& constraint) {
    Sequential model({Input({2}), Dense(2, {.kernel_constraint = constraint})});
    model.compile({.optimizer = "sgd", .loss = "mse"});
    model.train_on_batch(x, x);
  };
  const auto check_regularizers = [](const auto& use) {
    check_all<Regularizer>({}, use, L1(), L2(), L1L2(), OrthogonalRegularizer());
  };
  const auto check_constraints = [](const auto& use) {
    check_all<Constraint>({}, use, MaxNorm(), MinMaxNorm(), NonNeg(), UnitNorm());
  };
  check_regularizers(call);
  check_regularizers(in_layer);
  check_constraints(call);
  check_constraints(in_step);
}

BOOST_AUTO_TEST_CASE(callbacks) {
  const mezzo_tests::Folder folder;
  const auto check_one = [](auto callback, const char* name) {
    check(std::move(callback), name, [](auto one) { detail::CallbackHandle(one).get(); });
  };
  check_one(BackboneFinetuning(), "BackboneFinetuning");
  check_one(BackupAndRestore(folder.path("backup")), "BackupAndRestore");
  check_one(BatchSizeFinder(), "BatchSizeFinder");
  check_one(CSVLogger(folder.path("log.csv")), "CSVLogger");
  check_one(DeviceStatsMonitor(), "DeviceStatsMonitor");
  check_one(EarlyStopping(), "EarlyStopping");
  check_one(EMAWeightAveraging(), "EMAWeightAveraging");
  check_one(GradientAccumulationScheduler({.scheduling = {{0, 2}}}), "GradientAccumulationScheduler");
  check_one(LambdaCallback({}), "LambdaCallback");
  check_one(LearningRateFinder(), "LearningRateFinder");
  check_one(LearningRateMonitor(), "LearningRateMonitor");
  check_one(LearningRateScheduler([](int) { return 0.1; }), "LearningRateScheduler");
  check_one(ModelCheckpoint(folder.path("model.mezzo")), "ModelCheckpoint");
  check_one(ModelSummary(), "ModelSummary");
  check_one(OnExceptionCheckpoint(folder.path("saved")), "OnExceptionCheckpoint");
  check_one(ReduceLROnPlateau(), "ReduceLROnPlateau");
  check_one(RichProgressBar(), "RichProgressBar");
  check_one(StochasticWeightAveraging({.swa_lrs = 0.1}), "StochasticWeightAveraging");
  check_one(SwapEMAWeights(), "SwapEMAWeights");
  check_one(TensorBoard(folder.path("board")), "TensorBoard");
  check_one(TerminateOnNaN(), "TerminateOnNaN");
  check_one(ThroughputMonitor(), "ThroughputMonitor");
  check_one(Timer(), "Timer");
  check_one(TQDMProgressBar(), "TQDMProgressBar");
  check_one(WeightAveraging(), "WeightAveraging");

  int epochs = 0;
  LambdaCallback counter({.on_epoch_end = [&](int, Logs&) { ++epochs; }});
  LambdaCallback other = std::move(counter);
  Sequential model({Input({2}), Dense(2)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  BOOST_TEST(refused<ValueError>([&] { model.fit(x, x, {.verbose = 0, .callbacks = {counter}}); }) ==
             moved("LambdaCallback"));
  model.fit(x, x, {.verbose = 0, .callbacks = {other}});
  BOOST_TEST(epochs == 1);
}

BOOST_AUTO_TEST_CASE(trainers) {
  const DataLoader loader(Dataset::from_tensors({{"x", x}, {"y", x}}), {.batch_size = 2});
  Sequential model({Input({2}), Dense(2)});
  model.compile({.optimizer = "sgd", .loss = "mse"});
  const Trainer trainer({.max_epochs = 1, .enable_progress_bar = false});
  check(trainer, "Trainer", [&](const Trainer& one) { one.fit(model, loader); });
  check(trainer, "Trainer", [&](const Trainer& one) { one.validate(model, loader); });
  check(trainer, "Trainer", [&](const Trainer& one) { one.test(model, loader); });
  check(trainer, "Trainer", [&](const Trainer& one) { one.predict(model, loader); });
  check(trainer, "Trainer", [&](const Trainer& one) { static_cast<void>(one.options()); });
}

BOOST_AUTO_TEST_SUITE_END()
// NOLINTEND(bugprone-use-after-move)
