#include "cases.hpp"

#include <algorithm>
#include <map>

namespace mezzo_bandwidth {
namespace {

using mezzo::Attributes;
using mezzo::DType;
using mezzo::Shape;
using mezzo::Spec;
using Index = std::int64_t;

struct Row {
  std::string name, inputs;
};

#define MEZZO_ALIAS_OP(...)
#define MEZZO_UNARY_OP(name, flags, inputs, ...) {#name, inputs},
#define MEZZO_OP(name, flags, inputs, ...) {#name, inputs},
const Row elementwise_ops[] = {
#include <mezzo/ops/rows/elementwise.def>
};
const Row array_ops[] = {
#include <mezzo/ops/rows/arrays.def>
};
#undef MEZZO_OP
#undef MEZZO_UNARY_OP
#undef MEZZO_ALIAS_OP

/// Ops that move nothing, or that are many ops.
const std::set<std::string> left_out{"elementwise_chain", "identity", "reshape", "stop_gradient"};

/// Sizes of operands: `bytes` bytes as rows of 4096 elements, or a single shorter row.
struct Sizes {
  Index bytes;
  DType dtype;

  Index elements(DType of) const { return std::max<Index>(bytes / static_cast<Index>(mezzo::dtype_size(of)), 64); }
  Index columns() const { return std::min<Index>(4096, elements(dtype) / 8); }
  Index rows(DType of) const { return elements(of) / columns(); }
  Shape matrix(DType of) const { return {rows(of), columns()}; }
  Shape matrix() const { return matrix(dtype); }
};

/// Attributes of elementwise ops that need some.
Attributes attributes_of(const std::string& op) {
  static const std::map<std::string, Attributes> all{
      {"dropout", {{"rate", 0.5}, {"key", Index{1}}}},
      {"gelu", {{"approximate", false}}},
      {"gelu_gradient", {{"approximate", false}}},
      {"log_softmax", {{"axis", Index{1}}}},
      {"nan_to_num", {{"nan", 0.0}}},
      {"sparsemax", {{"axis", Index{1}}}},
  };
  const auto found = all.find(op);
  return found == all.end() ? Attributes{} : found->second;
}

Operand numbers(const Shape& shape, DType dtype, double low = 0.1, double high = 0.9) {
  Operand operand;
  operand.spec.shape = shape;
  operand.spec.dtype = dtype;
  operand.low = low;
  operand.high = high;
  return operand;
}

Operand indices(const Shape& shape, Index size) { return numbers(shape, DType::int32, 0, static_cast<double>(size)); }

Operand matrix(const Sizes& s) { return numbers(s.matrix(), s.dtype); }

std::string trimmed(std::string text) {
  const auto first = text.find_first_not_of(' ');
  return first == std::string::npos ? "" : text.substr(first);
}

using Cases = std::vector<Case>;

/// The operands in the text of a row: "condition: bool; a, b: any one dtype; broadcast".
std::vector<Operand> operands_of(const Row& row, const Sizes& sizes) {
  std::vector<Operand> out;
  for (std::size_t begin = 0; begin < row.inputs.size();) {
    const std::size_t end = std::min(row.inputs.find(';', begin), row.inputs.size());
    const std::string piece = row.inputs.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t colon = piece.find(':');
    if (colon == std::string::npos) continue;
    const auto names = std::count(piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(colon), ',') + 1;
    const std::string type = trimmed(piece.substr(colon + 1));
    const bool is_bool = type.rfind("bool", 0) == 0, integers = type.find("integer") != std::string::npos;
    for (std::ptrdiff_t i = 0; i < names; ++i) {
      Operand operand = matrix(sizes);
      if (type.find("()") != std::string::npos) {
        operand = numbers({}, DType::float64);
      } else if (type[0] != 'T' && integers) {
        operand = numbers(sizes.matrix(DType::int32), DType::int32, 1, 30);
      } else if (is_bool) {
        operand = numbers(sizes.matrix(), DType::boolean, 0, 2);
      }
      if (row.name == "arccosh") operand.low = 1.5, operand.high = 3;
      out.push_back(operand);
    }
  }
  return out;
}

using Cases = std::vector<Case>;

template <class... Operands>
void add(Cases& out, const std::string& op, const std::string& note, const Sizes& s, const Attributes& attributes,
         const Operands&... operands) {
  Case one;
  one.op = op;
  one.note = note;
  one.dtype = s.dtype;
  one.attributes = attributes;
  (one.operands.push_back(operands), ...);
  out.push_back(one);
}

void add_reductions(Cases& out, const std::string& op, const Sizes& s) {
  const bool truth = op == "any" || op == "all", product = op == "prod";
  const DType dtype = truth ? DType::boolean : s.dtype;
  const double low = truth ? 0 : product ? 0.99 : 0.1, high = truth ? 2 : product ? 1.01 : 0.9;
  const auto one = [&](const char* note, const Shape& shape, const Shape& axes) {
    Attributes attributes{{"axes", axes}, {"keepdims", false}};
    if (op == "sum" || op == "mean") attributes.set("dtype", dtype);
    add(out, op, note, s, attributes, numbers(shape, dtype, low, high));
    out.back().dtype = dtype;
  };
  one("last axis", s.matrix(dtype), {1});
  one("first axis", s.matrix(dtype), {0});
  one("all axes", s.matrix(dtype), {0, 1});
  one("middle axis", {s.rows(dtype) / 8, 8, s.columns()}, {1});
}

const char* name_of(Index axis) { return axis == 1 ? "last axis" : "first axis"; }

void add_transposes(Cases& out, const Sizes& s) {
  const Index rows = s.rows(s.dtype), columns = s.columns();
  const auto one = [&](const char* note, const Shape& shape, const Shape& permutation) {
    add(out, "transpose", note, s, {{"permutation", permutation}}, numbers(shape, s.dtype));
  };
  one("of a matrix", {rows, columns}, {1, 0});
  one("(0, 2, 1, 3), 64 last", {rows / 4, 4, columns / 64, 64}, {0, 2, 1, 3});
  one("3 channels first", {8, rows * columns / 24, 3}, {0, 2, 1});
  one("3 channels last", {8, 3, rows * columns / 24}, {0, 2, 1});
}

/// Adds the cases of an op on arrays. Returns false if there are none.
bool add_array_cases(Cases& out, const std::string& op, const Sizes& s) {
  static const std::set<std::string> reductions{"all", "any", "max", "mean", "min", "prod", "sum"};
  static const std::set<std::string> along_one{"argmax", "argmin", "argsort"}, scans{"cumprod", "cumsum"};
  const Index rows = s.rows(s.dtype), columns = s.columns(), last = 1, first = 0;
  const Attributes table{{"shape", s.matrix()}, {"dtype", s.dtype}};
  if (reductions.count(op) > 0) {
    add_reductions(out, op, s);
  } else if (along_one.count(op) > 0) {
    for (const Index axis : {last, first}) add(out, op, name_of(axis), s, {{"axis", axis}}, matrix(s));
  } else if (scans.count(op) > 0) {
    for (const Index axis : {last, first}) {
      add(out, op, name_of(axis), s, {{"axis", axis}, {"reverse", false}, {"exclusive", false}}, matrix(s));
    }
  } else if (op == "concat" || op == "cumprod_gradient") {
    for (const Index axis : {last, first}) add(out, op, name_of(axis), s, {{"axis", axis}}, matrix(s), matrix(s));
  } else if (op == "broadcast_to") {
    add(out, op, "first axis", s, {{"shape", s.matrix()}}, numbers({columns}, s.dtype));
    add(out, op, "last axis", s, {{"shape", s.matrix()}}, numbers({rows, 1}, s.dtype));
  } else if (op == "flip") {
    for (const Index axis : {last, first}) add(out, op, name_of(axis), s, {{"axes", Shape{axis}}}, matrix(s));
  } else if (op == "gather") {
    add(out, op, "", s, {}, matrix(s), indices({rows}, rows));
  } else if (op == "gather_gradient" || op == "gather_gradient_rows") {
    add(out, op, "", s, table, indices({rows}, rows), matrix(s));
  } else if (op == "add_gather_gradient") {
    add(out, op, "", s, {}, matrix(s), indices({rows}, rows), matrix(s));
  } else if (op == "in_top_k") {
    add(out, op, "", s, {{"k", Index{5}}}, indices({rows}, columns), matrix(s));
  } else if (op == "pad") {
    add(out, op, "", s, {{"before", Shape{1, 1}}, {"after", Shape{1, 1}}}, matrix(s));
  } else if (op == "scatter_add") {
    add(out, op, "first axis", s, {{"axis", first}, {"size", rows}, {"negative", false}, {"dtype", s.dtype}},
        indices({rows}, rows), matrix(s));
  } else if (op == "scatter_add_along_axis") {
    add(out, op, "last axis", s, {{"axis", last}, {"size", columns}, {"dtype", s.dtype}}, indices(s.matrix(), columns),
        matrix(s));
  } else if (op == "scatter_update") {
    add(out, op, "", s, {}, matrix(s), indices({rows / 2}, rows), numbers({rows / 2, columns}, s.dtype));
  } else if (op == "searchsorted") {
    Operand sequence = numbers({columns}, s.dtype);
    sequence.ascending = true;
    add(out, op, "", s, {{"right", false}}, sequence, matrix(s));
  } else if (op == "segment_max") {
    add(out, op, "", s, {{"size", rows}}, matrix(s), indices({rows}, rows));
  } else if (op == "slice") {
    add(out, op, "", s, {{"starts", Shape{1, 1}}, {"sizes", Shape{rows - 2, columns - 2}}}, matrix(s));
  } else if (op == "split") {
    add(out, op, "last axis", s, {{"axis", last}, {"sizes", Shape{columns / 2, columns / 2}}}, matrix(s));
  } else if (op == "take") {
    for (const Index axis : {last, first}) {
      const Index size = axis == last ? columns : rows;
      add(out, op, name_of(axis), s, {{"axis", axis}, {"negative", false}}, matrix(s), indices({size}, size));
    }
  } else if (op == "take_along_axis") {
    add(out, op, "last axis", s, {{"axis", last}}, matrix(s), indices(s.matrix(), columns));
  } else if (op == "top_k") {
    add(out, op, "", s, {{"k", Index{5}}}, matrix(s));
  } else if (op == "transpose") {
    add_transposes(out, s);
  } else {
    return false;
  }
  return true;
}

}  // namespace

std::vector<Case> all_cases(std::int64_t bytes, std::set<std::string>& missing) {
  Cases cases;
  for (const DType dtype : {DType::float32, DType::bfloat16}) {
    const Sizes sizes{bytes, dtype};
    for (const Row& row : elementwise_ops) {
      if (left_out.count(row.name) > 0) continue;
      Case one;
      one.op = row.name;
      one.dtype = dtype;
      one.attributes = attributes_of(row.name);
      one.operands = operands_of(row, sizes);
      if (row.name == "cast") {
        one.attributes = {{"dtype", dtype == DType::float32 ? DType::bfloat16 : DType::float32}};
      }
      const bool varied = std::any_of(one.operands.begin(), one.operands.end(),
                                      [&](const Operand& operand) { return operand.spec.dtype == dtype; });
      if (varied || dtype == DType::float32) cases.push_back(one);
      if (!varied && dtype == DType::float32) cases.back().dtype = one.operands.at(0).spec.dtype;
      if (one.attributes.has("approximate")) {
        one.note = "approximate";
        one.attributes.set("approximate", true);
        cases.push_back(one);
      }
    }
    for (const Row& row : array_ops) {
      if (left_out.count(row.name) > 0) continue;
      const bool truth = row.name == "any" || row.name == "all";
      if (truth && dtype != DType::float32) continue;
      if (!add_array_cases(cases, row.name, sizes)) missing.insert(row.name);
    }
  }
  return cases;
}

}  // namespace mezzo_bandwidth
