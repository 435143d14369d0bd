// Teaches a small network by the softened answers of a larger one: see distilled_glyphs.py.
#include <boost/test/unit_test.hpp>

#include <array>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Rows of five glyphs.
const std::string glyphs =
    "..#.. ..#.. ##### ..#.. ..#.. #...# .#.#. ..#.. .#.#. #...# .###. #...# #...# #...# .###. "
    "##### ....# ..##. ....# ##### #.... #.... ##### #...# #...#";

// Glyphs at double size, with ink of random strength on rough paper, and their numbers.
std::pair<Tensor, Tensor> sheet(std::uint32_t stream, std::int64_t count) {
  std::vector<float> ink;
  for (const char mark : glyphs) {
    if (mark != ' ') ink.push_back(mark == '#' ? 1 : 0);
  }
  const Tensor kinds = random_integers(stream, {count}, 5);
  const Value large = repeat(repeat(Tensor({5, 5, 5, 1}, ink)(kinds), 2, 1), 2, 2);
  const Tensor strength = uniform_numbers(stream + 1, {count, 1, 1, 1}, 0.4, 1.0);
  return {strength * large + 0.4 * normal_numbers(stream + 2, large.shape()), kinds};
}

// Names glyphs by stages of filters, step of the convolution, and step of the pooling.
Sequential reader(const std::string& name, const std::vector<std::array<int, 3>>& stages) {
  Sequential network({Input({10, 10, 1})}, {.name = name});
  for (const auto& [filters, step, pooling] : stages) {
    network.add(layers::Conv2D(filters, 3, {.strides = step, .padding = "same"}));
    network.add(layers::LeakyReLU({.negative_slope = 0.1}));
    network.add(layers::MaxPooling2D({.pool_size = 3, .strides = pooling, .padding = "same"}));
  }
  network.add(layers::Flatten());
  network.add(layers::Dense(5));
  return network;
}

struct Lesson {
  Any<Loss> label_loss, hint_loss;
  double hint_share, temperature;
};

// A student whose loss also compares its answers with those of a frozen teacher.
class Apprentice : public Model {
 public:
  Apprentice(const Sequential& student, const Sequential& teacher)
      : Model("Apprentice"), student_(sub("student", student)), teacher_(sub("teacher", teacher)) {
    teacher_.set_trainable(false);
  }

  void compile(const Any<Optimizer>& optimizer, const Metrics& metrics, const Lesson& lesson) {
    Model::compile({.optimizer = optimizer, .metrics = metrics});
    lesson_ = lesson;
  }

  Value soften(const Value& scores) const { return softmax(scores / lesson_.temperature, -1); }

  Value compute_loss(const Values& x, const Values& y, const Values& y_pred, const Values&) override {
    const Value hint = (*lesson_.hint_loss)(soften(teacher_(x[0], {.training = false})), soften(y_pred[0]));
    // The square makes up for the gradients, which shrink by it.
    const Value scaled = hint * lesson_.temperature * lesson_.temperature;
    return (1 - lesson_.hint_share) * (*lesson_.label_loss)(y[0], y_pred[0]) + lesson_.hint_share * scaled;
  }

 protected:
  Value call(const Value& pictures) override { return student_(pictures); }

 private:
  Sequential student_, teacher_;
  Lesson lesson_{};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(distilled_glyphs)

BOOST_AUTO_TEST_CASE(both_trainings_equal_keras) {
  auto expected = program("distilled_glyphs");
  Sequential teacher = reader("teacher", {{8, 1, 2}, {12, 2, 1}}), student = reader("student", {{4, 1, 3}});
  initialize(teacher, expected["weights"]);
  initialize(student, expected["weights"], 200);
  const auto [pictures, kinds] = sheet(1, 60);
  const auto [unseen, answers] = sheet(11, 30);
  const losses::SparseCategoricalCrossentropy by_label({.from_logits = true});
  teacher.compile({.optimizer = Adam(0.01), .loss = by_label, .metrics = {metrics::SparseCategoricalAccuracy()}});
  const FitOptions options{.batch_size = 12, .epochs = 4, .verbose = 0, .shuffle = false};
  check_history(teacher.fit(pictures, kinds, options), expected["lessons"]);
  Apprentice apprentice(student, teacher);
  apprentice.compile(
      Adam(0.02), {metrics::SparseCategoricalAccuracy()},
      {.label_loss = by_label, .hint_loss = losses::KLDivergence(), .hint_share = 0.7, .temperature = 2});
  check_history(apprentice.fit(pictures, kinds, options), expected["hints"]);
  check_logs(apprentice.evaluate(unseen, answers), expected["exam"]);
  check_numbers("chance", apprentice.soften(student.predict(unseen)).tensor().to_doubles(), expected["chances"]);
}

BOOST_AUTO_TEST_SUITE_END()
