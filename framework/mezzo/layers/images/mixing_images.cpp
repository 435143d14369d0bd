#include <mezzo/layers/images/mixing_images.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

#include <mezzo/core/fail.hpp>
#include <mezzo/graph/insert.hpp>
#include <mezzo/layers/images/image_words.hpp>
#include <mezzo/nn/checks.hpp>
#include <mezzo/ops/helpers.hpp>
#include <mezzo/ops/host.hpp>

namespace mezzo {
namespace {

using image::SampleKey;

DType mixing_dtype(DType dtype) { return dtype == DType::float64 ? dtype : DType::float32; }

void check_pair(const std::string& where, const std::vector<Shape>& shapes) {
  if (shapes.empty() || shapes.size() > 2) {
    fail<ValueError>(where, "inputs must be images, or images and labels; got {} inputs", shapes.size());
  }
  if (shapes[0].size() != 4) {
    fail<ShapeError>(where, "images must have shape (batch, height, width, channels); got shape {}", shapes[0]);
  }
  if (shapes.size() == 1) return;
  if (shapes[1].size() != 2) {
    fail<ShapeError>(where, "labels must have shape (batch, classes), as to_categorical() gives; got shape {}",
                     shapes[1]);
  }
  const std::int64_t images = shapes[0][0], labels = shapes[1][0];
  if (images >= 0 && labels >= 0 && images != labels) {
    fail<ShapeError>(where, "labels must be those of {} images; got shape {}", images, shapes[1]);
  }
}

/// Words of the whole batch (sample -1) or of one image of it.
detail::RandomWords words_in_batch(const char* kind, const SampleKey& key, std::int64_t sample) {
  const SampleKey batch{detail::mix(key.seed, static_cast<std::uint64_t>(key.index)), key.epoch, sample};
  return detail::words_of(kind, batch);
}

std::vector<std::int64_t> random_order(std::int64_t count, detail::RandomWords& words) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = count; i-- > 1;) {
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(words.integer(0, i + 1))]);
  }
  return order;
}

/// w x + (1 - w) partner for each row.
Tensor mixed_rows(const Tensor& x, const detail::ImageMixture& mixture) {
  Tensor out = Tensor::uninitialized(x.shape(), x.dtype());
  const auto mix_all = [&](auto zero) {
    using T = decltype(zero);
    const std::int64_t row = x.size() / x.shape()[0];
    const T* from = x.data<T>();
    T* to = out.mutable_data<T>();
    for (std::size_t i = 0; i < mixture.weights.size(); ++i, from += row, to += row) {
      const auto weight = static_cast<T>(mixture.weights[i]), rest = 1 - weight;
      const T* const partner = x.data<T>() + mixture.partners[i] * row;
      for (std::int64_t k = 0; k < row; ++k) to[k] = weight * from[k] + rest * partner[k];
    }
  };
  x.dtype() == DType::float64 ? mix_all(double{}) : mix_all(float{});
  return out;
}

/// Copies the box of the partner into each image.
Tensor with_boxes(const Tensor& x, const detail::ImageMixture& mixture) {
  Tensor out = x.copy();
  const std::int64_t rows = x.shape()[1], columns = x.shape()[2];
  const std::size_t pixel = static_cast<std::size_t>(x.shape()[3]) * dtype_size(x.dtype());
  const auto* const from = static_cast<const std::byte*>(x.raw());
  auto* const to = static_cast<std::byte*>(out.mutable_raw());
  for (std::size_t i = 0; i < mixture.boxes.size(); ++i) {
    const Shape& box = mixture.boxes[i];
    for (std::int64_t y = box[0]; y < box[1] && box[2] < box[3]; ++y) {
      const auto place = [&](std::int64_t image) {
        return static_cast<std::size_t>((image * rows + y) * columns + box[2]) * pixel;
      };
      std::copy_n(from + place(mixture.partners[i]), static_cast<std::size_t>(box[3] - box[2]) * pixel,
                  to + place(static_cast<std::int64_t>(i)));
    }
  }
  return out;
}

Tensor mixed_images(const Tensor& x, const detail::ImageMixture& mixture) {
  return mixture.boxes.empty() ? mixed_rows(x, mixture) : with_boxes(x, mixture);
}

}  // namespace

std::vector<Tensor> detail::ImageMixing::augment(const std::vector<Tensor>& images_and_labels,
                                                 const SampleKey& key) const {
  std::vector<Shape> shapes;
  for (const Tensor& x : images_and_labels) shapes.push_back(x.shape());
  check_pair(label(), shapes);
  std::vector<Tensor> out;
  for (const Tensor& x : images_and_labels) out.push_back(x.cast(mixing_dtype(x.dtype())));
  const detail::ImageMixture mixture = draw_(shapes[0], key);
  if (out[0].size() > 0) out[0] = mixed_images(out[0], mixture);
  if (out.size() == 2 && out[1].size() > 0) out[1] = mixed_rows(out[1], mixture);
  return out;
}

