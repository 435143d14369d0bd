#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/shared.hpp>
#include <mezzo/graph/variable_state.hpp>

namespace mezzo::detail {

/// Low-rank update of a kernel (Hu et al., 2021, "LoRA"): scale() times the product of A and B.
struct Adapter {
  std::string name{};       ///< "default"
  Shared<VariableState> a;  ///< (inputs..., rank)
  Shared<VariableState> b;  ///< (rank, outputs)
  double alpha = 1;         ///< numerator of scale()
  bool use_rslora = false;  ///< true: divides by the root of the rank (Kalajdzievski, 2023, "rsLoRA")
  double dropout = 0;       ///< rate of elements of the input of A that training drops

  std::int64_t rank() const { return b->value.shape().front(); }
  MEZZO_API double scale() const;
};

/// Adapters that a kernel has, or can have. A layer that computes with them attaches the object to its kernel.
struct MEZZO_API Adapters {
  Shape inputs{};            ///< axes of A before the rank
  std::int64_t outputs = 0;  ///< columns of B
  bool table = false;        ///< true: the kernel is a table of embeddings
  std::vector<Adapter> all{};
  std::string active{};  ///< name of the adapter that the layer computes with; "": none
  int disabled = 0;      ///< number of DisableAdapters that live
  /// The kernel with the active adapter added, which the layer reads in place of both.
  std::optional<Shared<VariableState>> merged{};
  bool froze_kernel = false;                    ///< the kernel was trainable before it had adapters
  std::vector<Shared<VariableState>> frozen{};  ///< other weights that were trainable before

  const Adapter* find(const std::string& name) const;

  /// The adapter that the layer computes with beside the kernel; null if there is none.
  const Adapter* in_use() const;

  /// Makes that adapter the active one, if there is one of that name, else none. Only the active one is trainable.
  void activate(const std::string& name);

  /// Hash of everything that a plan depends on.
  std::uint64_t signature() const;
};

}  // namespace mezzo::detail
