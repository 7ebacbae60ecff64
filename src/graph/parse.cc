// Line by line; each node kind reads the attributes that print() writes for it.
#include "lathe/graph/parse.h"

#include <cerrno>
#include <cstdlib>
#include <limits>
#include <utility>

#include "lathe/base/text.h"
#include "lathe/graph/cursor.h"
#include "lathe/graph/elements.h"
#include "lathe/graph/infer.h"
#include "lathe/graph/verify.h"

namespace lathe::graph {

namespace {

constexpr size_t kMaxDimensions = 64;

Status parse_integers(Cursor& cursor, std::vector<int64_t>& out) {
  return cursor.list([&]() -> Status {
    LATHE_ASSIGN_OR_RETURN(out.emplace_back(), cursor.integer());
    return {};
  });
}

// Terms d1, d1*2, 7 separated by + and -; as many coefficients as the largest dimension requires.
Result<Affine> parse_affine(Cursor& cursor) {
  Affine affine;
  bool negative = cursor.consume("-");
  while (true) {
    int64_t* target = &affine.offset;
    int64_t size = 1;
    if (cursor.consume("d")) {
      LATHE_ASSIGN_OR_RETURN(const int64_t dimension, cursor.integer());
      if (dimension < 0 || dimension >= static_cast<int64_t>(kMaxDimensions)) {
        return fail(concat("dimension d", dimension, " is out of range"));
      }
      if (affine.coefficients.size() <= static_cast<size_t>(dimension)) {
        affine.coefficients.resize(dimension + 1);
      }
      target = &affine.coefficients[dimension];
      if (cursor.consume("*")) {
        LATHE_ASSIGN_OR_RETURN(size, cursor.integer());
      }
    } else {
      LATHE_ASSIGN_OR_RETURN(size, cursor.integer());
    }
    if (size > kMaxCoefficient) return fail(concat("the number ", size, " is too large"));
    *target += negative ? -size : size;
    negative = cursor.consume("-");
    if (!negative && !cursor.consume("+")) return affine;
  }
}

Result<AffineMap> parse_map(Cursor& cursor) {
  AffineMap map;
  LATHE_TRY(cursor.list([&]() -> Status {
    LATHE_ASSIGN_OR_RETURN(map.axes.emplace_back(), parse_affine(cursor));
    return {};
  }));
  return map;
}

Status fit(AffineMap& map, size_t rank) {
  for (Affine& axis : map.axes) {
    if (axis.coefficients.size() > rank) {
      return fail(concat("dimension d", axis.coefficients.size() - 1, " is not below ", rank));
    }
    axis.coefficients.resize(rank);
  }
  return {};
}

// "0x" and hexadecimal digits -> the bits of a float; otherwise decimal, inf, nan, true, false.
Result<scalar::Number> parse_number(std::string_view word, DType dtype) {
  using scalar::Number;
  const std::string text(word);
  char* end = nullptr;
  Number number;
  errno = 0;
  switch (scalar::kind_of(dtype)) {
    case scalar::DTypeKind::Truth:
      if (word == "true" || word == "false") return Number::of(word == "true");
      return fail(concat("\"", word, "\" is not true or false"));
    case scalar::DTypeKind::Signed: {
      const long long value = std::strtoll(text.c_str(), &end, 10);
      number = Number::integer(dtype, value);
      if (errno != 0 || number.i != value) {
        return fail(concat("\"", word, "\" does not fit ", scalar::text(dtype)));
      }
      break;
    }
    case scalar::DTypeKind::Unsigned: {
      const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
      number = Number::integer(dtype, static_cast<int64_t>(value));
      if (errno != 0 || word.starts_with("-") || static_cast<uint64_t>(number.i) != value) {
        return fail(concat("\"", word, "\" does not fit ", scalar::text(dtype)));
      }
      break;
    }
    case scalar::DTypeKind::Float:
      if (word.starts_with("0x")) {
        uint64_t bits = 0;
        size_t at = 2;
        for (; at < word.size() && hex_digit(word[at]) >= 0; ++at) {
          bits = bits << 4 | static_cast<uint64_t>(hex_digit(word[at]));
        }
        end = const_cast<char*>(text.c_str()) + at;
        number = Number::from_bits(dtype, bits);
        const bool is_long = text.size() > static_cast<size_t>(2 + 2 * scalar::size_of(dtype));
        if (is_long) return fail(concat("\"", word, "\" does not fit ", scalar::text(dtype)));
      } else if (word == "inf" || word == "-inf") {
        return word == "inf" ? Number::highest(dtype) : Number::lowest(dtype);
      } else if (word == "nan") {
        return Number::from(dtype, std::numeric_limits<double>::quiet_NaN());
      } else if (dtype == DType::F64) {
        number = Number::of(std::strtod(text.c_str(), &end));
      } else {
        number = cast(Number::of(std::strtof(text.c_str(), &end)), dtype);
      }
      break;
  }
  if (*end != 0) return fail(concat("\"", word, "\" is not ", scalar::text(dtype)));
  return number;
}

Result<std::vector<std::byte>> parse_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return fail("hex: the number of digits is odd");
  std::vector<std::byte> data;
  for (size_t i = 0; i < digits.size(); i += 2) {
    const int high = hex_digit(digits[i]), low = hex_digit(digits[i + 1]);
    if (high < 0 || low < 0) {
      return fail(concat("hex: \"", digits.substr(i, 2), "\" is not a byte"));
    }
    data.push_back(static_cast<std::byte>(high * 16 + low));
  }
  return data;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {}

