#pragma once
#include <string>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>
#include <mezzo/precision/autocast.hpp>

namespace mezzo {

/// Precision by op instead of by layer: the interface through which a Policy reads op lists. ops/ implements it with
/// OpLists.
class MEZZO_API OpPrecision {
 public:
  virtual ~OpPrecision() = default;

  /// bfloat16 or float16: the dtype of ops on the lower list.
  virtual DType dtype() const = 0;

  /// The list that contains this op, by this library's name.
  virtual detail::Listing listing(const std::string& op) const = 0;

  /// Equal for lists with the same effect.
  virtual const std::string& name() const = 0;

  /// True if casts are reported.
  virtual bool verbose() const = 0;

  /// Writes a cast to the output, once for each op, path and pair of dtypes.
  virtual void report_cast(const std::string& op, const std::string& path, DType from, DType to) const = 0;

 protected:
  OpPrecision() = default;
  OpPrecision(const OpPrecision&) = default;
  OpPrecision& operator=(const OpPrecision&) = default;
};

}  // namespace mezzo
