#include <mezzo/training/checkpoints/shared_results.hpp>

#include <optional>
#include <vector>

#include <fmt/format.h>

#include <mezzo/training/checkpoints/checkpoint_sections.hpp>

namespace mezzo::detail {

void share_results(const ProcessGroup& group, const Callbacks& callbacks) {
  if (!group.shared()) return;
  std::vector<Callback*> sharing;
  CallbackNumbers numbers;
  CallbackTexts texts;
  for (const CallbackHandle& handle : callbacks) {
    const std::optional<CallbackState> results = handle.get().results();
    if (!results) continue;
    const std::string key = fmt::to_string(sharing.size());
    numbers[key] = results->numbers;
    texts[key] = results->texts;
    sharing.push_back(&handle.get());
  }
  numbers = callback_numbers_from(group.text_of_writer([&] { return text_of(numbers); }));
  texts = callback_texts_from(group.text_of_writer([&] { return text_of(texts); }));
  if (group.writes()) return;
  for (std::size_t i = 0; i < sharing.size(); ++i) {
    const std::string key = fmt::to_string(i);
    if (texts.count(key) == 1) sharing[i]->take_results({.numbers = numbers[key], .tensors = {}, .texts = texts[key]});
  }
}

}  // namespace mezzo::detail
