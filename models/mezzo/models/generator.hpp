#pragma once
#include <cstdint>
#include <vector>

#include <mezzo/models/generation.hpp>
#include <mezzo/nn/variable.hpp>
#include <mezzo/training/step/compiled_function.hpp>

namespace mezzo::detail {

/// Compiled generation for one number of sequences: a plan for each length of prompts, a plan for a new token, and the
/// caches of keys and values that both plans fill.
class Generator {
 public:
  /// `capacity`: positions of the caches.
  Generator(std::int64_t batch, std::int64_t capacity);
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  /// True if it generates `batch` sequences of `positions` positions.
  bool fits(std::int64_t batch, std::int64_t positions) const { return batch == batch_ && positions <= capacity_; }

  /// Number of plans that are kept.
  std::size_t plans() const { return function_.plans(); }

  /// Caches of keys and values of each block; empty before the first run.
  const std::vector<Variable>& caches() const { return caches_; }

  /// Generation of a batch of sequences, for the lifetime of the object.
  class Run {
   public:
    Run(Generator& generator, const LanguageModel& model);

    /// Logits (batch, vocabulary) of the tokens after a prompt, int64 (batch, positions): float32.
    const Tensor& begin(const Tensor& prompt);

    /// Logits after one more token of each sequence, int64. The token is at `position`.
    const Tensor& next(const std::int64_t* tokens, std::int64_t position);

   private:
    Generator& generator_;
    CompiledFunction::Session session_;
    std::vector<Tensor> inputs_;
  };

 private:
  Values trace(const Values& xs);
  void make_caches(const Values& y);

  std::int64_t batch_, capacity_;
  LanguageModel model_;           // of the current run
  std::vector<Variable> caches_;  // of keys and values of each block; made by the first trace
  CompiledFunction function_;
};

}  // namespace mezzo::detail
