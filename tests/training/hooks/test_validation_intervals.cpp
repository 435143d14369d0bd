// Validations by val_check_interval without check_val_every_n_epoch: the batches of all epochs count.
#include <boost/test/unit_test.hpp>

#include "support/folder.hpp"
#include "support/throws.hpp"
#include "training/hooks/line_module.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

DataLoader three() { return DataLoader(pairs({1, 2, 3}, {2, 3, 7}), {.batch_size = 1}); }

TrainerOptions every(int batches, int epochs) {
  TrainerOptions options = quiet(epochs);
  options.val_check_interval = batches;
  options.check_val_every_n_epoch = std::nullopt;
  options.num_sanity_val_steps = 0;
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(validation_intervals)

BOOST_AUTO_TEST_CASE(count_the_batches_of_all_epochs) {
  HookedLine module;
  Trainer(every(4, 4)).fit(module, three(), three());
  BOOST_TEST(module.hooks == "[{0}{1}{2}][{0}v{1}{2}][{0}{1}v{2}][{0}{1}{2}v]");
  HookedLine within;
  Trainer(every(2, 2)).fit(within, three(), three());
  BOOST_TEST(within.hooks == "[{0}{1}v{2}][{0}v{1}{2}v]");
}

BOOST_AUTO_TEST_CASE(count_left_out_batches_once) {
  HookedLine module;
  module.at_start = [&](const HostBatch&, std::int64_t index) {
    if (index == 1) module.skip_batch();
  };
  Trainer(every(2, 2)).fit(module, three(), three());
  BOOST_TEST(module.hooks == "[{0}{1-}v{2}][{0}v{1-}{2}v]");
}

BOOST_AUTO_TEST_CASE(go_on_after_a_resume) {
  const Folder folder;
  HookedLine module;
  std::string before;
  AfterBatch saver([&](AfterBatch& self, std::int64_t) {
    if (self.session().global_step() != 5) return;
    self.session().save_checkpoint(folder.path("a.ckpt"));
    before = module.hooks;
  });
  TrainerOptions options = every(4, 4);
  options.callbacks = {saver};
  Trainer(options).fit(module, three(), three());
  HookedLine resumed;
  Trainer(every(4, 4)).fit(resumed, three(), three(), {.ckpt_path = folder.path("a.ckpt")});
  BOOST_TEST(resumed.hooks == "[{2}][{0}{1}v{2}][{0}{1}{2}v]");
  BOOST_TEST(resumed.weight() == module.weight());
}

BOOST_AUTO_TEST_CASE(need_a_number_of_batches) {
  TrainerOptions options = quiet(1);
  options.check_val_every_n_epoch = std::nullopt;
  check_throws<ValueError>(
      "[Trainer] val_check_interval must be a time or a whole number of batches without check_val_every_n_epoch; got "
      "1.0",
      [&] { const Trainer trainer(options); });
  options.val_check_interval = "00:00:00:10";
  BOOST_CHECK_NO_THROW(const Trainer trainer(options));
}

BOOST_AUTO_TEST_SUITE_END()
