#pragma once
#include <memory>
#include <vector>

#include <mezzo/core/api.hpp>

namespace mezzo::detail {

/// The thread that uses an object which several threads can reach: a variable, the training state of a module. A *run*
/// lasts as long as a training or a prediction, an *access* as long as a copy or replacement of numbers.
class MEZZO_API Usage {
 public:
  Usage() = default;
  Usage(const Usage&) = delete;
  Usage& operator=(const Usage&) = delete;

  /// True if this thread runs the object.
  bool runs_here() const;

 private:
  friend class AccessScope;
  friend class RunScope;
  friend class ListRunScope;

  const void* thread_ = nullptr;  // key of the thread; null: unused
  int scopes_ = 0;                // runs and accesses of that thread
  int runs_ = 0;                  // runs among them
};

/// Accesses objects exclusively for its lifetime: waits while other threads access one of them. Fails if another thread
/// runs one of them. The same thread may nest accesses and runs.
class MEZZO_API AccessScope {
 public:
  explicit AccessScope(std::vector<Usage*> objects);
  explicit AccessScope(Usage& object) : AccessScope(std::vector<Usage*>{&object}) {}
  ~AccessScope();
  AccessScope(const AccessScope&) = delete;
  AccessScope& operator=(const AccessScope&) = delete;

  bool refused() const { return refused_; }

 private:
  std::vector<Usage*> objects_;
  bool refused_ = false;
};

/// Runs objects for its lifetime. add() waits while other threads access one of the objects. Destroyed on the thread
/// that made it.
class MEZZO_API RunScope {
 public:
  using Object = std::shared_ptr<Usage>;

  RunScope() = default;
  ~RunScope();
  RunScope(const RunScope&) = delete;
  RunScope& operator=(const RunScope&) = delete;

  /// Adds objects that the scope does not have yet. Returns null, or an object that another thread runs; nothing was
  /// added then. With `alone`, a run of this thread counts too.
  const Usage* add(const std::vector<Object>& objects, bool alone = false);

 private:
  std::vector<Object> objects_;
};

/// Runs all objects of a list for its lifetime, without an allocation. Waits while other threads access one of them.
/// Fails if another thread runs one of them.
class MEZZO_API ListRunScope {
 public:
  /// The list outlives the scope, unchanged.
  explicit ListRunScope(const std::vector<RunScope::Object>& objects);
  ~ListRunScope();
  ListRunScope(const ListRunScope&) = delete;
  ListRunScope& operator=(const ListRunScope&) = delete;

  /// The first object that another thread runs; null if the scope runs all.
  const Usage* busy() const { return busy_; }

 private:
  const std::vector<RunScope::Object>& objects_;
  const Usage* busy_ = nullptr;
};

/// Marks that this thread is inside a compiled step, for its lifetime.
class MEZZO_API InsideStep {
 public:
  /// `uses(step, object)` is true if the step computes with the object.
  using Uses = bool (*)(const void* step, const Usage& object);

  InsideStep(const void* step, Uses uses);
  ~InsideStep();
  InsideStep(const InsideStep&) = delete;
  InsideStep& operator=(const InsideStep&) = delete;

  /// True if a step that this thread is inside of computes with the object.
  static bool of(const Usage& object);

 private:
  const void* step_;
  Uses uses_;
  const InsideStep* outer_;
};

}  // namespace mezzo::detail
