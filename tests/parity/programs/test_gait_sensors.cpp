// Tells the speed of a treadmill from the acceleration of a foot: see gait_sensors.py.
#include <boost/test/unit_test.hpp>

#include "parity/programs/programs.hpp"
#include "support/folder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

void write_walks(const std::string& path, std::int64_t walks, std::uint32_t stream) {
  const Value speed = array({3.5, 5.0, 8.5})(random_integers(stream, {walks, 1}, 3));
  const Value swing = speed / 4 * sin(speed * arange(32) / 10 + uniform_numbers(stream + 1, {walks, 1}, 0, 6));
  save_csv(path, hstack({swing + 0.3 * normal_numbers(stream + 2, {walks, 32}), speed}), {.delimiter = '\t'});
}

struct Walks {
  Tensor accelerations, labels;
  std::int64_t speeds;
};

Walks read_walks(const std::string& path) {
  const Tensor table = read_csv(path, {.sep = "\t", .header = std::nullopt}).to_tensor();
  const Value speeds = unique(table(all, -1)).values;
  return {table(all, slice(-1), newaxis), searchsorted(speeds, table(all, -1)), speeds.shape()[0]};
}

Model network_of(std::int64_t samples, std::int64_t speeds) {
  const Input walk({.shape = {samples, 1}});
  Value x = walk;
  for (const auto& [size, filters] : {std::pair{9, 6}, {5, 12}, {3, 8}}) {
    // The offset of a normalization replaces the bias.
    x = layers::Conv1D({.filters = filters, .kernel_size = size, .padding = "same", .use_bias = false})(x);
    x = layers::ReLU()(layers::BatchNormalization()(x));
  }
  x = layers::Dense(speeds, {.activation = "softmax"})(layers::GlobalAveragePooling1D()(x));
  return Model({.inputs = {walk}, .outputs = {x}});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(gait_sensors)

BOOST_AUTO_TEST_CASE(best_model_equals_keras) {
  nlohmann::json keras = program("gait_sensors");
  const Folder folder;
  const std::string known = folder.path("known.tsv"), unseen = folder.path("unseen.tsv"), best = folder.path("b.mezzo");
  write_walks(known, 80, 31);
  write_walks(unseen, 20, 41);
  const auto [accelerations, labels, speeds] = read_walks(known);
  BOOST_TEST(speeds == keras["speeds"].get<std::int64_t>());

  Model network = network_of(accelerations.shape()[1], speeds);
  initialize(network, keras["shapes"]);
  network.compile(
      {.optimizer = "adam", .loss = "sparse_categorical_crossentropy", .metrics = {"sparse_categorical_accuracy"}});
  EarlyStopping stop({.monitor = "val_loss", .patience = 2, .verbose = 0});
  ReduceLROnPlateau slow({.monitor = "val_loss", .factor = 0.5, .patience = 1, .min_delta = 0.035, .min_lr = 0.0002});
  ModelCheckpoint keep(best, {.monitor = "val_loss", .save_best_only = true});
  const History history = network.fit(accelerations, labels,
                                      {.batch_size = 4,
                                       .epochs = 12,
                                       .verbose = 0,
                                       .callbacks = {stop, slow, keep},
                                       .validation_split = 0.2,
                                       .shuffle = false});
  check_history(history, keras["history"]);

  const Walks test = read_walks(unseen);
  BOOST_TEST(test.labels.to_doubles() == keras["labels"].get<std::vector<double>>());
  check_logs(load_model(best)->evaluate(test.accelerations, test.labels), keras["scores"]);
}

BOOST_AUTO_TEST_SUITE_END()
