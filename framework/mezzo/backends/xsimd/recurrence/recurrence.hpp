#pragma once
#include <cstdint>

#include <mezzo/backends/xsimd/family.hpp>

namespace mezzo::xsimd_kernels {

/// One step of one sample. Arrays of void hold the storage type; gates lie one after the other, `units` numbers each.
struct RecurrentStep {
  std::int64_t units = 0;
  bool skipped = false;            ///< true: skipped by the mask, so that the states stay
  const void* x = nullptr;         ///< inputs of the gates
  const float* product = nullptr;  ///< states before the step times the recurrent kernel
  std::int64_t product_step = 0;   ///< distance of the gates in it
  const float* bias = nullptr;     ///< added to the product; null: none
  float* h = nullptr;              ///< changed to the state after the step
  float* c = nullptr;              ///< likewise the carry of lstm
  bfloat16* factor = nullptr;      ///< h as an operand of bfloat16 products; null if the products are float32
  float* reset = nullptr;          ///< reset gate times h, of gru_reset_before
  void* states = nullptr;          ///< h
  void* gates = nullptr;           ///< results of the gates: i, f, g, o or z, r, candidate, product
  void* carries = nullptr;         ///< c
};

/// The backward pass of one step of one sample.
struct RecurrentStepBack {
  std::int64_t units = 0;
  bool skipped = false;
  const float* product = nullptr;   ///< part of the state's cotangent from the next step's products; null: none
  const void* of_states = nullptr;  ///< further part, in the storage type; null: none
  float* rest = nullptr;            ///< further part, changed to that of the state before
  float* dc = nullptr;              ///< cotangent of the carry, changed to that of the carry before
  const void* states = nullptr;     ///< after the step
  const void* gates = nullptr;      ///< as in RecurrentStep
  const void* carries = nullptr;    ///< after the step
  const void* before = nullptr;     ///< carry (lstm) or state (gru) before the step; null: zeros
  void* dx = nullptr;               ///< cotangents of x
  float* d = nullptr;               ///< cotangents of the products; null if `factor` is not
  bfloat16* factor = nullptr;       ///< likewise, as operands of bfloat16 products
  std::int64_t d_step = 0;          ///< distance of the gates in d or factor
  float* sums = nullptr;            ///< to which the cotangents of the products are added; null: none
};

/// Gates of the recurrent cells, with tanh and sigmoid.
struct RecurrenceFunctions {
  using Advance = void (*)(const RecurrentStep&);
  using Retreat = void (*)(const RecurrentStepBack&);

  PerStorage<Advance> simple_rnn, lstm, gru;
  PerStorage<Retreat> simple_rnn_back, lstm_back, gru_back;

  /// gru_reset_before: the reset gate, then, with the product of reset h, the rest of the step.
  PerStorage<Advance> reset, gru_reset_before;
  /// gru_reset_before: everything except the reset gate, then, with the candidate's product as `product`, the reset
  /// gate.
  PerStorage<Retreat> gru_reset_before_back, reset_back;
};

MEZZO_ISA_TABLE(RecurrenceFunctions, recurrence)

Entries recurrence_entries();

}  // namespace mezzo::xsimd_kernels
