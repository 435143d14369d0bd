#pragma once
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/error.hpp>

namespace mezzo {

/// A rank that failed, or that has left a training while others continue. The text names the rank.
struct MEZZO_API RankError : Error {
  using Error::Error;
};

namespace detail {
/// Memory that one rank sends to another, or receives from it.
struct RankMemory {
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Transfer of bytes between the ranks of a Communicator. Created and called by one thread.
class MEZZO_API Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;  ///< of this process or thread, in [0, size())
  virtual int size() const = 0;  ///< number of ranks

  /// Ranks on this machine, and the number of this one among them.
  virtual int local_rank() const { return rank(); }
  virtual int local_size() const { return size(); }

  /// Sends send[i] to rank i and receives receive[i] from it; its own part is copied. All ranks call it in the same
  /// order, with sizes that fit. Returns when both are done. A RankError if a rank fails, leaves or sends another
  /// number of bytes; also if `cancelled` becomes true.
  virtual void exchange(const std::vector<RankMemory>& send, const std::vector<RankMemory>& receive,
                        const std::atomic<bool>& cancelled) = 0;

  /// Informs all other ranks that this one has failed: operations that wait for it end with a RankError.
  virtual void fail(const std::string& reason) = 0;
};
}  // namespace detail

}  // namespace mezzo
