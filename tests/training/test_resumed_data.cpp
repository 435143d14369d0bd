// Data of resumed trainings: their position by samples, their fingerprint, and sources without a size.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <memory>

#include "checkpoint_runs.hpp"
#include "small.hpp"
#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/layers.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

// Numbers of the samples that were read.
using SamplesRead = std::shared_ptr<std::vector<std::int64_t>>;

std::vector<Tensor> line_sample(std::int64_t index) {
  const auto x = static_cast<double>(index % 7) / 7;
  return {Tensor({1}, std::vector<double>{x}).cast(DType::float32),
          Tensor({1}, std::vector<double>{2 * x + 0.1 * static_cast<double>(index % 3)}).cast(DType::float32)};
}

const std::vector<Field> line_fields{{.name = "x", .shape = {1}}, {.name = "y", .shape = {1}, .role = Role::target}};

Dataset watched(std::int64_t size, const SamplesRead& read) {
  return Dataset::from_function({.size = size, .fields = line_fields, .function = [read](std::int64_t index) {
                                   read->push_back(index);
                                   return line_sample(index);
                                 }});
}

// A stream of `size` samples, which begin with another one in each epoch.
IterableDataset streamed(std::int64_t size, const SamplesRead& read = std::make_shared<std::vector<std::int64_t>>()) {
  return IterableDataset({.fields = line_fields, .function = [size, read](std::int64_t epoch) {
                            auto next = std::make_shared<std::int64_t>(0);
                            return [=]() -> std::optional<std::vector<Tensor>> {
                              if (*next == size) return std::nullopt;
                              read->push_back(*next);
                              return line_sample((*next)++ + 3 * epoch);
                            };
                          }});
}

Sequential new_line() {
  seed_everything(5);
  Sequential model({Dense({.units = 4, .activation = "tanh"}), Dropout({.rate = 0.2}), Dense({.units = 1})});
  model.compile({.optimizer = Adam({.learning_rate = 0.05}), .loss = "mse", .metrics = {"mae"}});
  return model;
}

struct Steps {
  int epochs = 2;
  std::int64_t steps = -1;
  TrainerFitOptions from{};
  Callbacks callbacks{};
  detail::BatchLimit limit = 1.0;
};

History train(Sequential& model, const DataLoader& loader, const Steps& steps = {}, const DataLoader& validation = {}) {
  return Trainer({.max_epochs = steps.epochs,
                  .max_steps = steps.steps,
                  .limit_train_batches = steps.limit,
                  .callbacks = steps.callbacks,
                  .enable_progress_bar = false})
      .fit(model, loader, validation, steps.from);
}

// A checkpoint after `steps` steps with these data.
std::string saved_after(const Folder& folder, const DataLoader& loader, std::int64_t steps,
                        detail::BatchLimit limit = 1.0) {
  Sequential model = new_line();
  train(model, loader, {.steps = steps, .limit = limit});
  Trainer::save_checkpoint(model, folder.path("c"));
  return folder.path("c");
}

// Saves a checkpoint at the end of batch number `step`, from 1, inside of fit.
class SaveAt : public Callback {
 public:
  SaveAt(std::string path, std::int64_t step) : path_(std::move(path)), step_(step) {}
  bool saves() const override { return true; }
  void on_train_batch_end(std::int64_t, Logs&) override {
    if (session().global_step() == step_) session().save_checkpoint(path_);
  }

