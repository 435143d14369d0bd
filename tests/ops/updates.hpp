#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "ops/plain.hpp"

// Updates of variables by optimizers.
namespace mezzo_tests {

struct Update {
  std::string note;
  double weight_decay = 0, clipvalue = 0, momentum = 0;
  bool nesterov = false;
  std::optional<mezzo::DType> copy{};
  bool compact = false;
};

inline double clipped(double g, double clipvalue) {
  return clipvalue == 0 ? g : std::min(std::max(g, -clipvalue), clipvalue);
}

inline void add_copy(OpRow& row, mezzo::Attributes& attributes, const Update& update) {
  if (!update.copy) return;
  attributes.set("copy_dtype", *update.copy);
  row.outputs.emplace_back(*update.copy);
  row.plain = [plain = row.plain, dtype = *update.copy](const TensorList& v) {
    TensorList out = plain(v);
    out.push_back(out[0].cast(dtype));
    return out;
  };
}

// Lets the gradient be a few numbers and their places.
inline void add_places(OpRow& row, mezzo::Attributes& attributes, const Update& update) {
  if (!update.compact) return;
  mezzo::Tensor places({37}, std::vector<std::int32_t>(37, -1));
  for (const std::int32_t place : {0, 1, 2, 3}) places.mutable_data<std::int32_t>()[(11 * place + 30) % 37] = place;
  attributes.set("compact", true);
  row.arguments[1] = {uniform({6}, -1, 1, 2)};
  row.arguments.push_back({places, mezzo::DType::int32});
  row.plain = [plain = row.plain](const TensorList& v) {
    TensorList dense = v;
    dense[1] = mezzo::Tensor({37}, mezzo::DType::float64);
    for (std::int64_t i = 0; i < 37; ++i) {
      const std::int32_t place = v.back().data<std::int32_t>()[i];
      if (place >= 0) dense[1].mutable_data<double>()[i] = v[1].data<double>()[place];
    }
    return plain(dense);
  };
}

constexpr double learning_rate = 0.1, multiplier = 0.25;

inline OpRow sgd_row(const Update& update, Role variable) {
  const bool slot = update.momentum > 0;
  mezzo::Attributes attributes{{"momentum", update.momentum},
                               {"weight_decay", update.weight_decay},
                               {"clipvalue", update.clipvalue},
                               {"nesterov", update.nesterov}};
  const auto plain = [update, slot](const TensorList& v) {
    TensorList out{v[0]};
    if (slot) out.push_back(v[2]);
    for (std::int64_t i = 0; i < v[0].size(); ++i) {
      double& w = out[0].mutable_data<double>()[i];
      const double step = learning_rate * clipped(v[1].data<double>()[i] * multiplier, update.clipvalue);
      w -= learning_rate * update.weight_decay * w;
      if (!slot) {
        w -= step;
        continue;
      }
      double& b = out[1].mutable_data<double>()[i];
      b = update.momentum * b - step;
      w += update.nesterov ? update.momentum * b - step : b;
    }
    return out;
  };
  OpRow row{.op = "sgd_update",
            .note = update.note,
            .call = {},
            .arguments = {{uniform({37}, -1, 1, 1), variable}, {uniform({37}, -1, 1, 2)}},
            .outputs = {variable},
            .plain = plain,
            .depth = 4,  // terms of an update
            .internal = true};
  if (slot) {
    row.arguments.push_back({uniform({37}, -1, 1, 3), Role::accumulated()});
    row.outputs.push_back(Role::accumulated());
  }
  for (const double number : {learning_rate, multiplier}) {
    row.arguments.push_back({float64_scalar(number), mezzo::DType::float64});
  }
  add_places(row, attributes, update);
  add_copy(row, attributes, update);
  row.call = inserted("sgd_update", attributes);
  return row;
}

inline OpRow adam_row(const Update& update, Role variable) {
  constexpr double beta_1 = 0.9, beta_2 = 0.99, epsilon = 1e-3, count = 3;
  mezzo::Attributes attributes{{"beta_1", beta_1},
                               {"beta_2", beta_2},
                               {"epsilon", epsilon},
                               {"weight_decay", update.weight_decay},
                               {"clipvalue", update.clipvalue}};
  const auto plain = [update](const TensorList& v) {
    TensorList out{v[0], v[2], v[3]};
    const double rate = learning_rate * std::sqrt(1 - std::pow(beta_2, count)) / (1 - std::pow(beta_1, count));
    for (std::int64_t i = 0; i < v[0].size(); ++i) {
      double& w = out[0].mutable_data<double>()[i];
      double& m = out[1].mutable_data<double>()[i];
      double& s = out[2].mutable_data<double>()[i];
      const double g = clipped(v[1].data<double>()[i] * multiplier, update.clipvalue);
      w -= learning_rate * update.weight_decay * w;
      m += (g - m) * (1 - beta_1);
      s += (g * g - s) * (1 - beta_2);
      w -= rate * m / (std::sqrt(s) + epsilon);
    }
    return out;
  };
  OpRow row{.op = "adam_update",
            .note = update.note,
            .call = {},
            .arguments = {{uniform({37}, -1, 1, 1), variable},
                          {uniform({37}, -1, 1, 2)},
                          {uniform({37}, -1, 1, 3), Role::accumulated()},
                          {uniform({37}, 0.1, 1, 4), Role::accumulated()},
                          {float64_scalar(learning_rate), mezzo::DType::float64},
                          {float64_scalar(count), mezzo::DType::float64},
                          {float64_scalar(multiplier), mezzo::DType::float64}},
            .outputs = {variable, Role::accumulated(), Role::accumulated()},
            .plain = plain,
            .depth = 4,  // terms of an update
            .internal = true};
  add_places(row, attributes, update);
  add_copy(row, attributes, update);
  row.call = inserted("adam_update", attributes);
  return row;
}

inline void add_numbers(OpRow& row) {
  for (const double number : {learning_rate, 3.0, multiplier}) {  // the second one is the count
    row.arguments.push_back({float64_scalar(number), mezzo::DType::float64});
  }
}

inline OpRow adagrad_row(const Update& update, Role variable) {
  mezzo::Attributes attributes{{"rule", std::string("adagrad")},
                               {"slots", std::int64_t{1}},
                               {"epsilon", 1e-3},
                               {"weight_decay", update.weight_decay},
                               {"clipvalue", update.clipvalue}};
  const auto plain = [update](const TensorList& v) {
    TensorList out{v[0], v[2]};
    for (std::int64_t i = 0; i < v[0].size(); ++i) {
      double& w = out[0].mutable_data<double>()[i];
      double& sum = out[1].mutable_data<double>()[i];
      const double g = clipped(v[1].data<double>()[i] * multiplier, update.clipvalue);
      sum += g * g;
      w -= learning_rate * update.weight_decay * w;
      w -= learning_rate * g / std::sqrt(sum + 1e-3);
    }
    return out;
  };
  OpRow row{.op = "optimizer_update",
            .note = update.note,
            .call = {},
            .arguments = {{uniform({37}, -1, 1, 1), variable},
                          {uniform({37}, -1, 1, 2)},
                          {uniform({37}, 0.1, 1, 3), Role::accumulated()}},
            .outputs = {variable, Role::accumulated()},
            .plain = plain,
            .depth = 4,  // terms of an update
            .internal = true};
  add_numbers(row);
  add_places(row, attributes, update);
  add_copy(row, attributes, update);
  row.call = inserted("optimizer_update", attributes);
  return row;
}

// The change of a variable is a product with one norm of the whole variable, and divided by another.
inline OpRow lars_row(Role variable) {
  const auto plain = [](const TensorList& v) {
    TensorList out{v[0]};
    double of_w = 0, of_g = 0;
    for (std::int64_t i = 0; i < v[0].size(); ++i) {
      const double w = v[0].data<double>()[i], g = v[1].data<double>()[i] * multiplier;
      of_w += w * w;
      of_g += g * g;
    }
    const double ratio = 0.5 * std::sqrt(of_w) / (std::sqrt(of_g) + 0.1 * std::sqrt(of_w) + 1e-3);
    for (std::int64_t i = 0; i < v[0].size(); ++i) {
      double& w = out[0].mutable_data<double>()[i];
      w -= learning_rate * ratio * (v[1].data<double>()[i] * multiplier + 0.1 * w);
    }
    return out;
  };
  OpRow row{.op = "optimizer_update",
            .note = "with norms",
            .call = inserted("optimizer_update", {{"rule", std::string("lars")},
                                                  {"slots", std::int64_t{0}},
                                                  {"momentum", 0.0},
                                                  {"nesterov", false},
                                                  {"epsilon", 1e-3},
                                                  {"trust", 0.5},
                                                  {"decay", 0.1},
                                                  {"adapts", true},
                                                  {"weight_decay", 0.0},
                                                  {"clipvalue", 0.0}}),
            .arguments = {{uniform({37}, -1, 1, 1), variable}, {uniform({37}, -1, 1, 2)}},
            .outputs = {variable},
            .plain = plain,
            .depth = 37,  // terms of a norm
            .internal = true};
  add_numbers(row);
  return row;
}

// A matrix, or a vector without factors.
inline OpRow adafactor_row(const std::string& note, const mezzo::Shape& shape, Role variable) {
  const bool factored = shape.size() == 2;
  const auto plain = [shape, factored](const TensorList& v) {
    TensorList out(v.begin() + 2, v.begin() + (factored ? 4 : 3));
    const std::int64_t rows = factored ? shape[0] : 1, columns = shape.back();
    const double b = 1 - std::pow(3.0, -0.8);
    const auto g = [&](std::int64_t i) { return v[1].data<double>()[i] * multiplier; };
    const auto square = [&](std::int64_t i) { return g(i) * g(i) + 1e-3; };
    for (mezzo::Tensor& slot : out) {
      for (std::int64_t i = 0; i < slot.size(); ++i) slot.mutable_data<double>()[i] *= b;
    }
    double mean = 0;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      if (!factored) {
        out[0].mutable_data<double>()[i] += (1 - b) * square(i);
        continue;
      }
      out[0].mutable_data<double>()[i / columns] += (1 - b) * square(i) / static_cast<double>(columns);
      out[1].mutable_data<double>()[i % columns] += (1 - b) * square(i) / static_cast<double>(rows);
    }
    for (std::int64_t i = 0; factored && i < rows; ++i) {
      mean += out[0].data<double>()[i] / static_cast<double>(rows);
    }
    std::vector<double> u;
    double of_u = 0, of_w = 0;
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      const double s = factored ? out[0].data<double>()[i / columns] / mean * out[1].data<double>()[i % columns]
                                : out[0].data<double>()[i];
      u.push_back(g(i) / std::sqrt(s));
      of_u += u.back() * u.back();
      of_w += v[0].data<double>()[i] * v[0].data<double>()[i];
    }
    const auto n = static_cast<double>(rows * columns);
    const double size = std::max(1e-3, std::sqrt(of_w / n)) * std::min(learning_rate, 1 / std::sqrt(3.0));
    mezzo::Tensor w = v[0];
    for (std::int64_t i = 0; i < rows * columns; ++i) {
      w.mutable_data<double>()[i] -= size * u[static_cast<std::size_t>(i)] / std::max(1.0, std::sqrt(of_u / n));
    }
    out.insert(out.begin(), w);
    return out;
  };
  OpRow row{.op = "adafactor_update",
            .note = note,
            .call = inserted("adafactor_update", {{"beta_2_decay", -0.8},
                                                  {"epsilon_1", 1e-3},
                                                  {"epsilon_2", 1e-3},
                                                  {"clip_threshold", 1.0},
                                                  {"relative_step", true},
                                                  {"weight_decay", 0.0},
                                                  {"clipvalue", 0.0}}),
            .arguments = {{uniform(shape, -1, 1, 1), variable}, {uniform(shape, -1, 1, 2)}},
            .outputs = {variable, Role::accumulated()},
            .plain = plain,
            .depth = 50,  // terms of means
            .internal = true};
  row.arguments.push_back({uniform({shape[0]}, 0.1, 1, 3), Role::accumulated()});
  if (factored) {
    row.arguments.push_back({uniform({shape[1]}, 0.1, 1, 4), Role::accumulated()});
    row.outputs.push_back(Role::accumulated());
  }
  add_numbers(row);
  return row;
}

}  // namespace mezzo_tests
