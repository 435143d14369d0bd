// Every layer of the catalogue as an ONNX file, which tests/parity/onnx_export.py compares with ONNX Runtime.
#include "onnx/exported.hpp"

#include <set>

#include <mezzo/core/registered_names.hpp>
#include <mezzo/nn/config_json.hpp>
#include <mezzo/training/model/model_config.hpp>

#include "support/layer_models.hpp"
#include "support/refused.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

// Inputs of two batch sizes, below 6.
Runs runs_of(const std::string& layer) {
  Runs runs;
  for (const std::int64_t batch : {2, 3}) {
    Shape shape = sample_of(layer);
    shape.insert(shape.begin(), batch);
    const DType dtype = takes_integers(layer) ? DType::int32 : DType::float32;
    runs.push_back({random_tensor(shape, dtype, static_cast<std::uint64_t>(batch), 0, 6)});
  }
  return runs;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exported_layers)

BOOST_AUTO_TEST_CASE(every_layer_of_the_catalogue) {
  std::string refused_layers;
  int exported_count = 0;
  for (const std::string& name : layers_of_library()) {
    Model model = model_of_layer(name, detail::read_layer(json_of_layer(name)));
    try {
      write_case(model, "layer_" + name, runs_of(name));
      ++exported_count;
    } catch (const ValueError& error) {
      BOOST_TEST(std::string(error.what()).find("[" + name + " \"given\"] export_onnx: the op ") == 0, error.what());
      refused_layers += (refused_layers.empty() ? "" : " ") + name;
    }
  }
  BOOST_TEST(refused_layers == "AutoContrast HashedCrossing Hashing IntegerLookup RandomCrop");
  BOOST_TEST(exported_count == 129);
}

BOOST_AUTO_TEST_CASE(preprocessing_of_numbers) {
  for (const char* mode : {"int", "one_hot", "multi_hot", "count"}) {
    Sequential bins({Input({.shape = {4}}), Discretization({.bin_boundaries = {0.5, 2, 4.25}, .output_mode = mode})});
    write_case(bins, std::string("preprocessing_bins_") + mode, {{random_tensor({2, 4}, DType::float32, 1, 0, 6)}});
  }
  for (const char* mode : {"one_hot", "multi_hot", "count"}) {
    const std::int64_t columns = std::string(mode) == "one_hot" ? 1 : 4;
    Sequential codes(
        {Input({.shape = {columns}, .dtype = "int32"}), CategoryEncoding({.num_tokens = 7, .output_mode = mode})});
    write_case(
        codes, std::string("preprocessing_codes_") + mode,
        {{random_tensor({2, columns}, DType::int32, 1, 0, 7)}, {random_tensor({3, columns}, DType::int32, 2, 0, 7)}});
  }
  Sequential pictures({Input({.shape = {6, 5, 3}}), Resizing({.height = 4, .width = 7}), Rescaling({.scale = 0.5}),
                       Normalization({.mean = 0.25, .variance = 2})});
  write_case(pictures, "preprocessing_pictures",
             {{random_tensor({2, 6, 5, 3})}, {random_tensor({3, 6, 5, 3}, DType::float32, 2)}});
}

BOOST_AUTO_TEST_CASE(recurrent_layers_with_other_options) {
  Runs runs{{random_tensor({2, 5, 3})}, {random_tensor({3, 5, 3}, DType::float32, 2)}};
  const auto check = [&](const std::string& name, const Any<Layer>& layer) {
    Sequential model({Input({.shape = {5, 3}}), layer});
    write_case(model, "recurrent_" + name, runs);
  };
  check("lstm_sequences", LSTM({.units = 4, .return_sequences = true}));
  check("lstm_backwards", LSTM({.units = 4, .go_backwards = true}));
  check("lstm_selu", LSTM({.units = 4, .activation = "selu"}));
  check("lstm_hard_sigmoid", LSTM({.units = 4, .recurrent_activation = "hard_sigmoid"}));
  check("gru_reset_before", GRU({.units = 4, .return_sequences = true, .reset_after = false}));
  check("gru_log_sigmoid", GRU({.units = 4, .activation = "log_sigmoid"}));
  check("simple_rnn_linear", SimpleRNN({.units = 4, .activation = "linear"}));
  check("bidirectional", Bidirectional(LSTM({.units = 4, .return_sequences = true})));
  check("stacked_cells", RNN({LSTMCell({.units = 4}), GRUCell({.units = 3})}));
  for (const char* kind : {"lstm", "gru", "gru_reset_before", "simple_rnn"}) {
    const std::string name = kind;
    const Any<Layer> layer = name == "lstm"               ? Any<Layer>(LSTM({.units = 4, .return_sequences = true}))
                             : name == "gru"              ? Any<Layer>(GRU({.units = 4}))
                             : name == "gru_reset_before" ? Any<Layer>(GRU({.units = 4, .reset_after = false}))
                                                          : Any<Layer>(SimpleRNN({.units = 4}));
    Sequential masked({Input({.shape = {6}, .dtype = "int32"}),
                       Embedding({.input_dim = 5, .output_dim = 3, .mask_zero = true}), layer});
    write_case(masked, "recurrent_masked_" + name,
               {{Tensor({2, 6}, std::vector<std::int32_t>{1, 2, 3, 0, 0, 0, 4, 0, 1, 2, 2, 0})}});
  }
}

BOOST_AUTO_TEST_SUITE_END()
