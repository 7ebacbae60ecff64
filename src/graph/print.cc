// Prints nodes, their attributes and constants without loss.
#include "lathe/graph/print.h"

#include <cmath>

#include "lathe/base/text.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/infer.h"

namespace lathe::graph {

namespace {

constexpr size_t kMaxListed = 16;
constexpr char kHexDigits[] = "0123456789abcdef";

void append_quoted(std::string& out, std::string_view name) {
  out += '"';
  for (char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      append(out, '\\', c);
    } else if (byte < 0x20 || byte == 0x7f) {
      append(out, "\\x", kHexDigits[byte >> 4], kHexDigits[byte & 15]);
    } else {
      out += c;
    }
  }
  out += '"';
}

// NaNs print as their bits, so that none of them is lost except for float16, which has a single
// NaN.
void append_number(std::string& out, const scalar::Number& number) {
  switch (scalar::kind_of(number.dtype)) {
    case scalar::DTypeKind::Truth:
      append(out, number.i != 0 ? "true" : "false");
      return;
    case scalar::DTypeKind::Signed:
      append(out, number.i);
      return;
    case scalar::DTypeKind::Unsigned:
      append(out, static_cast<uint64_t>(number.i));
      return;
    case scalar::DTypeKind::Float:
      if (!std::isnan(number.as_double())) {
        number.dtype == DType::F64 ? append(out, number.d) : append(out, number.f);
        return;
      }
      out += "0x";
      for (int shift = 8 * scalar::size_of(number.dtype) - 4; shift >= 0; shift -= 4) {
        out += kHexDigits[number.bits() >> shift & 15];
      }
      return;
  }
}

void append_constant(std::string& out, const Node& node) {
  const size_t count = node.data.size() / scalar::size_of(node.dtype);
  out += ' ';
  if (is_splat(node)) {
    append_number(out, splat_value(node));
  } else if (count <= kMaxListed) {
    out += '[';
    for (size_t i = 0; i < count; ++i) {
      if (i > 0) out += ", ";
      append_number(out, load(node.dtype, node.data, static_cast<int64_t>(i)));
    }
    out += ']';
  } else {
    out += "hex ";
    for (std::byte byte : node.data) {
      append(out, kHexDigits[std::to_integer<int>(byte) >> 4],
             kHexDigits[std::to_integer<int>(byte) & 15]);
    }
  }
}

void append_affine(std::string& out, const Affine& affine) {
  bool first = true;
  for (size_t d = 0; d < affine.coefficients.size(); ++d) {
    const int64_t coefficient = affine.coefficients[d];
    if (coefficient == 0) continue;
    if (coefficient < 0) out += '-';
    if (coefficient > 0 && !first) out += '+';
    append(out, 'd', d);
    const int64_t size = coefficient < 0 ? -coefficient : coefficient;
    if (size != 1) append(out, '*', size);
    first = false;
  }
  if (first || affine.offset != 0) {
    if (!first && affine.offset > 0) out += '+';
    append(out, affine.offset);
  }
}

void append_operands(std::string& out, const Node& node) {
  for (Value operand : node.operands) append(out, " %", operand.id);
}

void append_graph(std::string& out, const Graph& graph, const std::string& indent);

void append_node(std::string& out, const Node& node, const std::string& indent) {
  append(out, text(node.kind));
  switch (node.kind) {
    case Kind::Input:
    case Kind::State:
      out += ' ';
      append_quoted(out, node.name);
      break;
    case Kind::Constant:
      append_constant(out, node);
      break;
    case Kind::Iota:
      append(out, " axis ", node.axes[0]);
      break;
    case Kind::Map:
      append(out, ' ', scalar::info(node.op).text);
      append_operands(out, node);
      if (node.exclusive) out += " exclusive";
      if (node.loose) out += " loose";
      break;
    case Kind::Reduce:
      append(out, ' ', scalar::info(node.op).text);
      append_operands(out, node);
      append(out, " axes ", bracketed(node.axes));
      if (node.exclusive) out += " exclusive";
      break;
    case Kind::Contract:
      append_operands(out, node);
      append(out, " over ", bracketed(node.contraction.extents), " out ",
             map_string(node.contraction.out), " lhs ", map_string(node.contraction.lhs), " rhs ",
             map_string(node.contraction.rhs));
      break;
    case Kind::Cast:
      append_operands(out, node);
      if (node.loose) out += " loose";
      break;
    case Kind::Reshape:
      append_operands(out, node);
      break;
    case Kind::Reindex:
      append_operands(out, node);
      append(out, " map ", map_string(node.map));
      break;
    case Kind::Join:
      for (size_t k = 0; k < node.operands.size(); ++k) {
        append(out, k > 0 ? ", %" : " %", node.operands[k].id, " at ", map_string(node.maps[k]));
      }
      break;
    case Kind::Gather:
    case Kind::Scatter:
      if (node.op != Op::Add) append(out, ' ', scalar::info(node.op).text);
      append_operands(out, node);
      append(out, " axis ", node.axes[0]);
      break;
    case Kind::Scan:
      append(out, ' ', scalar::info(node.op).text);
      append_operands(out, node);
      append(out, " axis ", node.axes[0]);
      if (node.exclusive) out += " exclusive";
      if (node.reverse) out += " reverse";
      break;
    case Kind::Sort:
      append_operands(out, node);
      append(out, " axis ", node.axes[0]);
      if (node.reverse) out += " reverse";
      break;
    case Kind::Loop:
      append(out, " steps ", node.repetition.steps, " carried ", node.repetition.carried,
             " sliced ", node.repetition.sliced, node.reverse ? " reverse" : "");
      if (node.repetition.has_condition()) append(out, " where ", node.repetition.condition);
      out += " of";
      append_operands(out, node);
      break;
    case Kind::Item:
      append_operands(out, node);
      append(out, " number ", node.item);
      break;
  }
  append(out, " : ", type_string(node.dtype, node.shape));
  if (!node.part.name.empty()) {
    out += " part ";
    append_quoted(out, node.part.name);
    if (!node.part.equation.empty()) {
      out += " equation ";
      append_quoted(out, node.part.equation);
    }
  }
  if (node.kind == Kind::Loop) {
    out += ' ';
    append_graph(out, *node.body, indent + "  ");
  } else {
    out += '\n';
  }
}

void append_graph(std::string& out, const Graph& graph, const std::string& indent) {
  out += "graph ";
  append_quoted(out, graph.name);
  out += " {\n";
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    append(out, indent, "  %", id, " = ");
    append_node(out, graph.nodes[id], indent);
  }
  for (const Output& output : graph.outputs) {
    append(out, indent, "  output ");
    append_quoted(out, output.name);
    append(out, " %", output.value.id, '\n');
  }
  for (const Update& update : graph.updates) {
    append(out, indent, "  update %", update.state.id, " %", update.value.id, '\n');
  }
  append(out, indent, "}\n");
}

}  // namespace

std::string map_string(const AffineMap& map) {
  std::string out = "[";
  for (size_t axis = 0; axis < map.axes.size(); ++axis) {
    if (axis > 0) out += ',';
    append_affine(out, map.axes[axis]);
  }
  return out + ']';
}

std::string print(const Graph& graph) {
  std::string out;
  append_graph(out, graph, "");
  return out;
}

}  // namespace lathe::graph
