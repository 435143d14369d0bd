// on_save_checkpoint() and on_load_checkpoint(): values of a module in checkpoints and model files.
#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "training/hooks/line_module.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

DataLoader four() { return DataLoader(pairs({1, 2, 3, 4}, {2, 3, 7, 7}), {.batch_size = 2}); }

class Keeping : public HookedLine {
 public:
  void on_save_checkpoint(CallbackState& state) override {
    state.numbers["seen"] = seen;
    state.texts["note"] = "ab\n\"c\"";
    state.tensors["table"] = array({1.5, 2.5});
  }
  void on_load_checkpoint(const CallbackState& state) override {
    loaded = state;
    seen = static_cast<int>(state.numbers.at("seen"));
    if (!weights().empty()) weight_at_load = weight();
  }
  void on_train_batch_end(const Logs&, const HostBatch&, std::int64_t) override { ++seen; }

  int seen = 0;
  CallbackState loaded;
  double weight_at_load = 0;
};

void check(const Keeping& module, int seen) {
  BOOST_TEST(module.loaded.numbers.at("seen") == seen);
  BOOST_TEST(module.loaded.texts.at("note") == "ab\n\"c\"");
  BOOST_TEST(module.loaded.tensors.at("table").equal(array({1.5, 2.5})));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_values)

BOOST_AUTO_TEST_CASE(a_resumed_fit_finds_the_values_again) {
  const Folder folder;
  const std::string path = folder.path("a.ckpt");
  Keeping module;
  AfterBatch saver([&](AfterBatch& self, std::int64_t) {
    if (self.session().global_step() == 3) self.session().save_checkpoint(path);
  });
  TrainerOptions options = quiet(3);
  options.callbacks = {saver};
  Trainer(options).fit(module, four());
  Keeping resumed;
  Trainer(quiet(3)).fit(resumed, four(), {}, {.ckpt_path = path});
  BOOST_TEST(resumed.loaded.numbers.size() == 1U);
  check(resumed, static_cast<int>(resumed.loaded.numbers.at("seen")));
  BOOST_TEST(resumed.seen == module.seen);
  BOOST_TEST(resumed.weight() == module.weight());
  BOOST_TEST(resumed.weight_at_load != 0.5);
}

BOOST_AUTO_TEST_CASE(other_readers_of_checkpoints_find_them_too) {
  const Folder folder;
  const std::string path = folder.path("a.ckpt"), weights = folder.path("a.safetensors");
  Keeping module;
  const Trainer trainer(quiet(1));
  trainer.fit(module, four());
  Trainer::save_checkpoint(module, path);
  module.save_weights(weights);
  check(Module::load_from_checkpoint<Keeping>(path), 2);
  BOOST_TEST(Module::load_from_checkpoint<Keeping>(weights).loaded.numbers.empty());
  Keeping validated;
  trainer.validate(validated, four(), {.ckpt_path = path});
  check(validated, 2);
  HookedLine without;  // ignores them
  trainer.fit(without, four(), {}, {.ckpt_path = path});
  BOOST_TEST(without.weight() == module.weight());
}

BOOST_AUTO_TEST_SUITE_END()
