#include <boost/test/unit_test.hpp>

#include <sched.h>

#include <mezzo/core/cpu.hpp>
#include <mezzo/core/isa.hpp>

#include "support/folder.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// A tree of control groups in a folder.
class Groups {
 public:
  void write(const std::string& file, const std::string& text) const {
    folder_.write(file, {text.begin(), text.end()});
  }
  double quota() const { return detail::cpu_quota(folder_.path("proc"), folder_.path("groups")); }

 private:
  Folder folder_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(cpu)

BOOST_AUTO_TEST_CASE(cores_are_those_of_the_affinity_mask) {
  cpu_set_t all, one;
  BOOST_REQUIRE(sched_getaffinity(0, sizeof(all), &all) == 0);
  BOOST_TEST(available_cores() == CPU_COUNT(&all));
  CPU_ZERO(&one);
  int first = 0;
  while (!CPU_ISSET(first, &all)) ++first;
  CPU_SET(first, &one);
  BOOST_REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  BOOST_TEST(available_cores() == 1);
  sched_setaffinity(0, sizeof(all), &all);
}

BOOST_AUTO_TEST_CASE(the_cpu_has_a_name_and_amx_only_with_avx512_bf16) {
  BOOST_TEST(!cpu_name().empty());
  BOOST_TEST(cpu_name().back() != ' ');
  if (has_amx()) BOOST_TEST(__builtin_cpu_supports("avx512bf16") != 0);
}

BOOST_AUTO_TEST_CASE(quota_of_version_2) {
  const Groups groups;
  groups.write("proc/cgroup", "0::/user/job\n");
  BOOST_TEST(groups.quota() == 0);
  groups.write("groups/user/job/cpu.max", "150000 100000\n");
  BOOST_TEST(groups.quota() == 1.5);
  groups.write("groups/user/cpu.max", "100000 100000\n");  // the parent group limits too
  BOOST_TEST(groups.quota() == 1);
  groups.write("groups/user/cpu.max", "max 100000\n");
  BOOST_TEST(groups.quota() == 1.5);
}

BOOST_AUTO_TEST_CASE(quota_of_version_1) {
  const Groups groups;
  groups.write("proc/cgroup", "3:memory:/m\n2:cpu,cpuacct:/job\n1:cpuset:/\n");
  groups.write("groups/cpu/job/cpu.cfs_quota_us", "-1\n");
  groups.write("groups/cpu/job/cpu.cfs_period_us", "100000\n");
  BOOST_TEST(groups.quota() == 0);
  groups.write("groups/cpu/job/cpu.cfs_quota_us", "400000\n");
  BOOST_TEST(groups.quota() == 4);
  groups.write("groups/cpu,cpuacct/cpu.cfs_quota_us", "50000\n");
  groups.write("groups/cpu,cpuacct/cpu.cfs_period_us", "100000\n");
  BOOST_TEST(groups.quota() == 0.5);
}

BOOST_AUTO_TEST_SUITE_END()
