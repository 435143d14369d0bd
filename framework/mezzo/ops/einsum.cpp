#include <algorithm>
#include <map>
#include <string>

#include <mezzo/core/fail.hpp>
#include <mezzo/ops/arrangement.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/op_set.hpp>
#include <mezzo/ops/open_sizes.hpp>
#include <mezzo/ops/products.hpp>
#include <mezzo/ops/reductions.hpp>
#include <mezzo/ops/shape.hpp>

namespace mezzo {
namespace {

using Labels = std::vector<int>;  // letters, and negative numbers for the axes of an ellipsis

bool holds(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

/// An operand, or a product of operands, with a label for each axis.
struct Term {
  Value x;
  Labels labels;

  std::size_t axis(int label) const {
    return static_cast<std::size_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  }
  std::int64_t size(int label) const { return x.shape()[axis(label)].or_unknown(); }
};

/// Product of sizes; -1 if one is not known.
std::int64_t count(const Term& term, const Labels& labels) {
  std::int64_t out = 1;
  for (const int label : labels) {
    if (term.size(label) < 0) return -1;
    out *= term.size(label);
  }
  return out;
}

Value reshaped(const Value& x, const Shape& to) { return x.shape() == to ? x : reshape(x, to); }

Term ordered(const Term& term, const Labels& labels) {
  Shape permutation;
  bool same = true;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    permutation.push_back(static_cast<std::int64_t>(term.axis(labels[i])));
    same = same && permutation.back() == static_cast<std::int64_t>(i);
  }
  return {same ? term.x : transpose(term.x, permutation), labels};
}

/// Sums over the labels that are not in `kept`.
Term summed(const Term& term, const Labels& kept) {
  Shape axes;
  Labels rest;
  for (const int label : term.labels) {
    if (holds(kept, label)) rest.push_back(label);
    if (!holds(kept, label)) axes.push_back(static_cast<std::int64_t>(term.axis(label)));
  }
  if (axes.empty()) return term;
  const DType dtype = detail::operand_dtype(ops::sum, term.x);  // not int64, as sum's
  return {is_floating(dtype) ? sum(term.x, {axes}) : cast(sum(term.x, {axes}), term.x.dtype()), rest};
}

/// x with one axis for each label; labels that it lacks have size 1.
Value aligned(const Term& term, const Labels& labels) {
  Labels own;
  Shape shape;
  for (const int label : labels) {
    const bool has = holds(term.labels, label);
    if (has) own.push_back(label);
    shape.push_back(has ? term.size(label) : 1);
  }
  return reshaped(ordered(term, own).x, shape);
}

/// The product of two terms, summed over the labels that are not in `kept`.
Term product(Term a, Term b, const Labels& kept) {
  // Axes of size 1 that broadcast: left out where the other operand has the axis.
  for (auto* pair : {&a, &b}) {
    const Term& other = pair == &a ? b : a;
    Labels rest;
    Shape shape;
    for (const int label : pair->labels) {
      const bool stretched = pair->size(label) == 1 && holds(other.labels, label) && other.size(label) != 1;
      if (!stretched) rest.push_back(label);
      if (!stretched) shape.push_back(pair->size(label));
    }
    *pair = {reshaped(pair->x, shape), rest};
  }
  // Labels of one operand alone are summed before the product.
  Labels of_a = kept, of_b = kept;
  of_a.insert(of_a.end(), b.labels.begin(), b.labels.end());
  of_b.insert(of_b.end(), a.labels.begin(), a.labels.end());
  a = summed(a, of_a);
  b = summed(b, of_b);
  Labels batch, contracted, rows, columns;
  for (const int label : a.labels) {
    if (!holds(b.labels, label)) {
      rows.push_back(label);
    } else {
      (holds(kept, label) ? batch : contracted).push_back(label);
    }
  }
  for (const int label : b.labels) {
    if (!holds(a.labels, label)) columns.push_back(label);
  }
  Labels out = batch;
  out.insert(out.end(), rows.begin(), rows.end());
  out.insert(out.end(), columns.begin(), columns.end());
  if (contracted.empty()) return {aligned(a, out) * aligned(b, out), out};
  const auto joined = [](Labels first, const Labels& second, const Labels& third) {
    first.insert(first.end(), second.begin(), second.end());
    first.insert(first.end(), third.begin(), third.end());
    return first;
  };
  const Term left = ordered(a, joined(batch, rows, contracted)), right = ordered(b, joined(batch, contracted, columns));
  Shape of_left{count(a, batch), count(a, rows), count(a, contracted)};
  Shape of_right{count(b, batch), count(b, contracted), count(b, columns)};
  if (batch.empty()) {
    of_left.erase(of_left.begin());
    of_right.erase(of_right.begin());
  }
  Shape shape;
  for (const int label : out) shape.push_back(holds(a.labels, label) ? a.size(label) : b.size(label));
  return {reshaped(matmul(reshaped(left.x, of_left), reshaped(right.x, of_right)), shape), out};
}

/// The notation of one call.
class Notation {
 public:
  Notation(const std::string& text, const Values& operands) : where_(detail::current_label("einsum")), text_(text) {
    std::string all;
    std::copy_if(text.begin(), text.end(), std::back_inserter(all), [](char letter) { return letter != ' '; });
    const std::size_t arrow = all.find("->");
    std::string inputs = all.substr(0, arrow);
    std::vector<std::string> parts{""};
    for (const char letter : inputs) {
      if (letter == ',') {
        parts.emplace_back();
      } else {
        parts.back() += letter;
      }
    }
    if (parts.size() != operands.size()) refuse(fmt::format("it has {} operands", parts.size()), operands.size());
    for (std::size_t i = 0; i < parts.size(); ++i) terms.push_back(term(parts[i], operands[i]));
    for (int i = -ellipsis_; i < 0; ++i) output.push_back(i);
    if (arrow == std::string::npos) {
      for (const auto& [label, uses] : uses_) {
        if (label > 0 && uses == 1) output.push_back(label);
      }
      return;
    }
    const Labels dots = output;
    output = labels(all.substr(arrow + 2), dots);
    for (const int label : output) {
      if (label > 0 && uses_.count(label) == 0) refuse(fmt::format("no operand has '{}'", static_cast<char>(label)));
      if (std::count(output.begin(), output.end(), label) > 1) refuse("the result repeats a letter");
    }
  }

