// Trainings, predictions and files of models with adapters.
#include <boost/test/unit_test.hpp>

#include <map>
#include <sstream>

#include <mezzo/io/safetensors.hpp>
#include <mezzo/mezzo.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/rank_threads.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

Tensor inputs() { return random::normal({24, 4}, {.seed = 5}).tensor(); }
Tensor targets() { return random::normal({24, 2}, {.seed = 6}).tensor(); }

const LoraOptions chosen{
    .targets = "low|query", .rank = 2, .alpha = 4, .dropout = 0.2, .b_initializer = "glorot_uniform"};

/// A model with adapters, compiled.
Sequential network(const LoraOptions& options = chosen, const Any<Optimizer>& optimizer = AdamW(0.01)) {
  seed_everything(3);
  Sequential model({Input({4}), Dense(6, {.activation = "relu", .name = "low"}), LayerNormalization(),
                    Dense(6, {.activation = "tanh", .name = "query"}), Dropout(0.1), Dense(2, {.name = "head"})});
  model.compile({.optimizer = optimizer, .loss = "mse"});
  model.enable_lora(options);
  return model;
}

DataLoader data() {
  return DataLoader(Dataset::from_tensors({{"x", inputs(), Role::input}, {"y", targets(), Role::target}}),
                    {.batch_size = 5, .shuffle = true, .workers = 0});
}

History train(Sequential& model, TrainerOptions options, const std::string& checkpoint = {}) {
  seed_everything(7);
  options.enable_progress_bar = false;
  return Trainer(options).fit(model, data(), {}, {.ckpt_path = checkpoint});
}

std::string trained(const Layer& model) {
  std::string text;
  for (const auto& [path, weight] : model.named_weights()) {
    if (weight.trainable() && path.find("lora") != std::string::npos) text += (text.empty() ? "" : " ") + path;
  }
  return text;
}

std::vector<std::string> names_in(const std::string& file) { return SafetensorsFile(file).names(); }

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lora)

