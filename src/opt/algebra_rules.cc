// The rules and the reader of their text.
#include "lathe/opt/algebra_rules.h"

#include <array>
#include <cstdlib>
#include <string>

#include "lathe/base/check.h"

namespace lathe::opt {

using scalar::Op;

namespace {

// Letters denote operands: c for a constant of one value, p for such a power of two, v for
// anything but a constant, the others for anything; the same letter twice for the same node.
// Numbers are constants of one value. Signs of zero may change; NaN and infinity may not, so
// mul(x, 0) stays.
constexpr std::string_view kRules[] = {
    "add(c, v) -> add(v, c)",
    "add(x, 0) -> x",
    "add(x, neg(y)) -> sub(x, y)",
    "add(neg(x), y) -> sub(y, x)",
    "sub(x, 0) -> x",
    "sub(0, x) -> neg(x)",
    "sub(x, neg(y)) -> add(x, y)",
    "neg(neg(x)) -> x",
    "neg(sub(x, y)) -> sub(y, x)",
    "mul(c, v) -> mul(v, c)",
    "mul(x, 1) -> x",
    "mul(x, -1) -> neg(x)",
    "mul(neg(x), neg(y)) -> mul(x, y)",
    "mul(neg(x), c) -> mul(x, neg(c))",
    "mul(neg(x), y) -> neg(mul(x, y))",
    "mul(x, neg(y)) -> neg(mul(x, y))",
    "div(x, 1) -> x",
    "div(v, p) -> mul(v, div(1, p))",
    "div(neg(x), neg(y)) -> div(x, y)",
    "div(neg(x), y) -> neg(div(x, y))",
    "div(x, neg(y)) -> neg(div(x, y))",
    "mul_add(x, y, 0) -> mul(x, y)",
    "mul_add(x, 1, y) -> add(x, y)",
    "mul_add(1, x, y) -> add(x, y)",
    "pow(x, 1) -> x",
    "pow(x, 2) -> mul(x, x)",
    "pow(x, -1) -> div(1, x)",
    "abs(neg(x)) -> abs(x)",
    "abs(abs(x)) -> abs(x)",
    "max(x, x) -> x",
    "min(x, x) -> x",
    "floor(floor(x)) -> floor(x)",
    "nearest(nearest(x)) -> nearest(x)",
    "detach(x) -> x",
    "and(x, x) -> x",
    "and(x, true) -> x",
    "and(true, x) -> x",
    "and(x, false) -> false",
    "and(false, x) -> false",
    "or(x, x) -> x",
    "or(x, false) -> x",
    "or(false, x) -> x",
    "or(x, true) -> true",
    "or(true, x) -> true",
    "not(not(x)) -> x",
    "select(true, x, y) -> x",
    "select(false, x, y) -> y",
    "select(x, y, y) -> y",
    "select(not(x), y, z) -> select(x, z, y)",
    "to_bits(from_bits(x)) -> x",
    "from_bits(to_bits(x)) -> x",
};

class RuleReader {
 public:
  explicit RuleReader(std::string_view text) : text_(text) {}

  Pattern pattern() {
    skip_spaces();
    const size_t start = at_;
    while (at_ < text_.size() && text_.find_first_of("(), ", at_) != at_) ++at_;
    const std::string word(text_.substr(start, at_ - start));
    Pattern result;
    if (at_ < text_.size() && text_[at_] == '(') {
      result.kind = Pattern::Kind::Apply;
      const auto op = scalar::op_of(word);
      LATHE_CHECK(op.has_value());
      result.op = *op;
      do {
        ++at_;
        result.operands.push_back(pattern());
        skip_spaces();
      } while (text_[at_] == ',');
      LATHE_CHECK(text_[at_++] == ')');
      LATHE_CHECK(static_cast<int>(result.operands.size()) == scalar::info(result.op).arity);
    } else if (word.size() == 1 && word[0] >= 'a' && word[0] <= 'z') {
      result.kind = Pattern::Kind::Variable;
      result.variable = word[0];
    } else {
      result.number = word == "true" ? 1 : std::strtod(word.c_str(), nullptr);
    }
    return result;
  }

 private:
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  std::string_view text_;
  size_t at_ = 0;
};

// Signs of integers wrap and quotients truncate: rules of floats are invalid for them.
bool needs_floats(const Pattern& pattern) {
  if (pattern.kind != Pattern::Kind::Apply) return false;
  const scalar::Signature signature = scalar::info(pattern.op).signature;
  const bool has_sign = pattern.op == Op::Neg || pattern.op == Op::Abs || pattern.op == Op::Div;
  if (has_sign || signature == scalar::Signature::Float ||
      signature == scalar::Signature::Function) {
    return true;
  }
  for (const Pattern& operand : pattern.operands) {
    if (needs_floats(operand)) return true;
  }
  return false;
}

using RulesByOp = std::array<std::vector<Rule>, scalar::kOpCount>;

RulesByOp read_rules() {
  RulesByOp table;
  for (std::string_view text : kRules) {
    const size_t arrow = text.find(" -> ");
    Rule rule{text, RuleReader(text.substr(0, arrow)).pattern(),
              RuleReader(text.substr(arrow + 4)).pattern()};
    rule.floats_only = needs_floats(rule.from) || needs_floats(rule.to);
    table[static_cast<int>(rule.from.op)].push_back(std::move(rule));
  }
  return table;
}

}  // namespace

const std::vector<Rule>& algebra_rules(Op root) {
  static const RulesByOp kTable = read_rules();
  return kTable[static_cast<int>(root)];
}

}  // namespace lathe::opt
