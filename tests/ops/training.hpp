#pragma once

#include <cmath>
#include <cstring>
#include <limits>

#include "ops/plain.hpp"
#include "ops/updates.hpp"

// What a step does after its gradients: finite checks, clipping, updates.
namespace mezzo_tests {

inline mezzo::Tensor with_number(mezzo::Tensor x, double number) {
  x.mutable_data<double>()[x.size() / 2] = number;
  return x;
}

inline bool all_finite(const TensorList& tensors) {
  bool finite = true;
  for (const mezzo::Tensor& tensor : tensors) {
    for (const double x : tensor.to_doubles()) finite = finite && std::isfinite(x);
  }
  return finite;
}

inline OpRow all_finite_row(const std::string& note, const TensorList& arguments) {
  OpRow row{.op = "all_finite",
            .note = note,
            .call = inserted("all_finite"),
            .arguments = {},
            .outputs = {mezzo::DType::boolean},
            .plain =
                [](const TensorList& v) {
                  return TensorList{mezzo::Tensor::scalar(all_finite(v) ? 1 : 0, mezzo::DType::boolean)};
                },
            .internal = true};
  for (const mezzo::Tensor& argument : arguments) row.arguments.push_back({argument});
  return row;
}

inline OpRow multiplier_row(const std::string& note, double clipnorm, const TensorList& gradients) {
  const auto plain = [clipnorm](const TensorList& v) {
    const double scale = v[0].item();
    double squares = 0;
    for (std::size_t i = 1; i < v.size(); ++i) {
      for (const double g : v[i].to_doubles()) squares += g * g;
    }
    const double shrink = clipnorm > 0 ? std::min(1.0, clipnorm * scale / std::sqrt(squares)) : 1;
    return TensorList{float64_scalar(shrink / scale),
                      mezzo::Tensor::scalar(all_finite({v.begin() + 1, v.end()}) ? 1 : 0, mezzo::DType::boolean),
                      float64_scalar(clipnorm > 0 ? squares : 0)};
  };
  OpRow row{.op = "gradient_multiplier",
            .note = note,
            .call = inserted("gradient_multiplier", {{"clipnorm", clipnorm}}),
            .arguments = {{float64_scalar(8), mezzo::DType::float64}},
            .outputs = {mezzo::DType::float64, mezzo::DType::boolean, mezzo::DType::float64},
            .plain = plain,
            .depth = 50,
            .internal = true};
  for (const mezzo::Tensor& gradient : gradients) row.arguments.push_back({gradient});
  return row;
}

inline std::uint32_t bits_of(float x) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

inline OpRow split_master_row() {
  const auto plain = [](const TensorList& v) {
    TensorList out{v[0].cast(mezzo::DType::bfloat16), mezzo::Tensor(v[0].shape(), mezzo::DType::int16)};
    for (std::int64_t i = 0; i < v[0].size(); ++i) {  // none is halfway between two
      const auto high = static_cast<float>(out[0].data<mezzo::bfloat16>()[i]);
      const std::uint32_t low = bits_of(v[0].data<float>()[i]) - bits_of(high);
      out[1].mutable_data<std::int16_t>()[i] = static_cast<std::int16_t>(static_cast<std::int32_t>(low));
    }
    return out;
  };
  return {.op = "split_master",
          .call = inserted("split_master"),
          .arguments = {{uniform({37}, -2, 2, 1).cast(mezzo::DType::float32), mezzo::DType::float32}},
          .outputs = {mezzo::DType::bfloat16, mezzo::DType::int16},
          .plain = plain,
          .internal = true};
}

inline OpRow join_master_row(std::int64_t count) {
  const mezzo::Tensor whole = split_master_row().arguments[0].numbers.slice(0, count);
  const TensorList halves = split_master_row().plain({whole});
  return {.op = "join_master",
          .note = std::to_string(count) + " elements",
          .call = inserted("join_master"),
          .arguments = {{halves[0], mezzo::DType::bfloat16}, {halves[1], mezzo::DType::int16}},
          .outputs = {mezzo::DType::float32},
          .plain = [whole](const TensorList&) { return TensorList{whole}; },
          .internal = true};
}

inline std::vector<OpRow> training_rows() {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
  const mezzo::Tensor a = uniform({5, 7}, -2, 2, 1), b = uniform({15}, -2, 2, 2);
  std::vector<OpRow> rows{all_finite_row("of two", {a, b}),
                          all_finite_row("with an infinity", {a, with_number(b, infinity)}),
                          all_finite_row("with a NaN", {with_number(a, not_a_number), b}),
                          all_finite_row("of one number", {float64_scalar(-1)}),
                          all_finite_row("without elements", {mezzo::Tensor({0, 3}, mezzo::DType::float64)}),
                          multiplier_row("without clipping", 0, {a, b}),
                          multiplier_row("of an empty one", 0.5, {a, mezzo::Tensor({0}, mezzo::DType::float64)}),
                          multiplier_row("clipping", 0.5, {a, b}),
                          multiplier_row("clipping longer ones only", 1000, {a, b}),
                          multiplier_row("with an infinity", 0, {with_number(a, -infinity), b}),
                          multiplier_row("with a NaN", 0, {a, with_number(b, not_a_number)})};
  for (const Role variable : {Role::varied(), Role::accumulated()}) {
    const std::string suffix = variable.is_varied() ? "" : " of a wide variable";
    rows.push_back(sgd_row({"plain" + suffix}, variable));
    rows.push_back(sgd_row({"decaying, clipping" + suffix, 0.1, 0.05}, variable));
    rows.push_back(sgd_row({"with momentum" + suffix, 0, 0, 0.9}, variable));
    rows.push_back(sgd_row({"of Nesterov" + suffix, 0.1, 0, 0.9, true}, variable));
    rows.push_back(adam_row({"plain" + suffix}, variable));
    rows.push_back(adam_row({"decaying, clipping" + suffix, 0.1, 0.05}, variable));
  }
  for (const Role variable : {Role::varied(), Role::accumulated()}) {
    const std::string note = variable.is_varied() ? "by places" : "by places of a wide variable";
    rows.push_back(sgd_row({note, 0.1, 0.05, 0, false, {}, true}, variable));
    rows.push_back(sgd_row({note + ", with momentum", 0, 0, 0.9, true, {}, true}, variable));
    rows.push_back(adam_row({note, 0.1, 0.05, 0, false, {}, true}, variable));
  }
  rows.push_back(
      adam_row({"by places, writing a copy", 0, 0, 0, false, mezzo::DType::bfloat16, true}, Role::accumulated()));
  for (const mezzo::DType copy : {mezzo::DType::bfloat16, mezzo::DType::float16}) {
    const std::string note = std::string("writing a copy in ") + dtype_name(copy);
    rows.push_back(sgd_row({note, 0, 0, 0, false, copy}, Role::accumulated()));
    rows.push_back(sgd_row({note + ", with momentum", 0, 0, 0.9, false, copy}, Role::accumulated()));
    rows.push_back(adam_row({note, 0, 0, 0, false, copy}, Role::accumulated()));
  }
  for (const Role variable : {Role::varied(), Role::accumulated()}) {
    const std::string suffix = variable.is_varied() ? "" : " of a wide variable";
    rows.push_back(adagrad_row({"adagrad" + suffix}, variable));
    rows.push_back(adagrad_row({"adagrad, decaying, clipping" + suffix, 0.1, 0.05}, variable));
    rows.push_back(adagrad_row({"adagrad by places" + suffix, 0.1, 0.05, 0, false, {}, true}, variable));
    rows.push_back(lars_row(variable));
    rows.push_back(adafactor_row("of a matrix" + suffix, {5, 7}, variable));
    rows.push_back(adafactor_row("of a vector" + suffix, {37}, variable));
  }
  rows.push_back(adagrad_row({"adagrad writing a copy", 0, 0, 0, false, mezzo::DType::bfloat16}, Role::accumulated()));
  rows.push_back(adafactor_row("without elements", {0}, Role::varied()));
  for (const OpRow& row : std::vector<OpRow>(rows)) {
    const bool update = row.op == "sgd_update" || row.op == "adam_update" || row.op == "optimizer_update";
    if (update && row.note.find("by places") == std::string::npos) rows.push_back(without_elements(row));
  }
  rows.push_back(split_master_row());
  rows.push_back(without_elements(rows.back()));
  for (const std::int64_t count : {37, 0}) rows.push_back(join_master_row(count));
  return rows;
}

inline std::vector<Refusal> training_refusals() {
  using mezzo::DType;
  using mezzo::ShapeError;
  using mezzo::Tensor;
  const auto number = [] { return mezzo::Value(float64_scalar(1)); };
  const auto compact = [number](const Tensor& gradient, const Tensor& places) {
    return [=] {
      inserted("sgd_update",
               {{"momentum", 0.0}, {"compact", true}})({Tensor({3, 2}), gradient, number(), number(), places});
    };
  };
  const std::string like = " gradient and slots must have the variable's shape (3,); got (2,)";
  return {
      refusal<mezzo::DTypeError>("all_finite", "[all_finite] input 1 must be floating; got int32",
                                 [] {
                                   inserted("all_finite")({Tensor({2}), Tensor({2}, DType::int32)});
                                 }),
      refusal<mezzo::DTypeError>(
          "gradient_multiplier", "[gradient_multiplier] input 1 must be floating; got int32",
          [number] {
            inserted("gradient_multiplier", {{"clipnorm", 0.0}})({number(), Tensor({2}, DType::int32)});
          }),
      refusal<ShapeError>("sgd_update", "[sgd_update]" + like,
                          [number] {
                            inserted("sgd_update", {{"momentum", 0.0}})({Tensor({3}), Tensor({2}), number(), number()});
                          }),
      refusal<ShapeError>(
          "sgd_update", "[sgd_update]" + like,
          [number] {
            inserted("sgd_update", {{"momentum", 0.5}})({Tensor({3}), Tensor({3}), Tensor({2}), number(), number()});
          }),
      refusal<ShapeError>("sgd_update",
                          "[sgd_update] a compact gradient must hold rows of the variable's shape (3, 2); got (1, 3)",
                          compact(Tensor({1, 3}), Tensor({3}, DType::int32))),
      refusal<ShapeError>("sgd_update", "[sgd_update] a compact gradient's places must be int32 (3,); got int32 (2,)",
                          compact(Tensor({1, 2}), Tensor({2}, DType::int32))),
      refusal<ShapeError>(
          "adam_update", "[adam_update]" + like,
          [number] {
            inserted("adam_update")({Tensor({3}), Tensor({3}), Tensor({3}), Tensor({2}), number(), number(), number()});
          }),
      refusal<ShapeError>("sgd_update", "[sgd_update] remainder of the variable must be int16 (3,); got bfloat16 (3,)",
                          [number] {
                            const Tensor x({3}, DType::bfloat16);
                            inserted("sgd_update", {{"momentum", 0.0}, {"kept", mezzo::detail::Kept::split}})(
                                {x, x, x, number(), number()});
                          }),
      refusal<ShapeError>("optimizer_update", "[optimizer_update]" + like,
                          [number] {
                            inserted("optimizer_update",
                                     {{"rule", std::string("adagrad")}, {"slots", std::int64_t{1}}})(
                                {Tensor({3}), Tensor({3}), Tensor({2}), number(), number(), number()});
                          }),
      refusal<ShapeError>("adafactor_update",
                          "[adafactor_update] row and column means must be (2,) and (3,); got (3,) and (3,)",
                          [number] {
                            inserted("adafactor_update")({Tensor({2, 3}), Tensor({2, 3}), Tensor({3}), Tensor({3}),
                                                          number(), number(), number()});
                          }),
      refusal<ShapeError>("join_master",
                          "[join_master] halves must be bfloat16 and int16 of one shape; got bfloat16 (3,) and int16 "
                          "(2,)",
                          [] {
                            inserted("join_master")({Tensor({3}, DType::bfloat16), Tensor({2}, DType::int16)});
                          }),
      refusal<mezzo::DTypeError>("split_master", "[split_master] the variable must be float32; got float64 (3,)",
                                 [] { inserted("split_master")({Tensor({3}, DType::float64)}); })};
}

}  // namespace mezzo_tests
