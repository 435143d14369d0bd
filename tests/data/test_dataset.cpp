#include <boost/test/unit_test.hpp>

#include <cmath>

#include <mezzo/data/dataset.hpp>
#include <mezzo/data/loader.hpp>

#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;

namespace {

// Returns samples (10 i, 10 i + 1) with label i.
Dataset pairs(std::int64_t count) {
  Tensor x({count, 2}, DType::uint8);
  Tensor y({count}, DType::int64);
  for (std::int64_t i = 0; i < count; ++i) {
    x.mutable_data<std::uint8_t>()[2 * i] = static_cast<std::uint8_t>(10 * i);
    x.mutable_data<std::uint8_t>()[2 * i + 1] = static_cast<std::uint8_t>(10 * i + 1);
    y.mutable_data<std::int64_t>()[i] = i;
  }
  return Dataset::from_tensors({{"image", x, Role::input}, {"label", y, Role::target}});
}

std::vector<double> labels(const Dataset& dataset) {
  std::vector<std::int64_t> indices;
  for (std::int64_t i = 0; i < dataset.size(); ++i) indices.push_back(i);
  return dataset.gather(indices)["label"].to_doubles();
}

class Squares : public DatasetSource {
 public:
  std::int64_t size() const override { return 5; }
  const std::vector<Field>& fields() const override { return fields_; }
  void read(std::int64_t index, void* const* out) const override {
    *static_cast<float*>(out[0]) = static_cast<float>(index * index);
  }

