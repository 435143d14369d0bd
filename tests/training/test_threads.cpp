#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <future>
#include <thread>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/training/step/step_runner.hpp>

#include "small.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const std::vector<double> xs{1, 2, 3, 4}, ys{2, 3, 7, 7};

Sequential model_of(double weight, const char* policy) {
  Sequential model({Dense({.units = 2, .kernel_initializer = Constant(weight), .dtype = policy}), BatchNormalization(),
                    Dropout({.rate = 0.25}), Dense({.units = 1, .kernel_initializer = Constant(0.5)})});
  model.compile({.optimizer = SGD({.learning_rate = 0.01, .momentum = 0.9}), .loss = "mse"});
  model.build({1, 1});
  return model;
}

void train(Model& model) {
  model.fit(column(xs), column(ys), {.batch_size = 3, .epochs = 5, .verbose = false});
  model.evaluate(column(xs), column(ys));
}

// Checks that a training begins only after another thread has ended the scope that take() returns.
template <class Take>
void check_training_waits(Sequential& model, Take take) {
  std::promise<void> begun;
  std::atomic<bool> released{false};
  std::thread other([&] {
    const auto scope = take();
    begun.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    released = true;
  });
  begun.get_future().wait();
  BOOST_CHECK_NO_THROW(train(model));
  BOOST_TEST(released);
  other.join();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(threads)

BOOST_AUTO_TEST_CASE(different_models_train_on_different_threads_as_one_after_another) {
  Sequential alone_a = model_of(0.5, "float32"), alone_b = model_of(1, "mixed_bfloat16");
  train(alone_a);
  train(alone_b);
  Sequential a = model_of(0.5, "float32"), b = model_of(1, "mixed_bfloat16"), copy_of_b = clone(b);
  std::thread first([&] { train(a); }), second([&] { train(b); }), third([&] { train(copy_of_b); });
  first.join();
  second.join();
  third.join();
  BOOST_TEST(changed_since(values_of(alone_a), a) == "");
  BOOST_TEST(changed_since(values_of(alone_b), b) == "");
  BOOST_TEST(changed_since(values_of(alone_b), copy_of_b) == "");
}

BOOST_AUTO_TEST_CASE(a_prediction_takes_place_while_another_one_reads_data) {
  Sequential model = line(2);
  std::promise<void> begun, released;
  bool waits = true;
  const Dataset slow = Dataset::from_function(
      {.size = 1, .fields = {{.name = "x", .shape = {1}}}, .function = [&](std::int64_t) -> std::vector<Tensor> {
         if (std::exchange(waits, false)) {
           begun.set_value();
           released.get_future().wait();
         }
         return {Tensor({1}, std::vector<float>{3})};
       }});
  Tensor predicted;
  std::thread other([&] { predicted = model.predict(DataLoader(slow, {.workers = 0})); });
  begun.get_future().wait();
  BOOST_TEST(model.predict(column({1})).item() == 2);
  released.set_value();
  other.join();
  BOOST_TEST(predicted.item() == 6);
}

/// Trains a model on another thread, and stops it in the middle of an epoch for the lifetime of the object.
class Training {
 public:
  explicit Training(Model& model) {
    thread_ = std::thread(
        [this, &model] { model.fit(DataLoader(data(), {.batch_size = 1, .workers = 0}), {.verbose = false}); });
    begun_.get_future().wait();
  }
  ~Training() {
    released_.set_value();
    thread_.join();
  }

 private:
  Dataset data() {
    const auto read = [this](std::int64_t) -> std::vector<Tensor> {
      if (count_++ == 1) {  // fit reads the first batch before it begins
        begun_.set_value();
        released_.get_future().wait();
      }
      return {Tensor({1}, std::vector<float>{3}), Tensor({1}, std::vector<float>{4})};
    };
    return Dataset::from_function(
        {.size = 2,
         .fields = {{.name = "x", .shape = {1}}, {.name = "y", .shape = {1}, .role = Role::target}},
         .function = read});
  }

  int count_ = 0;
  std::promise<void> begun_, released_;
  std::thread thread_;
};

Sequential compiled_line() {
  Sequential model = line(2);
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
  return model;
}

std::string temporary(const char* name) { return (std::filesystem::temp_directory_path() / name).string(); }

BOOST_AUTO_TEST_CASE(weights_of_a_model_that_another_thread_trains_are_refused) {
  Sequential model = compiled_line();
  const std::string path = temporary("mezzo_test_threads.safetensors");
  model.save_weights(path);
  const detail::LayerHandle handle = model.get_layer("line");
  const Variable weight = model.weights().at(0);
  const std::string layers = " the model must be idle; got a call while another thread runs it";
  {
    const Training training(model);
    const auto text = [](const std::function<void()>& call) { return refused<ValueError>(call); };
    const std::string variable = "[Variable \"kernel\"] the model must be idle; got a ";
    BOOST_TEST(text([&] { weight.value(); }) == variable + "read while another thread runs it");
    BOOST_TEST(text([&] { weight.assign(Tensor({1, 1})); }) == variable + "write while another thread runs it");
    BOOST_TEST(text([&] { clone(model); }) == variable + "read while another thread runs it");
    BOOST_TEST(text([&] { model(column({1})); }) == variable + "read while another thread runs it");
    BOOST_TEST(text([&] { model.save_weights(path); }) == "[Sequential] save_weights:" + layers);
    BOOST_TEST(text([&] { handle.save_weights(path); }) == "[Dense \"line\"] save_weights:" + layers);
    BOOST_TEST(text([&] { model.load_weights(path); }) == "[Sequential] load_weights:" + layers);
    BOOST_TEST(text([&] { model.to("bfloat16"); }) == "[Sequential] to:" + layers);
    BOOST_TEST(text([&] { model.explain(); }) == "[Sequential] explain:" + layers);
    const std::string trainers =
        "[Trainer] the model must be idle; got a call while another thread or step runs it: wait for its end, call it "
        "in a callback, or predict by model.predictor()";
    BOOST_TEST(text([&] { Trainer::save_checkpoint(model, path); }) == trainers);
    BOOST_TEST(text([&] { model.compile({.loss = "mse"}); }) == trainers);
  }
  model.load_weights(path);
  BOOST_TEST(weight.value().item() == 2);
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(predictions_take_place_between_the_steps_of_a_training) {
  Sequential model = compiled_line();
  double during = 0;
  {
    const Training training(model);
    during = model.predict(column({1})).item();
    BOOST_TEST(model.evaluate(column({1}), column({during})).at("loss") == 0);
    BOOST_TEST(model.predictor()(column({1})).item() == during);
    BOOST_TEST(refused<ValueError>([&] { model.fit(column({1}), column({1})); }) ==
               "[Trainer] the model must be idle; got a call while another thread or step runs it: wait for its end, "
               "call it in a callback, or predict by model.predictor()");
  }
  BOOST_TEST(model.predict(column({1})).item() != during);
}

BOOST_AUTO_TEST_CASE(a_training_waits_for_predictions_of_another_thread) {
  Sequential model = compiled_line();
  check_training_waits(model, [&] { return detail::RunningScope(model, false); });  // as in predict
}

BOOST_AUTO_TEST_CASE(models_that_share_weights_run_on_one_thread_at_a_time) {
  Dense shared({.units = 1, .name = "shared"});
  Sequential a({shared}), b({shared}), alone = line(3);
  for (Sequential* model : {&a, &b}) {
    model->compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
    model->build({1, 1});
  }
  {
    const Training training(a);
    BOOST_CHECK_NO_THROW(b.predict(column({1})));
    BOOST_TEST(refused<ValueError>([&] { b.fit(column({1}), column({1})); }) ==
               "[Trainer] weights of the model must be idle; got a call while another thread runs a model that shares "
               "them");
    BOOST_TEST(alone.predict(column({1})).item() == 3);
  }
  BOOST_CHECK_NO_THROW(b.predict(column({1})));
}

BOOST_AUTO_TEST_CASE(fit_waits_while_another_thread_saves_or_reads) {
  Sequential model = compiled_line();
  train(model);
  check_training_waits(model, [&] { return detail::IdleScope(model); });  // as in save_checkpoint
}

BOOST_AUTO_TEST_CASE(what_is_saved_or_read_between_two_fits_is_whole) {
  // All numbers of the kernel are equal after each step, since all inputs are.
  Sequential model({Dense({.units = 400, .use_bias = false, .kernel_initializer = Constant(0.5)})});
  model.compile({.optimizer = SGD({.learning_rate = 0.01}), .loss = "mse"});
  const Tensor x({4, 50}, std::vector<float>(200, 1)), y({4, 400}, std::vector<float>(1600, 3));
  model.fit(x, y, {.verbose = false});
  const std::string path = temporary("mezzo_test_whole.safetensors");
  std::atomic<bool> ending{false};
  std::atomic<int> failed{0};
  std::thread fitting([&] {
    for (int i = 0; i < 60; ++i) {
      try {
        model.fit(x, y, {.verbose = false});
      } catch (const Error&) {
        ++failed;
      }
    }
    ending = true;
  });
  const auto torn = [](const Tensor& tensor) {
    const std::vector<double> numbers = tensor.to_doubles();
    return std::any_of(numbers.begin(), numbers.end(), [&](double number) { return number != numbers.front(); });
  };
  const auto torn_file = [&] {
    const SafetensorsFile file(path);
    return std::any_of(file.entries().begin(), file.entries().end(),
                       [&](const auto& entry) { return torn(file.read(entry.name)); });
  };
  int wrong = 0, whole = 0;
  while (!ending) {
    const std::string text = refused<ValueError>([&] {
      wrong += torn(model.weights().at(0).value()) ? 1 : 0;
      Trainer::save_checkpoint(model, path);
      wrong += torn_file() ? 1 : 0;
      model.save_weights(path);
      wrong += torn_file() ? 1 : 0;
      model.load_weights(path);
      ++whole;
    });
    wrong += text.empty() || text.find("must be idle; got a") != std::string::npos ? 0 : 1;
  }
  fitting.join();
  BOOST_TEST(failed == 0);
  BOOST_TEST(wrong == 0);
  BOOST_TEST_MESSAGE(whole << " rounds of files");
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(a_step_does_not_replace_the_numbers_that_it_computes_with) {
  class Careless : public Module {
   public:
    Value training_step(const Batch& batch) override {
      const Value y = line_(batch["x"]);
      return host(
          [this](const Tensor& x) {
            read = weight_of(line_);
            line_.weights().at(0).assign(Tensor({1, 1}));
            return x;
          },
          y);
    }
    Value predict_step(const Batch& batch) override { return training_step(batch); }
    double read = 0;

   private:
    Sequential line_ = sub("line", line(2));
  };
  Careless module;
  const Dataset data = Dataset::from_tensors({{"x", column({3})}});
  BOOST_TEST(refused<ValueError>([&] { Trainer().predict(module, DataLoader(data)); }) ==
             "[Variable \"kernel\"] numbers must be replaced between steps; got a write inside a step that computes "
             "with them (Layer::update() writes at the end of the step)");
  BOOST_TEST(module.read == 2);
}

BOOST_AUTO_TEST_SUITE_END()
