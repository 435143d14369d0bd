// keras.io/examples/vision/knowledge_distillation: see knowledge_distillation.py.
#include <boost/test/unit_test.hpp>

#include "parity/keras_examples/examples.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

struct DistillerOptions {
  Any<Optimizer> optimizer{};
  Metrics metrics{};
  Any<Loss> student_loss_fn{}, distillation_loss_fn{};
  double alpha = 0.1, temperature = 3;
};

struct Distiller : Model {
  Distiller(const Sequential& of_student, const Sequential& of_teacher)
      : Model("Distiller"), teacher(sub("teacher", of_teacher)), student(sub("student", of_student)) {}

  void compile(const DistillerOptions& of_training) {
    Model::compile({.optimizer = of_training.optimizer, .metrics = of_training.metrics});
    options = of_training;
  }

  Value compute_loss(const Values& x, const Values& y, const Values& y_pred, const Values&) override {
    const Value teacher_pred = teacher(x[0], {.training = false});
    const auto& [optimizer, metrics, student_loss_fn, distillation_loss_fn, alpha, temperature] = options;
    const Value student_loss = (*student_loss_fn)(y[0], y_pred[0]);
    const Value soft_labels = softmax(teacher_pred / temperature, 1), soft_pred = softmax(y_pred[0] / temperature, 1);
    const Value distillation_loss = (*distillation_loss_fn)(soft_labels, soft_pred) * std::pow(temperature, 2);
    return alpha * student_loss + (1 - alpha) * distillation_loss;
  }

  Value call(const Value& x) override { return student(x); }

  Sequential teacher, student;
  DistillerOptions options;
};

Sequential network(std::int64_t filters) {
  return Sequential({
      Input({12, 12, 1}),
      layers::Conv2D(filters, {3, 3}, {.strides = {2, 2}, .padding = "same"}),
      layers::LeakyReLU({.negative_slope = 0.2}),
      layers::MaxPooling2D({.pool_size = {2, 2}, .strides = {1, 1}, .padding = "same"}),
      layers::Conv2D(2 * filters, {3, 3}, {.strides = {2, 2}, .padding = "same"}),
      layers::Flatten(),
      layers::Dense(4),
  });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(knowledge_distillation)

BOOST_AUTO_TEST_CASE(losses_are_those_of_keras) {
  Sequential teacher = network(16), student = network(4);
  auto expected = example("knowledge_distillation");
  initialize(teacher, expected["shapes"]);
  initialize(student, expected["shapes"], 200);
  const auto [x_train, y_train] = pictures(24, 12);

  teacher.compile({.optimizer = Adam(),
                   .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                   .metrics = {SparseCategoricalAccuracy()}});
  FitOptions fit{.batch_size = 8, .epochs = 2, .verbose = 0, .shuffle = false};
  check_history(teacher.fit(x_train, y_train, fit), expected["teacher"]);

  Distiller distiller(student, teacher);
  distiller.compile({.optimizer = Adam(),
                     .metrics = {SparseCategoricalAccuracy()},
                     .student_loss_fn = SparseCategoricalCrossentropy({.from_logits = true}),
                     .distillation_loss_fn = KLDivergence(),
                     .alpha = 0.1,
                     .temperature = 10});
  distiller.teacher.set_trainable(false);
  fit.epochs = 3;
  check_history(distiller.fit(x_train, y_train, fit), expected["history"]);
}

BOOST_AUTO_TEST_SUITE_END()
