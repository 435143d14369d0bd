#include <mezzo/data/sequences.hpp>

#include <boost/test/unit_test.hpp>

#include <mezzo/data/loader.hpp>

#include "support/recorded.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

const nlohmann::json& utilities(const std::string& name) { return recorded("preprocessing").at("utilities").at(name); }

Tensor numbers_to(std::int64_t count) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = 0; i < count; ++i) all.push_back(i);
  return {{count}, all};
}

HostBatch all_of(const Dataset& data) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < data.size(); ++i) indices.push_back(i);
  return data.gather(indices);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sequences)

BOOST_AUTO_TEST_CASE(padding_equals_keras) {
  const detail::Sequences given{{1.5, 2, 3}, {4}, {}, {5, 6, 7, 8, 9}};
  BOOST_TEST(pad_sequences(given).equal(recorded_tensor(utilities("pad"))));
  const Tensor post = pad_sequences(
      given, {.maxlen = 3, .dtype = DType::float32, .padding = "post", .truncating = "post", .value = -1});
  BOOST_TEST(post.equal(recorded_tensor(utilities("pad_post"))));
  BOOST_TEST(pad_sequences(given, {.maxlen = 2}).equal(recorded_tensor(utilities("pad_cut"))));
  BOOST_TEST(pad_sequences(given, {.maxlen = 0}).describe() == "int32 (4, 0)");
  const Tensor pairs = pad_sequences(std::vector<Tensor>{Tensor({1, 2}), Tensor({3, 2})});
  BOOST_TEST(pairs.describe() == "int32 (2, 3, 2)");
  const std::vector<std::vector<std::int64_t>> lists{{7}, {8, 9}};
  BOOST_TEST(pad_sequences(lists).to_doubles() == (std::vector<double>{0, 7, 8, 9}));
}

BOOST_AUTO_TEST_CASE(refused_padding) {
  BOOST_TEST(refused<NameError>([] { pad_sequences({{1}}, {.padding = "left"}); }) ==
             "[pad_sequences] unknown padding \"left\"; valid names: post, pre");
  BOOST_TEST(refused<ValueError>([] { pad_sequences({{1}}, {.maxlen = -1}); }) ==
             "[pad_sequences] maxlen must not be negative; got -1");
  BOOST_TEST(refused<ValueError>([] { pad_sequences(std::vector<Tensor>()); }) ==
             "[pad_sequences] maxlen must be given for no sequences; got none");
  BOOST_TEST(refused<ShapeError>([] {
               pad_sequences(std::vector<Tensor>{Tensor({1, 2}), Tensor({1, 3})});
             }) == "[pad_sequences] elements of sequence 1 must have shape (2,), as the first ones; got shape (1, 3)");
}

BOOST_AUTO_TEST_CASE(categories) {
  const Tensor given = to_categorical(Tensor({3, 1}, std::vector<std::int64_t>{0, 2, 1}));
  BOOST_TEST(given.equal(recorded_tensor(utilities("categorical")).cast(DType::float32)));
  BOOST_TEST(to_categorical(Tensor({2}), 5).describe() == "float32 (2, 5)");
  BOOST_TEST(refused<ValueError>([] { to_categorical(Tensor({1}, std::vector<std::int64_t>{3}), 3); }) ==
             "[to_categorical] classes must lie in [0, 3); got 3");
  BOOST_TEST(refused<ValueError>([] { to_categorical(Tensor({1}, std::vector<std::int64_t>{-1}), 3); }) ==
             "[to_categorical] classes must lie in [0, 3); got -1");
}

BOOST_AUTO_TEST_CASE(windows_equal_keras) {
  std::vector<std::int64_t> tens;
  for (std::int64_t i = 0; i < 20; ++i) tens.push_back(10 * i);
  const Tensor series({20}, tens);
  const auto check = [&](const char* name, const TimeseriesOptions& options) {
    const HostBatch batch = all_of(timeseries_dataset_from_array(series, numbers_to(20), options));
    BOOST_TEST(batch["x"].equal(recorded_tensor(utilities(name).at("x"))), name);
    BOOST_TEST(batch["y"].equal(recorded_tensor(utilities(name).at("y"))), name);
  };
  check("windows", {.sequence_length = 4});
  check("windows_stride", {.sequence_length = 3, .sequence_stride = 2, .sampling_rate = 3});
  const Dataset part = timeseries_dataset_from_array(series, {.sequence_length = 2, .start_index = 3, .end_index = 6});
  BOOST_TEST(all_of(part)["x"].to_doubles() == (std::vector<double>{30, 40, 40, 50}));
  BOOST_TEST(timeseries_dataset_from_array(series, numbers_to(5), {.sequence_length = 2}).size() == 5);
  BOOST_TEST(refused<ValueError>([&] {
               timeseries_dataset_from_array(series, {.sequence_length = 21});
             }).find("[timeseries_dataset_from_array] a window of 21 steps at sampling_rate 1 must fit in") == 0);
  BOOST_TEST(refused<ValueError>([&] { timeseries_dataset_from_array(series, {.sequence_length = 0}); }) ==
             "[timeseries_dataset_from_array] sequence_length must be at least 1; got 0");
  BOOST_TEST(refused<ValueError>([&] {
               timeseries_dataset_from_array(series, {.sequence_length = 2, .start_index = 20});
             }) == "[timeseries_dataset_from_array] start_index must lie in [0, 20) for 20 steps; got 20");
}

BOOST_AUTO_TEST_CASE(mapped_fields) {
  const Dataset data = Dataset::from_tensors({{"x", numbers_to(6)}, {"y", numbers_to(6), Role::target}});
  const Dataset twice = data.map("x", [](const Tensor& x) { return Tensor::scalar(2 * x.item()).reshape({1}); });
  BOOST_TEST(twice.fields()[0].shape == Shape{1});
  BOOST_TEST(twice.subset({5, 1}).gather({0, 1})["x"].to_doubles() == (std::vector<double>{10, 2}));
  BOOST_TEST(twice.gather({4})["y"].item() == 4);
  const Dataset moved = data.map("x", [](const Tensor& x, std::int64_t index, std::int64_t epoch) {
    return Tensor::scalar(x.item() + 10 * static_cast<double>(index) + 100 * static_cast<double>(epoch));
  });
  for (const int workers : {0, 2}) {
    detail::BatchStream stream = DataLoader(moved, {.batch_size = 6, .workers = workers}).epoch(2);
    BOOST_TEST(stream.next()->fields[0].tensor.to_doubles() == (std::vector<double>{200, 211, 222, 233, 244, 255}));
  }
  const auto keep = [](const Tensor& x) { return x; };
  BOOST_TEST(refused<NameError>([&] { data.map("z", keep); }) ==
             "[Dataset.map] unknown field \"z\"; valid names: x, y");
  BOOST_TEST(refused<ValueError>([&] { Dataset().map("x", keep); }) ==
             "[Dataset.map] the data set must have samples; got none");
  const Dataset uneven =
      data.map("x", [](const Tensor& x) { return Tensor({1 + static_cast<std::int64_t>(x.item())}); });
  BOOST_TEST(refused<ShapeError>([&] {
               uneven.gather({0, 3});
             }) ==
             "[Dataset] sample 3: map of field \"x\" must return float32 (1,), as for sample 0; got float32 (4,)");
}

BOOST_AUTO_TEST_SUITE_END()
