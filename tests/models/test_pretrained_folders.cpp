#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>

#include <mezzo/mezzo.hpp>

#include "pretrained.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

/// Reads a folder of transformers, compares outputs, saves it as its folder "mezzo" and reads that.
template <class M>
void exchange(const std::string& folder) {
  if (!std::filesystem::exists(folder)) return;  // not recorded
  Pretrained<M> read = from_pretrained<M>(folder, {.strict = true});
  const double difference = outputs_off(read.model, folder);
  BOOST_TEST(difference < 1e-5, folder);
  BOOST_TEST_MESSAGE(folder << ": off by " << difference);
  save_pretrained(read, folder + "/mezzo");
  Pretrained<M> again = from_pretrained<M>(folder + "/mezzo", {.strict = true});
  BOOST_TEST(outputs_off(again.model, folder) < 1e-5, folder);
  const auto automatic = auto_model(folder, {.strict = true});
  BOOST_TEST((dynamic_cast<const M*>(&*automatic.model) != nullptr), folder);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(pretrained_folders)

// Takes the recorded folders, or those in the folder that tests/parity/transformers_folders.py gives.
BOOST_AUTO_TEST_CASE(transformers_folders_are_read_and_saved_again) {
  const Folder copy;
  const char* given = std::getenv("MEZZO_FOLDERS");
  const std::string folder = given != nullptr ? std::string(given) : copy.path("folders");
  if (given == nullptr) copy_recorded_folders(folder);
  exchange<Bert>(folder + "/bert");
  exchange<BertForSequenceClassification>(folder + "/bert_classifier");
  exchange<Roberta>(folder + "/roberta");
  exchange<RobertaForSequenceClassification>(folder + "/roberta_classifier");
  exchange<DistilBert>(folder + "/distilbert");
  exchange<DistilBertForSequenceClassification>(folder + "/distilbert_classifier");
  exchange<GPT>(folder + "/gpt");
  exchange<Llama>(folder + "/llama");
  exchange<Qwen2>(folder + "/qwen2");
  exchange<Mistral>(folder + "/mistral");
}

BOOST_AUTO_TEST_SUITE_END()
