#include <mezzo/backends/xsimd/crossentropy.hpp>

#include <algorithm>
#include <limits>

#include <mezzo/backends/common/labels.hpp>
#include <mezzo/backends/xsimd/entries.hpp>

namespace mezzo::xsimd_kernels {
namespace {

using Index = std::int64_t;

/// Rows of scores, with labels of any integer dtype.
struct ClassRows {
  Index rows, classes;
  DType labels;
  std::string what;

  explicit ClassRows(const KernelRequest& request)
      : rows(element_count(request.inputs[0].shape)),
        classes(request.inputs[1].shape.back()),
        labels(request.inputs[0].dtype),
        what(request.where + " labels") {}

  /// Checks all labels, then calls body(first row, number of rows, labels of these rows) for a few rows at a time.
  template <class Body>
  void for_each(const KernelArguments& arguments, const Body& body) const {
    check_labels(arguments.inputs[0], labels, rows, classes, what);
    parallel_for(rows, grain_of(classes), [&](Index begin, Index end) {
      std::int32_t some[CrossentropyFunctions::most_rows];
      for (Index row = begin; row < end; row += CrossentropyFunctions::most_rows) {
        const Index count = std::min(CrossentropyFunctions::most_rows, end - row);
        for (Index i = 0; i < count; ++i) {
          some[i] = static_cast<std::int32_t>(label_at(arguments.inputs[0], labels, row + i));
        }
        body(row, count, some);
      }
    });
  }
};

bool takes_scores(const KernelRequest& request, std::string& reason) {
  constexpr Index most_classes = std::numeric_limits<std::int32_t>::max();
  const Spec& scores = request.inputs[1];
  if (!is_stored(scores.dtype)) decline_dtype(reason, scores.dtype);
  if (scores.shape.back() > most_classes)
    decline(reason, "takes at most {} classes; got {}", most_classes, scores.shape.back());
  return reason.empty();
}

std::unique_ptr<Kernel> make_sparse_categorical_crossentropy(const KernelRequest& request, Isa isa,
                                                             std::string& reason) {
  if (!takes_scores(request, reason)) return nullptr;
  const DType dtype = request.inputs[1].dtype;
  const bool from_logits = request.attributes.get<bool>("from_logits");
  const CrossentropyFunctions& all = kernels(isa).crossentropy;
  const auto run =
      [rows = ClassRows(request), size = size_of(dtype),
       loss = (from_logits ? all.loss_of_logits : all.loss_of_probabilities)[dtype]](const KernelArguments& arguments) {
        rows.for_each(arguments, [&](Index row, Index count, const std::int32_t* labels) {
          const char* scores = arguments.in<char>(1) + row * rows.classes * size;
          loss(labels, scores, arguments.out<float>(0) + row, count, rows.classes);
        });
      };
  return make_kernel(run);
}

std::unique_ptr<Kernel> make_sparse_categorical_crossentropy_gradient(const KernelRequest& request, Isa isa,
                                                                      std::string& reason) {
  if (!takes_scores(request, reason)) return nullptr;
  const DType dtype = request.inputs[1].dtype;
  const bool from_logits = request.attributes.get<bool>("from_logits");
  const CrossentropyFunctions& all = kernels(isa).crossentropy;
  const auto run = [rows = ClassRows(request), size = size_of(dtype),
                    gradient = (from_logits ? all.gradient_of_logits : all.gradient_of_probabilities)[dtype]](
                       const KernelArguments& arguments) {
    rows.for_each(arguments, [&](Index row, Index count, const std::int32_t* labels) {
      const Index at = row * rows.classes * size;
      gradient(labels, arguments.in<char>(1) + at, arguments.in<float>(2) + row, arguments.out<char>(0) + at, count,
               rows.classes);
    });
  };
  return make_kernel(run, {false, true});
}

}  // namespace

Entries crossentropy_entries() {
  return {entry<make_sparse_categorical_crossentropy>("sparse_categorical_crossentropy"),
          entry<make_sparse_categorical_crossentropy_gradient>("sparse_categorical_crossentropy_gradient")};
}

}  // namespace mezzo::xsimd_kernels
