// Loads a model from the input, and from the input with new checksums.
#include <mezzo/mezzo.hpp>

#include "fuzz.hpp"
#include "support/folder.hpp"

namespace {

using namespace mezzo;

void load(const std::string& path) {
  const Any<Model> model = load_model(path);
  for (const auto& [name, weight] : model->named_weights()) mezzo_fuzz::touch(weight.value());
  model->to_json();
}

}  // namespace

namespace mezzo_fuzz {
namespace {

void read_input(const Bytes& bytes) {
  const std::string path = file_of(bytes);
  try {
    load(path);
    return;
  } catch (const Error&) {
  }
  load(with_checksums(path));
}

std::vector<Bytes> seeds() {
  const mezzo_tests::Folder folder;
  Sequential list({Input({3}), Dense(2, {.activation = "relu", .kernel_regularizer = L2(), .name = "d"}),
                   BatchNormalization(), Dropout(0.5)});
  list.compile({.optimizer = AdamW(1e-3), .loss = "mse", .metrics = {"mae"}});
  list.fit(Tensor({2, 3}), Tensor({2, 2}), {.verbose = 0});
  list.save(folder.path("a"));
  Input x({3}), y({3});
  Dense shared(2);
  Model graph({x, y}, layers::concatenate({shared(x), relu(shared(y)) * 0.5}));
  graph.save(folder.path("b"));
  Sequential steps({Input({3, 2}), Bidirectional(LSTM(2, {.return_sequences = true})), TimeDistributed(Dense(2)),
                    RNN({GRUCell(2), SimpleRNNCell(1)})});
  steps.save(folder.path("c"));
  std::vector<Bytes> out;
  for (const char* name : {"a", "b", "c"}) {
    const Bytes whole = content_of(folder.path(name));
    std::string unchecked = text_of(whole);
    unchecked.replace(unchecked.find("\"crc32\""), 7, "\"crc33\"");
    out.push_back(whole);
    out.push_back(bytes_of(unchecked));
  }
  return out;
}

const Target target("model", read_input, seeds);

}  // namespace
}  // namespace mezzo_fuzz
