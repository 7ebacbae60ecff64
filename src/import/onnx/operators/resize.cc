// Resize and Upsample: one axis after the other, each element a weighted sum of input elements.
#include <algorithm>
#include <cmath>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/operators/quantized.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/import/onnx/trace/tracer.h"
#include "lathe/ops/images/resample.h"

namespace lathe::onnx::rows {

namespace {

// Maximum size of a resized axis: each of its elements has a list of weights.
constexpr double kMaxSize = 1 << 22;
// Maximum elements of the matrix of weights, for elements with many of them.
constexpr int64_t kMaxWeights = int64_t{1} << 26;

struct Resizing {
  std::string mode, coordinates, nearest;
  double cubic = -0.75, extrapolation = 0;
  bool exclude_outside = false, antialias = false;
};

// One axis: its size, the new one, their ratio, and the cropped range.
struct Axis {
  int64_t in = 1, out = 1;
  double scale = 1, begin = 0, end = 1;
  bool is_sized = false;  // scale is the ratio of the sizes, but rounded

  // A length on the new axis, on the old one; by scales, which are F32, rounded as their quotients.
  double before(double length) const {
    return is_sized ? length * static_cast<double>(in) / static_cast<double>(out)
                    : static_cast<float>(length / scale);
  }
  bool stays() const { return in == out && scale == 1 && begin == 0 && end == 1; }
};

// The coordinate of element o of the new axis on the old one.
double position(const Resizing& how, const Axis& axis, double o) {
  const auto in = static_cast<double>(axis.in);
  const double width = axis.scale * in;
  if (how.coordinates == "align_corners") return width == 1 ? 0 : o * (in - 1) / (width - 1);
  if (how.coordinates == "asymmetric") return axis.before(o);
  if (how.coordinates == "tf_crop_and_resize") {
    const double part = (axis.end - axis.begin) * (in - 1);
    return axis.begin * (in - 1) + (width == 1 ? part / 2 : o * part / (width - 1));
  }
  double centre = axis.before(o + 0.5);
  if (how.coordinates == "tf_half_pixel_for_nn") return centre;
  if (how.coordinates == "half_pixel_symmetric") {
    centre = static_cast<float>(in / 2 * (1 - static_cast<double>(axis.out) / width) + centre);
  }
  return how.coordinates == "pytorch_half_pixel" && axis.out == 1 ? 0 : centre - 0.5;
}

double nearest(std::string_view mode, double x, double scale) {
  if (mode == "inside") return scale < 1 ? std::ceil(x) : std::floor(x);
  if (mode == "floor") return std::floor(x);
  if (mode == "ceil") return std::ceil(x);
  return mode == "round_prefer_ceil" ? std::floor(x + 0.5) : std::ceil(x - 0.5);
}

double cubic(double a, double x) {
  x = std::fabs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

// The elements around x and their weights; indices outside are clamped.
ops::Taps taps_at(const Resizing& how, const Axis& axis, double x) {
  const int64_t last = axis.in - 1;
  const auto inside = [&](double index) {
    return std::clamp<int64_t>(static_cast<int64_t>(index), 0, last);
  };
  if (how.mode == "nearest") return {{inside(nearest(how.nearest, x, axis.scale)), 1}};
  const bool is_cubic = how.mode == "cubic";
  const double stretch = how.antialias ? std::min(axis.scale, 1.0) : 1;
  const double reach = (is_cubic ? 2 : 1) / stretch;
  ops::Taps taps;
  double total = 0;
  for (double index = std::floor(x - reach) + 1; index < x + reach; ++index) {
    const double distance = (index - x) * stretch;
    const double weight = is_cubic ? cubic(how.cubic, distance) : 1 - std::fabs(distance);
    if (how.exclude_outside && (index < 0 || index > static_cast<double>(last))) continue;
    total += weight;
    if (weight == 0) continue;
    const int64_t at = inside(index);
    if (!taps.empty() && taps.back().first == at) {
      taps.back().second += weight;
    } else {
      taps.emplace_back(at, weight);
    }
  }
  if (taps.empty()) return {{inside(x), 1}};
  for (auto& [index, weight] : taps) weight /= total == 0 ? 1 : total;
  return taps;
}

Tensor resized(Tensor x, int axis, const Axis& to, const Resizing& how) {
  std::vector<ops::Taps> taps;
  std::vector<int64_t> is_outside;
  for (int64_t o = 0; o < to.out; ++o) {
    const double at = position(how, to, static_cast<double>(o));
    taps.push_back(taps_at(how, to, at));
    is_outside.push_back(at < 0 || at > static_cast<double>(to.in - 1));
  }
  const Tensor y = ops::resample(x, axis, taps);
  const bool crops = how.coordinates == "tf_crop_and_resize" &&
                     std::ranges::find(is_outside, 1) != is_outside.end();
  if (!crops) return y;
  Shape along(x.rank(), 1);
  along[axis] = to.out;
  const Tensor outside = cast_to(int32_constant(*x.builder, along, is_outside), DType::Bool);
  return select(outside, number_like(y, how.extrapolation), y);
}

// The numbers of operand i, one or two for each axis.
Result<std::vector<double>> floats(Call& call, size_t i, size_t max_count) {
  LATHE_ASSIGN_OR_RETURN(const Content content, call.content(i));
  if (content.type == Type::String || content.count() > static_cast<int64_t>(max_count)) {
    return call.reject(concat("input ", i, " must have up to ", max_count, " numbers, is ",
                              text(content.type), bracketed(content.shape)));
  }
  std::vector<double> values;
  for (int64_t k = 0; k < content.count(); ++k) values.push_back(content.number(k));
  return values;
}

// Sizes of the new axes from the operands for the chosen ones.
Status set_sizes(Call& call, const std::vector<int>& chosen, std::span<const double> scales,
                 std::span<const int64_t> sizes, std::vector<Axis>& axes) {
  if ((scales.empty() ? sizes.size() : scales.size()) != chosen.size()) {
    return call.reject(concat("needs as many scales or sizes as axes, ", chosen.size(), ", not ",
                              scales.size(), " and ", sizes.size()));
  }
  LATHE_ASSIGN_OR_RETURN(
      const auto policy,
      call.choice_of("keep_aspect_ratio_policy", {"stretch", "not_larger", "not_smaller"}));
  double shared = policy == "not_larger" ? kMaxSize : 0;
  for (size_t k = 0; k < chosen.size(); ++k) {
    Axis& axis = axes[chosen[k]];
    const auto in = static_cast<double>(axis.in);
    // A product of F32, as in ONNX's shape inference: 5 by 1.8f is 9.
    const double out = scales.empty() ? static_cast<double>(sizes[k])
                                      : static_cast<double>(static_cast<float>(in * scales[k]));
    if (in == 0 && out == 0) continue;
    axis.scale = scales.empty() ? out / in : scales[k];
    if (axis.in == 0 || !(out >= 0) || out > kMaxSize || !(axis.scale > 0)) {
      return call.reject(
          concat("axis ", chosen[k], " of size ", axis.in, " cannot have size ", out));
    }
    axis.out = static_cast<int64_t>(out);
    axis.is_sized = scales.empty();
    shared = policy == "not_larger" ? std::min(shared, axis.scale) : std::max(shared, axis.scale);
  }
  if (policy == "stretch" || !scales.empty()) return {};
  for (const int k : chosen) {
    Axis& axis = axes[k];
    axis.scale = shared;
    axis.is_sized = false;
    axis.out = static_cast<int64_t>(shared * static_cast<double>(axis.in) + 0.5);
  }
  return {};
}

Result<Values> resize_axes(Call& call, const std::vector<Axis>& axes, const Resizing& how) {
  const Tensor x = call.tensor(0);
  // Whatever the scales, which sizes round: so ONNX Runtime has it.
  const auto stays = [](const Axis& axis) { return axis.in == axis.out; };
  if (how.coordinates != "tf_crop_and_resize" && std::ranges::all_of(axes, stays)) return Values{x};
  const bool is_picked = how.mode == "nearest";
  Tensor y = is_picked ? x : in_floats(x);
  // Rows last: the weighted sums are then over complete rows.
  for (size_t k = axes.size(); k-- > 0;) {
    if (how.antialias && axes[k].in > kMaxWeights / std::max<int64_t>(axes[k].out, 1)) {
      return call.reject(concat("axis ", k, " of size ", axes[k].in, " needs too many weights for ",
                                axes[k].out, " elements without aliases"));
    }
    if (axes[k].stays()) continue;
    y = resized(y, static_cast<int>(k), axes[k], how);
    // Integers lose their fraction at the end, but for antialiasing, which rounds each axis.
    if (!how.antialias || is_picked || !scalar::is_integer(x.dtype())) continue;
    y = map(Op::Floor, y + 0.5f);
    y = in_floats(quantize(y, number_like(y, 1), {}, call.type(0)));
  }
  return Values{cast_like(y, x)};
}

std::vector<Axis> axes_of(const Shape& shape) {
  std::vector<Axis> axes;
  for (const int64_t size : shape) axes.push_back({size, size});
  return axes;
}

}  // namespace

// Version 10 has scales as input 1, and neither roi nor modes of coordinates; nor has Upsample.
// If it shrinks an axis, the nearest element is the next one (tests of ONNX 1.5).
Result<Values> resize(Call& call) {
  const bool is_old = call.version() < 11 || call.op() == "Upsample";
  LATHE_ASSIGN_OR_RETURN(const auto mode,
                         call.choice_of("mode", {"nearest", "linear", "cubic", "bilinear"}));
  Resizing how{.mode = std::string(mode), .coordinates = "asymmetric", .nearest = "inside"};
  if (how.mode == "bilinear") how.mode = "linear";
  std::vector<Axis> axes = axes_of(call.shape(0));
  std::vector<int> chosen;
  for (const int64_t each : call.ints_of("axes")) {
    LATHE_ASSIGN_OR_RETURN(const int axis, call.axis(each, call.rank(0)));
    chosen.push_back(axis);
  }
  for (size_t k = 0; chosen.size() < axes.size() && !call.has_attribute("axes"); ++k) {
    chosen.push_back(static_cast<int>(k));
  }
  std::vector<double> scales;
  std::vector<int64_t> sizes;
  if (is_old && call.operands() < 2) {
    for (const float each : call.floats_of("scales")) scales.push_back(each);
  } else {
    const size_t at = is_old ? 1 : 2;
    if (call.has(at)) {
      LATHE_ASSIGN_OR_RETURN(scales, floats(call, at, axes.size()));
    }
    if (!is_old && call.has(3)) {
      LATHE_ASSIGN_OR_RETURN(sizes, call.integers(3));
    }
  }
  if (!is_old) {
    LATHE_ASSIGN_OR_RETURN(
        how.coordinates,
        call.choice_of("coordinate_transformation_mode",
                       {"half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel",
                        "half_pixel_symmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"}));
    LATHE_ASSIGN_OR_RETURN(
        how.nearest, call.choice_of("nearest_mode", {"round_prefer_floor", "round_prefer_ceil",
                                                     "floor", "ceil", "simple"}));
    how.cubic = call.float_of("cubic_coeff_a", -0.75f);
    how.extrapolation = call.float_of("extrapolation_value", 0);
    how.exclude_outside = call.int_of("exclude_outside", 0) != 0;
    how.antialias = call.int_of("antialias", 0) != 0;
  }
  const PaddedAxes* rows = call.tracer().padded_axes();
  for (const int axis : chosen) {
    const bool is_sized = rows != nullptr && scales.empty();
    if (is_sized && rows->is_padded(call.operand(0).tensor, axis)) return call.reject_length();
  }
  LATHE_TRY(set_sizes(call, chosen, scales, sizes, axes));
  if (how.coordinates == "tf_crop_and_resize") {
    LATHE_ASSIGN_OR_RETURN(const std::vector<double> roi, floats(call, 1, 2 * chosen.size()));
    if (roi.size() != 2 * chosen.size()) {
      return call.reject(concat("roi must have ", 2 * chosen.size(), " numbers, has ", roi.size()));
    }
    for (size_t k = 0; k < chosen.size(); ++k) {
      axes[chosen[k]].begin = roi[k];
      axes[chosen[k]].end = roi[chosen.size() + k];
    }
  }
  return resize_axes(call, axes, how);
}

}  // namespace lathe::onnx::rows
