// The losses of ONNX: of log-probabilities [n, c, …] by class numbers [n, …].
#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/arithmetic.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/movement/indexing.h"

namespace lathe::onnx::rows {

namespace {

// What each class number counts, and minus its log-probability times that: then their mean, sum, or
// each.
Result<Tensor> likelihood(Call& call, Tensor x) {
  const Shape shape = x.shape(), labels = call.shape(1);
  Shape expected = shape;
  if (expected.size() > 1) expected.erase(expected.begin() + 1);
  if (shape.size() < 2 || labels != expected) {
    return call.reject(concat("x ", bracketed(shape), " must be [n, classes, …], and the labels ",
                              bracketed(labels), " that without the classes"));
  }
  const std::string reduction = call.string_of("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none") {
    return call.reject(concat("there is no reduction '", reduction, '\''));
  }
  Builder& builder = *x.builder;
  const Tensor classes = call.tensor(1);
  const AttributeProto* ignored = call.attribute("ignore_index");
  Tensor index = cast_to(classes, DType::I32), is_ignored;
  if (ignored != nullptr) {
    const Tensor number =
        builder.full({}, scalar::Number::integer(classes.dtype(), ignored->integer));
    is_ignored = classes == number;
    index = select(is_ignored, zero(index), index);
  }
  Shape with_class_axis = labels;
  with_class_axis.insert(with_class_axis.begin() + 1, 1);
  const Tensor picked = builder.gather(x, builder.reshape(index, with_class_axis), 1);
  Tensor loss = -builder.reshape(picked, labels), weight;
  if (call.has(2)) {
    weight = ops::gather(cast_like(call.tensor(2), x), index, 0);
  } else if (ignored != nullptr) {
    weight = builder.full(labels, scalar::Number::from(x.dtype(), 1));
  }
  if (ignored != nullptr) {
    weight = select(is_ignored, zero(weight), weight);
    loss = select(is_ignored, zero(loss), loss);
  }
  if (weight.valid()) loss = loss * weight;
  if (reduction == "none") return loss;
  std::vector<int> all(labels.size());
  for (size_t k = 0; k < all.size(); ++k) all[k] = static_cast<int>(k);
  if (reduction == "sum") return sum(loss, all);
  return weight.valid() ? sum(loss, all) / sum(weight, all) : graph::mean(loss, all);
}

}  // namespace

Result<Values> negative_log_likelihood(Call& call) {
  const Tensor x = call.tensor(0);
  LATHE_ASSIGN_OR_RETURN(const Tensor loss, likelihood(call, in_floats(x)));
  return Values{cast_like(loss, x)};
}

Result<Values> softmax_cross_entropy(Call& call) {
  const Tensor x = call.tensor(0), wide = in_floats(x);
  if (x.rank() < 2) return call.reject("x must be [n, classes, …]");
  const Tensor shifted = wide - detach(max(wide, {1}, true));
  const Tensor log_softmax = shifted - log_of(sum(exp_of(shifted), {1}, true));
  LATHE_ASSIGN_OR_RETURN(const Tensor loss, likelihood(call, log_softmax));
  return Values{cast_like(loss, x), cast_like(log_softmax, x)};
}

}  // namespace lathe::onnx::rows