  Result<Graph> run() {
    Status status = read();
    if (!status) return fail(concat("line ", line_, ": ", status.error().message));
    if (Status sound = verify(graph_); !sound) return std::unexpected(std::move(sound.error()));
    return std::move(graph_);
  }

 private:
  // The next line with more than a comment, or nothing at the end of the text.
  std::optional<Cursor> next_line() {
    while (!rest_.empty()) {
      ++line_;
      const size_t end = rest_.find('\n');
      Cursor cursor(rest_.substr(0, end));
      rest_ = end == std::string_view::npos ? "" : rest_.substr(end + 1);
      if (!cursor.at_end()) return cursor;
    }
    return std::nullopt;
  }

  Status read() {
    auto head = next_line();
    if (!head) return fail("expected a graph");
    LATHE_TRY(rest_of_graph(*head));
    if (next_line()) return fail("text after the end of the graph");
    return {};
  }

  Status rest_of_graph(Cursor& head) {
    LATHE_TRY(head.expect_word("graph"));
    LATHE_ASSIGN_OR_RETURN(graph_.name, head.quoted());
    LATHE_TRY(head.expect("{"));
    LATHE_TRY(head.expect_end());
    while (auto cursor = next_line()) {
      if (cursor->consume("}")) return cursor->expect_end();
      LATHE_TRY(statement(*cursor));
      LATHE_TRY(cursor->expect_end());
    }
    return fail("the graph has no closing }");
  }

  Status statement(Cursor& cursor) {
    if (cursor.consume_word("output")) {
      LATHE_ASSIGN_OR_RETURN(std::string name, cursor.quoted());
      LATHE_ASSIGN_OR_RETURN(const Value value, operand(cursor));
      graph_.outputs.push_back({std::move(name), value});
      return {};
    }
    if (cursor.consume_word("update")) {
      LATHE_ASSIGN_OR_RETURN(const Value state, operand(cursor));
      LATHE_ASSIGN_OR_RETURN(const Value value, operand(cursor));
      graph_.updates.push_back({state, value});
      return {};
    }
    LATHE_TRY(cursor.expect("%"));
    LATHE_ASSIGN_OR_RETURN(const int64_t id, cursor.integer());
    if (id != static_cast<int64_t>(graph_.nodes.size())) {
      return fail(concat("expected %", graph_.nodes.size(), ", found %", id));
    }
    LATHE_TRY(cursor.expect("="));
    LATHE_ASSIGN_OR_RETURN(Node node, this->node(cursor));
    auto type = infer(graph_, node);
    if (!type) return std::unexpected(std::move(type.error()));
    if (*type != Type{node.dtype, node.shape}) {
      return fail(concat("the type is ", type_string(type->dtype, type->shape), ", not ",
                         type_string(node.dtype, node.shape)));
    }
    graph_.nodes.push_back(std::move(node));
    return {};
  }

  Result<Value> operand(Cursor& cursor) {
    LATHE_TRY(cursor.expect("%"));
    LATHE_ASSIGN_OR_RETURN(const int64_t id, cursor.integer());
    if (id < 0 || id >= static_cast<int64_t>(graph_.nodes.size())) {
      return fail(concat("%", id, " is not defined yet"));
    }
    return Value{static_cast<int32_t>(id)};
  }

  Status operands(Cursor& cursor, Node& node, int count) {
    for (int i = 0; i < count; ++i) {
      LATHE_ASSIGN_OR_RETURN(node.operands.emplace_back(), operand(cursor));
    }
    return {};
  }

