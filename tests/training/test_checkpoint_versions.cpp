// Checkpoints of earlier format versions. files/version_1.ckpt is from version 0.1: new_run()'s training with
// early stopping, saved after its fifth step.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <functional>
#include <memory>

#include <mezzo/training/checkpoints/checkpoint.hpp>
#include <mezzo/training/checkpoints/checkpoint_migrations.hpp>

#include "checkpoint_runs.hpp"
#include "support/layers.hpp"
#include "support/paths.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::tolerance;

namespace {

const std::string version_1 = (tests_dir() / "training/files/version_1.ckpt").string();

std::unique_ptr<Run> new_run() {
  auto run = std::make_unique<Run>(Way{});
  run->model.compile({.optimizer = run->optimizer,
                      .loss = SparseCategoricalCrossentropy({.from_logits = true}),
                      .metrics = {"accuracy"}});
  return run;
}

// A copy of the file with other metadata.
std::string edited(const Folder& folder, const std::function<void(Metadata&)>& edit) {
  Metadata metadata = SafetensorsFile(version_1).metadata();
  edit(metadata);
  const auto tensors = tensors_of(version_1);
  save_safetensors(folder.path("c"), NamedTensors(tensors.begin(), tensors.end()), metadata);
  return folder.path("c");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_versions)

BOOST_AUTO_TEST_CASE(a_file_of_version_1_resumes) {
  auto run = new_run();
  const History rest = run->fit(3, version_1);
  BOOST_TEST(rest.epoch == (std::vector<int>{1, 2}), boost::test_tools::per_element());
  // Recorded from the training without interruption that wrote the file. Another CPU may sum in another order.
  BOOST_TEST(rest.history.at("loss").at(0) == 0.6405608383092013, tolerance(1e-4));
  BOOST_TEST(rest.history.at("loss").at(1) == 0.46030848947438324, tolerance(1e-4));
  BOOST_TEST(rest.history.at("accuracy").at(0) == 0.77272727272727271, tolerance(1e-12));
  BOOST_TEST(rest.history.at("accuracy").at(1) == 0.86363636363636365, tolerance(1e-12));
  BOOST_TEST(run->optimizer->iterations() == 9);
  auto whole = new_run();
  whole->fit(3);
  for (const auto& [path, value] : values_of(whole->model)) {
    const std::vector<double> expected = value.to_doubles();
    const std::vector<double> got = values_of(run->model).at(path).to_doubles();
    for (std::size_t i = 0; i < got.size(); ++i) BOOST_TEST(std::abs(got[i] - expected[i]) < 1e-4, path);
  }
}

BOOST_AUTO_TEST_CASE(means_without_targets_get_the_defaults) {
  const Folder folder;
  const std::string file = edited(folder, [](Metadata& metadata) {
    metadata["epoch_numbers"] =
        R"({"means":[["loss",true,"8.282548904418945","16"],["accuracy",true,"14","16"]],"skipped_before":["0"]})";
  });
  auto run = new_run();
  BOOST_TEST(run->fit(2, file).history.at("loss").at(0) == 0.6405608383092013, tolerance(1e-4));
}

BOOST_AUTO_TEST_CASE(a_later_version_is_an_error_that_says_to_update) {
  const Folder folder;
  const auto text = [&](const char* version) {
    const std::string file = edited(folder, [&](Metadata& metadata) { metadata["format_version"] = version; });
    auto run = new_run();
    return refused<FileError>([&] { run->fit(1, file); });
  };
  const std::string begin = "[Trainer] checkpoint \"" + folder.path("c") + "\": format_version must be ";
  BOOST_TEST(text("3") == begin + "at most 2; got 3: a newer mezzo wrote the file, update mezzo");
  BOOST_TEST(text("x") == begin + "a number from 1 to 2; got \"x\"");
  BOOST_TEST(text("0") == begin + "a number from 1 to 2; got \"0\"");
}

BOOST_AUTO_TEST_CASE(every_earlier_version_has_a_migration) {
  for (int version = 1; version < detail::checkpoint_format::version; ++version) {
    BOOST_TEST(detail::checkpoint_migrations().count(version) == 1U);
  }
  BOOST_TEST(detail::checkpoint_migrations().size() == detail::checkpoint_format::version - 1U);
  const Metadata now = detail::migrated(SafetensorsFile(version_1).metadata());
  BOOST_TEST(now.at("format_version") == "2");
  BOOST_TEST(now.at("data_pass") == "1");
  BOOST_TEST(now.at("batches_in_pass") == "2");
}

BOOST_AUTO_TEST_CASE(weights_of_all_versions_load) {
  const Folder folder;
  auto old = new_run(), saved = new_run();
  old->model.build({1, 4});
  old->model.load_weights(version_1);
  BOOST_TEST(old->model.weights().at(0).value().to_doubles().front() ==
             SafetensorsFile(version_1).read("model.first.weight").to_doubles().front());
  saved->fit(1);
  old->model.load_weights(saved->save(folder, "now"));
  BOOST_TEST(changed_since(values_of(saved->model), old->model) == "");
}

BOOST_AUTO_TEST_SUITE_END()
