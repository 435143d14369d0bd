#pragma once
#include <array>
#include <cstddef>
#include <initializer_list>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/tensor.hpp>
#include <mezzo/data/loader.hpp>

namespace mezzo {

/// Arrays of the inputs or outputs of a model: one, `x`; a list in the model's order, `{x1, x2}`; or by name,
/// `{{"title", x1}, {"body", x2}}`. Argument of fit, evaluate and predict, result of predict_all.
class MEZZO_API Tensors {
 public:
  using Entry = std::pair<std::string, Tensor>;  ///< name and array; the name is "" for arrays by position

  Tensors() = default;
  /// One array: a Tensor, or an array of a type with a TensorAdapter.
  template <class A, class = std::enable_if_t<std::is_convertible_v<const A&, Tensor>>>
  Tensors(const A& one) : Tensors(std::vector<Tensor>{one}) {}
  Tensors(std::initializer_list<Tensor> list) : Tensors(std::vector<Tensor>(list)) {}
  Tensors(const std::vector<Tensor>& list);
  /// Arrays by name. A NameError if a name is empty or occurs twice.
  Tensors(std::initializer_list<Entry> named) : Tensors(std::vector<Entry>(named)) {}
  explicit Tensors(std::vector<Entry> named);
  Tensors(const std::map<std::string, Tensor>& named) : Tensors(std::vector<Entry>(named.begin(), named.end())) {}
  Tensors(const Tensors&) = default;
  Tensors(Tensors&&) = default;
  /// One operator: with two, `options.sample_weight = {}` is ambiguous for clang.
  Tensors& operator=(Tensors other) {
    entries_ = std::move(other.entries_);
    named_ = other.named_;
    return *this;
  }
  ~Tensors() = default;

  std::size_t size() const { return entries_.size(); }  ///< number of arrays
  bool empty() const { return entries_.empty(); }       ///< true: no arrays
  /// True if the arrays were given, or are returned, by name.
  bool named() const { return named_; }

  /// Array by position. A ValueError if there are fewer.
  const Tensor& operator[](std::size_t i) const;
  const Tensor& operator[](int i) const { return (*this)[static_cast<std::size_t>(i)]; }
  /// Array by name. A NameError that lists the names if there is none.
  const Tensor& operator[](const std::string& name) const;
  const Tensor& operator[](const char* name) const { return (*this)[std::string(name)]; }

  /// All arrays: `auto [mean, variance] = model.predict_all(x).unpack<2>();`. A ValueError if their number isn't N.
  template <std::size_t N>
  std::array<Tensor, N> unpack() const {
    check_count(N);
    std::array<Tensor, N> out;
    for (std::size_t i = 0; i < N; ++i) out[i] = entries_[i].second;
    return out;
  }

  /// Names and arrays; the names are "" in a list.
  std::vector<Entry>::const_iterator begin() const { return entries_.begin(); }
  std::vector<Entry>::const_iterator end() const { return entries_.end(); }

 private:
  void check_count(std::size_t count) const;

  std::vector<Entry> entries_;
  bool named_ = false;
};

/// Data to validate on: arrays `{x, y}`, with sample weights `{x, y, sample_weight}`, a Dataset, or a DataLoader, which
/// has a batch size of its own. Empty by default.
class MEZZO_API ValidationData {
 public:
  ValidationData() = default;

  /// Arrays as for evaluate(); `weights`: sample weights, (samples,).
  ValidationData(Tensors inputs, Tensors targets, Tensors weights = {})
      : x(std::move(inputs)), y(std::move(targets)), sample_weight(std::move(weights)) {}
  ValidationData(std::pair<Tensors, Tensors> data) : x(std::move(data.first)), y(std::move(data.second)) {}

  /// Samples of a data set, in batches of validation_batch_size.
  ValidationData(Dataset data) : dataset(std::move(data)) {}

  /// Batches of a loader.
  ValidationData(DataLoader data) : loader(std::move(data)) {}

  bool empty() const { return x.empty() && dataset.size() == 0 && loader.empty(); }  ///< true: fit doesn't validate

  Tensors x{}, y{}, sample_weight{};  ///< arrays; empty if a data set or loader was given
  Dataset dataset{};                  ///< used if it has samples
  DataLoader loader{};                ///< used if it is not empty
};

}  // namespace mezzo