  Status op(Cursor& cursor, Node& node) {
    LATHE_ASSIGN_OR_RETURN(const std::string_view word, cursor.word());
    const auto found = scalar::op_of(word);
    if (!found) return fail(concat("there is no operation \"", word, "\""));
    node.op = *found;
    return {};
  }

  Status type(Cursor& cursor, Node& node) {
    LATHE_TRY(cursor.expect(":"));
    return dtype_and_shape(cursor, node);
  }

  Status dtype_and_shape(Cursor& cursor, Node& node) {
    LATHE_ASSIGN_OR_RETURN(const std::string_view word, cursor.word());
    const auto dtype = scalar::dtype_of(word);
    if (!dtype) return fail(concat("there is no dtype \"", word, "\""));
    node.dtype = *dtype;
    LATHE_TRY(parse_integers(cursor, node.shape));
    if (cursor.consume_word("part")) {
      LATHE_ASSIGN_OR_RETURN(node.part.name, cursor.quoted());
      if (cursor.consume_word("equation")) {
        LATHE_ASSIGN_OR_RETURN(node.part.equation, cursor.quoted());
      }
    }
    return {};
  }

  // Elements are printed before their type: their words are stored until it is parsed.
  Status constant(Cursor& cursor, Node& node) {
    std::vector<std::string_view> words;
    std::optional<std::string_view> hex;
    if (cursor.consume_word("hex")) {
      LATHE_ASSIGN_OR_RETURN(hex, cursor.word());
    } else if (cursor.consume("[")) {
      while (!cursor.consume("]")) {
        if (!words.empty()) LATHE_TRY(cursor.expect(","));
        LATHE_ASSIGN_OR_RETURN(words.emplace_back(), cursor.word());
      }
    } else {
      LATHE_ASSIGN_OR_RETURN(words.emplace_back(), cursor.word());
    }
    LATHE_TRY(type(cursor, node));
    if (hex) {
      LATHE_ASSIGN_OR_RETURN(node.data, parse_hex(*hex));
      return {};
    }
    std::vector<std::byte> data;
    for (std::string_view word : words) {
      LATHE_ASSIGN_OR_RETURN(const scalar::Number number, parse_number(word, node.dtype));
      const auto bytes = bytes_of(number);
      data.insert(data.end(), bytes.begin(), bytes.end());
    }
    node.data = std::move(data);
    return {};
  }

  Status contract(Cursor& cursor, Node& node) {
    LATHE_TRY(operands(cursor, node, 2));
    Contraction& contraction = node.contraction;
    LATHE_TRY(cursor.expect_word("over"));
    LATHE_TRY(parse_integers(cursor, contraction.extents));
    for (const auto& [word, map] :
         {std::pair{"out", &contraction.out}, std::pair{"lhs", &contraction.lhs},
          std::pair{"rhs", &contraction.rhs}}) {
      LATHE_TRY(cursor.expect_word(word));
      LATHE_ASSIGN_OR_RETURN(*map, parse_map(cursor));
      LATHE_TRY(fit(*map, contraction.extents.size()));
    }
    return type(cursor, node);
  }

  Status reduce(Cursor& cursor, Node& node) {
    LATHE_TRY(op(cursor, node));
    LATHE_TRY(operands(cursor, node, 1));
    LATHE_TRY(cursor.expect_word("axes"));
    std::vector<int64_t> axes;
    LATHE_TRY(parse_integers(cursor, axes));
    for (int64_t axis : axes) node.axes.push_back(static_cast<int>(axis));
    node.exclusive = cursor.consume_word("exclusive");
    return type(cursor, node);
  }

  Status reindex(Cursor& cursor, Node& node) {
    LATHE_TRY(operands(cursor, node, 1));
    LATHE_TRY(cursor.expect_word("map"));
    LATHE_ASSIGN_OR_RETURN(node.map, parse_map(cursor));
    LATHE_TRY(type(cursor, node));
    return fit(node.map, node.shape.size());
  }

  Status join(Cursor& cursor, Node& node) {
    do {
      LATHE_TRY(operands(cursor, node, 1));
      LATHE_TRY(cursor.expect_word("at"));
      LATHE_ASSIGN_OR_RETURN(AffineMap map, parse_map(cursor));
      LATHE_TRY(fit(map, graph_[node.operands.back()].shape.size()));
      node.maps.push_back(std::move(map));
    } while (cursor.consume(","));
    return type(cursor, node);
  }

