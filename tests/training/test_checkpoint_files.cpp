// Contents of checkpoints, and errors for malformed files.
#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <functional>
#include <limits>

#include <mezzo/core/parallel.hpp>
#include <mezzo/io/file.hpp>
#include <mezzo/training/checkpoints/checkpoint.hpp>

#include "checkpoint_runs.hpp"
#include "small.hpp"
#include "support/captured.hpp"
#include "support/layers.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;
using boost::test_tools::per_element;

namespace {

/// A training of one epoch, and the errors of fit() for edited versions of its checkpoint.
struct Edited {
  Edited() {
    begun.fit(1);
    file = begun.save(folder, "c");
  }

  using Edit = std::function<void(std::map<std::string, Tensor>&, Metadata&)>;

  std::string refusal(const Edit& edit) const {
    Run run({}, 7);
    return refusal(run, edit);
  }

  /// Text of the error, with the path replaced by "c". Checks that the run is unchanged.
  std::string refusal(Run& run, const Edit& edit) const {
    auto tensors = tensors_of(file);
    Metadata metadata = SafetensorsFile(file).metadata();
    edit(tensors, metadata);
    save_safetensors(folder.path("d"), NamedTensors(tensors.begin(), tensors.end()), metadata);
    run.fit(1);
    const auto before = values_of(run.model);
    const auto iterations = run.optimizer->iterations();
    std::string text = refused<FileError>([&] { run.fit(2, folder.path("d")); });
    BOOST_TEST(changed_since(before, run.model) == "");
    BOOST_TEST(run.optimizer->iterations() == iterations);
    BOOST_TEST(seed() == run.seed);
    const std::size_t at = text.find(folder.path("d"));
    if (at != std::string::npos) text.replace(at, folder.path("d").size(), "c");
    return text;
  }

  std::string metadata_refusal(const std::string& key, const std::string& value) const {
    return refusal([&](auto&, Metadata& metadata) { metadata[key] = value; });
  }

