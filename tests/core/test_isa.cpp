#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <string>

#include <mezzo/core/compiled_isas.hpp>
#include <mezzo/core/error.hpp>
#include <mezzo/core/isa.hpp>

#include "support/throws.hpp"

using mezzo::Isa;

namespace {

// Runs isa() in a new process, because it reads the environment once.
bool child_sees(const std::string& environment, const std::string& expected) {
  const char* program = boost::unit_test::framework::master_test_suite().argv[0];
  const std::string command = "env -u MEZZO_MAX_ISA -u ONEDNN_MAX_CPU_ISA " + environment + " MEZZO_TEST_EXPECT=\"" +
                              expected + "\" \"" + program + "\" --run_test=isa/child > /dev/null 2>&1";
  return std::system(command.c_str()) == 0;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(isa)

BOOST_AUTO_TEST_CASE(names_lead_back_to_their_isa) {
  for (const Isa isa : {Isa::sse2, Isa::avx2, Isa::avx512, Isa::avx512_bf16}) {
    BOOST_TEST((mezzo::isa_from_name(mezzo::isa_name(isa)) == isa));
  }
  BOOST_TEST(mezzo::isa_name(Isa::avx512_bf16) == "AVX512_CORE_BF16");
}

BOOST_AUTO_TEST_CASE(names_of_onednn_mean_the_next_lower_isa) {
  BOOST_TEST((mezzo::isa_from_name("SSE41") == Isa::sse2));
  BOOST_TEST((mezzo::isa_from_name("AVX") == Isa::sse2));
  BOOST_TEST((mezzo::isa_from_name("AVX2_VNNI") == Isa::avx2));
  BOOST_TEST((mezzo::isa_from_name("avx512_core_vnni") == Isa::avx512));
  BOOST_TEST((mezzo::isa_from_name("AVX512_CORE_AMX") == Isa::avx512_bf16));
  BOOST_TEST((mezzo::isa_from_name("DEFAULT") == Isa::avx512_bf16));
}

BOOST_AUTO_TEST_CASE(an_unknown_name_is_refused_with_the_good_ones) {
  mezzo_tests::check_throws<mezzo::NameError>(
      "unknown instruction set \"AVX3\"; valid names: SSE2, AVX2, AVX512_CORE, AVX512_CORE_BF16, SSE41, AVX, "
      "AVX2_VNNI, "
      "AVX2_VNNI_2, AVX512_CORE_VNNI, AVX512_CORE_FP16, AVX512_CORE_AMX, AVX512_CORE_AMX_FP16, AVX10_1_512, "
      "AVX10_1_512_AMX, AVX10_1_512_AMX_FP16, ALL, DEFAULT; nearest: \"AVX2\"",
      [] { mezzo::isa_from_name("AVX3"); });
}

BOOST_AUTO_TEST_CASE(the_environment_caps_the_isa) {
  BOOST_TEST(child_sees("MEZZO_MAX_ISA=SSE2", "SSE2"));
  BOOST_TEST(child_sees("ONEDNN_MAX_CPU_ISA=SSE41", "SSE2"));
  BOOST_TEST(child_sees("MEZZO_MAX_ISA=SSE2 ONEDNN_MAX_CPU_ISA=ALL", "SSE2"));
  BOOST_TEST(child_sees("MEZZO_MAX_ISA=AVX3", "NameError"));
  BOOST_TEST(!child_sees("MEZZO_MAX_ISA=SSE2", "AVX2"));
}

BOOST_AUTO_TEST_CASE(the_highest_compiled_isa_within_the_limit_is_used) {
  using mezzo::detail::usable_isa;
  BOOST_TEST((usable_isa(Isa::avx512_bf16, {Isa::sse2, Isa::avx2}) == Isa::avx2));
  BOOST_TEST((usable_isa(Isa::avx512, {Isa::avx2, Isa::avx512_bf16}) == Isa::avx2));
  BOOST_TEST((usable_isa(Isa::avx512, {Isa::avx512}) == Isa::avx512));
  mezzo_tests::check_throws<mezzo::Error>(
      "this build of mezzo has kernels for AVX512_CORE and above; CPU and environment allow AVX2. Configure it with "
      "-DMEZZO_KERNELS=all",
      [] {
        usable_isa(Isa::avx2, {Isa::avx512, Isa::avx512_bf16});
      });
}

BOOST_AUTO_TEST_CASE(tests_have_kernels_for_all_isas) { BOOST_TEST(mezzo::detail::compiled_isas().size() == 4U); }

// Runs in the processes of a case above; without MEZZO_TEST_EXPECT it compares isa() with itself.
BOOST_AUTO_TEST_CASE(child) {
  const char* given = std::getenv("MEZZO_TEST_EXPECT");
  const std::string expected = given != nullptr ? given : mezzo::isa_name(mezzo::isa());
  std::string seen;
  try {
    seen = mezzo::isa_name(mezzo::isa());
  } catch (const mezzo::NameError&) {
    seen = "NameError";
  }
  BOOST_TEST(seen == expected);
}

BOOST_AUTO_TEST_SUITE_END()