  Status axis(Cursor& cursor, Node& node) {
    LATHE_TRY(cursor.expect_word("axis"));
    LATHE_ASSIGN_OR_RETURN(const int64_t axis, cursor.integer());
    node.axes.push_back(static_cast<int>(axis));
    return {};
  }

  Status scan(Cursor& cursor, Node& node) {
    LATHE_TRY(op(cursor, node));
    LATHE_TRY(operands(cursor, node, 1));
    LATHE_TRY(axis(cursor, node));
    node.exclusive = cursor.consume_word("exclusive");
    node.reverse = cursor.consume_word("reverse");
    return type(cursor, node);
  }

  Status count(Cursor& cursor, std::string_view word, int& number) {
    LATHE_TRY(cursor.expect_word(word));
    LATHE_ASSIGN_OR_RETURN(const int64_t value, cursor.integer());
    number = static_cast<int>(value);
    return {};
  }

  // The body's lines follow.
  Status loop(Cursor& cursor, Node& node) {
    LATHE_TRY(cursor.expect_word("steps"));
    LATHE_ASSIGN_OR_RETURN(node.repetition.steps, cursor.integer());
    LATHE_TRY(count(cursor, "carried", node.repetition.carried));
    LATHE_TRY(count(cursor, "sliced", node.repetition.sliced));
    node.reverse = cursor.consume_word("reverse");
    if (cursor.consume_word("where")) {
      LATHE_ASSIGN_OR_RETURN(const int64_t condition, cursor.integer());
      node.repetition.condition = static_cast<int>(condition);
    }
    LATHE_TRY(cursor.expect_word("of"));
    while (!cursor.consume(":")) {
      LATHE_ASSIGN_OR_RETURN(node.operands.emplace_back(), operand(cursor));
    }
    LATHE_TRY(dtype_and_shape(cursor, node));
    Graph outer = std::exchange(graph_, {});
    LATHE_TRY(rest_of_graph(cursor));
    node.body = std::make_shared<const Graph>(std::exchange(graph_, std::move(outer)));
    return {};
  }

  Status attributes(Cursor& cursor, Node& node) {
    switch (node.kind) {
      case Kind::Input:
      case Kind::State: {
        LATHE_ASSIGN_OR_RETURN(node.name, cursor.quoted());
        return type(cursor, node);
      }
      case Kind::Constant:
        return constant(cursor, node);
      case Kind::Iota:
        LATHE_TRY(axis(cursor, node));
        return type(cursor, node);
      case Kind::Map:
        LATHE_TRY(op(cursor, node));
        LATHE_TRY(operands(cursor, node, scalar::info(node.op).arity));
        node.exclusive = cursor.consume_word("exclusive");
        node.loose = cursor.consume_word("loose");
        return type(cursor, node);
      case Kind::Reduce:
        return reduce(cursor, node);
      case Kind::Contract:
        return contract(cursor, node);
      case Kind::Cast:
        LATHE_TRY(operands(cursor, node, 1));
        node.loose = cursor.consume_word("loose");
        return type(cursor, node);
      case Kind::Reshape:
        LATHE_TRY(operands(cursor, node, 1));
        return type(cursor, node);
      case Kind::Reindex:
        return reindex(cursor, node);
      case Kind::Join:
        return join(cursor, node);
      case Kind::Gather:
      case Kind::Scatter:
        if (cursor.consume_word(scalar::info(Op::Max).text)) node.op = Op::Max;
        LATHE_TRY(operands(cursor, node, 2));
        LATHE_TRY(axis(cursor, node));
        return type(cursor, node);
      case Kind::Scan:
        return scan(cursor, node);
      case Kind::Sort:
        LATHE_TRY(operands(cursor, node, 1));
        LATHE_TRY(axis(cursor, node));
        node.reverse = cursor.consume_word("reverse");
        return type(cursor, node);
      case Kind::Loop:
        return loop(cursor, node);
      case Kind::Item:
        LATHE_TRY(operands(cursor, node, 1));
        LATHE_TRY(count(cursor, "number", node.item));
        return type(cursor, node);
    }
    return {};
  }

  Result<Node> node(Cursor& cursor) {
    LATHE_ASSIGN_OR_RETURN(const std::string_view word, cursor.word());
    const auto kind = kind_of(word);
    if (!kind) return fail(concat("there is no node kind \"", word, "\""));
    Node node{.kind = *kind};
    LATHE_TRY(attributes(cursor, node));
    return node;
  }

  std::string_view rest_;
  int line_ = 0;
  Graph graph_;
};

}  // namespace

Result<Graph> parse(std::string_view text) { return Parser(text).run(); }

}  // namespace lathe::graph
