#include <boost/test/unit_test.hpp>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include <mezzo/core/usage.hpp>

using namespace mezzo::detail;

namespace {

/// Calls f on another thread and waits for it.
template <class F>
void elsewhere(F f) {
  std::thread(f).join();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(usage)

BOOST_AUTO_TEST_CASE(a_run_of_another_thread_refuses_runs_and_accesses) {
  const auto object = std::make_shared<Usage>(), other = std::make_shared<Usage>();
  {
    RunScope run;
    BOOST_TEST(run.add({object}) == nullptr);
    BOOST_TEST(object->runs_here());
    elsewhere([&] {
      BOOST_TEST(!object->runs_here());
      BOOST_TEST(AccessScope(*object).refused());
      BOOST_TEST(AccessScope({other.get(), object.get()}).refused());
      BOOST_TEST(!AccessScope(*other).refused());
      BOOST_TEST(RunScope().add({other, object}) == object.get());
      BOOST_TEST(RunScope().add({other}) == nullptr);  // the refused run has added nothing
    });
  }
  BOOST_TEST(!object->runs_here());
  elsewhere([&] {
    BOOST_TEST(!AccessScope(*object).refused());
    BOOST_TEST(RunScope().add({object}) == nullptr);
  });
}

BOOST_AUTO_TEST_CASE(one_thread_nests_runs_and_accesses) {
  const auto object = std::make_shared<Usage>();
  RunScope outer;
  BOOST_TEST(outer.add({object}) == nullptr);
  BOOST_TEST(outer.add({object}) == nullptr);
  BOOST_TEST(!AccessScope(*object).refused());
  {
    RunScope inner;
    BOOST_TEST(inner.add({object}, true) == object.get());
    BOOST_TEST(inner.add({object}) == nullptr);
  }
  BOOST_TEST(object->runs_here());
  elsewhere([&] { BOOST_TEST(AccessScope(*object).refused()); });
}

BOOST_AUTO_TEST_CASE(a_run_waits_for_accesses_of_other_threads) {
  const auto object = std::make_shared<Usage>();
  std::atomic<bool> accessed{false}, released{false};
  std::thread other([&] {
    const AccessScope access(*object);
    accessed = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // so that the run begins to wait
    released = true;
  });
  while (!accessed) std::this_thread::yield();
  RunScope run;
  const Usage* const busy = run.add({object});
  BOOST_TEST(busy == nullptr);
  BOOST_TEST(released);
  other.join();
}

BOOST_AUTO_TEST_CASE(accesses_take_turns) {
  Usage a, b;
  int number = 0;  // not atomic: guarded by the accesses
  const auto count = [&](std::vector<Usage*> objects) {
    for (int i = 0; i < 1000; ++i) {
      const AccessScope access(objects);
      ++number;
    }
  };
  std::thread first(count, std::vector<Usage*>{&a, &b}), second(count, std::vector<Usage*>{&b, &a});
  first.join();
  second.join();
  BOOST_TEST(number == 2000);
}

BOOST_AUTO_TEST_CASE(a_thread_knows_the_objects_of_its_steps) {
  const Usage a, b;
  const auto is = [](const void* step, const Usage& object) { return step == &object; };
  const InsideStep outer(&a, is);
  BOOST_TEST(InsideStep::of(a));
  {
    const InsideStep inner(&b, is);
    BOOST_TEST(InsideStep::of(a));
    BOOST_TEST(InsideStep::of(b));
  }
  BOOST_TEST(!InsideStep::of(b));
  elsewhere([&] { BOOST_TEST(!InsideStep::of(a)); });
}

BOOST_AUTO_TEST_SUITE_END()
