// Trainings resumed from a checkpoint.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "checkpoint_runs.hpp"
#include "mixed_module.hpp"
#include "support/captured.hpp"
#include "support/layers.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;
using boost::test_tools::tolerance;

namespace {

/// Loss of the next step, with the same batch and dropout in every run.
// Loss of the step after a checkpoint that was saved after `updates` updates.
double next_loss(Run& run, const std::string& checkpoint, std::int64_t updates) {
  return run.fit(9, checkpoint, updates + 1).history.at("loss").at(0);
}

Tensor plus(const Tensor& a, const Tensor& b) {
  Tensor out = a.cast(DType::float32);
  const Tensor other = b.cast(DType::float32);
  for (std::int64_t i = 0; i < out.size(); ++i) out.mutable_data<float>()[i] += other.data<float>()[i];
  return out;
}

double largest_relative(const Tensor& a, const Tensor& b) {
  const std::vector<double> x = a.to_doubles(), y = b.to_doubles();
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] != y[i]) largest = std::max(largest, std::abs(x[i] - y[i]) / std::abs(y[i]));
  }
  return largest;
}

void check_same_files(const std::string& first, const std::string& second) {
  BOOST_TEST((SafetensorsFile(first).metadata() == SafetensorsFile(second).metadata()));
  const auto a = tensors_of(first), b = tensors_of(second);
  BOOST_TEST(a.size() == b.size());
  for (const auto& [name, tensor] : a) BOOST_TEST(tensor.equal(b.at(name)), name);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoints)

