// Rows of packed texts: tokens attend to tokens of their own text alone.
#include <boost/test/unit_test.hpp>

#include <mezzo/core/random.hpp>
#include <mezzo/data/loader.hpp>
#include <mezzo/data/text/text_dataset.hpp>
#include <mezzo/losses/sparse_categorical_crossentropy.hpp>
#include <mezzo/models/gpt.hpp>
#include <mezzo/models/llama.hpp>
#include <mezzo/optimizers/adam.hpp>
#include <mezzo/training/model/model.hpp>

#include "small.hpp"
#include "support/throws.hpp"

using namespace mezzo;
using mezzo_tests::check_throws;
using mezzo_tests::small_gpt;
using mezzo_tests::small_llama;

namespace {

Dataset packed_letters() {
  const auto encode = [](const std::string& text) {
    std::vector<std::int64_t> ids;
    for (const char c : text) ids.push_back(c - 'a');
    return ids;
  };
  return TextDataset(Strings{"abcde", "fg", "hij", "klmnopq"}).pack(encode, {.length = 10, .strategy = "best_fit"});
}

template <class M>
void check_model(M& model, const std::string& label) {
  const Dataset data = packed_letters();
  for (std::int64_t row = 0; row < data.size(); ++row) {
    const HostBatch batch = data.gather({row});
    const Tensor whole = model({batch["input_ids"], batch["position_ids"], batch["segment_ids"]})[0].tensor();
    const auto* const segments = batch["segment_ids"].template data<std::int64_t>();
    for (std::int64_t begin = 0; begin < 10 && segments[begin] > 0;) {
      std::int64_t end = begin;
      while (end < 10 && segments[end] == segments[begin]) ++end;
      const Tensor ids = batch["input_ids"].reshape({10}).slice(begin, end).reshape({1, end - begin});
      const std::vector<double> alone = model(ids).tensor().to_doubles();
      const std::vector<double> packed = whole.reshape({10, 17}).slice(begin, end).to_doubles();
      for (std::size_t i = 0; i < alone.size(); ++i) BOOST_TEST(std::abs(packed[i] - alone[i]) < 1e-12);
      begin = end;
    }
  }
  check_throws<ValueError>(label + " takes input_ids, and optionally position_ids and segment_ids; got 2 inputs", [&] {
    model({Tensor({1, 2}, DType::int64), Tensor({1, 2}, DType::int64)});
  });
  check_throws<ShapeError>(label + " segment_ids must have the shape of input_ids, (1, 2); got (1, 3)", [&] {
    model({Tensor({1, 2}, DType::int64), Tensor({1, 2}, DType::int64), Tensor({1, 3}, DType::int64)});
  });
}

/// In float64, with weights large enough for different logits.
template <class Options>
Options precise(Options options) {
  options.initializer_range = 0.5;
  options.dtype = "float64";
  return options;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(packed_rows)

BOOST_AUTO_TEST_CASE(logits_of_gpt_are_those_of_the_texts_alone) {
  seed_everything(1);
  GPT model(precise(small_gpt()));
  check_model(model, "[GPT]");
}

BOOST_AUTO_TEST_CASE(logits_of_llama_are_those_of_the_texts_alone) {
  seed_everything(2);
  Llama model(precise(small_llama()));
  check_model(model, "[Llama]");
}

BOOST_AUTO_TEST_CASE(packed_rows_train_a_model) {
  seed_everything(3);
  GPT model(small_gpt());
  model.compile(
      {.optimizer = Adam(0.01), .loss = SparseCategoricalCrossentropy({.from_logits = true, .ignore_class = -100})});
  const DataLoader loader(packed_letters(), {.batch_size = 2, .shuffle = true});
  const auto history = model.fit(loader, {.epochs = 30, .verbose = 0});
  const std::vector<double>& loss = history["loss"];
  BOOST_TEST(loss.back() < 0.8 * loss.front());
}

BOOST_AUTO_TEST_SUITE_END()
