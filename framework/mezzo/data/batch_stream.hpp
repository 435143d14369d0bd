#pragma once
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>

#include <mezzo/core/api.hpp>
#include <mezzo/data/batch.hpp>

namespace mezzo {

namespace detail {
/// Successive batches of a DataLoader. Not thread-safe. After destruction no thread reads samples any more; batches
/// that were read ahead stay in the loader, for a stream that begins where this one ended.
class MEZZO_API BatchStream {
 public:
  class Source;

  explicit BatchStream(std::unique_ptr<Source> source);
  BatchStream(BatchStream&&) noexcept;
  BatchStream& operator=(BatchStream&&) noexcept;
  ~BatchStream();

  /// Returns the next batch; nullopt after the last one. Throws an exception of the data set when its batch is due,
  /// which ends the stream; further calls throw it again. Exceptions of mezzo keep their type, others become an Error.
  /// The text starts with `[DataLoader] sample 17: `, where 17 is the index in the loader's data set.
  std::optional<HostBatch> next();

  /// Looks at the batch that next() will return; null after the last one. Valid until the next call. Throws as next().
  const HostBatch* peek();

 private:
  template <class Call>
  auto guarded(Call&& call);

  std::unique_ptr<Source> source_;
  std::exception_ptr failure_;
};
}  // namespace detail

}  // namespace mezzo