BOOST_AUTO_TEST_CASE(under_the_same_policy_training_goes_on_bit_for_bit) {
  const CapturedOutput warnings;
  const Folder folder;
  for (const Way& way : ways()) {
    Run uninterrupted(way);
    const History whole = uninterrupted.fit(3);
    Run begun(way);
    begun.fit(1);
    const std::string file = begun.save(folder, "one_epoch");
    Run resumed(way, 7);  // another seed, so other initial weights
    const History rest = resumed.fit(3, file);
    BOOST_TEST_CONTEXT(name_of(way)) {
      BOOST_TEST(changed_since(values_of(uninterrupted.model), resumed.model) == "");
      BOOST_TEST(rest.epoch == (std::vector<int>{1, 2}), per_element());
      for (const auto& [name, numbers] : whole.history) {
        BOOST_TEST(rest.history.at(name) == std::vector<double>(numbers.begin() + 1, numbers.end()), per_element());
      }
      BOOST_TEST(resumed.optimizer->iterations() == uninterrupted.optimizer->iterations());
      BOOST_TEST(seed() == 3);
      if (way.loss_scale && way.loss_scale->initial_scale == overflowing_scale) {
        for (const double skipped : whole.history.at("skipped_steps")) BOOST_TEST(skipped > 0);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(so_it_does_from_the_middle_of_an_epoch) {
  const Folder folder;
  Run uninterrupted({}), begun({}), resumed({}, 7);
  uninterrupted.fit(3);
  begun.fit(3, {}, 4);
  const History rest = resumed.fit(3, begun.save(folder, "four_steps"));
  BOOST_TEST(changed_since(values_of(uninterrupted.model), resumed.model) == "");
  BOOST_TEST(rest.epoch == (std::vector<int>{1, 2}), per_element());
  Run limited({}, 7);
  limited.fit(3, folder.path("four_steps"), 5);
  BOOST_TEST(limited.optimizer->iterations() == 5);
}

BOOST_AUTO_TEST_CASE(where_the_limits_are_reached_nothing_runs) {
  const Folder folder;
  Run begun({});
  begun.fit(1);
  const std::string file = begun.save(folder, "one_epoch");
  Run epochs({}, 7), steps({}, 7);
  BOOST_TEST(epochs.fit(1, file).epoch.empty());
  BOOST_TEST(steps.fit(-1, file, 3).epoch.empty());
  BOOST_TEST(changed_since(values_of(begun.model), epochs.model) == "");
  BOOST_TEST(changed_since(values_of(begun.model), steps.model) == "");
}

// The weights of both runs are equal up to the rounding of the narrower policy. About eight values on the way to the
// loss are rounded to 8 bits or more, each with a relative error of 2^-9 or less.
BOOST_AUTO_TEST_CASE(under_another_policy_the_loss_goes_on_without_a_jump) {
  const CapturedOutput warnings;
  const Folder folder;
  const auto skips = [](const Way& way) {  // a skipped step has no loss
    return way.loss_scale && way.loss_scale->initial_scale == overflowing_scale;
  };
  for (const Way& from : ways()) {
    if (skips(from)) continue;
    Run begun(from);
    const double before = begun.fit(1).history.at("loss").at(0);
    const std::string file = begun.save(folder, "one_epoch");
    Run same(from, 7);
    const double expected = next_loss(same, file, begun.optimizer->iterations());
    constexpr double jump = 8 * 0x1p-9;
    BOOST_TEST(std::abs(before - expected) > 4 * jump * expected);
    for (const Way& to : ways()) {
      if (skips(to)) continue;
      Run other(to, 7);
      BOOST_TEST_CONTEXT(name_of(from) << " to " << name_of(to)) {
        BOOST_TEST(next_loss(other, file, begun.optimizer->iterations()) == expected, tolerance(jump));
        BOOST_TEST(other.optimizer->iterations() == begun.optimizer->iterations() + 1);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(weights_and_states_are_converted_to_what_the_run_asks_for) {
  const CapturedOutput warnings;
  const Folder folder;
  Run begun({});
  begun.fit(1);
  const std::string file = begun.save(folder, "one_epoch");
  const auto saved = tensors_of(file);
  for (const Way& to : ways()) {
    Run resumed(to, 7);
    resumed.fit(1, file);
    const Policy policy(to.policy);
    for (const auto& [path, weight] : resumed.model.named_weights()) {
      const DType dtype = policy.variable_dtype();
      BOOST_TEST((weight.dtype() == (path.rfind("norm", 0) == 0 ? accumulation_dtype(dtype) : dtype)));
    }
    const auto again = tensors_of(resumed.save(folder, "again"));
    const bool kept = policy.variable_dtype() == accumulation_dtype(policy.variable_dtype());
    for (const auto& [name, tensor] : again) {
      if (name.find(".compensation.") != std::string::npos) continue;
      BOOST_TEST_CONTEXT(name_of(to) << " " << name) {
        const Tensor& was = saved.at(name);
        const bool rounded = name.rfind("model.", 0) == 0 && name.find(".norm.") == std::string::npos && !kept;
        if (rounded && to.options.kahan_summation) {
          BOOST_TEST(largest_relative(tensor, was) <= 0x1p-17);  // the compensation is rounded to 8 bits too
        } else {
          const Tensor expected = rounded ? was.cast(policy.variable_dtype()) : was;
          BOOST_TEST(tensor.cast(expected.dtype()).equal(expected));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_file_that_is_loaded_and_saved_is_the_same) {
  const CapturedOutput warnings;
  const Folder folder;
  for (const Way& way : ways()) {
    Run begun(way), resumed(way, 7);
    begun.fit(2);
    const std::string first = begun.save(folder, "first");
    resumed.fit(2, first);
    const std::string second = resumed.save(folder, "second");
    BOOST_TEST_CONTEXT(name_of(way)) { check_same_files(first, second); }
  }
}

// In the middle of an epoch, whose means are in the checkpoint.
BOOST_AUTO_TEST_CASE(a_refused_one_leaves_the_training_as_it_was) {
  const Folder folder;
  Run run({.policy = "float32"});
  run.fit(3, {}, 5);
  const std::string first = run.save(folder, "first");
  const Trainer trainer({.max_epochs = 3, .precision = "float32", .enable_progress_bar = false});
  BOOST_CHECK_THROW(trainer.fit(run.model, Run::data(5), {}, {.ckpt_path = first}), ValueError);
  const std::string second = run.save(folder, "second");
  check_same_files(first, second);
}

BOOST_AUTO_TEST_CASE(kahan_summation_saves_what_the_weights_stand_for) {
  const Folder folder;
  const Way kahan{"bfloat16", {.kahan_summation = true}, {}};
  Run begun(kahan);
  begun.fit(1);
  const std::string file = begun.save(folder, "kahan");
  const auto saved = tensors_of(file);
  const Tensor kernel = begun.model.weights()[0].value();
  const Tensor& compensation = begun.optimizer->state()->slots.at(0).values.at(2)->value;
  BOOST_TEST((compensation.dtype() == DType::bfloat16));
  BOOST_TEST(!compensation.equal(Tensor(compensation.shape(), DType::bfloat16)));
  Run plain({.policy = "float32"}, 7);
  plain.fit(1, file);
  BOOST_TEST(plain.model.weights()[0].value().equal(plus(kernel, compensation)));
  Run narrow({.policy = "bfloat16"}, 7);
  narrow.fit(1, file);
  BOOST_TEST(narrow.model.weights()[0].value().equal(plus(kernel, compensation).cast(DType::bfloat16)));
  // The compensation of bfloat16 is useless for float16: a new one is made from the weight.
  Run other({.policy = "float16", .options = {.kahan_summation = true}}, 7);
  other.fit(1, file);
  const Tensor half = plus(kernel, compensation).cast(DType::float16);
  BOOST_TEST(other.model.weights()[0].value().equal(half));
}

BOOST_AUTO_TEST_CASE(a_loss_scale_goes_on_within_the_options_of_the_run) {
  const CapturedOutput warnings;
  const Folder folder;
  Run begun({.policy = "mixed_float16", .loss_scale = {{.initial_scale = overflowing_scale}}});
  begun.fit(1);
  const LossScaleState saved = begun.optimizer->state()->loss_scale.state();
  BOOST_TEST(saved.skipped == 2);
  BOOST_TEST(saved.finite_steps == 1);
  const std::string file = begun.save(folder, "scaled");
  const auto resumed = [&](const Way& way) {
    Run run(way, 7);
    run.fit(1, file);
    return run.optimizer->state()->loss_scale.state();
  };
  BOOST_TEST(resumed({.policy = "mixed_float16"}).scale == saved.scale);
  BOOST_TEST(resumed({.policy = "mixed_float16"}).finite_steps == saved.finite_steps);
  BOOST_TEST(resumed({.policy = "float32"}).skipped == saved.skipped);
  BOOST_TEST(resumed({.policy = "mixed_float16", .loss_scale = {{.initial_scale = 64, .cap = 128}}}).scale == 128);
  BOOST_TEST(resumed({.policy = "mixed_float16", .loss_scale = {{.dynamic = false, .initial_scale = 32}}}).scale == 32);
  // A scale that was never used isn't saved.
  Run unscaled({});
  unscaled.fit(1);
  unscaled.save(folder, "scaled");
  BOOST_TEST(resumed({.policy = "mixed_float16", .loss_scale = {{.initial_scale = 32}}}).scale == 32);
}

BOOST_AUTO_TEST_CASE(several_optimizers_go_on_by_their_names) {
  const Folder folder;
  const auto trainer = [](int epochs) {
    return Trainer({.max_epochs = epochs, .precision = "bf16", .enable_progress_bar = false});
  };
  const auto trained = [&](int epochs, std::uint64_t number, const std::string& file) {
    seed_everything(number);
    MixedModule module(0.1, 0.9);
    trainer(epochs).fit(module, mixed_data(), {}, {.ckpt_path = file});
    if (file.empty() && epochs == 1) Trainer::save_checkpoint(module, folder.path("two"));
    return values_of(module);
  };
  const auto uninterrupted = trained(3, 3, {});
  trained(1, 3, {});
  const auto saved = tensors_of(folder.path("two"));
  BOOST_TEST(saved.count("model.trunk.weight") == 1);
  BOOST_TEST(saved.count("optimizer.main.momentum.trunk.weight") == 1);
  BOOST_TEST(saved.count("optimizer.main.momentum.frozen.weight") == 0);
  const Metadata metadata = SafetensorsFile(folder.path("two")).metadata();
  BOOST_TEST(metadata.at("optimizer.main.iterations") == "1");
  BOOST_TEST(metadata.at("optimizer.critic.iterations") == "1");
  for (const auto& [path, value] : trained(3, 7, folder.path("two"))) {
    BOOST_TEST(value.equal(uninterrupted.at(path)), path);
  }
}

BOOST_AUTO_TEST_SUITE_END()
