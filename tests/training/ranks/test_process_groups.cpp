// What a call shares with the other processes of its group, and what a process alone does in their place.
#include <boost/test/unit_test.hpp>

#include <array>

#include <mezzo/mezzo.hpp>
#include <mezzo/training/step/agreement.hpp>
#include <mezzo/training/step/data_parts.hpp>
#include <mezzo/training/step/notices.hpp>
#include <mezzo/training/step/process_group.hpp>

#include "support/rank_threads.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Ranks = std::shared_ptr<Communicator>;

constexpr int count = 3;

// Errors of that many ranks, which call `call` with their groups.
std::vector<std::string> run_groups(const std::function<void(const detail::ProcessGroup&, int)>& call) {
  return run_ranks(count, [&](const Ranks& ranks) { call(detail::ProcessGroup(ranks), ranks->rank()); });
}

void require_no_errors(const std::vector<std::string>& errors) {
  for (const std::string& error : errors) BOOST_REQUIRE_EQUAL(error, "");
}

DataLoader numbers(std::int64_t samples) {
  return DataLoader(Dataset::from_tensors({{"x", Tensor({samples, 1}, DType::float32)}}), {.batch_size = 2});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(process_groups)

BOOST_AUTO_TEST_CASE(a_process_alone) {
  const detail::ProcessGroup alone;
  BOOST_TEST(!alone.shared());
  BOOST_TEST(alone.writes());
  BOOST_TEST(alone.any(true));
  BOOST_TEST(!alone.any(false));
  BOOST_TEST(alone.text_of_writer([] { return "path"; }) == "path");
  int calls = 0;
  alone.once_per_machine([&] { ++calls; });
  BOOST_TEST(calls == 1);
  alone.require_equal({"a"});
  alone.require_alone_with("eager");
  alone.require_alone_in("resume");
  alone.wait();
  alone.end_others("reason");
  BOOST_TEST(alone.threads() == thread_count());
  BOOST_TEST(detail::part_of(numbers(12), alone).samples() == 12);

  const detail::Agreement own{.stops = true, .signal = 15, .seconds = 2};
  const detail::Agreement all = agree(alone, {.step = 4}, own);
  BOOST_TEST(all.stops);
  BOOST_TEST(all.signal == 15);
  BOOST_TEST(all.seconds == 2);
}

BOOST_AUTO_TEST_CASE(several_processes) {
  std::array<int, count> writers{}, calls{}, any{}, none{};
  std::array<std::string, count> texts;
  require_no_errors(run_groups([&](const detail::ProcessGroup& group, int rank) {
    const auto i = static_cast<std::size_t>(rank);
    writers.at(i) = group.writes() ? 1 : 0;
    any.at(i) = group.any(rank == 2) ? 1 : 0;
    none.at(i) = group.any(false) ? 1 : 0;
    texts.at(i) = group.text_of_writer([&] { return std::to_string(rank); });
    group.once_per_machine([&] { ++calls.at(i); });
    group.require_equal({detail::shared_fact("n", 1)});
  }));
  BOOST_TEST((writers == std::array<int, count>{1, 0, 0}));
  BOOST_TEST((any == std::array<int, count>{1, 1, 1}));
  BOOST_TEST((none == std::array<int, count>{0, 0, 0}));
  BOOST_TEST((texts == std::array<std::string, count>{"0", "0", "0"}));
  BOOST_TEST((calls == std::array<int, count>{1, 0, 0}));
}

BOOST_AUTO_TEST_CASE(decisions_are_those_of_all) {
  std::array<detail::Agreement, count> all;
  require_no_errors(run_groups([&](const detail::ProcessGroup& group, int rank) {
    const detail::Agreement own{.stops = rank == 1, .signal = rank == 0 ? 0 : rank + 10, .seconds = rank + 0.5};
    all.at(static_cast<std::size_t>(rank)) = agree(group, {.step = 4, .epoch = 1, .batch = 2}, own);
  }));
  for (const detail::Agreement& one : all) {
    BOOST_TEST(one.stops);
    BOOST_TEST(one.signal == 11);
    BOOST_TEST(one.seconds == 0.5);
  }
  require_no_errors(run_groups([&](const detail::ProcessGroup& group, int rank) {
    all.at(static_cast<std::size_t>(rank)) = agree(group, {}, {});
  }));
  for (const detail::Agreement& one : all) BOOST_TEST((!one.stops && one.signal == 0));
}

BOOST_AUTO_TEST_CASE(differences_are_errors) {
  for (const std::string& error : run_groups([](const detail::ProcessGroup&group, int rank) {
         agree(group, {.step = rank == 2 ? 5 : 4, .epoch = 1, .batch = 2}, {});
       })) {
    BOOST_TEST(error ==
               "[Trainer] all ranks must run the same steps; rank 2 is at step 5, epoch 1, batch 2; rank 0 at step 4, "
               "epoch 1, batch 2");
  }
  for (const std::string& error : run_groups([](const detail::ProcessGroup&group, int rank) {
         group.require_equal({detail::shared_fact("seed", rank == 1 ? 2 : 1)});
       })) {
    BOOST_TEST(error == "[Trainer] all ranks must run the same training; rank 1 has seed 2 where rank 0 has 1");
  }
}

BOOST_AUTO_TEST_CASE(what_needs_a_process_alone) {
  for (const std::string& error :
       run_groups([](const detail::ProcessGroup&group, int) { group.require_alone_with("eager"); })) {
    BOOST_TEST(error == "[Trainer] a training of several ranks can't have eager; got it with 3 ranks");
  }
  for (const std::string& error :
       run_groups([](const detail::ProcessGroup&group, int) { group.require_alone_in("resume"); })) {
    BOOST_TEST(error == "[Callback] resume: must be called in a training of one rank; got 3 ranks");
  }
}

BOOST_AUTO_TEST_CASE(parts_of_data) {
  std::array<std::int64_t, count> samples{};
  require_no_errors(run_groups([&](const detail::ProcessGroup& group, int rank) {
    detail::BatchStream stream = detail::part_of(numbers(12), group).epoch(0);
    while (const auto batch = stream.next()) samples.at(static_cast<std::size_t>(rank)) += batch->size;
    if (!detail::part_of(DataLoader(), group).empty()) throw Error("a loader");
  }));
  BOOST_TEST((samples == std::array<std::int64_t, count>{4, 4, 4}));
}

BOOST_AUTO_TEST_CASE(notices_appear_once) {
  detail::Notices notices;
  BOOST_TEST(!notices.has("a"));
  BOOST_TEST(notices.first("a"));
  BOOST_TEST(notices.has("a"));
  BOOST_TEST(!notices.first("a"));
  BOOST_TEST(notices.first("b"));
}

BOOST_AUTO_TEST_SUITE_END()
