#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/graph/trace.hpp>
#include <mezzo/losses/crossentropy.hpp>
#include <mezzo/ops/ctc.hpp>
#include <mezzo/ops/gradients.hpp>
#include <mezzo/ops/ops.hpp>

#include "support/kernels.hpp"
#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Tensor ints(const Shape& shape, const std::vector<std::int32_t>& numbers) { return {shape, numbers}; }

Tensor sum_of_losses(const Tensor& output, const nlohmann::json& c) {
  return sum(ctc_loss(recorded_tensor(c.at("target")), output, recorded_tensor(c.at("target_length")),
                      recorded_tensor(c.at("output_length")), c.at("mask_index").get<std::int64_t>()) *
             Value(recorded_tensor(c.at("cotangent"))))
      .tensor();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ctc)

BOOST_AUTO_TEST_CASE(losses_and_gradients_equal_keras) {
  for (const char* name : {"loss", "loss_mask", "loss_without_alignment"}) {
    const auto& c = recorded("ctc").at(name);
    for (const DType dtype : {DType::float64, DType::float32}) {
      BOOST_TEST_CONTEXT(name << " in " << dtype_name(dtype)) {
        Trace trace(Trace::Mode::eager, true);
        const Value output = trace.input("output", recorded_tensor(c.at("output")).cast(dtype));
        const Value values = ctc_loss(recorded_tensor(c.at("target")), output, recorded_tensor(c.at("target_length")),
                                      recorded_tensor(c.at("output_length")), c.at("mask_index").get<std::int64_t>());
        BOOST_TEST((values.dtype() == dtype));
        const Value cotangent = recorded_tensor(c.at("cotangent")).cast(dtype);
        const Tensor gradient = gradients(sum(values * cotangent), {output}).front().tensor();
        const std::vector<double> right = recorded_tensor(c.at("values")).to_doubles();
        const std::vector<double> got = values.tensor().to_doubles();
        const double tolerance = dtype == DType::float64 ? 1e-10 : 2e-6;
        for (std::size_t i = 0; i < right.size(); ++i) {
          BOOST_TEST(std::abs(got[i] - right[i]) <= tolerance * (1 + std::abs(right[i])));
        }
        BOOST_TEST(largest_difference(gradient, recorded_tensor(c.at("gradient"))) <= tolerance);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(gradients_are_differences) {
  const auto& c = recorded("ctc").at("loss");
  const Tensor output = recorded_tensor(c.at("output"));
  Trace trace(Trace::Mode::eager, true);
  const Value x = trace.input("output", output);
  const Value values = ctc_loss(recorded_tensor(c.at("target")), x, recorded_tensor(c.at("target_length")),
                                recorded_tensor(c.at("output_length")));
  const Tensor gradient = gradients(sum(values * Value(recorded_tensor(c.at("cotangent")))), {x}).front().tensor();
  constexpr double step = 1e-5;
  for (std::int64_t i = 0; i < output.size(); i += 7) {
    Tensor above = output, below = output;
    above.mutable_data<double>()[i] += step;
    below.mutable_data<double>()[i] -= step;
    const double slope = (sum_of_losses(above, c).item() - sum_of_losses(below, c).item()) / (2 * step);
    BOOST_TEST(std::abs(slope - gradient.data<double>()[i]) <= 1e-8, "element " << i);
  }
}

BOOST_AUTO_TEST_CASE(decoded_sequences_equal_keras) {
  const std::vector<std::pair<std::string, CTCDecodeOptions>> rows{
      {"greedy", {}},
      {"greedy_repeated", {.merge_repeated = false, .mask_index = 3}},
      {"beam", {.strategy = "beam_search", .beam_width = 20, .top_paths = 3}},
      {"beam_narrow", {.strategy = "beam_search", .beam_width = 3, .top_paths = 2, .mask_index = 3}},
      {"beam_one", {.strategy = "beam_search", .beam_width = 1}}};
  for (const auto& [name, options] : rows) {
    const auto& c = recorded("ctc").at(name);
    const CTCDecoded out = ctc_decode(recorded_tensor(c.at("inputs")), recorded_tensor(c.at("lengths")), options);
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST((out.sequences.dtype() == DType::int32));
      BOOST_TEST((out.sequences.shape() == c.at("sequences").at("shape").get<Shape>()));
      BOOST_TEST(out.sequences.tensor().to_doubles() == recorded_tensor(c.at("sequences")).to_doubles(),
                 boost::test_tools::per_element());
      BOOST_TEST(largest_difference(out.scores.tensor(), recorded_tensor(c.at("scores"))) <= 1e-10);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_loss_counts_labels_that_are_not_0) {
  const auto& c = recorded("ctc").at("class");
  const Tensor y_true = recorded_tensor(c.at("y_true")), y_pred = recorded_tensor(c.at("y_pred"));
  for (const DType dtype : {DType::int64, DType::uint8, DType::float32}) {
    BOOST_TEST(largest_difference(mezzo::ctc(y_true.cast(dtype), y_pred).tensor(), recorded_tensor(c.at("values"))) <=
               1e-10);
  }
  BOOST_TEST(std::abs(CTC()(y_true, y_pred).item() - c.at("mean").get<double>()) <= 1e-10);
  BOOST_TEST(Any<Loss>("ctc")->name() == "ctc");
  BOOST_TEST(refused<ShapeError>([&] { mezzo::ctc(Tensor({2}, DType::int32), y_pred); }) ==
             "[ctc] y_true must be (batch, labels); got (2,)");
  BOOST_TEST(refused<ShapeError>([&] {
               mezzo::ctc(Tensor({3, 1}, DType::int32), y_pred);
             }) == "[ctc] y_pred must be (batch, frames, classes) with the batch of y_true (3, 1); got (2, 6, 4)");
}

BOOST_AUTO_TEST_CASE(sequences_without_frames_or_labels) {
  const Tensor none = ints({1}, {0});
  BOOST_TEST(ctc_loss(ints({1, 0}, {}), Tensor({1, 0, 2}), none, none).item() == 0);
  BOOST_TEST(
      ctc_loss(Tensor({0, 2}, DType::int32), Tensor({0, 3, 2}), Tensor({0}, DType::int32), Tensor({0}, DType::int32))
          .tensor()
          .size() == 0);
  for (const char* strategy : {"greedy", "beam_search"}) {
    const CTCDecoded out = ctc_decode(Tensor({1, 2, 3}), none, {.strategy = strategy});
    BOOST_TEST(out.sequences.tensor().to_doubles() == (std::vector<double>{-1, -1}));
    BOOST_TEST(out.scores.item() == 0);
  }
  const Tensor nan({1, 1, 2}, std::vector<float>{NAN, 0});
  BOOST_TEST(std::isnan(ctc_loss(ints({1, 1}, {1}), nan, ints({1}, {1}), ints({1}, {1})).item()));
}

BOOST_AUTO_TEST_CASE(bad_arguments_are_refused) {
  const Tensor target = ints({1, 2}, {1, 2}), output({1, 4, 3}), two = ints({1}, {2}), four = ints({1}, {4});
  BOOST_TEST(refused<ShapeError>([&] { ctc_loss(two, output, two, four); }) ==
             "[ctc_loss] target must be (batch, labels); got shape (1,)");
  BOOST_TEST(refused<ShapeError>([&] {
               ctc_loss(target, Tensor({2, 4, 3}), two, four);
             }) ==
             "[ctc_loss] output must be (batch, frames, classes) with the batch of target (1, 2); got shape (2, 4, 3)");
  BOOST_TEST(refused<ShapeError>([&] { ctc_loss(target, output, target, four); }) ==
             "[ctc_loss] target_length must have shape (1,); got (1, 2)");
  BOOST_TEST(refused<ValueError>([&] { ctc_loss(target, output, two, four, 3); }) ==
             "[ctc_loss] mask_index must be in [0, 3); got 3");
  BOOST_TEST(refused<ValueError>([&] { ctc_loss(target, output, four, four); }) ==
             "[ctc_loss] target_length must be in [0, 3); got 4 at index 0");
  BOOST_TEST(refused<ValueError>([&] { ctc_loss(target, output, two, ints({1}, {5})); }) ==
             "[ctc_loss] output_length must be in [0, 5); got 5 at index 0");
  BOOST_TEST(refused<ValueError>([&] {
               ctc_loss(ints({1, 2}, {1, 3}), output, two, four);
             }) == "[ctc_loss] target must be in [0, 3); got 3 at index 1");
  BOOST_TEST(refused<ValueError>([&] { ctc_decode(output, four, {.strategy = "best"}); }) ==
             "[ctc_decode] strategy must be greedy or beam_search; got \"best\"");
  BOOST_TEST(refused<ValueError>([&] { ctc_decode(output, four, {.beam_width = 5}); }) ==
             "[ctc_decode] beam_width and top_paths are for the strategy beam_search; got 5 and 1");
  BOOST_TEST(refused<ValueError>([&] {
               ctc_decode(output, four, {.strategy = "beam_search", .beam_width = 2, .top_paths = 3});
             }) == "[ctc_decode] top_paths must be in [1, 2] (beam_width); got 3");
  BOOST_TEST(refused<ValueError>([&] {
               ctc_decode(output, four, {.strategy = "beam_search", .merge_repeated = false});
             }) == "[ctc_decode] merge_repeated must be true for the strategy beam_search; got false");
  BOOST_TEST(refused<ValueError>([&] { ctc_decode(output, ints({1}, {5})); }) ==
             "[ctc_decode] sequence_lengths must be in [0, 4]; got 5 at index 0");
}

BOOST_AUTO_TEST_SUITE_END()
