#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/core/cpu.hpp>
#include <mezzo/core/isa.hpp>
#include <mezzo/core/parallel.hpp>
#include <mezzo/report/hardware.hpp>

using namespace mezzo;

BOOST_AUTO_TEST_SUITE(hardware)

BOOST_AUTO_TEST_CASE(it_measures_each_dtype) {
  const Hardware here = mezzo::hardware();
  BOOST_TEST(here.cores == available_cores());
  BOOST_TEST(here.threads == thread_count());
  BOOST_TEST(here.isa == isa_name(isa()));
  BOOST_REQUIRE(here.dtypes.size() == 4U);
  std::string dtypes;
  for (const DTypeHardware& entry : here.dtypes) {
    dtypes += dtype_name(entry.dtype) + std::string(" ");
    for (const double rate : {entry.matmul, entry.conv2d, entry.of_float32}) {
      BOOST_TEST((rate >= 0 && std::isfinite(rate)));
    }
    const bool known = entry.onednn == "native" || entry.onednn == "emulated" || entry.onednn == "absent";
    BOOST_TEST(known, entry.onednn);
  }
  BOOST_TEST(dtypes == "float32 bfloat16 float16 float64 ");
  BOOST_TEST(here.dtypes[0].onednn == "native");
  const DTypeHardware& float32 = here.dtypes[0];
  BOOST_TEST(float32.of_float32 == (float32.matmul > 0 && float32.conv2d > 0 ? 1 : 0));
  if (isa() < Isa::avx512) {
    BOOST_TEST(here.dtypes[1].onednn == "absent");
    BOOST_TEST(here.dtypes[1].products == "emulated");
  }
  if (isa() < Isa::avx512_bf16) BOOST_TEST(here.dtypes[1].onednn != "native");
}

BOOST_AUTO_TEST_CASE(its_text_is_a_table) {
  const Hardware here{
      "A CPU",
      2,
      1.5,
      2,
      "AVX2",
      false,
      {{DType::float32, "native", "native", 300.4, 200, 1}, {DType::bfloat16, "absent", "emulated", 150, 99.6, 0.499}}};
  BOOST_TEST(here.text() ==
             "A CPU\ncores 2, quota 1.5 cores, threads 2\ninstruction set AVX2, AMX no\n\n"
             "dtype     in oneDNN  products here  matmul GFLOP/s  conv2d GFLOP/s  of float32\n"
             "------------------------------------------------------------------------------\n"
             "float32   native     native                    300             200        1.00\n"
             "bfloat16  absent     emulated                  150             100        0.50\n");
}

BOOST_AUTO_TEST_CASE(rates_that_two_halves_do_not_agree_on_are_left_out) {
  const Hardware here{"A CPU", 2, 0, 2, "AVX2", false, {{DType::float32, "native", "native", 0, 200.2, 0}}};
  BOOST_TEST(here.text() ==
             "A CPU\ncores 2, quota none, threads 2\ninstruction set AVX2, AMX no\n\n"
             "dtype    in oneDNN  products here  matmul GFLOP/s  conv2d GFLOP/s  of float32\n"
             "-----------------------------------------------------------------------------\n"
             "float32  native     native                      -             200           -\n"
             "-: not measurable, two halves of the measurement differ by more than a tenth\n");
}

BOOST_AUTO_TEST_SUITE_END()
