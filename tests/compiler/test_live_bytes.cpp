#include <boost/test/unit_test.hpp>

#include <mezzo/compiler/live_bytes.hpp>

#include "compiler/steps.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const Spec kilobyte{{256}, DType::float32};

// `build` maps the input to the output.
std::size_t peak(Value (*build)(const Value&)) {
  return peak_of_live_bytes(traced([&](Trace& step) { step.output("y", build(step.input("x", kilobyte))); }));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(live_bytes)

BOOST_AUTO_TEST_CASE(values_live_until_their_last_reader) {
  BOOST_TEST(peak([](const Value& x) { return x; }) == 0);  // inputs are elsewhere
  BOOST_TEST(peak([](const Value& x) { return exp(x); }) == 1024);
  BOOST_TEST(peak([](const Value& x) { return exp(exp(exp(x))); }) == 2048);
  BOOST_TEST(peak([](const Value& x) {
               const Value early = exp(x);
               return tanh(tanh(tanh(early))) + early;
             }) == 3072);
}

BOOST_AUTO_TEST_CASE(views_keep_their_base) {
  BOOST_TEST(peak([](const Value& x) {
               const Value view = reshape(exp(x), {16, 16});
               return tanh(reshape(tanh(tanh(x)), {16, 16})) + view;
             }) == 3072);
}

BOOST_AUTO_TEST_CASE(each_output_dies_alone) {
  BOOST_TEST(peak([](const Value& x) {
               const TopK top = top_k(x, 256);  // values of 1024 bytes, indices of 2048
               return exp(tanh(tanh(top.values))) + cast(top.indices, DType::float32);
             }) == 4096);
}

BOOST_AUTO_TEST_SUITE_END()
