#pragma once
#include <string>

namespace mezzo_bench {

/// Prints a row for each convolution of a training step of resnet18, resnet50 and cnn whose name contains a match of
/// `only`, and the sums of each model.
void print_training_convolutions(const std::string& only, int rounds);

}  // namespace mezzo_bench
