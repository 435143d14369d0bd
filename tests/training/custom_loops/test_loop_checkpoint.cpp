#include <boost/test/unit_test.hpp>

#include <mezzo/mezzo.hpp>

#include "support/folder.hpp"
#include "support/refused.hpp"
#include "support/tensors.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A GAN with dropout, batch norm, two optimizers and a scaler.
struct Run {
  explicit Run(std::uint64_t seed, const char* policy = "float32")
      : generator(make_generator(seed, policy)), critic({Dense(6, {.activation = "relu"}), Dropout(0.5), Dense(1)}) {
    critic.build({-1, 2});
    checkpoint.add("generator", generator).add("critic", critic).add("slow", slow).add("fast", fast);
    checkpoint.add("scaler", scaler).add("step", step).add("total", total);
    total.assign(Tensor(Shape{}));
  }

  static Sequential make_generator(std::uint64_t seed, const char* policy) {
    seed_everything(seed);
    Sequential out({Dense(5), BatchNormalization(), Dense(2)}, {.dtype = policy});
    out.build({-1, 3});
    return out;
  }

  Values one(const Values& in) {
    const Value fake = cast(generator(in[1]), DType::float32);
    const auto [loss, gradients] = value_and_grad(critic, [&] { return mean(critic(fake)) - mean(critic(in[0])); });
    fast.apply(gradients);
    const auto [cost, slopes] =
        value_and_grad(generator, [&] { return scaler.scale(-mean(critic(cast(generator(in[1]), DType::float32)))); });
    scaler.step(slow, slopes);
    scaler.update();
    update_variable(total.state().pointer(), total + loss);
    return {loss, cost};
  }

  std::vector<double> train(int from, int to) {
    std::vector<double> losses;
    for (int i = from; i < to; ++i) {
      const auto number = static_cast<std::uint64_t>(i);
      const auto& out =
          step({random_tensor({4, 2}, DType::float32, number), random_tensor({4, 3}, DType::float32, number)});
      losses.push_back(out[0].item());
    }
    return losses;
  }

  Sequential generator, critic;
  AdamW slow{0.01, {.gradient_accumulation_steps = 2}};
  SGD fast{0.1, {.momentum = 0.9, .use_ema = true}};
  GradScaler scaler{{.init_scale = 8, .growth_interval = 2}};
  Variable total{"total"};
  StepFunction step = compile_step([this](const Values& in) { return one(in); });
  LoopCheckpoint checkpoint;
};

