// Sorts raw support messages into urgent ones and others, from strings with markup on: see ticket_queues.py.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cctype>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "parity/programs/programs.hpp"

using namespace mezzo;
using namespace mezzo_tests;

namespace {

using Phrases = std::vector<std::string>;

// Texts, and 1 for those of urgent states.
std::pair<Strings, Tensor> support_messages(std::uint32_t stream, std::int64_t count) {
  const Phrases openings{"Hello,", "[b]Desk 4:[/b]", "[quote]Re: again[/quote]", "FW [ref=41]"};
  const Phrases devices{"the badge reader", "our [i]label printer[/i]", "The Cold Store", "one pump"};
  const Phrases places{"at gate B", "on floor 2", "in the lab [map=lab]", "near dock 7"};
  const std::vector<Phrases> states{
      {"needs new paper next week.", "works again, thanks", "gets a [i]new[/i] cover", "may move to the office"},
      {"smells of smoke!", "leaks on the [b]floor[/b]!!", "has locked people in", "lost all power again"}};
  const Tensor urgent = random_integers(stream, {count}, 2), picks = random_integers(stream + 1, {count, 4}, 4);
  Phrases texts;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto pick = [&](std::int64_t slot) { return static_cast<std::size_t>(picks(i, slot).item()); };
    const Phrases& ends = states[static_cast<std::size_t>(urgent(i).item())];
    texts.push_back(openings[pick(0)] + " " + devices[pick(1)] + " " + places[pick(2)] + " " + ends[pick(3)]);
  }
  return {texts, urgent};
}

// Lower case without tags in brackets, punctuation and digits.
std::string plain_words(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::regex_replace(text, std::regex(R"(\[[^\]]*\]|[^a-z ])"), " ");
}

// Takes strings only: learns its words, then the model of their numbers.
class SupportDesk {
 public:
  explicit SupportDesk(const Strings& texts)
      : numbers_of({.max_tokens = 36, .standardize = plain_words, .output_mode = "int", .output_sequence_length = 18}) {
    numbers_of.adapt(texts);
    model.add(Input({-1}, {.dtype = "int64"}));
    model.add(layers::Embedding(numbers_of.get_vocabulary().size(), 6));
    model.add(layers::Dropout(0.0));
    model.add(layers::Conv1D(8, 4, {.strides = 2, .padding = "valid", .activation = "relu"}));
    model.add(layers::Conv1D(8, 3, {.padding = "valid", .activation = "relu"}));
    model.add(layers::GlobalMaxPooling1D());
    model.add(layers::Dense(5, {.activation = "tanh"}));
    model.add(layers::Dense(1, {.activation = "sigmoid", .name = "urgency"}));
    model.compile({.optimizer = "adam", .loss = "binary_crossentropy", .metrics = {"accuracy"}});
  }

  History learn(const Strings& texts, const Tensor& urgent, const TextDataset& unseen) {
    return model.fit(
        numbers_of(texts), urgent,
        {.batch_size = 2, .epochs = 6, .verbose = 0, .validation_data = unseen.map(numbers_of), .shuffle = false});
  }

  Logs test(const TextDataset& data) { return model.evaluate(data.map(numbers_of), {.batch_size = 16}); }

  Tensor urgency(const Strings& texts) { return model.predict(numbers_of(texts))(all, 0); }

  TextVectorization numbers_of;
  Sequential model;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(ticket_queues)

BOOST_AUTO_TEST_CASE(words_and_losses_equal_keras) {
  nlohmann::json expected = program("ticket_queues");
  const auto [texts, urgent] = support_messages(200, 64);
  const auto [unseen_texts, unseen_urgent] = support_messages(210, 24);
  const auto [test_texts, test_urgent] = support_messages(220, 24);
  SupportDesk desk(texts);
  initialize(desk.model, expected["shapes"]);
  check_history(desk.learn(texts, urgent, TextDataset(unseen_texts, unseen_urgent)), expected["history"]);
  const Strings letters{"[b]SMOKE[/b] in the lab, people locked in!", "thanks, [i]my screen[/i] works again",
                        "Who has the paper of [ref=7]?"};
  BOOST_TEST(desk.numbers_of.get_vocabulary() == expected["vocabulary"].get<Phrases>());
  check_numbers("numbers", desk.numbers_of(letters).to_doubles(), expected["numbers"]);
  check_logs(desk.test(TextDataset(test_texts, test_urgent)), expected["test"]);
  check_numbers("urgency", desk.urgency(letters).to_doubles(), expected["urgency"]);
}

BOOST_AUTO_TEST_SUITE_END()
