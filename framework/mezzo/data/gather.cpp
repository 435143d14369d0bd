#include <mezzo/data/gather.hpp>

#include <exception>
#include <new>
#include <string>

#include <mezzo/core/fail.hpp>

namespace mezzo::detail {
namespace {

Shape with_batch_axis(std::int64_t samples, const Shape& sample) {
  Shape shape{samples};
  shape.insert(shape.end(), sample.begin(), sample.end());
  return shape;
}

}  // namespace

void prepare(const std::vector<Field>& fields, std::int64_t samples, const char* where, HostBatch& batch) {
  batch.size = samples;
  batch.skipped = 0;
  batch.fields.resize(fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    NamedTensor& to = batch.fields[i];
    to.name = fields[i].name;
    to.role = fields[i].role;
    Shape shape = with_batch_axis(samples, fields[i].shape);
    if (to.tensor.dtype() != fields[i].dtype || to.tensor.shape() != shape || to.tensor.shared()) {
      try {
        to.tensor = Tensor::uninitialized(std::move(shape), fields[i].dtype);
      } catch (const MemoryError& error) {
        fail<MemoryError>(where, "field \"{}\" of {} samples: {}", fields[i].name, samples, error.what());
      }
    }
  }
}

void rethrow_with(const std::string& prefix) {
  try {
    throw;
  } catch (const ShapeError& e) {
    std::throw_with_nested(ShapeError(prefix + e.what()));
  } catch (const DTypeError& e) {
    std::throw_with_nested(DTypeError(prefix + e.what()));
  } catch (const NameError& e) {
    std::throw_with_nested(NameError(prefix + e.what()));
  } catch (const ValueError& e) {
    std::throw_with_nested(ValueError(prefix + e.what()));
  } catch (const FileError& e) {
    std::throw_with_nested(FileError(prefix + e.what()));
  } catch (const MemoryError& e) {
    std::throw_with_nested(MemoryError(prefix + e.what()));
  } catch (const std::bad_alloc&) {
    std::throw_with_nested(MemoryError(prefix + "the system has not enough memory"));
  } catch (const std::exception& e) {
    std::throw_with_nested(Error(prefix + e.what()));
  } catch (...) {
    std::throw_with_nested(Error(prefix + "an exception of a type other than std::exception"));
  }
}

void rethrow_or_skip(const std::string& prefix, SkippedSamples* skipped) {
  if (skipped == nullptr) rethrow_with(prefix);
  try {
    rethrow_with(prefix);
  } catch (const MemoryError&) {
    throw;
  } catch (const std::exception& error) {
    skipped->add(error.what());
  }
}

void keep_first(std::int64_t kept, const char* where, HostBatch& batch) {
  if (kept == 0) {
    fail<ValueError>(where, "a batch must have a sample that can be read; got errors of all its {}", batch.size);
  }
  batch.skipped = batch.size - kept;
  batch.size = kept;
  for (NamedTensor& field : batch.fields) field.tensor = field.tensor.slice(0, kept);
}

void gather(const DatasetSource& source, const std::vector<std::int64_t>& indices, std::int64_t epoch,
            const char* where, HostBatch& batch, SkippedSamples* skipped) {
  const auto samples = static_cast<std::int64_t>(indices.size());
  prepare(source.fields(), samples, where, batch);
  const std::size_t count = batch.fields.size();
  std::vector<void*> cursors(count);
  std::vector<std::size_t> steps(count);
  for (std::size_t i = 0; i < count; ++i) {
    Tensor& tensor = batch.fields[i].tensor;
    cursors[i] = tensor.mutable_raw();
    steps[i] = samples > 0 ? tensor.bytes() / indices.size() : 0;
  }
  std::int64_t kept = 0;
  for (const std::int64_t index : indices) {
    try {
      source.read_in_epoch(index, epoch, cursors.data());
    } catch (...) {
      rethrow_or_skip(fmt::format("{} sample {}: ", where, index), skipped);
      continue;
    }
    ++kept;
    for (std::size_t i = 0; i < count; ++i) cursors[i] = static_cast<std::byte*>(cursors[i]) + steps[i];
  }
  if (kept < samples) keep_first(kept, where, batch);
}

}  // namespace mezzo::detail
