#include <mezzo/training/checkpoints/rank_checkpoints.hpp>

#include <fmt/format.h>

#include <mezzo/training/callbacks/model_checkpoint.hpp>
#include <mezzo/training/checkpoints/checkpoint_sections.hpp>

namespace mezzo::detail {
namespace {

std::vector<ModelCheckpoint*> checkpoints_in(const Callbacks& callbacks) {
  std::vector<ModelCheckpoint*> out;
  for (const CallbackHandle& handle : callbacks) {
    if (auto* const one = dynamic_cast<ModelCheckpoint*>(&handle.get())) out.push_back(one);
  }
  return out;
}

}  // namespace

void share_checkpoints(Communicator* ranks, const Callbacks& callbacks) {
  if (ranks == nullptr || ranks->size() == 1) return;
  const std::vector<ModelCheckpoint*> own = checkpoints_in(callbacks);
  CallbackNumbers numbers;
  CallbackTexts texts;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const CallbackState results = own[i]->results();
    numbers[fmt::to_string(i)] = results.numbers;
    texts[fmt::to_string(i)] = results.texts;
  }
  numbers = callback_numbers_from(ranks->broadcast_text(text_of(numbers)));
  texts = callback_texts_from(ranks->broadcast_text(text_of(texts)));
  if (ranks->rank() == 0) return;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const std::string key = fmt::to_string(i);
    if (texts.count(key) == 1) own[i]->take_results({.numbers = numbers[key], .tensors = {}, .texts = texts[key]});
  }
}

}  // namespace mezzo::detail
