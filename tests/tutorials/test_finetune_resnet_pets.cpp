// Runs the program on a small data set in its own file format.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <regex>

#include <mezzo/models/resnet.hpp>

#include "program.hpp"
#include "support/folder.hpp"
#include "support/jpeg.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

Outcome run(const Folder& folder, const std::vector<std::string>& arguments) {
  return run_program(MEZZO_PETS_PROGRAM, folder, arguments);
}

// Nearly one color, by breed; its place in the folder tells pictures apart.
Tensor picture(int breed, int number) {
  Tensor out({36 + number, 40, 3}, DType::uint8);
  auto* at = out.mutable_data<std::uint8_t>();
  for (std::int64_t i = 0; i < out.size(); ++i) {
    at[i] = static_cast<std::uint8_t>((i % 3 == breed ? 200 : 40) + i / 3 % 40 + number);
  }
  return out;
}

std::string write_text(const Folder& folder, const std::string& name, const std::string& text) {
  return folder.write(name, {text.begin(), text.end()});
}

// Three breeds, six pictures each to train on and two to test with.
void write_data(const Folder& folder) {
  const std::pair<const char*, int> breeds[] = {{"Abyssinian", 1}, {"beagle", 5}, {"yorkshire_terrier", 37}};
  std::string train = "#Image CLASS-ID SPECIES BREED ID\n";
  std::string test;
  for (int breed = 0; breed < 3; ++breed) {
    for (int i = 0; i < 8; ++i) {
      const std::string name = breeds[breed].first + ("_" + std::to_string(i));
      folder.write("data/images/" + name + ".jpg", mezzo_tests::jpeg(picture(breed, i)));
      (i < 6 ? train : test) += name + " " + std::to_string(breeds[breed].second) + " 1 1\n";
    }
  }
  write_text(folder, "data/annotations/trainval.txt", train);
  write_text(folder, "data/annotations/test.txt", test);
}

// With the head of ImageNet, as trained weights have it.
std::string write_weights(const Folder& folder) {
  ResNet model = resnet18();
  model.build({1, 32, 32, 3});
  model.save_weights(folder.path("resnet18.safetensors"));
  return folder.path("resnet18.safetensors");
}

std::vector<double> numbers(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::vector<double> found;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at) {
    found.push_back(std::stod((*at)[1]));
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(finetune_resnet_pets)

BOOST_AUTO_TEST_CASE(a_new_head_is_trained_on_loaded_weights) {
  const Folder folder;
  write_data(folder);
  const Outcome done = run(folder, {folder.path("data"), write_weights(folder), "6", "6", "32"});
  BOOST_TEST_CONTEXT(done.err) {
    BOOST_TEST(done.code == 0);
    BOOST_TEST(done.err.find("skip_mismatch skipped: tensor \"fc.weight\" must have shape (37, 512), got (1000, 512); "
                             "tensor \"fc.bias\" must have shape (37,), got (1000,)\n") != std::string::npos);
    const std::vector<double> losses = numbers(done.err, "Epoch \\d/6: 100% 3/3 .*[ ,]loss=([^,\\]]*)");
    BOOST_REQUIRE(losses.size() == 6U);
    BOOST_TEST(losses.back() < 0.4 * losses.front());
    BOOST_TEST(losses.back() < std::log(3.0));  // better than knowing which three of the 37 there are
    const std::vector<double> validated = numbers(done.err, "val_accuracy=([^,\\]]*)");
    const std::vector<double> accuracy = numbers(done.out, "^test accuracy ([01]\\.\\d{3})\n$");
    BOOST_REQUIRE(validated.size() == 6U);
    BOOST_REQUIRE(accuracy.size() == 1U);
    BOOST_TEST(std::abs(accuracy[0] - validated.back()) < 1e-3);
    BOOST_TEST(accuracy[0] > 0.5);  // a third by chance
  }
}

BOOST_AUTO_TEST_CASE(what_is_missing_is_named) {
  const Folder folder;
  const auto refuse = [&](const std::vector<std::string>& arguments, const std::string& text) {
    const Outcome done = run(folder, arguments);
    BOOST_TEST(done.code == 1);
    BOOST_TEST(done.out.empty());
    BOOST_TEST(done.err.rfind("finetune_resnet_pets: " + text, 0) == 0U, done.err);
  };
  const std::string data = folder.path("data");
  refuse({data, "none"}, "[oxford-iiit-pet] root \"" + data + "\": no such file or directory");
  write_data(folder);
  const std::string none = folder.path("none.safetensors");
  refuse({data, none, "1", "4", "32"}, "[load_weights \"" + none + "\"] no such file or directory");
  const std::string bad = write_text(folder, "bad.safetensors", "no safetensors file");
  refuse({data, bad, "1", "4", "32"}, "[load_weights \"" + bad + "\"] ");
  refuse({data}, "usage: finetune_resnet_pets DATA WEIGHTS [EPOCHS [BATCH_SIZE [IMAGE_SIZE]]]");
  for (const char* epochs : {"0", "-1", "x", "", "9999999"}) {
    refuse({data, none, epochs}, "EPOCHS must be a whole number from 1 to 999999; got \"" + std::string(epochs) + "\"");
  }
}

BOOST_AUTO_TEST_SUITE_END()
