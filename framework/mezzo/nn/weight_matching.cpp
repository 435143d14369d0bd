#include <mezzo/nn/weight_matching.hpp>

#include <algorithm>
#include <set>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

class WeightMatcher {
 public:
  explicit WeightMatcher(const WeightSource& file) : file_(file) {}

  WeightMatching match(const FileWeights& expected) {
    std::set<std::string> known(expected.skipped.begin(), expected.skipped.end());
    for (const FileWeight& weight : expected.weights) {
      known.insert(weight.names.begin(), weight.names.end());
      known.insert(weight.parts.begin(), weight.parts.end());
      match(weight);
    }
    for (const auto& [copy, original] : expected.copies) {
      known.insert(copy);
      compare(copy, original);
    }
    for (const auto& [name, number] : expected.facts) {
      const std::string* const found = file_.fact(name);
      if (found == nullptr || *found == fmt::to_string(number)) continue;
      out_.contradictions.add(fmt::format("{} must be {}; the file has {}", name, number, *found));
    }
    for (const TensorEntry& entry : file_.entries()) {
      if (known.count(entry.name) > 0) continue;
      out_.misfits.add(fmt::format("unexpected tensor \"{}\"", entry.name));
      out_.report.unexpected_keys.push_back(entry.name);
    }
    return std::move(out_);
  }

 private:
  /// Compares a tensor with the tensor that it must copy, if the file has both.
  void compare(const std::string& copy, const std::string& original) {
    const auto *first = file_.find(copy), *second = file_.find(original);
    if (first == nullptr || second == nullptr) return;
    if (first->dtype == second->dtype && file_.read(first->name).equal(file_.read(second->name))) return;
    out_.contradictions.add(
        fmt::format("tensor \"{}\" must be a copy of \"{}\", whose numbers the layer uses in its place; "
                    "it has other numbers",
                    first->name, second->name));
  }

  void match(const FileWeight& weight) {
    const auto found = std::find_if(weight.names.begin(), weight.names.end(),
                                    [&](const std::string& name) { return file_.find(name) != nullptr; });
    if (found != weight.names.end()) {
      if (fits(*file_.find(*found), weight, weight.shape())) {
        out_.matches.push_back({.weight = &weight, .name = *found, .second = {}});
      }
    } else if (weight.parts.empty()) {
      miss(weight.name());
    } else {
      match_parts(weight);
    }
  }

  void match_parts(const FileWeight& weight) {
    bool good = true;
    for (const std::string& part : weight.parts) {
      const TensorEntry* entry = file_.find(part);
      if (entry == nullptr) miss(part);
      good = entry != nullptr && fits(*entry, weight, weight.part_shape()) && good;
    }
    if (good) out_.matches.push_back({.weight = &weight, .name = weight.parts[0], .second = weight.parts[1]});
  }

  void miss(const std::string& name) {
    out_.misfits.add(fmt::format("missing tensor \"{}\"", name));
    out_.report.missing_keys.push_back(name);
  }

  bool fits(const TensorEntry& entry, const FileWeight& weight, const Shape& shape) {
    const std::string wrong_dtype = dtype_fault(entry, weight.variable.dtype());
    const std::string wrong_shape = wrong_dtype.empty() ? shape_fault(entry, shape) : "";
    out_.misfits.add(wrong_dtype);
    out_.dtypes.add(wrong_dtype);
    out_.shapes.add(wrong_shape);
    if (wrong_dtype.empty() && wrong_shape.empty()) return true;
    out_.report.mismatched_keys.push_back(entry.name);
    return false;
  }

  const WeightSource& file_;
  WeightMatching out_;
};

}  // namespace

WeightMatching match_weights(const WeightSource& file, const FileWeights& expected) {
  return WeightMatcher(file).match(expected);
}

}  // namespace mezzo::detail
