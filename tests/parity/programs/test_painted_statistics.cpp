// Repaints rings in the manner of a woven cloth, by gradients of the pixels: see painted_statistics.py.

#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

BOOST_AUTO_TEST_SUITE(painted_statistics)

namespace {

constexpr std::int64_t side = 16;
constexpr int steps = 10;
// Stages of the network with their channels. A stage without channels halves height and width.
const std::vector<std::pair<std::string, std::int64_t>> stages = {
    {"grain", 6}, {"half", 0}, {"thread", 8}, {"quarter", 0}, {"outline", 8}};
// Weights of the Gram matrices of "grain" and "thread".
const std::vector<double> cloth_weights = {0.5, 2.0};

std::pair<Value, Value> rings_and_cloth() {
  Value right = arange(static_cast<double>(side)) - side / 2.0 + 0.25, down = expand_dims(right, 1);
  const Value radius = sqrt(square(down) + square(right));
  Values rings, knot;
  for (const double rate : {0.5, 0.8, 0.3}) rings.push_back(0.5 + 0.5 * cos(rate * radius));
  right = right(slice(side / 2)), down = down(slice(side / 2));
  for (const double rate : {1.1, 1.7, 0.9}) knot.push_back(0.5 + 0.5 * sin(rate * down) * sin(1.5 * rate * right));
  const Value patch = convert_to_tensor(expand_dims(stack(knot, -1), 0));
  return {convert_to_tensor(expand_dims(stack(rings, -1), 0)), tile(patch, {1, 2, 2, 1})};
}

Model observer() {
  const Input paper({side, side, 3});
  Value x = paper;
  for (const auto& [name, channels] : stages) {
    x = channels > 0 ? Conv2D(channels, 3, {.padding = "same", .activation = "relu", .name = name})(x)
                     : AveragePooling2D({.pool_size = 2, .name = name})(x);
  }
  const Model chain(paper, x);
  Values seen;
  for (const char* name : {"grain", "thread", "outline"}) seen.push_back(chain.get_layer(name).output());
  return Model({.inputs = chain.inputs(), .outputs = seen});
}

// Mean products of channels: (pictures, channels, channels).
Value gram(const Value& maps) {
  const Values sizes = shape(maps);
  const Value pixels = reshape(maps, {sizes[0], sizes[1] * sizes[2], sizes[3]});
  return matmul(transpose(pixels, {0, 2, 1}), pixels) / (sizes[1] * sizes[2]);
}

// Mean of the lengths of color slopes to the power of 1.5, a total variation that is smooth at 0.
Value roughness(const Value& picture) {
  const detail::Slice tail = slice(1, std::nullopt), head = slice(-1);
  const Value corner = picture(all, head, head);
  const Value steepness = square(picture(all, tail, head) - corner) + square(picture(all, head, tail) - corner);
  return mean(power(steepness, 0.75));
}

class Repainting {
 public:
  Repainting(Model see, const Value& content, const Value& manner) : see_(std::move(see)) {
    const Values both = see_(Values{concatenate({content, manner}, 0)});
    outline_ = both[2](slice(1));
    for (std::size_t i = 0; i < cloth_weights.size(); ++i) grams_.push_back(gram(both[i](slice(1, std::nullopt))));
  }

  // Errors of content and manner.
  std::pair<Value, Value> mismatch(const Value& picture) {
    const Values seen = see_(Values{picture});
    Value manner = zeros({});
    for (std::size_t i = 0; i < cloth_weights.size(); ++i) {
      manner = manner + cloth_weights[i] * sum(square(gram(seen[i]) - grams_[i]));
    }
    return {mean(square(seen[2] - outline_)), manner};
  }

  Value cost(const Value& picture) {
    const auto [content, manner] = mismatch(picture);
    return 4.0 * content + manner + 0.05 * roughness(picture);
  }

 private:
  Model see_;
  Value outline_;
  Values grams_;
};

}  // namespace

BOOST_AUTO_TEST_CASE(pixels_and_costs_equal_keras) {
  nlohmann::json keras = program("painted_statistics");
  const auto [rings, cloth] = rings_and_cloth();
  Model see = observer();
  initialize(see, keras["shapes"]);
  Repainting task(see, rings, cloth);
  Variable picture("picture");
  picture.assign(rings);
  SGD optimizer(ExponentialDecay({.initial_learning_rate = 40, .decay_steps = 4, .decay_rate = 0.5}));
  const auto cost_and_slope = value_and_grad([&](const Value& x) { return task.cost(x); });
  std::vector<double> costs, contents, manners;
  for (int i = 0; i <= steps; ++i) {
    const auto [content, manner] = task.mismatch(picture);
    contents.push_back(content.item());
    manners.push_back(manner.item());
    if (i == steps) break;
    const auto [cost, slope] = cost_and_slope(picture);
    costs.push_back(cost.item());
    optimizer.apply({slope}, {picture});
  }
  check_numbers("cost", costs, keras["costs"]);
  check_numbers("content", contents, keras["contents"]);
  check_numbers("manner", manners, keras["manners"]);
  check_number("learning rate", optimizer.learning_rate(), keras["learning_rate"]);
  check_numbers("roughness", {roughness(rings).item(), roughness(cloth).item(), roughness(picture).item()},
                keras["roughness"]);
  check_numbers("pixel", Tensor(diagonal(picture, 0, 1, 2)).to_doubles(), keras["diagonal"]);
}

BOOST_AUTO_TEST_SUITE_END()
