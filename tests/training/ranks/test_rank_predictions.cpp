// Predictions whose batches are divided among the ranks.
#include <boost/test/unit_test.hpp>

#include "training/ranks/rank_runs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Sizes of the outputs that hooks see.
class OutputSizes : public Callback {
 public:
  explicit OutputSizes(std::vector<std::int64_t>& sizes) : sizes_(sizes) {}
  void on_predict_batch_end(std::int64_t, Logs&) override { sizes_.push_back(session().outputs()[0].shape()[0]); }
  bool on_all_ranks() const override { return true; }

 private:
  std::vector<std::int64_t>& sizes_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_predictions)

// 25 = 2 * 12 + 1: the last sample is that of rank 0 alone.
BOOST_AUTO_TEST_CASE(outputs_are_those_of_one_process_in_the_order_of_the_data) {
  for (const std::int64_t samples : {24, 25, 31}) {
    RankNet alone = rank_net({});
    const DataLoader joined(rank_data(samples), {.batch_size = 12});
    const Tensor expected = Trainer(rank_trainer()).predict(alone, joined);
    for (const int ranks : {2, 4}) {
      std::vector<std::vector<std::int64_t>> sizes(static_cast<std::size_t>(ranks));
      const auto errors = run_ranks(ranks, [&](const std::shared_ptr<Communicator>& own) {
        RankNet net = rank_net({}, own->rank());  // the weights of rank 0 count
        TrainerOptions options = rank_trainer();
        options.strategy = own;
        options.callbacks = {OutputSizes(sizes[static_cast<std::size_t>(own->rank())])};
        const DataLoader loader(rank_data(samples), {.batch_size = 12 / ranks});
        const std::vector<Tensor> all = Trainer(options).predict(net, DataLoaders({loader, loader}));
        if (all.size() != 2 || !all[0].equal(expected) || !all[1].equal(expected)) throw Error("outputs");
      });
      for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
      std::vector<std::int64_t> batches{12, 12};
      if (samples > 24) batches.push_back(samples - 24);
      batches.insert(batches.end(), batches.begin(), batches.begin() + static_cast<std::ptrdiff_t>(batches.size()));
      for (const auto& one : sizes) BOOST_TEST(one == batches, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(limits_count_joined_batches) {
  const auto errors = run_ranks(3, [&](const std::shared_ptr<Communicator>& own) {
    RankNet net = rank_net({}, own->rank());
    TrainerOptions options = rank_trainer({.limit_predict_batches = 2});
    options.strategy = own;
    const Tensor all = Trainer(options).predict(net, DataLoader(rank_data(31), {.batch_size = 4}));
    if (all.shape() != Shape{24, 3}) throw Error("shape");
  });
  for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
}

BOOST_AUTO_TEST_SUITE_END()
