#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <map>
#include <set>

#include <mezzo/data/loader.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

/// Sequences of ones of these lengths, with their numbers as labels.
Dataset sequences(const std::vector<std::int64_t>& lengths) {
  std::vector<Tensor> tokens, labels;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    tokens.emplace_back(Shape{lengths[i]}, std::vector<std::int32_t>(static_cast<std::size_t>(lengths[i]), 1));
    labels.push_back(Tensor::scalar(static_cast<double>(i)));
  }
  return Dataset::from_samples({{"tokens", tokens}, {"label", labels, Role::target}});
}

std::vector<HostBatch> batches(const DataLoader& loader, std::int64_t epoch = 0) {
  std::vector<HostBatch> out;
  detail::BatchStream stream = loader.epoch(epoch);
  while (auto batch = stream.next()) out.push_back(*std::move(batch));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(collate)

BOOST_AUTO_TEST_CASE(samples_are_padded_to_the_longest_of_the_batch) {
  const Dataset data = sequences({2, 1, 3});
  BOOST_TEST((data.fields()[0].shape == Shape{-1}));
  BOOST_TEST(data.fields()[1].shape.empty());
  for (const int workers : {0, 2}) {
    const auto read = batches(DataLoader(data, {.batch_size = 2, .workers = workers}));
    BOOST_TEST(read[0]["tokens"].describe() == "int32 (2, 2)");
    BOOST_TEST(read[0]["tokens"].to_doubles() == (std::vector<double>{1, 1, 1, 0}), boost::test_tools::per_element());
    BOOST_TEST(read[1]["tokens"].describe() == "int32 (1, 3)");
    BOOST_TEST(read[0]["label"].to_doubles() == (std::vector<double>{0, 1}), boost::test_tools::per_element());
    BOOST_TEST((read[0].fields[1].role == Role::target));
  }
  BOOST_TEST(data.gather({1, 2})["tokens"].to_doubles() == (std::vector<double>{1, 0, 0, 1, 1, 1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(several_axes_are_padded) {
  const Dataset data = Dataset::from_samples(
      {{"image",
        {Tensor({1, 2, 2}, std::vector<float>{1, 2, 3, 4}), Tensor({2, 1, 2}, std::vector<float>{5, 6, 7, 8})}}});
  BOOST_TEST((data.fields()[0].shape == Shape{-1, -1, 2}));
  const DataLoader loader(data, {.batch_size = 2, .padding_values = {{"image", -1}}});
  const Tensor image = batches(loader)[0]["image"];
  BOOST_TEST(image.describe() == "float32 (2, 2, 2, 2)");
  BOOST_TEST(image.to_doubles() == (std::vector<double>{1, 2, 3, 4, -1, -1, -1, -1, 5, 6, -1, -1, 7, 8, -1, -1}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(boundaries_bound_the_number_of_shapes) {
  const DataLoader loader(sequences({1, 2, 3, 4, 5, 8}), {.batch_size = 2, .bucket_boundaries = {2, 4, 8}});
  std::vector<std::int64_t> sizes;
  for (const HostBatch& batch : batches(loader)) sizes.push_back(batch["tokens"].shape()[1]);
  BOOST_TEST(sizes == (std::vector<std::int64_t>{2, 4, 8}), boost::test_tools::per_element());
  const DataLoader long_one(sequences({1, 9}), {.batch_size = 2, .bucket_boundaries = {2, 8}});
  check_throws<ValueError>("[DataLoader] open axes must have a size of at most 8, the last of bucket_boundaries; got 9",
                           [&] { batches(long_one); });
}

BOOST_AUTO_TEST_CASE(batches_have_samples_of_one_bucket) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < 50; ++i) lengths.push_back(1 + i % 10);
  for (const bool drop_last : {false, true}) {
    DataLoaderOptions options{.batch_size = 8, .shuffle = true, .drop_last = drop_last, .seed = 3};
    options.bucket_boundaries = {3, 6, 10};
    options.group_by_length = true;
    const DataLoader loader(sequences(lengths), options);
    BOOST_TEST(loader.size() == (drop_last ? 1 + 1 + 2 : 2 + 2 + 3));
    std::vector<std::set<double>> orders;
    for (const std::int64_t epoch : {0, 1}) {
      std::multiset<double> labels;
      const auto read = batches(loader, epoch);
      BOOST_TEST(static_cast<std::int64_t>(read.size()) == loader.size());
      for (const HostBatch& batch : read) {
        const std::int64_t size = batch["tokens"].shape()[1], least = size == 3 ? 1 : size == 6 ? 4 : 7;
        for (const double label : batch["label"].to_doubles()) {
          const std::int64_t length = lengths[static_cast<std::size_t>(label)];
          BOOST_TEST((length >= least && length <= size));
          labels.insert(label);
        }
      }
      const std::set<double> different(labels.begin(), labels.end());
      BOOST_TEST(labels.size() == different.size());
      BOOST_TEST(labels.size() == (drop_last ? 32U : 50U));
      const auto first = read[0]["label"].to_doubles();
      orders.emplace_back(first.begin(), first.end());
    }
    BOOST_TEST((orders[0] != orders[1]));
  }
}

BOOST_AUTO_TEST_CASE(grouped_batches_go_on_by_samples) {
  const Dataset data = sequences({1, 5, 1, 5, 1, 5, 1});
  DataLoaderOptions options{.batch_size = 3};
  options.bucket_boundaries = {2, 8};
  options.group_by_length = true;
  const DataLoader loader(data, options);
  const auto labels = [](const HostBatch& batch) { return batch["label"].to_doubles(); };
  const auto all = batches(loader);  // 0 2 4; 1 3 5; 6
  detail::BatchStream stream = loader.stream({.epoch = 0, .samples = 4}, 3);
  BOOST_TEST(labels(*stream.next()) == (std::vector<double>{3, 5}), boost::test_tools::per_element());
  BOOST_TEST(labels(*stream.next()) == (std::vector<double>{6}), boost::test_tools::per_element());
  BOOST_TEST(labels(*stream.next()) == labels(all[0]), boost::test_tools::per_element());
  BOOST_TEST(loader.fingerprint().order == "SequentialSampler(7), in batches of 3 by length up to 2, 8");
}

BOOST_AUTO_TEST_CASE(a_function_makes_samples_of_any_length) {
  FunctionDatasetOptions options{.size = 3, .fields = {{.name = "x", .shape = {-1, 2}}}};
  options.function = [](std::int64_t index) { return std::vector{Tensor({index + 1, 2})}; };
  DataLoaderOptions grouped{.batch_size = 2};
  grouped.bucket_boundaries = {2, 4};
  grouped.group_by_length = true;
  check_throws<ValueError>(
      "[DataLoader] sample 0: group_by_length needs lengths that are known without reading, by length(); got none",
      [&] { DataLoader(Dataset::from_function(options), grouped); });
  options.length = [](std::int64_t index) { return index + 1; };
  const Dataset data = Dataset::from_function(options);
  BOOST_TEST(batches(DataLoader(data, grouped))[1]["x"].describe() == "float32 (1, 4, 2)");
  BOOST_TEST(batches(DataLoader(data.subset({2, 0}), {.batch_size = 2}))[0]["x"].describe() == "float32 (2, 3, 2)");
  BOOST_TEST((data.range(1, 3) + data).gather({0, 1})["x"].describe() == "float32 (2, 3, 2)");
  const Dataset mapped = data.map("x", [](const Tensor& value) { return value.reshape({-1}); });
  BOOST_TEST(mapped.gather({0, 2})["x"].describe() == "float32 (2, 6)");
  options.function = [](std::int64_t) { return std::vector{Tensor({1, 3})}; };
  check_throws<ShapeError>("[Dataset] sample 1: field \"x\" must have shape (?, 2); got float32 (1, 3)",
                           [&] { Dataset::from_function(options).gather({1}); });
}

BOOST_AUTO_TEST_CASE(a_users_function_makes_the_batch) {
  DataLoaderOptions options{.batch_size = 2};
  options.collate = [](const std::vector<detail::DatasetSample>& samples) {
    Tensor lengths({static_cast<std::int64_t>(samples.size())}, DType::int64);
    for (std::size_t i = 0; i < samples.size(); ++i)
      lengths.mutable_data<std::int64_t>()[i] = samples[i][0].tensor.size();
    return HostBatch{{{"length", lengths, Role::input}}, static_cast<std::int64_t>(samples.size())};
  };
  for (const int workers : {0, 1}) {
    options.workers = workers;
    const auto read = batches(DataLoader(sequences({4, 2, 3}), options));
    BOOST_TEST(read[0]["length"].to_doubles() == (std::vector<double>{4, 2}), boost::test_tools::per_element());
    BOOST_TEST(read[1]["length"].to_doubles() == (std::vector<double>{3}), boost::test_tools::per_element());
  }
  options.collate = [](const std::vector<detail::DatasetSample>&) { return HostBatch{{{"x", Tensor({1})}}, 1}; };
  check_throws<ValueError>(
      "[DataLoader] batch 0: collate must return a batch of 2 samples with fields; got 1 samples and 1 fields", [&] {
        batches(DataLoader(sequences({1, 1}), options));
      });
  options.collate = [](const std::vector<detail::DatasetSample>&) { return HostBatch{{{"x", Tensor({1})}}, 2}; };
  check_throws<ShapeError>(
      "[DataLoader] batch 0: collate: field \"x\" must have 2 samples along axis 0; got float32 (1,)", [&] {
        batches(DataLoader(sequences({1, 1}), options));
      });
}

BOOST_AUTO_TEST_CASE(samples_of_a_field_must_agree) {
  check_throws<ShapeError>("[Dataset] field \"x\" sample 1 must have 1 axes, as sample 0 has; got float32 (1, 1)", [] {
    Dataset::from_samples({{"x", {Tensor({1}), Tensor({1, 1})}}});
  });
  check_throws<DTypeError>("[Dataset] field \"x\" sample 1 must be float32; got int32 (1,)", [] {
    Dataset::from_samples({{"x", {Tensor({1}), Tensor({1}, DType::int32)}}});
  });
  check_throws<ShapeError>("[Dataset] field \"y\" must have 1 samples, as \"x\" has; got 2", [] {
    Dataset::from_samples({{"x", {Tensor({1})}}, {"y", {Tensor({1}), Tensor({1})}}});
  });
  check_throws<ValueError>("[Dataset] field \"x\" must have samples; got none", [] {
    Dataset::from_samples({{"x", {}}});
  });
  check_throws<ValueError>("[Dataset] there must be at least 1 field; got none", [] { Dataset::from_samples({}); });
}

BOOST_AUTO_TEST_CASE(options_of_padding_are_checked) {
  const auto make = [](const std::function<void(DataLoaderOptions&)>& set) {
    return [set] {
      DataLoaderOptions options;
      set(options);
      DataLoader(sequences({1, 2}), options);
    };
  };
  check_throws<ValueError>("[DataLoader] bucket_boundaries must be above 0 and ascend; got 4, 4",
                           make([](DataLoaderOptions& o) {
                             o.bucket_boundaries = {4, 4};
                           }));
  check_throws<ValueError>("[DataLoader] padding_values need fields with an open axis; got \"label\"",
                           make([](DataLoaderOptions& o) {
                             o.padding_values = {{"label", 1}};
                           }));
  check_throws<ValueError>("[DataLoader] group_by_length needs bucket_boundaries; got none",
                           make([](DataLoaderOptions& o) { o.group_by_length = true; }));
  check_throws<ValueError>("[DataLoader] only one of group_by_length and sampler must be given; got both",
                           make([](DataLoaderOptions& o) {
                             o.group_by_length = true;
                             o.bucket_boundaries = {4};
                             o.sampler = SequentialSampler(sequences({1, 2}));
                           }));
  check_throws<ValueError>(
      "[DataLoader] collate can't be given together with bucket_boundaries or padding_values; got both",
      make([](DataLoaderOptions& o) {
        o.collate = [](const std::vector<detail::DatasetSample>&) { return HostBatch(); };
        o.bucket_boundaries = {4};
      }));
  check_throws<ValueError>("[DataLoader] bucket_boundaries need a field with an open axis; got x float32 ()", [] {
    DataLoaderOptions options;
    options.bucket_boundaries = {4};
    DataLoader(Dataset::from_tensors({{"x", Tensor({2})}}), options);
  });
}

BOOST_AUTO_TEST_SUITE_END()