std::function<HostBatch(HostBatch, std::int64_t, std::int64_t)> detail::ImageMixing::on_batches(
    const std::string& images, const std::string& labels) const {
  return [layer = *this, images, labels](HostBatch batch, std::int64_t index, std::int64_t epoch) {
    std::vector<Tensor> given{batch[images]};
    if (!labels.empty()) given.push_back(batch[labels]);
    const std::vector<Tensor> mixed = layer.augment(given, {layer.seed_.value_or(seed()), epoch, index});
    for (detail::NamedTensor& field : batch.fields) {
      if (field.name == images) field.tensor = mixed[0];
      if (!labels.empty() && field.name == labels) field.tensor = mixed[1];
    }
    return batch;
  };
}

Values detail::ImageMixing::call_many(const Values& xs) {
  std::vector<Shape> shapes;
  for (const Value& x : xs) shapes.push_back(x.shape());
  check_pair(label(), shapes);
  std::vector<Spec> outputs{{shapes[0], compute_dtype()}};
  if (xs.size() == 2) outputs.push_back({shapes[1], mixing_dtype(xs[1].dtype())});
  return detail::defer(
      [draw = draw_, given = seed_, outputs](const Values& ys) -> Values {
        Values out;
        if (!detail::changes_images()) {
          for (std::size_t i = 0; i < ys.size(); ++i) out.push_back(detail::as(ys[i], outputs[i].dtype));
          return out;
        }
        const detail::Draw drawn = detail::next_draw();
        const auto key = static_cast<std::uint64_t>(drawn.key);
        const Value first =
            drawn.first_element({ys[0].shape()[0].or_unknown()});  // each rank mixes its own images, by its own draws
        for (std::size_t i = 0; i < ys.size(); ++i) {
          HostOptions options;
          options.dtype = outputs[i].dtype;
          out.push_back(host(
              [draw, given, key, i, shape = ys[0].shape(), dtype = outputs[i].dtype](const std::vector<Tensor>& x) {
                const Tensor wide = x[0].cast(mixing_dtype(dtype));
                if (wide.size() == 0) return wide.cast(dtype);
                const std::uint64_t seed = detail::mix(key, static_cast<std::uint64_t>(x[1].item()));
                const auto step = static_cast<std::int64_t>(x[2].item());
                const auto number = x.size() > 3 ? static_cast<std::int64_t>(x[3].item()) : 0;
                const detail::ImageMixture mixture = draw(shape, {given.value_or(seed), step, number});
                return (i == 0 ? mixed_images(wide, mixture) : mixed_rows(wide, mixture)).cast(dtype);
              },
              first.defined() ? Values{ys[i], drawn.seed, drawn.step, first} : Values{ys[i], drawn.seed, drawn.step},
              options));
        }
        return out;
      },
      xs, outputs);
}

MixUp::MixUp(const MixUpOptions& options) : detail::ImageMixing("MixUp", options) {
  detail::require_above(label(), "alpha", options.alpha, 0);
  set_draw([alpha = options.alpha](const Shape& images, const SampleKey& key) {
    detail::RandomWords all = words_in_batch("MixUp", key, -1);
    detail::ImageMixture mixture;
    mixture.partners = random_order(images[0], all);
    for (std::int64_t i = 0; i < images[0]; ++i) {
      detail::RandomWords words = words_in_batch("MixUp", key, i);
      mixture.weights.push_back(detail::symmetric_beta(alpha, words));
    }
    return mixture;
  });
}

CutMix::CutMix(const CutMixOptions& options) : detail::ImageMixing("CutMix", options) {
  const auto factor = options.factor.bounds(label(), "factor", 0, 1);
  set_draw([factor](const Shape& images, const SampleKey& key) {
    detail::RandomWords all = words_in_batch("CutMix", key, -1);
    detail::ImageMixture mixture;
    mixture.partners = random_order(images[0], all);
    const double alpha = detail::within(factor, all) + 1e-6;
    for (std::int64_t i = 0; i < images[0]; ++i) {
      detail::RandomWords words = words_in_batch("CutMix", key, i);
      const double side = std::sqrt(1 - detail::symmetric_beta(alpha, words));
      Shape box;
      for (const std::int64_t size : {images[1], images[2]}) {
        const double length = side * static_cast<double>(size);
        const double begin = words.unit() * (static_cast<double>(size) - length);
        box.push_back(static_cast<std::int64_t>(std::ceil(begin)));
        box.push_back(std::min(size, static_cast<std::int64_t>(std::ceil(begin + length))));
      }
      mixture.boxes.push_back(box);
      mixture.weights.push_back(1 - side * side);
    }
    return mixture;
  });
}

}  // namespace mezzo
