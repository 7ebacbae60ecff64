// Spectra, windows and the filters of hearing.
#include <cmath>
#include <numbers>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/movement.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/spectral.h"

namespace lathe::onnx::rows {

using graph::Builder;

namespace {

constexpr int64_t kMaxElements = int64_t{1} << 24;

Result<Type> output_type(const Call& call) {
  const int64_t number = call.int_of("output_datatype", 1);
  if (const auto type = type_of(number); type && *type != Type::String) return *type;
  return call.reject(concat("output_datatype ", number, " is no type of numbers"));
}

// A part of x [.., 1 or 2] without that axis.
Tensor component(Tensor x, int64_t k) {
  Shape begin(x.shape().size(), 0), size = x.shape();
  begin.back() = k;
  size.back() = 1;
  const Tensor part = ops::slice(x, begin, size);
  size.pop_back();
  return x.builder->reshape(part, size);
}

// x [.., 1 or 2] as f32, the axis last.
Result<ops::Complex> complex_of(const Call& call, Tensor x, int axis) {
  const int64_t parts = x.rank() == 0 ? 0 : x.shape().back();
  if (parts != 1 && parts != 2) {
    return call.reject(concat("input ", bracketed(x.shape()),
                              " does not end with an axis of 1 or 2, its real and imaginary part"));
  }
  std::vector<int> order;
  for (int k = 0; k < x.rank() - 1; ++k) {
    if (k != axis) order.push_back(k);
  }
  order.push_back(axis);
  Builder& builder = *x.builder;
  const Tensor wide = builder.cast(x, DType::F32);
  const auto part = [&](int64_t k) { return builder.permute(component(wide, k), order); };
  const Tensor real = part(0);
  return ops::Complex{real, parts == 2 ? part(1) : Tensor{}};
}

// Moves the axis back to its position, and real and imaginary parts to the last axis.
Values interleaved(Call& call, const ops::Complex& x, int axis) {
  if (!x.real.valid()) return {Value(x.real)};
  Builder& builder = call.builder();
  if (!builder.ok()) return {};
  std::vector<int> order;
  for (int k = 0; k < x.real.rank() - 1; ++k) order.push_back(k);
  order.insert(order.begin() + axis, x.real.rank() - 1);
  std::vector<Tensor> parts = {builder.permute(x.real, order)};
  if (x.imaginary.valid()) parts.push_back(builder.permute(x.imaginary, order));
  return {builder.convert(ops::stack(parts, x.real.rank()), dtype_of(call.type(0)))};
}

// Truncated or zero-padded to the length.
Tensor as_long(Tensor x, int64_t length) {
  if (!x.valid()) return x;
  ops::Pairs padding(x.shape().size());
  padding.back().second = length - x.shape().back();
  return ops::pad(x, padding, 0);
}

Tensor first_half(Tensor x) { return as_long(x, x.valid() ? x.shape().back() / 2 + 1 : 0); }

}  // namespace

Result<Values> dft(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const auto axis_input, call.moved("axis"));
  const int64_t standard = call.version() < 20 ? 1 : -2;
  LATHE_ASSIGN_OR_RETURN(
      const int axis,
      call.axis(axis_input && axis_input->size() == 1 ? (*axis_input)[0] : standard, call.rank(0)));
  if (axis == call.rank(0) - 1) return call.reject("its last axis is that of the parts of numbers");
  LATHE_ASSIGN_OR_RETURN(ops::Complex x, complex_of(call, call.tensor(0), axis));
  const bool is_inverse = call.int_of("inverse", 0) != 0;
  const bool is_half = call.int_of("onesided", 0) != 0;
  const int64_t size = x.real.shape().back();
  int64_t length = is_inverse && is_half ? 2 * (size - 1) : size;
  if (call.has(1)) {
    LATHE_ASSIGN_OR_RETURN(length, call.integer(1));
  }
  if (length <= 0 || length > kMaxElements) {
    return call.reject(concat("dft_length ", length, " is no length"));
  }
  if (is_inverse && is_half) {
    return interleaved(call, {ops::inverse_real_transform(x, length)}, axis);
  }
  x = {as_long(x.real, length), as_long(x.imaginary, length)};
  ops::Complex spectrum = ops::fourier_transform(x, is_inverse);
  if (is_half) spectrum = {first_half(spectrum.real), first_half(spectrum.imaginary)};
  return interleaved(call, spectrum, axis);
}

