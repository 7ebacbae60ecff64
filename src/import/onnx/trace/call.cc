#include "lathe/import/onnx/trace/call.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/tracer.h"

namespace lathe::onnx {

Call::Call(Tracer& tracer, const NodeProto& node, int version, std::string_view moved,
           const std::vector<AttributeProto>& around, std::vector<Value> operands)
    : tracer_(tracer),
      node_(node),
      version_(version),
      moved_(moved),
      around_(around),
      operands_(std::move(operands)),
      used_(std::make_shared<Used>()) {}

Call Call::with_operands(std::vector<Value> operands) const {
  Call other = *this;
  other.operands_ = std::move(operands);
  return other;
}

graph::Builder& Call::builder() { return tracer_.builder(); }

const Value& Call::operand(size_t i) const {
  static const Value kNone;
  used_->operands = std::max(used_->operands, i + 1);
  return i < operands_.size() ? operands_[i] : kNone;
}

Tensor Call::tensor(size_t i) { return tracer_.tensor(operand(i)); }

Result<Content> Call::content(size_t i) {
  if (!has(i)) return reject(concat("input ", i, " is missing"));
  return tracer_.content(operand(i));
}

Result<LinearIntegers> Call::linear_integers(size_t i) {
  if (!has(i)) return reject(concat("input ", i, " is missing"));
  return tracer_.linear_integers(operand(i));
}

Result<std::vector<int64_t>> Call::integers(size_t i) {
  LATHE_ASSIGN_OR_RETURN(const Content constant, content(i));
  if (constant.type == Type::String) return reject(concat("input ", i, " must be integers"));
  std::vector<int64_t> values(constant.count());
  for (size_t k = 0; k < values.size(); ++k) values[k] = constant.integer(static_cast<int64_t>(k));
  return values;
}

Result<int64_t> Call::integer(size_t i) {
  LATHE_ASSIGN_OR_RETURN(const auto values, integers(i));
  if (values.size() == 1) return values[0];
  return reject(concat("input ", i, " must be one number, has ", values.size()));
}

Result<double> Call::number(size_t i) {
  LATHE_ASSIGN_OR_RETURN(const Content constant, content(i));
  if (constant.type != Type::String && constant.count() == 1) return constant.number(0);
  return reject(concat("input ", i, " must be one number"));
}

const AttributeProto* Call::attribute(std::string_view name) const {
  const AttributeProto* found = node_.attribute(name);
  if (found == nullptr) return nullptr;
  used_->attributes |= uint64_t{1} << (found - node_.attributes.data()) % 64;
  if (!found->reference.empty()) {
    for (const AttributeProto& each : around_) {
      if (each.name == found->reference) return &each;
    }
    return nullptr;
  }
  return found->kind == AttributeProto::Kind::None ? nullptr : found;
}

int64_t Call::int_of(std::string_view name, int64_t fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? fallback : found->integer;
}

float Call::float_of(std::string_view name, float fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? fallback : found->number;
}

std::string Call::string_of(std::string_view name, std::string_view fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? std::string(fallback) : found->string;
}

Result<std::string_view> Call::choice_of(std::string_view name,
                                         std::initializer_list<std::string_view> choices) const {
  const AttributeProto* found = attribute(name);
  if (found == nullptr) return *choices.begin();
  std::string listed;
  for (const std::string_view each : choices) {
    if (each == found->string) return each;
    listed += concat(listed.empty() ? "" : ", ", each);
  }
  return reject(concat(name, " '", found->string, "' is none of ", listed));
}

std::vector<int64_t> Call::ints_of(std::string_view name, std::vector<int64_t> fallback) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? std::move(fallback) : found->integers;
}

std::vector<float> Call::floats_of(std::string_view name) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? std::vector<float>{} : found->numbers;
}

std::vector<std::string> Call::strings_of(std::string_view name) const {
  const AttributeProto* found = attribute(name);
  return found == nullptr ? std::vector<std::string>{} : found->strings;
}