BOOST_AUTO_TEST_CASE(trainings_change_adapters_alone_under_every_feature) {
  const Policy low("mixed_bfloat16");
  const std::vector<TrainerOptions> ways{{.max_epochs = 2},
                                         {.max_epochs = 2, .precision = low},
                                         {.max_epochs = 2, .precision = "mixed_float16"},
                                         {.max_epochs = 2, .precision = "bfloat16"},
                                         {.max_epochs = 2, .accumulate_grad_batches = 2},
                                         {.max_epochs = 2, .gradient_clip_val = 0.5},
                                         {.max_epochs = 2, .eager = true},
                                         {.max_epochs = 2, .callbacks = {EMAWeightAveraging({.decay = 0.9})}}};
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const CapturedOutput quiet;
    Sequential model = network();
    model.get_layer("query").set_remat(i % 2 == 1);
    const auto before = values_of(model);
    const History history = train(model, ways[i]);
    BOOST_TEST_CONTEXT(i) {
      BOOST_TEST(history.history.at("loss").size() == 2U);
      BOOST_TEST(!trained(model).empty());
      for (const auto& [path, weight] : model.named_weights()) {
        const bool same = before.at(path).cast(DType::float32).equal(weight.value().cast(DType::float32));
        if (path.find("lora") != std::string::npos) BOOST_TEST(!same, path);
        if (path.find("lora") == std::string::npos && i != 3) BOOST_TEST(same, path);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(eager_steps_compute_the_same) {
  LoraOptions plain = chosen;
  plain.dropout = 0;
  Sequential planned = network(plain), eager = network(plain);
  train(planned, {.max_epochs = 2});
  train(eager, {.max_epochs = 2, .eager = true});
  for (const auto& [path, weight] : planned.named_weights()) {
    for (const auto& [other, value] : eager.named_weights()) {
      if (other == path) BOOST_TEST(largest_difference(weight.value(), value.value()) < 1e-5, path);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_training_resumes_bit_for_bit) {
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    const Folder folder;
    Sequential whole = network(), begun = network(), resumed = network();
    const History all = train(whole, {.max_epochs = 3, .precision = policy});
    train(begun, {.max_epochs = 1, .precision = policy});
    Trainer::save_checkpoint(begun, folder.path("one"));
    const History rest = train(resumed, {.max_epochs = 3, .precision = policy}, folder.path("one"));
    BOOST_TEST(changed_since(values_of(whole), resumed) == "", policy);
    const std::vector<double>& losses = all.history.at("loss");
    BOOST_TEST(rest.history.at("loss") == std::vector<double>(losses.begin() + 1, losses.end()), per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_checkpoint_does_not_fit_a_model_without_adapters) {
  const Folder folder;
  Sequential model = network(), plain = network();
  train(model, {.max_epochs = 1});
  Trainer::save_checkpoint(model, folder.path("one"));
  delete_adapter(plain, "default");
  const std::string text = refused<Error>([&] { train(plain, {.max_epochs = 2}, folder.path("one")); });
  BOOST_TEST(text.find("lora_A.default.weight") != std::string::npos, text);
}

BOOST_AUTO_TEST_CASE(ranks_train_the_same_adapters) {
  std::vector<std::vector<Tensor>> ends(2);
  const std::vector<std::string> errors = run_ranks(2, [&](const std::shared_ptr<Communicator>& ranks) {
    Sequential model = network();
    Trainer({.max_epochs = 1, .strategy = ranks, .enable_progress_bar = false}).fit(model, data());
    ends[static_cast<std::size_t>(ranks->rank())] = model.get_weights();
  });
  BOOST_TEST(errors == std::vector<std::string>(2), per_element());
  BOOST_TEST_REQUIRE(ends[0].size() == ends[1].size());
  for (std::size_t i = 0; i < ends[0].size(); ++i) BOOST_TEST(ends[0][i].equal(ends[1][i]));
}

BOOST_AUTO_TEST_CASE(plans_follow_the_adapters) {
  Sequential model = network();
  const Tensor with = model.predict(inputs());
  Predictor predictor(model);
  merge_adapter(model);
  const Tensor merged = model.predict(inputs());
  BOOST_TEST(largest_difference(merged, with) < 1e-5);
  unmerge_adapter(model);
  BOOST_TEST(model.predict(inputs()).equal(with));
  delete_adapter(model, "default");
  BOOST_TEST(largest_difference(model.predict(inputs()), with) > 1e-3);
  BOOST_TEST(largest_difference(predictor(inputs()), with) < 1e-5);
}

BOOST_AUTO_TEST_CASE(the_plan_computes_no_gradient_of_a_frozen_kernel) {
  Sequential model = network();
  train(model, {.max_epochs = 1});
  std::map<std::string, int> products;
  std::istringstream lines(model.explain());
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string op, layer;
    words >> op >> layer;
    if (op == "matmul") ++products[layer];
  }
  BOOST_TEST(products["head"] == 2);   // forward, input gradient
  BOOST_TEST(products["query"] == 8);  // and two forward, two gradients of A and B, two input gradients of theirs
  BOOST_TEST(products["low"] == 6);    // as query, without gradients of the input
}

BOOST_AUTO_TEST_CASE(a_summary_counts_adapters_as_trainable) {
  Sequential model = network();
  const std::string text = model.summary_text();
  BOOST_TEST(text.find("Trainable params: 44") != std::string::npos, text);  // 2 x (4 + 6) + 2 x (6 + 6)
}

BOOST_AUTO_TEST_CASE(weight_files_have_names_of_their_own_for_adapters) {
  const Folder folder;
  Sequential model = network();
  model.save_weights(folder.path("a.safetensors"));
  const std::vector<std::string> names = names_in(folder.path("a.safetensors"));
  BOOST_TEST(has(names, "query.weight"));
  BOOST_TEST(has(names, "query.lora_A.default.weight"));
  BOOST_TEST(has(names, "query.lora_B.default.weight"));
  BOOST_TEST((SafetensorsFile(folder.path("a.safetensors")).find("low.lora_A.default.weight")->shape == Shape{2, 4}));
  Sequential other = network();
  train(other, {.max_epochs = 1});
  other.load_weights(folder.path("a.safetensors"));
  BOOST_TEST(changed_since(values_of(model), other) == "");
  delete_adapter(other, "default");
  BOOST_TEST(refused<FileError>([&] {
               other.load_weights(folder.path("a.safetensors"));
             }).find("unexpected tensor \"low.lora_A.default.weight\"") != std::string::npos);
  const LoadWeightsReport report = other.load_weights(folder.path("a.safetensors"), {.strict = false});
  BOOST_TEST(report.unexpected_keys.size() == 4U);
}

BOOST_AUTO_TEST_CASE(model_files_keep_adapters) {
  const Folder folder;
  Sequential model = network();
  LoraOptions other = chosen;
  other.name = "other";
  other.use_rslora = true;
  model.enable_lora(other);
  set_adapter(model, "default");
  train(model, {.max_epochs = 1});
  const Tensor y = model.predict(inputs());
  model.save(folder.path("a.mezzo"));
  auto read = load_model(folder.path("a.mezzo"));
  BOOST_TEST(read->predict(inputs()).equal(y));
  BOOST_TEST(adapter_names(*read) == (std::vector<std::string>{"default", "other"}), per_element());
  BOOST_TEST(active_adapter(*read) == "default");
  BOOST_TEST(trained(*read) == trained(model));
  BOOST_TEST(read->trainable_weights().size() == model.trainable_weights().size());
  BOOST_TEST(read->to_json() == model.to_json());
  merge_and_unload(*read);
  BOOST_TEST(largest_difference(read->predict(inputs()), y) < 1e-5);
  BOOST_TEST(read->get_layer("query").trainable_weights().size() == 2U);
}

BOOST_AUTO_TEST_CASE(a_model_file_continues_bit_for_bit) {
  const Folder folder;
  Sequential model = network();
  model.fit(inputs(), targets(), {.batch_size = 6, .epochs = 1, .verbose = 0});
  model.save(folder.path("a.mezzo"));
  auto read = load_model(folder.path("a.mezzo"));
  seed_everything(9);
  model.fit(inputs(), targets(), {.batch_size = 6, .epochs = 1, .verbose = 0});
  seed_everything(9);
  read->fit(inputs(), targets(), {.batch_size = 6, .epochs = 1, .verbose = 0});
  BOOST_TEST(changed_since(values_of(model), *read) == "");
}

BOOST_AUTO_TEST_CASE(files_of_keras_have_the_sum) {
  const Folder folder;
  Sequential model = network();
  const Tensor y = model.predict(inputs());
  model.save(folder.path("a.keras"));
  auto read = load_model(folder.path("a.keras"));
  BOOST_TEST(largest_difference(read->predict(inputs()), y) < 1e-5);
  BOOST_TEST(adapter_names(*read).empty());
  model.save_weights(folder.path("a.weights.h5"));
  read->load_weights(folder.path("a.weights.h5"));
  BOOST_TEST(largest_difference(read->predict(inputs()), y) < 1e-5);
  model.load_weights(folder.path("a.weights.h5"));  // the sums become the kernels, and B zeros
  BOOST_TEST(largest_difference(model.predict(inputs()), y) < 1e-5);
  {
    const DisableAdapters off(model);
    BOOST_TEST(largest_difference(model.predict(inputs()), y) < 1e-5);
  }
}

BOOST_AUTO_TEST_CASE(malformed_configs_of_adapters_are_refused) {
  const std::string text = network().to_json();
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string other = text;
    const std::size_t at = other.find(from);
    BOOST_TEST_REQUIRE(at != std::string::npos, from << " in " << text);
    other.replace(at, from.size(), to);
    return refused<Error>([&] { model_from_json(other); });
  };
  BOOST_TEST(changed("\"path\":\"low\"", "\"path\":\"high\"") == "[config] lora: no layer \"high\" can have adapters");
  BOOST_TEST(changed("\"rank\":2", "\"rank\":0") == "[config] lora: rank must be at least 1; got 0");
  BOOST_TEST(changed("\"active\":\"default\"", "\"active\":\"x\"") ==
             "[config] lora: active must name adapters of \"low\"; got \"x\"");
  BOOST_TEST(changed("\"frozen\":[\"low/bias\"", "\"frozen\":[\"low/kernel\"").find("frozen must name weights") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