 private:
  std::vector<Field> fields_{{.name = "square"}};
};

Dataset made_of(std::function<std::vector<Tensor>(std::int64_t)> function) {
  return Dataset::from_function({.size = 3,
                                 .fields = {{.name = "x", .shape = {2}}, {.name = "y", .dtype = DType::int64}},
                                 .function = std::move(function)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(dataset)

BOOST_AUTO_TEST_CASE(tensors_become_fields) {
  const Dataset data = pairs(4);
  BOOST_TEST(data.size() == 4);
  BOOST_REQUIRE(data.fields().size() == 2U);
  BOOST_TEST(data.fields()[0].name == "image");
  BOOST_TEST(data.fields()[0].shape == Shape{2}, boost::test_tools::per_element());
  BOOST_TEST((data.fields()[0].dtype == DType::uint8));
  BOOST_TEST((data.fields()[1].role == Role::target));
  BOOST_TEST(data.fields()[1].shape.empty());
}

BOOST_AUTO_TEST_CASE(gather_makes_a_batch) {
  const HostBatch batch = pairs(4).gather({3, 0, 3});
  BOOST_TEST(batch.size == 3);
  BOOST_TEST(batch["image"].describe() == "uint8 (3, 2)");
  BOOST_TEST(batch["image"].to_doubles() == (std::vector<double>{30, 31, 0, 1, 30, 31}),
             boost::test_tools::per_element());
  BOOST_TEST(batch["label"].describe() == "int64 (3,)");
  BOOST_TEST((batch.fields[1].role == Role::target));
  BOOST_TEST(pairs(4).gather({})["image"].describe() == "uint8 (0, 2)");
  check_throws<NameError>("[HostBatch] unknown field \"y\"; valid names: image, label", [&] { batch["y"]; });
  check_throws<ValueError>("[Dataset] indices must lie in [0, 4); got 4", [] { pairs(4).gather({0, 4}); });
}

BOOST_AUTO_TEST_CASE(later_changes_of_an_array_do_not_reach_the_data_set) {
  Tensor x({2}, std::vector<float>{1, 2});
  const Dataset data = Dataset::from_tensors({{"x", x}});
  x.mutable_data<float>()[0] = 9;
  BOOST_TEST(data.gather({0})["x"].item() == 1);
}

BOOST_AUTO_TEST_CASE(tensors_must_agree) {
  check_throws<ShapeError>("[Dataset] field \"y\" must have 3 samples, as \"x\" has; got shape (4, 1)", [] {
    Dataset::from_tensors({{"x", Tensor({3, 2})}, {"y", Tensor({4, 1}), Role::target}});
  });
  check_throws<ShapeError>("[Dataset] field \"x\" must have an axis 0 that counts the samples; got shape ()", [] {
    Dataset::from_tensors({{"x", Tensor::scalar(1)}});
  });
  check_throws<ValueError>("[Dataset] the names of the fields must differ; got \"x\" twice", [] {
    Dataset::from_tensors({{"x", Tensor({3})}, {"x", Tensor({3})}});
  });
  check_throws<ValueError>("[Dataset] there must be at least 1 field; got none", [] { Dataset::from_tensors({}); });
  check_throws<ValueError>("[Dataset] a field must have a name; got \"\"", [] {
    Dataset::from_tensors({{"", Tensor({2})}});
  });
}

BOOST_AUTO_TEST_CASE(views_choose_samples) {
  const Dataset data = pairs(5);
  const auto check = [](const Dataset& view, const std::vector<double>& expected) {
    BOOST_TEST(labels(view) == expected, boost::test_tools::per_element());
  };
  check(data.take(2), {0, 1});
  check(data.take(9), {0, 1, 2, 3, 4});
  check(data.subset({4, 4, 1}), {4, 4, 1});
  check(data.subset({4, 3, 1}).take(2).subset({1}), {3});
  const auto [train, validation] = data.split(1 - 0.3);
  check(train, {0, 1, 2});
  check(validation, {3, 4});
  check(data.split(1).second, {});
  BOOST_TEST(data.take(0).fields().size() == 2U);
  BOOST_TEST(Dataset().size() == 0);
  BOOST_TEST(Dataset().take(3).fields().empty());
  check_throws<ValueError>("[Dataset] indices must lie in [0, 5); got -1", [&] { data.subset({-1}); });
  check_throws<ValueError>("[Dataset.take] count must be 0 or more; got -2", [&] { data.take(-2); });
  check_throws<ValueError>("[Dataset.split] fraction must lie in [0, 1]; got 1.5", [&] { data.split(1.5); });
  check_throws<ValueError>("[Dataset.split] fraction must lie in [0, 1]; got nan", [&] { data.split(std::nan("")); });
}

BOOST_AUTO_TEST_CASE(a_function_makes_samples) {
  const Dataset data = made_of([](std::int64_t i) {
    const auto x = static_cast<float>(i);
    return std::vector<Tensor>{Tensor({2}, std::vector<float>{x, -x}), Tensor::scalar(x + 5, DType::int64)};
  });
  const HostBatch batch = data.gather({2, 1});
  BOOST_TEST(batch["x"].to_doubles() == (std::vector<double>{2, -2, 1, -1}), boost::test_tools::per_element());
  BOOST_TEST(batch["y"].to_doubles() == (std::vector<double>{7, 6}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(what_a_function_returns_is_checked) {
  const auto gather = [](const std::vector<Tensor>& sample) {
    return [sample] { made_of([sample](std::int64_t) { return sample; }).gather({1}); };
  };
  const Tensor y = Tensor::scalar(0, DType::int64);
  check_throws<ValueError>("[Dataset] sample 1: the function must return 2 tensors, one per field; got 1", gather({y}));
  check_throws<ShapeError>("[Dataset] sample 1: field \"x\" must have shape (2,); got float32 (3,)",
                           gather({Tensor({3}), y}));
  check_throws<DTypeError>("[Dataset] sample 1: field \"y\" must be int64; got float32 ()",
                           gather({Tensor({2}), Tensor::scalar(0)}));
  check_throws<ValueError>("[Dataset] function or epoch_function must be given; got neither", [] { made_of(nullptr); });
  check_throws<ValueError>("[Dataset] size must be 0 or more; got -1", [] {
    Dataset::from_function(
        {.size = -1, .fields = {{.name = "x"}}, .function = [](std::int64_t) { return std::vector<Tensor>{}; }});
  });
}

BOOST_AUTO_TEST_CASE(a_source_of_the_users_own_is_a_data_set) {
  const Dataset data = Squares();
  BOOST_TEST(data.gather({4, 2})["square"].to_doubles() == (std::vector<double>{16, 4}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_function_may_know_the_epoch) {
  FunctionDatasetOptions options{.size = 3, .fields = {{.name = "x"}}};
  options.epoch_function = [](std::int64_t index, std::int64_t epoch) {
    return std::vector{Tensor::scalar(static_cast<double>(10 * epoch + index))};
  };
  const Dataset data = Dataset::from_function(options);
  BOOST_TEST(data.gather({2, 1})["x"].to_doubles() == (std::vector<double>{2, 1}), boost::test_tools::per_element());
  for (const int workers : {0, 2}) {
    const DataLoader loader(data.subset({2, 0}), {.batch_size = 2, .workers = workers});
    for (const std::int64_t epoch : {0, 4}) {
      const std::vector<double> expected{10.0 * static_cast<double>(epoch) + 2, 10.0 * static_cast<double>(epoch)};
      BOOST_TEST((*loader.epoch(epoch).next())["x"].to_doubles() == expected, boost::test_tools::per_element());
    }
  }
  options.function = [](std::int64_t) { return std::vector<Tensor>(); };
  check_throws<ValueError>("[Dataset] only one of function and epoch_function must be given; got both",
                           [&] { Dataset::from_function(options); });
}

BOOST_AUTO_TEST_SUITE_END()