Result<Values> stft(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const int64_t step, call.integer(1));
  if (call.rank(0) < 2)
    return call.reject(concat("input ", bracketed(call.shape(0)), " is no signal"));
  Tensor signal = call.tensor(0);
  Builder& builder = call.builder();
  if (signal.rank() == 2) signal = ops::expand_dims(signal, 2);
  int64_t length = call.has(2) && call.rank(2) == 1 ? call.shape(2)[0] : signal.shape()[1];
  if (call.has(3)) {
    LATHE_ASSIGN_OR_RETURN(length, call.integer(3));
  }
  if (call.has(2) && call.rank(2) != 1) {
    return call.reject(concat("window ", bracketed(call.shape(2)), " is not one of [length]"));
  }
  LATHE_ASSIGN_OR_RETURN(ops::Complex x, complex_of(call, signal, 1));
  const auto framed = [&](Tensor part) {
    if (!part.valid()) return part;
    Tensor frames = ops::frames_of(part, length, step);
    if (call.has(2)) frames = frames * as_long(builder.cast(call.tensor(2), DType::F32), length);
    return frames;
  };
  x = {framed(x.real), framed(x.imaginary)};
  ops::Complex spectrum = ops::fourier_transform(x, false);
  if (call.int_of("onesided", 1) != 0) {
    spectrum = {first_half(spectrum.real), first_half(spectrum.imaginary)};
  }
  return interleaved(call, spectrum, 2);
}

namespace {

// sum over k of terms[k] cos(2πk i / n), where n is the size, or one less of a symmetric window.
Result<Values> window(Call& call, const std::vector<double>& terms) {
  LATHE_ASSIGN_OR_RETURN(const Type type, output_type(call));
  LATHE_ASSIGN_OR_RETURN(const int64_t size, call.integer(0));
  if (size < 0 || size > kMaxElements) return call.reject(concat("size ", size, " is no size"));
  const auto span = static_cast<double>(call.int_of("periodic", 1) != 0 ? size : size - 1);
  std::vector<double> values;
  for (int64_t i = 0; i < size; ++i) {
    double sum = 0;
    for (size_t k = 0; k < terms.size(); ++k) {
      const double turns = span == 0 ? 0 : static_cast<double>(i) / span;
      sum += terms[k] * std::cos(2 * std::numbers::pi * static_cast<double>(k) * turns);
    }
    values.push_back(sum);
  }
  return Values{numbers_content(type, {size}, values)};
}

}  // namespace

Result<Values> hann_window(Call& call) { return window(call, {0.5, -0.5}); }
Result<Values> hamming_window(Call& call) { return window(call, {25.0 / 46, -21.0 / 46}); }
Result<Values> blackman_window(Call& call) { return window(call, {0.42, -0.5, 0.08}); }

Result<Values> mel_weight_matrix(Call& call) {
  LATHE_ASSIGN_OR_RETURN(const Type type, output_type(call));
  LATHE_ASSIGN_OR_RETURN(const int64_t bins, call.integer(0));
  LATHE_ASSIGN_OR_RETURN(const int64_t length, call.integer(1));
  LATHE_ASSIGN_OR_RETURN(const int64_t rate, call.integer(2));
  LATHE_ASSIGN_OR_RETURN(const double lowest, call.number(3));
  LATHE_ASSIGN_OR_RETURN(const double highest, call.number(4));
  const int64_t rows = length / 2 + 1;
  if (bins < 0 || length < 0 || rate <= 0 || bins > kMaxElements || length > kMaxElements ||
      bins * rows > kMaxElements) {
    return call.reject(concat(bins, " bins of ", length, " numbers at rate ", rate, " are none"));
  }
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const double step = (mel(highest) - mel(lowest)) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t k = 0; k < bins + 2; ++k) {
    const double at = static_cast<double>(k) * step + mel(lowest);
    const double hertz = 700 * (std::pow(10, at / 2595) - 1);
    edges.push_back(static_cast<int64_t>(
        std::floor(static_cast<double>(length + 1) * hertz / static_cast<double>(rate))));
    if (edges.back() < 0 || edges.back() > rows) {
      return call.reject(
          concat("edges from ", lowest, " to ", highest, " are outside the spectrum"));
    }
  }
  std::vector<double> weights(rows * bins);
  for (size_t k = 0; k < static_cast<size_t>(bins); ++k) {
    const int64_t left = edges[k], centre = edges[k + 1], right = edges[k + 2];
    const auto set = [&](int64_t row, int64_t part, int64_t denominator) {
      if (row >= rows) return;
      weights[static_cast<size_t>(row * bins) + k] =
          static_cast<double>(part) / static_cast<double>(denominator);
    };
    if (centre == left) set(centre, 1, 1);
    for (int64_t row = left; centre > left && row <= centre; ++row)
      set(row, row - left, centre - left);
    for (int64_t row = centre; row < right; ++row) set(row, right - row, right - centre);
  }
  return Values{numbers_content(type, {rows, bins}, weights)};
}

}  // namespace lathe::onnx::rows