  std::vector<Term> terms;
  Labels output;

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    fail<ValueError>(where_, "invalid subscripts \"{}\": {}", text_, why);
  }
  [[noreturn]] void refuse(const std::string& why, std::size_t given) const {
    fail<ValueError>(where_, "invalid subscripts \"{}\": {}; got {}", text_, why, given);
  }

  /// The labels of a part; `dots` in place of an ellipsis.
  Labels labels(const std::string& part, const Labels& dots) const {
    Labels out;
    bool seen = false;
    for (std::size_t i = 0; i < part.size(); ++i) {
      const char letter = part[i];
      if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')) {
        out.push_back(letter);
      } else if (part.compare(i, 3, "...") == 0 && !seen) {
        out.insert(out.end(), dots.begin(), dots.end());
        seen = true;
        i += 2;
      } else {
        refuse(fmt::format("'{}' is neither a letter nor part of one \"...\"", letter));
      }
    }
    return out;
  }

  Term term(const std::string& part, const Value& x) {
    const auto rank = static_cast<std::int64_t>(x.shape().size());
    const auto letters = static_cast<std::int64_t>(labels(part, {}).size());
    const bool open = part.find("...") != std::string::npos;
    if (open ? letters > rank : letters != rank) {
      refuse(fmt::format("\"{}\" has {} letters for an operand of shape {}", part, letters, to_string(x.shape())));
    }
    const int dots = static_cast<int>(rank - letters);
    ellipsis_ = std::max(ellipsis_, dots);
    Labels of_dots;
    for (int i = -dots; i < 0; ++i) of_dots.push_back(i);
    Term out{x, labels(part, of_dots)};
    for (std::size_t i = 0; i < out.labels.size(); ++i) {
      const int label = out.labels[i];
      const std::int64_t size = x.shape()[i].or_unknown();
      ++uses_[label];
      const auto known = sizes_.emplace(label, size).first;
      if (known->second == 1) known->second = size;
      if (size != known->second && size != 1) {
        const std::string axis = label > 0 ? fmt::format("'{}'", static_cast<char>(label)) : "...";
        fail<ShapeError>(where_, "axes {} of \"{}\" must have one size; got {} and {}", axis, text_, known->second,
                         size);
      }
    }
    return diagonals(std::move(out));
  }

  /// Takes the diagonal of axes with equal labels.
  static Term diagonals(Term term) {
    for (std::size_t i = 0; i < term.labels.size(); ++i) {
      const int label = term.labels[i];
      const auto again = std::find(term.labels.begin() + static_cast<std::ptrdiff_t>(i) + 1, term.labels.end(), label);
      if (again == term.labels.end()) continue;
      const auto second = again - term.labels.begin();
      term.x = diagonal(term.x, 0, static_cast<std::int64_t>(i), second);
      term.labels.erase(again);
      term.labels.erase(term.labels.begin() + static_cast<std::ptrdiff_t>(i));
      term.labels.push_back(label);
      return diagonals(std::move(term));
    }
    return term;
  }

  std::string where_, text_;
  int ellipsis_ = 0;
  std::map<int, int> uses_;
  std::map<int, std::int64_t> sizes_;
};

}  // namespace

Value einsum(const std::string& subscripts, const Values& operands) {
  if (operands.empty()) fail<ValueError>(detail::current_label("einsum"), "takes at least one operand; got 0");
  if (std::any_of(operands.begin(), operands.end(), detail::has_open_size)) {
    return with_sizes([subscripts](const Values& xs) -> Values { return {einsum(subscripts, xs)}; }, operands).front();
  }
  DType dtype = operands[0].dtype();
  for (const Value& operand : operands) dtype = promote(dtype, operand.dtype());
  if (!is_floating(dtype) && operands.size() > 1) {  // matrix products are of floats
    Values wide;
    for (const Value& operand : operands) wide.push_back(cast(operand, DType::float64));
    return cast(einsum(subscripts, wide), dtype);
  }
  Notation notation(subscripts, operands);
  Term result = notation.terms[0];
  for (std::size_t i = 1; i < notation.terms.size(); ++i) {
    Labels kept = notation.output;
    for (std::size_t k = i + 1; k < notation.terms.size(); ++k) {
      const Labels& later = notation.terms[k].labels;
      kept.insert(kept.end(), later.begin(), later.end());
    }
    result = product(result, notation.terms[i], kept);
  }
  return ordered(summed(result, notation.output), notation.output).x;
}

}  // namespace mezzo
