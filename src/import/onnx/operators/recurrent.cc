// RNN, GRU and LSTM as loops over their steps. Weights of gates are concatenated by rows; the
// product of x for all gates and steps is one matrix product before the loop.
#include <algorithm>
#include <cmath>
#include <functional>

#include "lathe/base/text.h"
#include "lathe/import/onnx/operators/products.h"
#include "lathe/import/onnx/operators/quantized.h"
#include "lathe/import/onnx/trace/operators.h"
#include "lathe/ops/elementwise/activations.h"
#include "lathe/ops/elementwise/arithmetic.h"
#include "lathe/ops/movement/indexing.h"
#include "lathe/ops/movement/movement.h"
#include "lathe/ops/reduction/recurrence.h"

namespace lathe::onnx::rows {

using graph::Builder;
using graph::Op;
using Activation = std::function<Tensor(Tensor x)>;

namespace {

struct ActivationRow {
  std::string_view name;
  float alpha, beta;  // defaults
  bool has_alpha, has_beta;
  Tensor (*function)(Tensor x, float alpha, float beta);
};

constexpr ActivationRow kActivations[] = {
    {"relu", 0, 0, false, false, [](Tensor x, float, float) { return ops::relu(x); }},
    {"tanh", 0, 0, false, false, [](Tensor x, float, float) { return ops::tanh(x); }},
    {"sigmoid", 0, 0, false, false, [](Tensor x, float, float) { return ops::sigmoid(x); }},
    {"affine", 1, 0, true, true, [](Tensor x, float a, float b) { return x * a + b; }},
    {"leakyrelu", 0.01f, 0, true, false,
     [](Tensor x, float a, float) { return ops::leaky_relu(x, a); }},
    {"thresholdedrelu", 1, 0, true, false,
     [](Tensor x, float a, float) { return select(x > zero(x) + a, x, zero(x)); }},
    {"scaledtanh", 1, 1, true, true, [](Tensor x, float a, float b) { return tanh(x * b) * a; }},
    {"hardsigmoid", 0.2f, 0.5f, true, true,
     [](Tensor x, float a, float b) {
       return minimum(maximum(x * a + b, zero(x)), zero(x) + 1.0f);
     }},
    {"elu", 1, 0, true, false, [](Tensor x, float a, float) { return ops::elu(x, a); }},
    {"softsign", 0, 0, false, false, [](Tensor x, float, float) { return ops::softsign(x); }},
    {"softplus", 0, 0, false, false, [](Tensor x, float, float) { return ops::softplus(x); }},
    {"clip", 0, 0, true, true,
     [](Tensor x, float a, float b) { return minimum(maximum(x, zero(x) + a), zero(x) + b); }},
};

Result<const ActivationRow*> row_of(const Call& call, std::string name) {
  std::ranges::transform(name, name.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const auto* row = std::ranges::find(kActivations, name, &ActivationRow::name);
  if (row == std::end(kActivations)) {
    return call.reject(concat("knows no activation '", name, '\''));
  }
  return row;
}

// What all three have in common.
struct Cells {
  Call& call;
  int64_t gates, hidden = 0, steps = 0, batch = 0, directions = 1;
  Tensor x = {};  // [steps, batch, input], of f32: activations are of no longer floats
  DType dtype = DType::F32;
  Tensor lengths = {};  // [batch] where not all are of all steps
  float clip = 0;       // 0: none
  std::vector<Activation> activations = {};

  std::string_view way = {};  // the attribute direction

  bool is_batch_first() const { return call.int_of("layout", 0) != 0; }
  bool is_reverse(int64_t direction) const { return direction == 1 || way == "reverse"; }
  Tensor clipped(Tensor each) const {
    return clip > 0 ? minimum(maximum(each, zero(each) - clip), zero(each) + clip) : each;
  }
  // Function number k of this direction.
  Tensor activate(int64_t direction, size_t k, Tensor each) const {
    return unclipped(direction, k, clipped(each));
  }
  Tensor unclipped(int64_t direction, size_t k, Tensor each) const {
    const size_t one = activations.size() / static_cast<size_t>(directions);
    return activations[static_cast<size_t>(direction) * one + k](each);
  }
  // DynamicQuantizeLSTM: its weights are transposed, and their operands are quantized, too.
  bool has_bytes() const { return call.has(8); }
  // Operand number i of this direction, without that axis; [batch, hidden] of initial values.
  Tensor part(size_t i, int64_t direction, int axis = 0) const {
    const Tensor all = call.builder().cast(call.tensor(i), DType::F32);
    if (all.rank() <= axis) return call.builder().error(concat("input ", i, " requires more axes"));
    Shape begin(all.shape().size(), 0), size = all.shape();
    begin[axis] = direction;
    size[axis] = 1;
    const Tensor one = ops::slice(all, begin, size);
    size.erase(size.begin() + axis);
    return call.builder().reshape(one, size);
  }
  // The dequantized weights of operand 1 or 2.
  Tensor weights(size_t i, int64_t direction) const {
    const Tensor w = part(i, direction);
    return has_bytes() ? dequantize(w, part(6 + 2 * i, direction), part(7 + 2 * i, direction)) : w;
  }
  Tensor product(Tensor left, Tensor w) const {
    if (has_bytes()) {
      const DynamicallyQuantized bytes = dynamic_quantize(call, left);
      left = dequantize(bytes.values, bytes.scale, bytes.zero_point);
    }
    return left.builder->matmul(left, w, false, !has_bytes());
  }
  Tensor initial(size_t i, int64_t direction) const {
    if (!call.has(i)) return call.builder().full({batch, hidden}, scalar::Number::of(0.0f));
    const Shape actual = call.shape(i);
    const Shape shape =
        is_batch_first() ? Shape{batch, directions, hidden} : Shape{directions, batch, hidden};
    if (actual != shape) {
      return call.builder().error(
          concat("initial state ", bracketed(actual), " must be ", bracketed(shape)));
    }
    return part(i, direction, is_batch_first() ? 1 : 0);
  }
};

// The gate number k of a row of all gates.
Tensor gate(Tensor all, int64_t k, int64_t hidden, int64_t count = 1) {
  if (all.rank() == 0) return all.builder->error("its gates require more axes");
  Shape begin(all.shape().size(), 0), size = all.shape();
  begin.back() = k * hidden;
  size.back() = count * hidden;
  return ops::slice(all, begin, size);
}

Status read_activations(Cells& cells, const std::vector<std::string>& standard) {
  Call& call = cells.call;
  std::vector<std::string> names = call.strings_of("activations");
  if (names.empty()) {
    for (int64_t k = 0; k < cells.directions; ++k) {
      names.insert(names.end(), standard.begin(), standard.end());
    }
  }
  const size_t count = standard.size() * static_cast<size_t>(cells.directions);
  if (names.size() != count) {
    return call.reject(concat("expects ", count, " activations, has ", names.size()));
  }
  const std::vector<float> alphas = call.floats_of("activation_alpha");
  const std::vector<float> betas = call.floats_of("activation_beta");
  size_t alpha = 0, beta = 0;
  for (const std::string& name : names) {
    LATHE_ASSIGN_OR_RETURN(const ActivationRow* row, row_of(call, name));
    const float a = row->has_alpha && alpha < alphas.size() ? alphas[alpha++] : row->alpha;
    const float b = row->has_beta && beta < betas.size() ? betas[beta++] : row->beta;
    cells.activations.push_back([=](Tensor x) { return row->function(x, a, b); });
  }
  return {};
}

Result<Cells> read_cells(Call& call, int64_t gates, const std::vector<std::string>& standard) {
  if (call.rank(0) != 3 || call.rank(1) != 3 || call.rank(2) != 3) {
    return call.reject("x, W and R must have three axes");
  }
  Cells cells{.call = call, .gates = gates};
  Shape w = call.shape(1), r = call.shape(2);
  if (cells.has_bytes()) {
    std::swap(w[1], w[2]);
    std::swap(r[1], r[2]);
  }
  LATHE_ASSIGN_OR_RETURN(cells.way,
                         call.choice_of("direction", {"forward", "reverse", "bidirectional"}));
  cells.directions = cells.way == "bidirectional" ? 2 : 1;
  cells.hidden = r[2];
  cells.dtype = dtype_of(call.type(0));
  cells.x = call.builder().cast(call.tensor(0), DType::F32);
  if (cells.is_batch_first()) cells.x = call.builder().permute(cells.x, {1, 0, 2});
  const Shape x = cells.x.shape();
  if (w != Shape{cells.directions, gates * cells.hidden, x[2]} ||
      r != Shape{cells.directions, gates * cells.hidden, cells.hidden}) {
    return call.reject(concat("W ", bracketed(w), " and R ", bracketed(r), " do not fit x ",
                              bracketed(call.shape(0))));
  }
  cells.steps = x[0];
  cells.batch = x[1];
  cells.clip = call.float_of("clip", 0);
  if (call.has(4)) {
    const auto& lengths_constant = call.operand(4).constant;
    bool all_full = lengths_constant != nullptr;
    for (int64_t k = 0; all_full && k < lengths_constant->count(); ++k) {
      all_full = lengths_constant->integer(k) == cells.steps;
    }
    if (!all_full) cells.lengths = call.tensor(4);
  }
  LATHE_TRY(read_activations(cells, standard));
  return cells;
}

// One step: the next states from the gates' part of x and the states.
using Cell = std::function<std::vector<Tensor>(Tensor x, std::span<const Tensor> states,
                                               std::span<const Tensor> weights)>;

// All hidden states [steps, batch, hidden], then the final states.
std::vector<Tensor> direction(const Cells& cells, bool is_reverse, Tensor shares,
                              std::vector<Tensor> initial, const std::vector<Tensor>& weights,
                              const Cell& cell) {
  Builder& builder = cells.call.builder();
  std::vector<Tensor> slices = {shares};
  const bool has_lengths = cells.lengths.valid();
  if (has_lengths) {
    if (is_reverse) slices[0] = ops::reverse_sequence(shares, cells.lengths, 1, 0);
    const Tensor length =
        builder.reshape(builder.cast(cells.lengths, DType::I32), {1, cells.batch, 1});
    slices.push_back(builder.iota({cells.steps, 1, 1}, 0) < length);
  }
  const auto body = [&](const ops::ScanStep& step) {
    ops::ScanResult result{cell(step.slices[0], step.carried, step.invariants), {}};
    result.stacked = {result.carried[0]};
    if (!has_lengths) return result;
    result.stacked[0] = select(step.slices[1], result.stacked[0], zero(result.stacked[0]));
    for (size_t k = 0; k < result.carried.size(); ++k) {
      result.carried[k] = select(step.slices[1], result.carried[k], step.carried[k]);
    }
    return result;
  };
  const ops::ScanOptions options{.steps = cells.steps, .reverse = is_reverse && !has_lengths};
  ops::ScanResult result = ops::scan(builder, options, initial, slices, weights, body);
  if (result.stacked.empty()) return {};
  if (has_lengths) {
    if (is_reverse) {
      result.stacked[0] = ops::reverse_sequence(result.stacked[0], cells.lengths, 1, 0);
    }
    // What no step has reached is 0, as in ONNX Runtime.
    const Tensor has_steps =
        builder.reshape(builder.cast(cells.lengths, DType::Bool), {cells.batch, 1});
    for (Tensor& each : result.carried) each = select(has_steps, each, zero(each));
  }
  result.carried.insert(result.carried.begin(), result.stacked[0]);
  return result.carried;
}

// x·Wᵀ and a bias, of all steps: [steps, batch, gates * hidden].
Tensor shares_of(const Cells& cells, int64_t direction, Tensor bias) {
  Builder& builder = cells.call.builder();
  const Tensor rows = builder.reshape(cells.x, {cells.steps * cells.batch, cells.x.shape()[2]});
  Tensor shares = cells.product(rows, cells.weights(1, direction));
  if (bias.valid()) shares = shares + bias;
  return builder.reshape(shares, {cells.steps, cells.batch, cells.gates * cells.hidden});
}

// The results of all directions in the layout of the operator.
Values assembled(const Cells& cells, const std::vector<std::vector<Tensor>>& results) {
  Builder& builder = cells.call.builder();
  Values values;
  for (size_t k = 0; k < results[0].size(); ++k) {
    std::vector<Tensor> each;
    for (const auto& of : results) each.push_back(of[k]);
    // [steps, batch, hidden] get the directions after the steps, or after the batch.
    const int axis = k == 0 ? (cells.is_batch_first() ? 2 : 1) : (cells.is_batch_first() ? 1 : 0);
    Tensor all = ops::stack(each, axis);
    if (k == 0 && cells.is_batch_first()) all = builder.permute(all, {1, 0, 2, 3});
    values.emplace_back(builder.convert(all, cells.dtype));
  }
  return values;
}

// The two biases of a direction, for x and for the hidden state.
struct Biases {
  Tensor x = {}, hidden = {};
  Tensor sum() const { return x.valid() ? x + hidden : x; }
};
Biases biases_of(const Cells& cells, int64_t direction) {
  if (!cells.call.has(3)) return {};
  const Tensor both = cells.part(3, direction);
  return {gate(both, 0, cells.hidden, cells.gates),
          gate(both, cells.gates, cells.hidden, cells.gates)};
}

Result<Values> all_directions(Cells& cells,
                              const std::function<std::vector<Tensor>(int64_t)>& one) {
  std::vector<std::vector<Tensor>> results;
  for (int64_t d = 0; d < cells.directions; ++d) {
    results.push_back(one(d));
    if (results.back().empty()) return Values{};
  }
  return assembled(cells, results);
}

}  // namespace

Result<Values> rnn(Call& call) {
  LATHE_ASSIGN_OR_RETURN(Cells cells, read_cells(call, 1, {"tanh"}));
  return all_directions(cells, [&](int64_t d) {
    const Cell cell = [&](Tensor x, std::span<const Tensor> states, std::span<const Tensor> w) {
      const Tensor sum = x + x.builder->matmul(states[0], w[0], false, true);
      return std::vector{cells.activate(d, 0, sum)};
    };
    const Tensor shares = shares_of(cells, d, biases_of(cells, d).sum());
    return direction(cells, cells.is_reverse(d), shares, {cells.initial(5, d)}, {cells.part(2, d)},
                     cell);
  });
}

Result<Values> gru(Call& call) {
  LATHE_ASSIGN_OR_RETURN(Cells cells, read_cells(call, 3, {"sigmoid", "tanh"}));
  const int64_t h = cells.hidden;
  const bool is_linear_first = call.int_of("linear_before_reset", 0) != 0;
  return all_directions(cells, [&](int64_t d) {
    // Gates z, r, h.
    const Cell cell = [&](Tensor x, std::span<const Tensor> states, std::span<const Tensor> w) {
      Builder& builder = *x.builder;
      const Tensor before = states[0];
      Tensor gates = builder.matmul(before, w[0], false, true);
      if (is_linear_first && w.size() > 1) gates = gates + w[1];
      const Tensor both = cells.activate(d, 0, gate(x, 0, h, 2) + gate(gates, 0, h, 2));
      const Tensor z = gate(both, 0, h), r = gate(both, 1, h);
      const Tensor recurrent_part =
          is_linear_first ? r * gate(gates, 2, h) : builder.matmul(r * before, w[1], false, true);
      const Tensor next = cells.activate(d, 1, gate(x, 2, h) + recurrent_part);
      return std::vector{next + z * (before - next)};
    };
    const Biases biases = biases_of(cells, d);
    const Tensor r = cells.part(2, d);
    std::vector<Tensor> weights = {r};
    if (!is_linear_first) {
      weights = {ops::slice(r, {0, 0}, Shape{2 * h, h}), ops::slice(r, {2 * h, 0}, Shape{h, h})};
    } else if (biases.hidden.valid()) {
      weights.push_back(biases.hidden);
    }
    const Tensor shares = shares_of(cells, d, is_linear_first ? biases.x : biases.sum());
    return direction(cells, cells.is_reverse(d), shares, {cells.initial(5, d)}, weights, cell);
  });
}

Result<Values> lstm(Call& call) {
  LATHE_ASSIGN_OR_RETURN(Cells cells, read_cells(call, 4, {"sigmoid", "tanh", "tanh"}));
  const int64_t h = cells.hidden;
  const bool is_coupled = call.int_of("input_forget", 0) != 0;
  return all_directions(cells, [&](int64_t d) {
    // Gates i, o, f, c; peepholes i, o, f.
    const Cell cell = [&](Tensor x, std::span<const Tensor> states, std::span<const Tensor> w) {
      const Tensor memory = states[1];
      const Tensor gates = x + cells.product(states[0], w[0]);
      const auto sees = [&](int64_t k, Tensor each, Tensor what) {
        return w.size() > 1 ? each + gate(w[1], k, h) * what : each;
      };
      const Tensor i = cells.activate(d, 0, sees(0, gate(gates, 0, h), memory));
      const Tensor f =
          is_coupled ? 1.0f - i : cells.activate(d, 0, sees(2, gate(gates, 2, h), memory));
      const Tensor c = cells.activate(d, 1, gate(gates, 3, h));
      const Tensor next = f * memory + i * c;
      const Tensor o = cells.activate(d, 0, sees(1, gate(gates, 1, h), next));
      return std::vector{o * cells.unclipped(d, 2, next), next};
    };
    std::vector<Tensor> weights = {cells.weights(2, d)};
    if (call.has(7)) weights.push_back(cells.part(7, d));
    const Tensor shares = shares_of(cells, d, biases_of(cells, d).sum());
    return direction(cells, cells.is_reverse(d), shares, {cells.initial(5, d), cells.initial(6, d)},
                     weights, cell);
  });
}

Result<Tensor> activated(Call& call, Tensor x) {
  const std::string name = call.string_of("activation", "");
  if (name.empty()) return x;
  LATHE_ASSIGN_OR_RETURN(const ActivationRow* row, row_of(call, name));
  const std::vector<float> parameters = call.floats_of("activation_params");
  const auto parameter = [&](size_t k, const char* each, float standard) {
    return k < parameters.size() ? parameters[k] : call.float_of(each, standard);
  };
  return row->function(x, parameter(0, "activation_alpha", row->alpha),
                       parameter(1, "activation_beta", row->beta));
}

}  // namespace lathe::onnx::rows