 private:
  std::string path_;
  std::int64_t step_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(resumed_data)

BOOST_AUTO_TEST_CASE(other_data_are_an_error_that_names_each_difference) {
  const Folder folder;
  const SamplesRead read = std::make_shared<std::vector<std::int64_t>>();
  const std::string file =
      saved_after(folder, DataLoader(watched(20, read), {.batch_size = 4, .shuffle = true, .seed = 1}), 2);
  const auto refuses = [&](const Dataset& data, const DataLoaderOptions& options, const std::string& text,
                           bool by_samples = false) {
    Sequential model = new_line();
    const auto fit = [&] { train(model, DataLoader(data, options), {.from = {file, by_samples}}); };
    check_throws<ValueError>(
        "[Trainer] fit: the training data must be those of the checkpoint \"" + file + "\"; got " + text, fit);
  };
  const std::string random = "RandomSampler(20, replacement = false, num_samples = 20), seed ";
  const DataLoaderOptions same{.batch_size = 4, .shuffle = true, .seed = 1};
  refuses(watched(20, read), {.batch_size = 5, .shuffle = true, .seed = 1},
          "batch_size 5, was 4; ckpt_by_samples allows that");
  refuses(watched(20, read), {.batch_size = 4, .shuffle = true, .drop_last = true, .seed = 1},
          "drop_last true, was false; ckpt_by_samples allows that");
  refuses(watched(20, read), {.batch_size = 4, .shuffle = true, .seed = 2},
          "order " + random + "2, was " + random + "1");
  refuses(watched(20, read), {.batch_size = 4}, "order SequentialSampler(20), was " + random + "1", true);
  refuses(watched(24, read), {.batch_size = 6},
          "number of samples 24, was 20; order SequentialSampler(24), was " + random + "1; batch_size 6, was 4", true);
  refuses(watched(20, read),
          {.batch_size = 4, .seed = 1, .sampler = RandomSampler(watched(20, read), {.num_samples = 8})},
          "order RandomSampler(20, replacement = false, num_samples = 8), seed 1, was " + random + "1");
  Sequential model = new_line();
  BOOST_TEST(train(model, DataLoader(watched(20, read), same), {.from = {file}}).epoch.size() == 2U);
}

BOOST_AUTO_TEST_CASE(by_samples_the_rest_of_the_epoch_has_the_other_samples) {
  for (const std::int64_t batch_size : {3, 4, 5, 16}) {
    const Folder folder;
    const SamplesRead read = std::make_shared<std::vector<std::int64_t>>();
    const auto loader = [&](std::int64_t size) {
      return DataLoader(watched(20, read), {.batch_size = size, .shuffle = true, .workers = 0, .seed = 1});
    };
    const std::string file = saved_after(folder, loader(4), 2);
    std::vector<std::int64_t> order;
    {
      const SamplesRead all = std::make_shared<std::vector<std::int64_t>>();
      const DataLoader whole(watched(20, all), {.batch_size = 20, .shuffle = true, .workers = 0, .seed = 1});
      whole.epoch(0).next();
      order = *all;
    }
    read->clear();
    Sequential model = new_line();
    train(model, loader(batch_size), {.epochs = 1, .from = {file, true}});
    BOOST_TEST(*read == std::vector<std::int64_t>(order.begin() + 8, order.end()), per_element());
  }
}

BOOST_AUTO_TEST_CASE(a_resume_reads_no_batch_that_it_does_not_train_on) {
  const Folder folder;
  const SamplesRead read = std::make_shared<std::vector<std::int64_t>>();
  const DataLoader loader(watched(40, read), {.batch_size = 4, .workers = 1, .prefetch = 2});
  const std::string file = saved_after(folder, loader, 7);
  BOOST_TEST(read->size() == 28U);
  read->clear();
  const DataLoader other(watched(40, read), {.batch_size = 4, .workers = 1, .prefetch = 2});
  Sequential model = new_line();
  train(model, other, {.epochs = 1, .from = {file}});
  std::vector<std::int64_t> rest;
  for (std::int64_t i = 28; i < 40; ++i) rest.push_back(i);
  BOOST_TEST(*read == rest, per_element());
}

BOOST_AUTO_TEST_CASE(a_source_without_a_size_trains_and_validates) {
  const auto run = [](const DataLoader& data, const DataLoader& validation) {
    Sequential model = new_line();
    return train(model, data, {}, validation).history;
  };
  // The same samples in both epochs: the order of an epoch is that of the data set.
  const SamplesRead unused = std::make_shared<std::vector<std::int64_t>>();
  const IterableDataset repeated({.fields = line_fields, .function = [](std::int64_t) {
                                    auto next = std::make_shared<std::int64_t>(0);
                                    return [=]() -> std::optional<std::vector<Tensor>> {
                                      if (*next == 10) return std::nullopt;
                                      return line_sample((*next)++);
                                    };
                                  }});
  for (const int workers : {0, 1}) {
    const DataLoaderOptions options{.batch_size = 4, .workers = workers};
    const DataLoader sized(watched(10, unused), options), stream(repeated, options);
    const auto expected = run(sized, sized);
    BOOST_TEST(expected.size() == 4U);
    for (const auto& [name, numbers] : run(stream, stream)) {
      BOOST_TEST(numbers == expected.at(name), per_element());
      BOOST_TEST(numbers.size() == 2U);
    }
  }
}

BOOST_AUTO_TEST_CASE(limits_of_a_source_without_a_size) {
  const SamplesRead read = std::make_shared<std::vector<std::int64_t>>();
  const DataLoader stream(streamed(10, read), {.batch_size = 2, .workers = 0});
  Sequential model = new_line();
  train(model, stream, {.epochs = 1, .limit = 3});
  BOOST_TEST(read->size() == 6U);
  const auto refuses = [&](const TrainerOptions& options, const std::string& name, const std::string& share) {
    TrainerOptions silent = options;
    silent.enable_progress_bar = false;
    silent.max_epochs = 1;
    check_throws<ValueError>(
        "[Trainer] " + name + " must be 1.0 or a number of batches for a loader without a size; got the share " + share,
        [&] { Trainer(silent).fit(model, stream, stream); });
  };
  refuses({.limit_train_batches = 0.5}, "limit_train_batches", "0.5");
  refuses({.limit_val_batches = 0.5}, "limit_val_batches", "0.5");
  refuses({.val_check_interval = 0.25}, "val_check_interval", "0.25");
  BOOST_TEST(Trainer({.limit_test_batches = 2}).test(model, stream).size() == 2U);
  BOOST_TEST((Trainer().predict(model, stream).shape() == Shape{10, 1}));
}

BOOST_AUTO_TEST_CASE(steps_per_epoch_go_on_in_the_next_pass_of_a_stream) {
  const SamplesRead read = std::make_shared<std::vector<std::int64_t>>();
  Sequential model = new_line();
  const History history = model.fit(DataLoader(streamed(6, read), {.batch_size = 2, .workers = 0}),
                                    {.epochs = 2, .verbose = 0, .steps_per_epoch = 4});
  BOOST_TEST(history.epoch.size() == 2U);
  BOOST_TEST(*read == (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5, 0, 1, 2, 3}), per_element());
}

