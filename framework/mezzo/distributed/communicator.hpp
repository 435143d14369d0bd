#pragma once
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/dtype.hpp>
#include <mezzo/distributed/transport.hpp>

namespace mezzo {

namespace detail {
class CommunicationThread;
}

/// Reduction of the numbers of all ranks to one. Sums are computed in the order of the ranks, so that all ranks get the
/// same bits in each run; sums of bfloat16 and float16 are computed in float32 and rounded once.
enum class ReduceOp { sum, min, max };

/// Elements in memory, dense.
struct RankArray {
  void* data = nullptr;          ///< not owned; must stay valid until the operation is done
  std::int64_t size = 0;         ///< elements
  DType dtype = DType::float32;  ///< dtype of the elements at `data`
};

/// An operation of a Communicator that runs in the background. Copies refer to the same operation.
class MEZZO_API RankRequest {
 public:
  RankRequest() = default;  ///< an operation that is done

  /// Returns when the operation is done. Throws its error.
  void wait() const;
  bool done() const;

  /// Time at which the operation was done. It must be done, and have run with other ranks.
  std::chrono::steady_clock::time_point end() const;

 private:
  friend class Communicator;
  struct State;
  explicit RankRequest(std::shared_ptr<State> state) : state_(std::move(state)) {}
  std::shared_ptr<State> state_;
};

/// Collective operations between the ranks of a training: processes under MPI, or threads. All ranks must call the same
/// operations in the same order, with equal sizes and dtypes. Operations run on a thread of the communicator, one after
/// the other; `start_` functions return at once, and the memory must stay as it is until wait(). If a rank fails,
/// leaves or calls with another size, the others end with a RankError that names it, and each later call throws it.
class MEZZO_API Communicator {
 public:
  /// Communicator with a transport, which is made on the thread that runs the operations. Throws the error of `make`.
  explicit Communicator(const std::function<std::unique_ptr<detail::Transport>()>& make);
  /// Waits for operations that were started. Ranks that still wait for this one end with a RankError.
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  /// One rank.
  static std::shared_ptr<Communicator> single();

  /// Ranks for that many threads of this process, for tests: thread i uses element i and destroys it at its end. A
  /// ValueError for less than 1.
  static std::vector<std::shared_ptr<Communicator>> threads(int ranks);

  /// The ranks of mpirun or srun, by the plug-in mezzo_mpi. The first call loads it and starts MPI, later calls return
  /// the same object. A FileError if the plug-in isn't installed or can't be loaded, a RankError if MPI doesn't start.
  static std::shared_ptr<Communicator> mpi();

  int rank() const { return rank_; }              ///< in [0, size())
  int size() const { return size_; }              ///< number of ranks
  int local_rank() const { return local_rank_; }  ///< among the ranks of this machine
  int local_size() const { return local_size_; }  ///< ranks of this machine

  /// Returns when all ranks have called it.
  void barrier();

  /// Copies the elements of rank `root` to all others.
  void broadcast(const RankArray& x, int root = 0);

  /// Replaces each element by the sum, or another reduction, of the elements of all ranks. A DTypeError for bool.
  void all_reduce(const RankArray& x, ReduceOp op = ReduceOp::sum);
  RankRequest start_all_reduce(const RankArray& x, ReduceOp op = ReduceOp::sum);

  /// The sums of bfloat16 elements with error feedback: adds `errors`, float32, to the sums of this rank's part before
  /// they are rounded, and puts the rounding errors there.
  RankRequest start_all_reduce(const RankArray& x, float* errors);

  /// Reduces only this rank's part of x in place: elements [part_begin(n, rank), part_begin(n, rank + 1)). The others
  /// keep their numbers. A DTypeError for bool.
  void reduce_scatter(const RankArray& x, ReduceOp op = ReduceOp::sum);
  RankRequest start_reduce_scatter(const RankArray& x, ReduceOp op = ReduceOp::sum);

  /// Copies each rank's part of x to all others.
  void all_gather(const RankArray& x);
  RankRequest start_all_gather(const RankArray& x);

  /// @name Parts in places of their own
  /// The same operations with a part for each rank: parts[rank] belongs to that rank. Parts may differ in size and
  /// dtype, and may be empty. A ValueError for another number of parts than size().
  /// @{
  RankRequest start_reduce_scatter(const std::vector<RankArray>& parts, ReduceOp op = ReduceOp::sum);
  RankRequest start_all_gather(const std::vector<RankArray>& parts);

  /// The sums of bfloat16 parts, unrounded: writes those of parts[rank()] to `sums`, float32.
  RankRequest start_reduce_scatter(const std::vector<RankArray>& parts, float* sums);

  /// Copies each rank's part to rank `root` only. Other ranks do not use the parts of others.
  RankRequest start_gather(const std::vector<RankArray>& parts, int root = 0);
  /// @}

  /// First of n elements that belong to a rank; n for rank size().
  std::int64_t part_begin(std::int64_t n, int rank) const { return n / size_ * rank + n % size_ * rank / size_; }

  /// A text of each rank, at all ranks. The texts may differ in length.
  std::vector<std::string> gather_texts(const std::string& text);

  /// The text of rank 0, at all ranks.
  std::string broadcast_text(const std::string& text);

  /// Informs the other ranks that this one has failed, so that they end with a RankError of that reason. Later
  /// operations are errors. Only the first reason is kept.
  void fail(const std::string& reason);

 private:
  Communicator();
  RankRequest start(std::function<void(detail::Transport&)> operation);
  std::vector<RankArray> parts_of(const RankArray& x) const;
  void require_parts(const std::vector<RankArray>& parts) const;
  void require_rank(int root) const;
  void sum_of_parts(detail::Transport& transport, const std::vector<RankArray>& parts, float* sums) const;

  int rank_ = 0, size_ = 1, local_rank_ = 0, local_size_ = 1;
  std::unique_ptr<detail::CommunicationThread> thread_;  // null for one rank
};

}  // namespace mezzo
