// Learns a code of pressure maps by a variational autoencoder: see weather_maps_vae.py.
#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

constexpr int grid = 16, code_size = 3;

// A high and a low at places of their own, relative to 0.5.
Tensor pressure_maps(std::uint32_t stream, std::int64_t count) {
  const Value centers = uniform_numbers(stream, {count, 4}, 2, 13);
  const Value y = arange(grid)(all, newaxis), x = arange(grid)(newaxis, all);
  const auto bump = [&](int first, double width) {
    const Value row = centers(all, first, newaxis, newaxis), column = centers(all, first + 1, newaxis, newaxis);
    return exp(-(square(y - row) + square(x - column)) / width);
  };
  return (0.5 + 0.45 * (bump(0, 24) - bump(2, 12)))(ellipsis, newaxis);
}

// Draws a code of each map, and tells how far its distribution is from the prior.
class Posterior : public Layer {
 public:
  Posterior() : Layer("Posterior") {}

 protected:
  Values call_many(const Values& xs) override {
    const Value center = xs[0], spread = xs[1], noise = xs[2];
    const Value variance = exp(spread);
    const Value distance = sum(square(center) + variance - spread - 1, {.axes = {1}}) / 2;
    return {center + exp(spread / 2) * noise, distance};
  }
};

Model analysis() {
  const Input sky({grid, grid, 1}, {.name = "maps"}), noise({code_size}, {.name = "noise"});
  Value seen = sky;
  for (const int filters : {4, 6}) {
    seen = layers::Conv2D(filters, 3, {.strides = 2, .padding = "same", .activation = "relu"})(seen);
  }
  seen = layers::Flatten()(seen);
  const Value center = layers::Dense(code_size, {.name = "center"})(seen);
  const Value spread = layers::Dense(code_size, {.name = "spread"})(seen);
  const Values drawn = Posterior()(Values{center, spread, noise});
  return Model({sky, noise}, {drawn[0], drawn[1], center}, {.name = "analysis"});
}

Sequential synthesis() {
  const int rest = grid / 4;
  return Sequential(
      {
          Input({code_size}),
          layers::Dense(rest * rest * 6, {.activation = "relu", .name = "coarse"}),
          layers::Reshape({rest, rest, 6}),
          layers::Conv2DTranspose(6, 3, {.strides = 2, .padding = "same", .activation = "relu"}),
          layers::Conv2DTranspose(4, 3, {.strides = 2, .padding = "same", .activation = "relu"}),
          layers::Conv2DTranspose(1, 3, {.padding = "same", .activation = "sigmoid"}),
      },
      {.name = "synthesis"});
}

class Autoencoder : public Model {
 public:
  Autoencoder() : Model("Autoencoder") {}
  Model encoder = sub("encoder", analysis());
  Sequential decoder = sub("decoder", synthesis());

  Value training_step(const Batch& batch) override {
    const Values drawn = encoder(Values{batch["maps"], batch["noise"]});
    const Value errors = losses::binary_crossentropy(batch["maps"], decoder(drawn[0]));
    const Value misfit = sum(errors, {.axes = {1, 2}}), distance = drawn[1];
    log_dict({{"misfit", mean(misfit)}, {"distance", mean(distance)}});
    return mean(misfit + distance);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(weather_maps_vae)

BOOST_AUTO_TEST_CASE(training_and_decoded_picture_equal_keras) {
  nlohmann::json keras = program("weather_maps_vae");
  const Tensor maps = pressure_maps(1, 24), noise = normal_numbers(2, {24, code_size});
  Autoencoder model;
  initialize(model.encoder, keras["shapes"]);
  initialize(model.decoder, keras["shapes"], 200);
  model.compile({.optimizer = Adam()});
  const Dataset data = Dataset::from_tensors({{"maps", maps}, {"noise", noise}});
  check_history(model.fit(data, {.batch_size = 8, .epochs = 3, .verbose = 0, .shuffle = false}), keras["history"]);

  const auto [code, distance, center] = model.encoder.predict_all({rows(maps, 0, 3), rows(noise, 0, 3)}).unpack<3>();
  check_numbers("code", code.to_doubles(), keras["code"]);
  check_numbers("distance", distance.to_doubles(), keras["distance"]);
  check_numbers("center", center.to_doubles(), keras["center"]);
  check_numbers("pixel", model.decoder.predict(array({{1.5, -1.0, 0.5}})).to_doubles(), keras["picture"]);
}

BOOST_AUTO_TEST_SUITE_END()
