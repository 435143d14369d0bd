#include <mezzo/nn/weight_matching.hpp>

#include <algorithm>
#include <set>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/quantization.hpp>

namespace mezzo::detail {
namespace {

class WeightMatcher {
 public:
  explicit WeightMatcher(const WeightSource& file) : file_(file) {}

  WeightMatching match(const FileWeights& expected) {
    std::set<std::string> known(expected.skipped.begin(), expected.skipped.end());
    for (const FileWeight& weight : expected.weights) note_computed(weight);
    for (const FileWeight& weight : expected.weights) note_scales_of_float8(weight, expected);
    for (const FileWeight& weight : expected.weights) {
      if (computed_.count(weight.variable.id()) > 0) continue;
      known.insert(weight.names.begin(), weight.names.end());
      known.insert(weight.parts.begin(), weight.parts.end());
      if (weight.needs_no_range()) {
        for (const std::string& name : weight.names) known.insert(name + FileWeight::range_suffix);
      }
      match(weight);
    }
    for (const FileWeight& weight : expected.weights) keep_whole(weight, expected);
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
  const TensorEntry* find(const FileWeight& weight) const {
    const auto found = std::find_if(weight.names.begin(), weight.names.end(),
                                    [&](const std::string& name) { return file_.find(name) != nullptr; });
    return found == weight.names.end() ? nullptr : file_.find(*found);
  }

  /// True for floats that are quantized when they are assigned.
  static bool is_quantized_by(const TensorEntry& entry, const FileWeight& weight) {
    return weight.variable.quantized() && entry.dtype && is_floating(*entry.dtype);
  }

  /// Notes the scales and zero points that assigning floats computes.
  void note_computed(const FileWeight& weight) {
    const TensorEntry* const entry = find(weight);
    if (entry == nullptr || !is_quantized_by(*entry, weight)) return;
    const Quantization& form = *weight.variable.state()->quantization;
    for (const auto& side : {form.scale, form.zero}) {
      if (side.get() != nullptr) computed_.insert(Variable(side).id());
    }
  }

  /// Notes the scales and histories of a kernel with products in float8 if the file has none of them, as a file of
  /// floats: they stay as they are.
  void note_scales_of_float8(const FileWeight& weight, const FileWeights& expected) {
    const auto& fake = weight.variable.state()->fake;
    if (!fake || !fake->float8) return;
    std::set<const void*> sides;
    for (const DelayedScale& one : {fake->float8->inputs, fake->float8->kernel, fake->float8->outputs_grad}) {
      sides.insert(Variable(one.scale).id());
      sides.insert(Variable(one.amax_history).id());
    }
    const bool any = std::any_of(expected.weights.begin(), expected.weights.end(), [&](const FileWeight& side) {
      return sides.count(side.variable.id()) > 0 && find(side) != nullptr;
    });
    if (!any) computed_.insert(sides.begin(), sides.end());
  }

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
    if (const TensorEntry* const found = find(weight)) {
      const bool floats = is_quantized_by(*found, weight);
      const DType dtype = floats ? DType::float32 : weight.variable.dtype();
      if (fits(*found, dtype, floats ? weight.float_shape() : weight.shape())) {
        out_.matches.push_back({.weight = &weight, .name = found->name, .second = {}});
      }
    } else if (weight.parts.empty()) {
      miss(weight.name());
    } else {
      match_parts(weight);
    }
  }

  /// Text of a form of codes in the file that isn't the weight's; "" if there is none. Forms can have equal shapes.
  std::string form_fault(const FileWeight& weight, const FileWeights& expected) const {
    const Quantization& form = *weight.variable.state()->quantization;
    const std::string* const written = file_.fact(weight.form_key());
    if (written != nullptr && *written != weight.form_text()) {
      return fmt::format("tensor \"{}\" must have codes of the form {}; the file has {}", weight.name(),
                         weight.form_text(), *written);
    }
    if (form.zero.get() != nullptr) return {};
    for (const FileWeight& side : expected.weights) {
      if (side.variable.id() != form.scale.get()) continue;
      for (const std::string& name : side.names) {
        const std::string zero = FileWeight::zero_beside(name);
        if (zero.empty() || file_.find(zero) == nullptr) continue;
        return fmt::format("tensor \"{}\" must have codes without zero points; the file has \"{}\"", weight.name(),
                           zero);
      }
    }
    return {};
  }

  /// Leaves out the codes, scales and zero points of a quantized weight unless all of them are loaded in its form.
  void keep_whole(const FileWeight& weight, const FileWeights& expected) {
    const auto& form = weight.variable.state()->quantization;
    if (!form || computed_.count(form->scale.get()) > 0) return;
    std::set<const void*> parts{weight.variable.id(), form->scale.get()};
    if (form->zero.get() != nullptr) parts.insert(form->zero.get());
    const auto is_part = [&](const WeightMatch& one) { return parts.count(one.weight->variable.id()) > 0; };
    auto& all = out_.matches;
    const auto found = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_part));
    if (found == 0) return;
    const std::string fault = form_fault(weight, expected);
    if (fault.empty() && found == parts.size()) return;
    (found == parts.size() ? out_.shapes : out_.parts).add(fault);
    for (const WeightMatch& one : all) {
      if (!is_part(one)) continue;
      out_.report.mismatched_keys.push_back(one.name);
      if (fault.empty()) out_.parts.add(fmt::format("tensor \"{}\" without the others of its weight", one.name));
    }
    all.erase(std::remove_if(all.begin(), all.end(), is_part), all.end());
  }

  void match_parts(const FileWeight& weight) {
    bool good = true;
    for (const std::string& part : weight.parts) {
      const TensorEntry* entry = file_.find(part);
      if (entry == nullptr) miss(part);
      good = entry != nullptr && fits(*entry, weight.variable.dtype(), weight.part_shape()) && good;
    }
    if (good) out_.matches.push_back({.weight = &weight, .name = weight.parts[0], .second = weight.parts[1]});
  }

  void miss(const std::string& name) {
    out_.misfits.add(fmt::format("missing tensor \"{}\"", name));
    out_.report.missing_keys.push_back(name);
  }

  bool fits(const TensorEntry& entry, DType dtype, const Shape& shape) {
    const std::string wrong_dtype = dtype_fault(entry, dtype);
    const std::string wrong_shape = wrong_dtype.empty() ? shape_fault(entry, shape) : "";
    out_.misfits.add(wrong_dtype);
    out_.dtypes.add(wrong_dtype);
    out_.shapes.add(wrong_shape);
    if (wrong_dtype.empty() && wrong_shape.empty()) return true;
    out_.report.mismatched_keys.push_back(entry.name);
    return false;
  }

  const WeightSource& file_;
  std::set<const void*> computed_;  // variables that get their numbers with another one, or keep them
  WeightMatching out_;
};

}  // namespace

WeightMatching match_weights(const WeightSource& file, const FileWeights& expected) {
  return WeightMatcher(file).match(expected);
}

}  // namespace mezzo::detail