/// A model with its optimizer.
struct Small {
  Small() { model.build({-1, 2}); }
  void update() {
    adam.apply(value_and_grad(model, [&] { return sum(model(Tensor({1, 2}))); }).gradients);
  }
  Sequential model = Sequential({Dense(3, {.name = "d"})});
  Adam adam{0.1};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(loop_checkpoint)

BOOST_AUTO_TEST_CASE(a_resumed_loop_has_the_bits_of_one_that_went_on) {
  for (const char* policy : {"float32", "mixed_bfloat16"}) {
    const Folder folder;
    Run whole(1, policy);
    whole.train(0, 5);
    whole.checkpoint.save(folder.path("run.ckpt"));
    const std::vector<double> expected = whole.train(5, 9);

    Run resumed(2, policy);
    resumed.train(20, 22);  // its plans stay usable
    resumed.checkpoint.load(folder.path("run.ckpt"));
    BOOST_TEST(resumed.step.steps() == 5);
    BOOST_TEST(resumed.train(5, 9) == expected, boost::test_tools::per_element());
    for (std::size_t i = 0; i < whole.generator.weights().size(); ++i) {
      BOOST_TEST(whole.generator.weights()[i].value().equal(resumed.generator.weights()[i].value()));
    }
    BOOST_TEST(whole.total.value().equal(resumed.total.value()));
    BOOST_TEST(resumed.slow.iterations() == whole.slow.iterations());
    BOOST_TEST(resumed.fast.iterations() == 9);
    BOOST_TEST(resumed.scaler.get_scale() == whole.scaler.get_scale());
    BOOST_TEST(seed() == 1U);
  }
}

BOOST_AUTO_TEST_CASE(load_weights_reads_the_weights) {
  const Folder folder;
  Small trained, other;
  trained.update();
  LoopCheckpoint checkpoint;
  checkpoint.add("", trained.model).add("", trained.adam);
  checkpoint.save(folder.path("run.safetensors"));
  other.model.load_weights(folder.path("run.safetensors"), {.strict = false});
  BOOST_TEST(other.model.weights()[0].value().equal(trained.model.weights()[0].value()));
}

BOOST_AUTO_TEST_CASE(files_that_do_not_fit_are_refused_and_change_nothing) {
  const Folder folder;
  const std::string path = folder.path("run.ckpt");
  Small a;
  a.update();
  LoopCheckpoint saved;
  saved.add("m", a.model).add("adam", a.adam).add("s", GradScaler());
  saved.save(path);

  Small b;
  const Tensor before = b.model.weights()[0].value();
  const auto text = [&](LoopCheckpoint& checkpoint) { return refused<FileError>([&] { checkpoint.load(path); }); };
  LoopCheckpoint less, more;
  less.add("m", b.model);
  BOOST_TEST(text(less) ==
             "[LoopCheckpoint \"" + path +
                 "\"] does not fit: unexpected \"optimizer.adam.iterations\"; unexpected "
                 "\"scaler.s.growth_tracker\"; unexpected \"scaler.s.scale\"; unexpected tensor "
                 "\"optimizer.adam.momentum.m.d.bias\"; unexpected tensor \"optimizer.adam.momentum.m.d.weight\"; "
                 "unexpected tensor \"optimizer.adam.velocity.m.d.bias\"; unexpected tensor "
                 "\"optimizer.adam.velocity.m.d.weight\"");
  more.add("m", b.model).add("adam", b.adam).add("s", GradScaler()).add("x", a.adam);
  BOOST_TEST(text(more) == "[LoopCheckpoint \"" + path + "\"] does not fit: missing \"optimizer.x.iterations\"");
  BOOST_TEST(b.model.weights()[0].value().equal(before));

  b.model.save_weights(path);
  BOOST_TEST(text(saved) ==
             "[LoopCheckpoint \"" + path + "\"] format must be \"mezzo_loop\", as LoopCheckpoint writes; got \"pt\"");
}

BOOST_AUTO_TEST_CASE(parts_that_can_not_be_saved_are_refused) {
  const Folder folder;
  Small a;
  a.update();
  LoopCheckpoint checkpoint;
  checkpoint.add("adam", a.adam);
  BOOST_TEST(
      refused<ValueError>([&] { checkpoint.save(folder.path("x")); }) ==
      "[LoopCheckpoint] save: optimizer \"adam\" has moments of \"kernel\"; got no model with that weight: add it");
  BOOST_TEST(refused<ValueError>([&] { checkpoint.add("adam", Adam()); }) ==
             "[LoopCheckpoint] add: names of optimizers must differ; got \"adam\" twice");
  BOOST_TEST(refused<ValueError>([&] { checkpoint.add("a.b", a.model); }) ==
             "[LoopCheckpoint] add: a name must have no dot; got \"a.b\"");
  BOOST_TEST(refused<ValueError>([&] { checkpoint.add("", Variable("v")); }) ==
             "[LoopCheckpoint] add: a variable must have a name; got \"\"");
  checkpoint.add("unbuilt", Dense(2));
  BOOST_TEST(refused<ValueError>([&] { checkpoint.save(folder.path("x")); }) ==
             "[LoopCheckpoint] model \"unbuilt\" must be built; got one without weights");
}

BOOST_AUTO_TEST_SUITE_END()
