// Limits of tracing, and the names of nodes in errors.
#include <algorithm>

#include "lathe/base/text.h"
#include "lathe/import/onnx/trace/tracer.h"

namespace lathe::onnx {

namespace {

constexpr int64_t kBytesOfString = sizeof(std::string);
// Of longer errors, not every function and branch around the innermost node is named.
constexpr size_t kLongError = 300;

int64_t bytes_of(const Content& content) {
  int64_t bytes = 0;
  for (const std::string& each : content.strings) bytes += static_cast<int64_t>(each.size());
  return bytes;
}

}  // namespace

std::string Tracer::named(const NodeProto& node, std::string_view why) {
  std::string name(clipped(node.op_type));
  if (!node.name.empty()) append(name, " '", clipped(node.name), '\'');
  return concat(name, ": ", why);
}

Status Tracer::spend(int64_t steps) {
  steps_left_ -= std::min(steps, kMaxSteps + 1);
  if (steps_left_ >= 0) return {};
  return fail(concat("tracing the model needs more than ", kMaxSteps, " steps"));
}

Status Tracer::claim(int64_t strings, int64_t bytes) {
  const bool fits = strings <= kMaxStringBytes / kBytesOfString && bytes <= kMaxStringBytes &&
                    strings * kBytesOfString + bytes <= bytes_left_;
  if (fits) return {};
  return fail(concat("the strings of the model, and those computed from them, need more than ",
                     kMaxStringBytes, " bytes"));
}

Status Tracer::spend(const NodeProto& node, const Values& operands) {
  size_t steps = node.outputs.size() + 16 * node.attributes.size();
  for (const Value& each : operands) steps += 1 + 8 * each.elements.size();
  return spend(static_cast<int64_t>(steps));
}

// Of results that are no operands.
Status Tracer::check_strings(const Call& call, const Values& results) {
  for (const Value& each : results) {
    if (!each.is_tensor() || each.type != Type::String || !each.constant) continue;
    bool is_operand = false;
    for (size_t k = 0; k < call.operands() && !is_operand; ++k) {
      is_operand = call.operand(k).constant == each.constant;
    }
    if (is_operand) continue;
    const int64_t strings = static_cast<int64_t>(each.constant->strings.size());
    const int64_t bytes = bytes_of(*each.constant);
    LATHE_TRY(claim(strings, bytes));
    bytes_left_ -= strings * kBytesOfString + bytes;
    LATHE_TRY(spend(strings));
  }
  return {};
}

std::unexpected<Error> Tracer::failed(const NodeProto& node, std::string_view why) const {
  if (depth_ > 0 && why.size() > kLongError) return fail(std::string(why));
  return fail(named(node, why));
}

}  // namespace lathe::onnx