  Folder folder;
  Run begun{Way()};
  std::string file;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(checkpoint_files)

BOOST_AUTO_TEST_CASE(names_layouts_and_numbers) {
  const Edited edited;
  const SafetensorsFile file(edited.file);
  std::vector<std::string> names;
  for (const auto& entry : file.entries()) {
    names.push_back(entry.name);
    BOOST_TEST((entry.dtype == DType::float32));
  }
  BOOST_TEST(names == (std::vector<std::string>{"model.first.bias",
                                                "model.first.weight",
                                                "model.last.bias",
                                                "model.last.weight",
                                                "model.norm.bias",
                                                "model.norm.running_mean",
                                                "model.norm.running_var",
                                                "model.norm.weight",
                                                "optimizer.momentum.first.bias",
                                                "optimizer.momentum.first.weight",
                                                "optimizer.momentum.last.bias",
                                                "optimizer.momentum.last.weight",
                                                "optimizer.momentum.norm.bias",
                                                "optimizer.momentum.norm.weight",
                                                "optimizer.velocity.first.bias",
                                                "optimizer.velocity.first.weight",
                                                "optimizer.velocity.last.bias",
                                                "optimizer.velocity.last.weight",
                                                "optimizer.velocity.norm.bias",
                                                "optimizer.velocity.norm.weight"}),
             per_element());
  BOOST_TEST(file.find("model.first.weight")->shape == (Shape{8, 4}), per_element());
  BOOST_TEST(file.find("optimizer.velocity.first.weight")->shape == (Shape{8, 4}), per_element());
  const char* const data = R"x({"batch_size":"8","drop_last":false,"fields":"x float32 (4,), y int64 ()",)x"
                           R"x("order":"RandomSampler(22, replacement = false, num_samples = 22)","samples":"22"})x";
  Metadata metadata = file.metadata();
  BOOST_TEST(metadata.erase("training_seconds") == 1U);
  BOOST_TEST((metadata == Metadata{{"format", "mezzo_checkpoint"},
                                   {"format_version", "2"},
                                   {"seed", "3"},
                                   {"global_step", "3"},
                                   {"epoch", "1"},
                                   {"batches_in_epoch", "0"},
                                   {"data", data},
                                   {"data_pass", "1"},
                                   {"batches_in_pass", "0"},
                                   {"threads", std::to_string(thread_count())},
                                   {"optimizer.iterations", "3"}}));
}

BOOST_AUTO_TEST_CASE(files_that_are_no_checkpoints) {
  Edited edited;
  const auto text = [](const std::string& path) {
    Run run({});
    return refused<FileError>([&] { run.fit(1, path); });
  };
  BOOST_TEST(text(edited.folder.path("none")).find("none") != std::string::npos);
  edited.begun.model.save_weights(edited.folder.path("weights"));
  BOOST_TEST(text(edited.folder.path("weights")) ==
             "[Trainer] checkpoint \"" + edited.folder.path("weights") +
                 "\": format must be \"mezzo_checkpoint\", as save_checkpoint writes; got \"pt\"");
  edited.begun.model.save(edited.folder.path("model"));
  BOOST_TEST(text(edited.folder.path("model")) ==
             "[Trainer] checkpoint \"" + edited.folder.path("model") +
                 "\": format must be \"mezzo_checkpoint\", as save_checkpoint writes; got \"mezzo_model\" (a model: "
                 "load_model reads it with its training, load_weights its weights)");
  BOOST_TEST(text(edited.folder.write("junk", {1, 2, 3})).find("[safetensors ") == 0);
  BOOST_TEST(edited.metadata_refusal("format_version", "") ==
             "[Trainer] checkpoint \"c\": format_version must be a number from 1 to 2; got \"\"");
  BOOST_TEST(edited.refusal([](auto&, Metadata& metadata) { metadata.erase("epoch"); }) ==
             "[Trainer] checkpoint \"c\": metadata must have \"epoch\"; got none");
}

BOOST_AUTO_TEST_CASE(numbers_that_are_none) {
  const Edited edited;
  const auto bad = [](const std::string& key, const std::string& got) {
    return "[Trainer] checkpoint \"c\": metadata \"" + key + "\" must be a number, 0 or more; got \"" + got + "\"";
  };
  const std::pair<const char*, const char*> cases[] = {
      {"seed", "-1"},   {"global_step", "x"},       {"global_step", "3.5"},        {"global_step", ""},
      {"epoch", "1e3"}, {"batches_in_epoch", "1 "}, {"optimizer.iterations", "-3"}};
  for (const auto& [key, got] : cases) BOOST_TEST(edited.metadata_refusal(key, got) == bad(key, got));
  const auto scaled = [&](const char* scale, const char* skipped) {
    return edited.refusal([&](auto&, Metadata& metadata) {
      metadata["optimizer.loss_scale"] = scale;
      metadata["optimizer.skipped_steps"] = skipped;
      metadata["optimizer.finite_steps"] = "0";
    });
  };
  BOOST_TEST(scaled("nan", "0") == bad("optimizer.loss_scale", "nan"));
  BOOST_TEST(scaled("inf", "0") == bad("optimizer.loss_scale", "inf"));
  BOOST_TEST(scaled("1", "-1") == bad("optimizer.skipped_steps", "-1"));
  // Counters that would overflow in the next step.
  const auto large = [](const std::string& key, const std::string& most, const std::string& got) {
    return "[Trainer] checkpoint \"c\": metadata \"" + key + "\" must be at most " + most + "; got " + got;
  };
  const std::string largest = std::to_string(std::numeric_limits<std::int64_t>::max());
  for (const char* key : {"global_step", "batches_in_epoch", "optimizer.iterations"}) {
    BOOST_TEST(edited.metadata_refusal(key, largest) == large(key, "9007199254740992", largest));
  }
  BOOST_TEST(edited.metadata_refusal("epoch", "2147483647") == large("epoch", "1073741824", "2147483647"));
  BOOST_TEST(scaled("1", largest.c_str()) == large("optimizer.skipped_steps", "9007199254740992", largest));
  BOOST_TEST(scaled("0", "0") ==
             "[Trainer] checkpoint \"c\": [LossScale] state: scale must be from 1.1754943508222875e-38 to "
             "1.7014118346046923e+38; got 0");
  BOOST_TEST(edited.metadata_refusal("batches_in_pass", "2") ==
             "[Trainer] checkpoint \"c\": metadata must have \"samples_in_pass\" in the middle of a pass; got none");
  BOOST_TEST(edited.metadata_refusal("data", "{}") ==
             "[Trainer] checkpoint \"c\": a section must be as save_checkpoint writes it; got {}");
  const std::string late = edited.refusal([](auto&, Metadata& metadata) {
    metadata["batches_in_epoch"] = metadata["batches_in_pass"] = "3";
    metadata["samples_in_pass"] = "22";
  });
  BOOST_TEST(late ==
             "[Trainer] checkpoint \"c\" was saved after batch 3 of an epoch: epochs must have more batches; got 3");
}

BOOST_AUTO_TEST_CASE(no_flipped_bit_is_accepted) {
  const Edited edited;
  auto bytes = detail::read_file(edited.file, 1U << 20U);
  const std::size_t stride = std::getenv("MEZZO_TEST_SMALL") != nullptr ? 13 : 1;
  int accepted = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8; bit += stride) {
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    try {
      const std::string path = edited.folder.write("flipped", bytes);
      const detail::Checkpoint checkpoint(path);
      tensors_of(path);
      ++accepted;
      BOOST_TEST_MESSAGE("bit " << bit);
    } catch (const FileError&) {
    }
    bytes[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
  }
  BOOST_TEST(accepted == 0);
}

BOOST_AUTO_TEST_CASE(checksums_are_required) {
  const Edited edited;
  auto bytes = detail::read_file(edited.file, 1U << 20U);
  const std::string text(bytes.begin(), bytes.end());
  bytes[text.find("\"crc32\"") + 5] ^= 1U;
  Run run({}, 7);
  BOOST_TEST(refused<FileError>([&] { run.fit(2, edited.folder.write("d", bytes)); }) ==
             "[Trainer] checkpoint \"" + edited.folder.path("d") +
                 "\": metadata must have the checksums that save_checkpoint writes; got none, or none of the header");
}

BOOST_AUTO_TEST_CASE(files_of_other_models) {
  const Edited edited;
  BOOST_TEST(edited.refusal([](auto& tensors, Metadata&) {
    tensors.erase("model.last.bias");
    tensors.erase("optimizer.velocity.norm.weight");
    tensors["model.first.weight"] = Tensor({4, 8});
    tensors["model.norm.bias"] = Tensor({8}, DType::int32);
    tensors["model.other.bias"] = Tensor({1});
  }) == "[Trainer] checkpoint \"c\" does not fit: tensor \"model.first.weight\" must have shape (8, 4), got "
        "(4, 8); missing tensor \"optimizer.velocity.norm.weight\"; tensor \"model.norm.bias\" must be a float, "
        "got int32; missing tensor \"model.last.bias\"; unexpected tensor \"model.other.bias\"");
  // Flips a bit of the last tensor, so that its checksum differs.
  auto bytes = detail::read_file(edited.file, 1U << 20U);
  bytes.back() ^= 1U;
  edited.folder.write("c", bytes);
  Run run({}, 7);
  run.model.build({1, 4});
  const auto before = values_of(run.model);
  BOOST_TEST(refused<FileError>([&] { run.fit(2, edited.file); }).find("optimizer.velocity.norm.weight") !=
             std::string::npos);
  BOOST_TEST(changed_since(before, run.model) == "");
}

BOOST_AUTO_TEST_CASE(files_of_other_optimizers) {
  const Edited edited;
  const auto as_it_is = [](auto&, Metadata&) {};
  Run sgd({}, SGD({.momentum = 0.9}), 7);
  const std::string unexpected = edited.refusal(sgd, as_it_is);
  BOOST_TEST(unexpected.find("[Trainer] checkpoint \"c\" does not fit: unexpected tensor "
                             "\"optimizer.velocity.first.bias\"; unexpected tensor") == 0);
  Run adam({}, Adam(), 7);  // Adam has the same slots as AdamW
  BOOST_TEST(edited.refusal(adam, [](auto& tensors, Metadata&) { tensors.erase("optimizer.momentum.last.bias"); }) ==
             "[Trainer] checkpoint \"c\" does not fit: missing tensor \"optimizer.momentum.last.bias\"");
  BOOST_TEST(edited.refusal([](auto&, Metadata& metadata) {
    metadata["optimizer.critic.iterations"] = metadata["optimizer.iterations"];
    metadata.erase("optimizer.iterations");
  }) == "[Trainer] checkpoint \"c\" does not fit: missing optimizer \"\"; unexpected optimizer \"critic\"");
}

// Before the first update states are zero and may be absent. Weights that are frozen later keep their states.
BOOST_AUTO_TEST_CASE(states_that_may_be_absent_or_wait) {
  const Folder folder;
  Run untrained({});
  untrained.fit(0);
  const std::string file = untrained.save(folder, "untrained");
  for (const auto& entry : tensors_of(file)) BOOST_TEST(entry.first.rfind("model.", 0) == 0);
  Run uninterrupted({}), resumed({}, 7);
  uninterrupted.fit(1);
  resumed.fit(1, file);
  BOOST_TEST(changed_since(values_of(uninterrupted.model), resumed.model) == "");

  const std::string trained = uninterrupted.save(folder, "trained");
  Run frozen({}, 7);
  frozen.model.build({1, 4});
  Dense first = frozen.first;
  first.set_trainable(false);
  frozen.fit(2, trained);
  const auto before = tensors_of(trained), after = tensors_of(frozen.save(folder, "frozen"));
  BOOST_TEST(after.at("model.first.weight").equal(before.at("model.first.weight")));
  BOOST_TEST(!after.at("model.last.weight").equal(before.at("model.last.weight")));
  BOOST_TEST(after.at("optimizer.momentum.first.weight").equal(before.at("optimizer.momentum.first.weight")));
}

BOOST_AUTO_TEST_CASE(weights_in_a_dtype_of_choice) {
  Edited edited;
  const auto saved = [&](DType dtype, std::string& warning) {
    const CapturedOutput captured;
    Trainer::save_checkpoint(edited.begun.model, edited.folder.path("narrow"), {.dtype = dtype});
    warning = captured.text();
    return tensors_of(edited.folder.path("narrow"));
  };
  const auto whole = tensors_of(edited.file);
  std::string warning;
  for (const auto& [name, tensor] : saved(DType::bfloat16, warning)) {
    const bool rounded = name.rfind("model.", 0) == 0 && name.find(".norm.") == std::string::npos;
    BOOST_TEST(tensor.equal(rounded ? whole.at(name).cast(DType::bfloat16) : whole.at(name)), name);
  }
  BOOST_TEST(
      warning.find("mezzo: warning: [Trainer] save_checkpoint: weights were rounded to bfloat16, by up to 0.00") == 0);
  BOOST_TEST(saved(DType::float64, warning).size() == whole.size());
  BOOST_TEST(warning == "");
  // 1 + 2^-8 is halfway between two bfloat16 numbers, and rounds to the even one, 1.
  const Variable kernel = edited.begun.model.weights()[0];
  for (const Variable& weight : edited.begun.model.weights()) weight.assign(Tensor(weight.shape()));
  kernel.assign(Tensor(kernel.shape(), std::vector<float>(32, 1 + 0x1p-8F)));
  saved(DType::bfloat16, warning);
  BOOST_TEST(warning ==
             "mezzo: warning: [Trainer] save_checkpoint: weights were rounded to bfloat16, by up to 0.0039 of a weight "
             "(\"first.weight\")\n");
  Run resumed({}, 7);
  resumed.fit(1, edited.folder.path("narrow"));
  const Tensor weight = resumed.model.weights()[0].value();
  BOOST_TEST(weight.data<float>()[0] == 1);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_saved) {
  Run run({});
  const Folder folder;
  const auto text = [&](const CheckpointOptions& options = {}) {
    return refused<ValueError>([&] { Trainer::save_checkpoint(run.model, folder.path("c"), options); });
  };
  BOOST_TEST(text() == "[Trainer] save_checkpoint: the module must have been trained by fit(); got an untrained one");
  run.fit(1);
  BOOST_TEST(text({.dtype = DType::int8}) == "[Trainer] save_checkpoint: dtype must be floating; got int8");
  const Variable kernel = run.model.weights()[0];
  kernel.assign(Tensor(kernel.shape(), std::vector<float>(32, 1e5F)));
  BOOST_TEST(text({.dtype = DType::float16}) ==
             "[Trainer] save_checkpoint: values of \"first.weight\" must be finite in float16; got 100000");
  BOOST_TEST(refused<FileError>([&] { Trainer::save_checkpoint(run.model, folder.path("none/c")); }) != "");
}

BOOST_AUTO_TEST_SUITE_END()
