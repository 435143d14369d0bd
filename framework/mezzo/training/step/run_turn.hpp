#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <mezzo/core/api.hpp>
#include <mezzo/core/usage.hpp>
#include <mezzo/core/usage_key.hpp>

namespace mezzo::detail {

/// A run of a module in the list of all runs, by which threads take turns. A run lends its objects to other threads
/// between its batches. Several runs that predict then take place one after another, in the order of their calls.
class MEZZO_API RunTurn {
 public:
  using Objects = std::vector<const Usage*>;

  /// `trains`: the run may change weights, so that it neither visits another run nor waits for one that trains.
  explicit RunTurn(bool trains) : trains_(trains) {}
  /// Leaves the list, or ends the visit.
  ~RunTurn();
  RunTurn(const RunTurn&) = delete;
  RunTurn& operator=(const RunTurn&) = delete;

  /// Waits until no other thread runs one of the objects, or until the only one that does lends them: this thread then
  /// visits that run, and acts as its thread. `all` returns the objects; it is called when no other thread uses
  /// `first`, which is one of them. Returns null, or an object for which this run is refused: both train, the threads
  /// wait for each other, or the other thread does not exist in this process, a child of fork().
  const Usage* wait_for(const Usage& first, const std::function<Objects()>& all);

  bool visits() const { return host_ != nullptr; }

  /// Lists the run with these objects, which this thread runs, or adds them.
  void add(const Objects& objects);

  /// lend() lets other threads visit the run. reclaim() waits until those have left that waited before its call.
  void lend();
  void reclaim();

 private:
  class List;

  static List& list();

  bool trains_;
  bool listed_ = false, lent_ = false, visited_ = false;
  const void* key_ = nullptr;  // of the thread
  int forks_ = 0;              // fork_depth() of the thread
  Objects objects_;
  RunTurn* host_ = nullptr;  // run that this one visits
  std::optional<ActingFor> acting_;
};

}  // namespace mezzo::detail
