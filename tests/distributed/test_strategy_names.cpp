// Names of strategies and what "auto" finds in the environment.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <map>

#include <mezzo/mezzo.hpp>

using namespace mezzo;

namespace {

// Variables of launchers, for the lifetime of the object; all others of them are not set.
class LauncherScope {
 public:
  explicit LauncherScope(const std::map<std::string, std::string>& variables) {
    for (const char* name : names) {
      const char* value = std::getenv(name);
      if (value != nullptr) before_[name] = value;
      unsetenv(name);
    }
    for (const auto& [name, value] : variables) setenv(name.c_str(), value.c_str(), 1);
  }
  ~LauncherScope() {
    for (const char* name : names) unsetenv(name);
    for (const auto& [name, value] : before_) setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  static constexpr const char* names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",     "PMIX_RANK",
                                          "PMIX_NAMESPACE",       "SLURM_NTASKS", "SLURM_PROCID",
                                          "SLURM_STEP_NUM_TASKS"};
  std::map<std::string, std::string> before_;
};

bool found_by(const std::map<std::string, std::string>& variables) {
  const LauncherScope scope(variables);
  return detail::started_by_mpi();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(strategy_names)

BOOST_AUTO_TEST_CASE(auto_finds_several_ranks_by_the_environment) {
  BOOST_TEST(!found_by({}));
  BOOST_TEST(found_by({{"OMPI_COMM_WORLD_SIZE", "2"}, {"PMIX_RANK", "0"}}));
  BOOST_TEST(!found_by({{"OMPI_COMM_WORLD_SIZE", "1"}, {"PMIX_RANK", "0"}}));
  BOOST_TEST(found_by({{"PMI_SIZE", "4"}}));
  BOOST_TEST(!found_by({{"PMI_SIZE", "1"}}));
  BOOST_TEST(found_by({{"PMIX_RANK", "1"}, {"PMIX_NAMESPACE", "job"}}));
  BOOST_TEST(!found_by({{"PMIX_RANK", "1"}}));
  BOOST_TEST(found_by({{"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "8"}}));
  BOOST_TEST(!found_by({{"SLURM_NTASKS", "8"}, {"SLURM_STEP_NUM_TASKS", "1"}}));  // the batch script of 8 tasks
  BOOST_TEST(!found_by({{"SLURM_NTASKS", "8"}, {"SLURM_PROCID", "0"}}));
}

BOOST_AUTO_TEST_CASE(names_of_the_option) {
  const LauncherScope scope({});
  BOOST_TEST(!Strategy("auto").communicator());
  BOOST_TEST(!Strategy("single").communicator());
  BOOST_TEST(!Strategy(Communicator::single()).communicator());
  BOOST_TEST(Strategy(Communicator::threads(2)[0]).communicator()->size() == 2);
  BOOST_TEST(Strategy().name() == "auto");
  BOOST_CHECK_EXCEPTION(Trainer({.strategy = "ddp"}), NameError, [](const NameError& error) {
    return std::string(error.what()) == "[Trainer] unknown strategy \"ddp\"; valid names: auto, single, mpi";
  });
  BOOST_CHECK_EXCEPTION(Strategy(std::shared_ptr<Communicator>()), ValueError, [](const ValueError& error) {
    return std::string(error.what()) == "[Trainer] strategy: the communicator must be given; got an empty pointer";
  });
}

BOOST_AUTO_TEST_CASE(the_environment_sets_the_default) {
  setenv("MEZZO_TRAINER_STRATEGY", "single", 1);
  const std::string name = Trainer().options().strategy.name();
  unsetenv("MEZZO_TRAINER_STRATEGY");
  BOOST_TEST(name == "single");
}

BOOST_AUTO_TEST_SUITE_END()