std::optional<size_t> Call::input_index(std::string_view name) const {
  const std::string prefix = concat(name, ':');
  for (size_t at = 0; at < moved_.size();) {
    const size_t end = std::min(moved_.find(' ', at), moved_.size());
    const std::string_view each = moved_.substr(at, end - at);
    at = end + 1;
    if (!each.starts_with(prefix)) continue;
    const size_t since = each.find('@');
    size_t index = 0;
    int version = 0;
    std::from_chars(each.data() + prefix.size(), each.data() + since, index);
    std::from_chars(each.data() + since + 1, each.data() + each.size(), version);
    if (version_ >= version) return index;
  }
  return std::nullopt;
}

Result<std::optional<std::vector<int64_t>>> Call::moved(std::string_view name) {
  using Found = std::optional<std::vector<int64_t>>;
  if (const auto index = input_index(name)) {
    if (!has(*index)) return Found{};
    LATHE_ASSIGN_OR_RETURN(auto values, integers(*index));
    return Found{std::move(values)};
  }
  const AttributeProto* found = attribute(name);
  if (found == nullptr) return Found{};
  if (found->kind == AttributeProto::Kind::Int) return Found{{found->integer}};
  return Found{found->integers};
}

Result<std::optional<LinearIntegers>> Call::moved_linear(std::string_view name) {
  using Found = std::optional<LinearIntegers>;
  if (const auto index = input_index(name)) {
    if (!has(*index)) return Found{};
    LATHE_ASSIGN_OR_RETURN(LinearIntegers found, linear_integers(*index));
    return Found{std::move(found)};
  }
  LATHE_ASSIGN_OR_RETURN(auto values, moved(name));
  if (!values) return Found{};
  std::vector<int64_t> steps(values->size(), 0);
  return Found{LinearIntegers{std::move(*values), std::move(steps)}};
}

Result<int> Call::axis(int64_t axis, int rank) const {
  if (axis >= -rank && axis < rank) return static_cast<int>(axis < 0 ? axis + rank : axis);
  return reject(concat("axis ", axis, " is outside a tensor of ", rank, " axes"));
}

namespace {

// Attributes of operators of ai.onnx that have no effect here, or only conditionally.
constexpr std::string_view kOptional =
    " activation_alpha activation_beta allowzero antialias auto_pad axes axis beta body broadcast "
    "ceil_mode clip consumed_inputs count_include_pad cubic_coeff_a dilations dtype else_branch "
    "epsilon exclude_outside extrapolation_value hidden_size input_forget is_test keepdims "
    "kernel_shape "
    "layout linear_before_reset locale mode momentum nearest_mode norm_coefficient_post "
    "output_dtype output_padding output_sequence output_shape pads precision ratio round_mode "
    "rotary_embedding_dim saturate seed softmax_precision sorted spatial stash_type storage_order "
    "strides then_branch training_mode weights block_size num_heads num_outputs "
    "keep_aspect_ratio_policy "
    "select_last_index coordinate_transformation_mode ignore_index noop_with_empty_axes ";

}  // namespace

Status Call::check_used() const {
  if (!node_.domain.empty()) return {};
  // Operators with more inputs may read the later ones conditionally; so does Dropout.
  if (operands_.size() > used_->operands && used_->operands <= 2 && op() != "Dropout") {
    return reject(concat("expects ", used_->operands, " inputs, has ", operands_.size()));
  }
  for (size_t k = 0; k < node_.attributes.size(); ++k) {
    const std::string& name = node_.attributes[k].name;
    const bool is_used = (used_->attributes >> k % 64 & 1) != 0;
    if (is_used || kOptional.contains(concat(' ', name, ' '))) continue;
    return reject(concat("has no attribute '", name, '\''));
  }
  return {};
}

std::unexpected<Error> Call::reject(std::string_view why) const { return fail(std::string(why)); }

}  // namespace lathe::onnx
