#include <mezzo/layers/core/einsum_update.hpp>

#include <mezzo/core/fail.hpp>
#include <mezzo/nn/adapters.hpp>
#include <mezzo/ops/ops.hpp>

namespace mezzo::detail {
namespace {

bool holds_letter(const std::string& letters, char letter) { return letters.find(letter) != std::string::npos; }

std::string replaced(std::string letters, char from, char to) {
  letters[letters.find(from)] = to;
  return letters;
}

/// A letter that no part of the equation has.
char free_letter(const EinsumLetters& letters) {
  const std::string used = letters.input + letters.kernel + letters.output;
  for (const char letter : std::string("rstuvwxyzabcdefghijklmnopqRSTUVWXYZABCDEFGHIJKLMNOPQ")) {
    if (!holds_letter(used, letter)) return letter;
  }
  fail<ValueError>("[EinsumDense]", "the equation must leave a letter for the rank of adapters; got all 52");
}

}  // namespace

EinsumUpdate::EinsumUpdate(const EinsumLetters& letters) {
  const char last = letters.kernel.back(), rank = free_letter(letters);
  const auto dotted = [&](const std::string& part) {
    return (letters.dots_first ? "..." : "") + part + (letters.dots_last ? "..." : "");
  };
  const std::string a = letters.kernel.substr(0, letters.kernel.size() - 1) + rank, b = {rank, last};
  const std::string input = dotted(letters.input), output = dotted(letters.output);
  joined_ = holds_letter(letters.input, last) && holds_letter(letters.output, last);
  b_first_ = !joined_ && holds_letter(letters.input, last);
  if (joined_) {
    first_ = fmt::format("{},{}->{}", a, b, letters.kernel);
    second_ = fmt::format("{},{}->{}", input, letters.kernel, output);
    return;
  }
  const std::string between = dotted(replaced(b_first_ ? letters.input : letters.output, last, rank));
  first_ = fmt::format("{},{}->{}", input, b_first_ ? b : a, between);
  second_ = fmt::format("{},{}->{}", between, b_first_ ? a : b, output);
}

Value EinsumUpdate::product(const Value& x, const Adapter& adapter) const {
  const Value dropped = adapter_input(x, adapter), a = Variable(adapter.a), b = Variable(adapter.b);
  if (joined_) return einsum(second_, {dropped, einsum(first_, {a, b}) * adapter.scale()});
  return einsum(second_, {einsum(first_, {dropped, b_first_ ? b : a}) * adapter.scale(), b_first_ ? a : b});
}

}  // namespace mezzo::detail
