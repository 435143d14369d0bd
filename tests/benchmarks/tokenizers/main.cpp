// mezzo_tokenizers FILE TEXTS [--seconds S]: megabytes of text per second that a tokenizer.json encodes on
// one thread. TEXTS has a text per line. compare.py compares them with Hugging Face's.
#include <chrono>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include <mezzo/data/text/tokenizer.hpp>

int main(int count, char** arguments) {
  double seconds = 2;
  for (int i = 3; i + 1 < count; i += 2) {
    if (std::string(arguments[i]) == "--seconds") seconds = std::stod(arguments[i + 1]);
  }
  if (count < 3) {
    std::cerr << "usage: mezzo_tokenizers FILE TEXTS [--seconds S]\n";
    return 2;
  }
  const mezzo::Tokenizer tokenizer = mezzo::Tokenizer::from_file(arguments[1]);
  std::vector<std::string> texts;
  std::ifstream file(arguments[2]);
  for (std::string line; std::getline(file, line);) texts.push_back(line);
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  double passed = 0;
  std::size_t bytes = 0;
  std::size_t tokens = 0;
  while (passed < seconds && !texts.empty()) {
    for (const std::string& text : texts) {
      tokens += tokenizer.encode(text).ids.size();
      bytes += text.size();
    }
    passed = std::chrono::duration<double>(Clock::now() - begin).count() + 1e-9;
  }
  std::cout << fmt::format("{{\"MB_per_s\": {:.2f}, \"tokens\": {}}}\n", static_cast<double>(bytes) / passed / 1e6,
                           tokens);
  return 0;
}