BOOST_AUTO_TEST_CASE(an_epoch_of_unknown_length_accumulates_up_to_its_end) {
  const auto weights = [](const DataLoader& data) {
    Sequential model = new_line();
    Trainer({.max_epochs = 1, .accumulate_grad_batches = 3, .enable_progress_bar = false}).fit(model, data);
    return values_of(model);
  };
  const DataLoaderOptions options{.batch_size = 2, .workers = 0};
  const auto sized = weights(DataLoader(watched(10, std::make_shared<std::vector<std::int64_t>>()), options));
  for (const auto& [path, value] : weights(DataLoader(streamed(10), options))) {
    BOOST_TEST(value.equal(sized.at(path)), path);
  }
}

BOOST_AUTO_TEST_CASE(a_stream_resumes_bit_for_bit) {
  for (const std::int64_t step : {1, 3, 5, 7}) {  // 5: the end of an epoch
    const Folder folder;
    const DataLoader stream(streamed(10), {.batch_size = 2});
    Sequential whole = new_line(), resumed = new_line();
    const History all = train(whole, stream, {.epochs = 3, .callbacks = {SaveAt(folder.path("c"), step)}}, stream);
    const History rest = train(resumed, stream, {.epochs = 3, .from = {folder.path("c")}}, stream);
    BOOST_TEST_CONTEXT("step " << step) {
      BOOST_TEST(changed_since(values_of(whole), resumed) == "");
      for (const auto& [name, numbers] : rest.history) {
        const std::vector<double>& expected = all.history.at(name);
        BOOST_TEST(numbers == std::vector<double>(expected.end() - static_cast<std::ptrdiff_t>(numbers.size()),
                                                  expected.end()),
                   per_element());
      }
      BOOST_TEST(rest.epoch.front() == (step > 5 ? 1 : 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_progress_of_a_stream_has_no_end) {
  const CapturedOutput captured;
  Sequential model = new_line();
  Trainer({.max_epochs = 1}).fit(model, DataLoader(streamed(10), {.batch_size = 2}));
  const std::string text = captured.text();
  BOOST_TEST(text.rfind("Epoch 1/1: 5/? [00:00<?, ", 0) == 0U, text);
}

BOOST_AUTO_TEST_SUITE_END()
