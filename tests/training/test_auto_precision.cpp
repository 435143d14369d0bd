#include <boost/test/unit_test.hpp>

#include <regex>

#include <mezzo/compiler/product_rates.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/mezzo.hpp>
#include <mezzo/training/loops/auto_precision.hpp>
#include <mezzo/training/step/step_runner.hpp>

#include "support/captured.hpp"
#include "support/folder.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// exp of large numbers, which overflow float16.
class Steep : public Layer {
 public:
  Steep() : Layer("Steep", Options{}) {}

 protected:
  Value call(const Value& x) override { return exp(x * 20); }

 private:
  struct Options {
    std::string name;
    Policy dtype;
  };
};

Sequential compiled(Sequential model) {
  model.compile(
      {.optimizer = Adam({.learning_rate = 1e-3}), .loss = SparseCategoricalCrossentropy({.from_logits = true})});
  return model;
}

DataLoader loader_of(const Shape& sample, std::int64_t samples = 64) {
  Shape shape{samples};
  shape.insert(shape.end(), sample.begin(), sample.end());
  std::vector<std::int64_t> labels(static_cast<std::size_t>(samples));
  for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int64_t>(i % 3);
  return DataLoader(Dataset::from_tensors({{"x", random_tensor(shape, DType::float32, 5, -1, 1)},
                                           {"y", Tensor({samples}, labels), Role::target}}),
                    {.batch_size = 16});
}

const Trainer trainer({.max_epochs = 2, .precision = "auto", .enable_progress_bar = false});

struct Told {
  std::string chosen;
  std::map<std::string, double> milliseconds;
};

/// Parses the line about the choice.
Told read(const std::string& line) {
  const std::regex sentence("\\[Trainer\\] precision \"auto\" is (\\w+): (.*)\\n");
  const std::regex entry("(\\w+) ([0-9.e+-]+|inf) ms a step");
  std::smatch match;
  BOOST_REQUIRE_MESSAGE(std::regex_match(line, match, sentence), line);
  Told told{match[1], {}};
  const std::string rest = match[2];
  for (std::sregex_iterator i(rest.begin(), rest.end(), entry), end; i != end; ++i) {
    told.milliseconds[(*i)[1]] = std::stod((*i)[2]);
  }
  return told;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(auto_precision)

BOOST_AUTO_TEST_CASE(the_choice_agrees_with_the_measured_times) {
  Sequential model = compiled(Sequential({Dense({.units = 64, .activation = "relu"}), Dense({.units = 3})}));
  const CapturedOutput output;
  trainer.fit(model, loader_of({40}));
  const Told told = read(output.text());
  BOOST_TEST(told.milliseconds.size() == 3U);
  for (const auto& [policy, time] : told.milliseconds) {
    BOOST_TEST(told.milliseconds.at(told.chosen) <= time * 1.06,
               policy);  // gains below 1.05 don't count; times have three digits
  }
}

BOOST_AUTO_TEST_CASE(training_goes_as_if_the_choice_had_been_given) {
  seed_everything(7);
  Sequential first =
      compiled(Sequential({Dense({.units = 8}), BatchNormalization(), Dropout({.rate = 0.3}), Dense({.units = 3})}));
  first.build({16, 5});
  Sequential second = compiled(clone(first));
  const DataLoader loader = loader_of({5});
  History automatic;
  Told told;
  {
    const CapturedOutput output;
    automatic = trainer.fit(first, loader);
    told = read(output.text());
  }
  const History given =
      Trainer({.max_epochs = 2, .precision = told.chosen, .enable_progress_bar = false}).fit(second, loader);
  BOOST_TEST(automatic.history.at("loss") == given.history.at("loss"), boost::test_tools::per_element());
  for (std::size_t i = 0; i < first.weights().size(); ++i) {
    BOOST_TEST(first.weights()[i].value().equal(second.weights()[i].value()), first.weights()[i].name());
  }
  BOOST_TEST(trainer.predict(first, loader).equal(Trainer({.precision = told.chosen}).predict(second, loader)));
}

BOOST_AUTO_TEST_CASE(what_disagrees_with_float32_isnt_chosen) {
  Sequential model = compiled(Sequential({Steep(), Dense({.units = 3})}));
  const CapturedOutput output;
  trainer.fit(model, loader_of({3}));
  const Told told = read(output.text());
  BOOST_TEST(told.chosen != "mixed_float16", output.text());
  const std::regex reason("mixed_float16 \\(every step overflows\\)");
  BOOST_TEST(std::regex_search(output.text(), reason), output.text());
}

BOOST_AUTO_TEST_CASE(a_refused_checkpoint_leaves_all_as_it_was) {
  const Folder folder;
  const DataLoader loader = loader_of({5});
  Trainer one({.max_epochs = 1, .precision = "auto", .enable_progress_bar = false});
  Sequential model = compiled(Sequential({Dense({.units = 8, .activation = "relu"}), Dense({.units = 3})}));
  Sequential other = compiled(Sequential({Dense({.units = 7}), Dense({.units = 3})}));
  const CapturedOutput output;
  one.fit(model, loader);
  one.fit(other, loader);
  // The measured choices may be the same; the refused checkpoint must have another.
  detail::training_state(model).chosen = "float32";
  detail::training_state(other).chosen = "mixed_bfloat16";
  one.save_checkpoint(model, folder.path("before"));
  one.save_checkpoint(other, folder.path("other"));
  BOOST_CHECK_THROW(one.fit(model, loader, {}, {.ckpt_path = folder.path("other")}), FileError);
  one.save_checkpoint(model, folder.path("after"));
  constexpr std::size_t most = 1U << 20U;
  BOOST_TEST((detail::read_file(folder.path("after"), most) == detail::read_file(folder.path("before"), most)));
}

BOOST_AUTO_TEST_CASE(before_a_fit_it_is_the_models_own) {
  Sequential model = compiled(Sequential({Dense({.units = 3})}, {.dtype = "float64"}));
  BOOST_TEST(dtype_name(trainer.predict(model, loader_of({4})).dtype()) == "float64");
}

BOOST_AUTO_TEST_CASE(it_is_no_policy) {
  BOOST_TEST(Precision("auto").automatic());
  BOOST_TEST(Precision("auto").policy().inherits());
  BOOST_TEST(!Precision("bf16").automatic());
  BOOST_CHECK_THROW(Policy("auto"), NameError);
}

BOOST_AUTO_TEST_CASE(rates_are_measured) {
  for (const ProductRates& rates : product_rates({DType::float32, DType::bfloat16}, 2)) {
    BOOST_TEST((rates.matmul >= 0 && std::isfinite(rates.matmul)));
    BOOST_TEST((rates.conv2d >= 0 && std::isfinite(rates.conv2d)));
    BOOST_TEST(!rates.kernels.empty());
  }
  for (const ProductRates& rates : product_rates({DType::float32}, 1)) {
    BOOST_TEST(rates.matmul == 0);  // nothing to agree on
    BOOST_TEST(rates.conv2d == 0);
  }
}

BOOST_AUTO_TEST_SUITE_END()
