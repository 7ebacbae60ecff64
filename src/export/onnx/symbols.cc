#include "lathe/export/onnx/symbols.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <span>

#include "lathe/base/text.h"
#include "lathe/export/onnx/writer.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx_export {

namespace {

// A sum of products of the symbols: coefficients by subset, as bits.
using Formula = std::vector<int64_t>;

bool is_fixed(const Formula& formula) {
  return std::all_of(formula.begin() + 1, formula.end(), [](int64_t each) { return each == 0; });
}

class Unifier {
 public:
  Unifier(const std::vector<Graph>& models, const std::vector<std::vector<int64_t>>& sizes,
          const std::vector<std::string>& symbols)
      : models_(models), sizes_(sizes), symbols_(symbols) {}

  std::optional<Graph> run() {
    std::vector<const Graph*> graphs;
    for (const Graph& model : models_) graphs.push_back(&model);
    result_ = models_[0];
    if (!unify_graph(graphs, result_) || !find_sizes()) return std::nullopt;
    for (size_t k = 0; k < result_.constants.size(); ++k) {
      if (!unify_constant(k)) return std::nullopt;
    }
    return finished();
  }

 private:
  // The formula that gives this number for the sizes of each sample.
  std::optional<Formula> fit(const std::vector<int64_t>& values) const {
    Formula formula(values.begin(), values.end() - 1);
    for (size_t symbol = 0; symbol < symbols_.size(); ++symbol) {
      const size_t bit = size_t{1} << symbol;
      const int64_t low = sizes_[0][symbol], high = sizes_[bit][symbol];
      for (size_t corner = 0; corner < formula.size(); ++corner) {
        if ((corner & bit) != 0) continue;
        const int64_t rise = formula[corner | bit] - formula[corner];
        if (rise % (high - low) != 0) return std::nullopt;
        formula[corner | bit] = rise / (high - low);
        formula[corner] -= formula[corner | bit] * low;
      }
    }
    if (value_of(formula, sizes_.back()) != values.back()) return std::nullopt;
    return formula;
  }

  int64_t value_of(const Formula& formula, const std::vector<int64_t>& sizes) const {
    int64_t sum = 0;
    for (size_t subset = 0; subset < formula.size(); ++subset) {
      int64_t term = formula[subset];
      for (size_t symbol = 0; symbol < symbols_.size(); ++symbol) {
        if ((subset >> symbol & 1) != 0) term *= sizes[symbol];
      }
      sum += term;
    }
    return sum;
  }

  // "batch", "2*batch+1".
  std::string spelled(const Formula& formula) const {
    std::string text;
    for (size_t subset = formula.size(); subset-- > 0;) {
      if (formula[subset] == 0) continue;
      std::string term = formula[subset] == 1 && subset != 0 ? "" : concat(formula[subset]);
      for (size_t symbol = 0; symbol < symbols_.size(); ++symbol) {
        if ((subset >> symbol & 1) != 0) append(term, term.empty() ? "" : "*", symbols_[symbol]);
      }
      append(text, text.empty() || term.starts_with('-') ? "" : "+", term);
    }
    return text;
  }

  bool unify_graph(const std::vector<const Graph*>& graphs, Graph& result) {
    for (const Graph* other : graphs) {
      if (other->nodes.size() != result.nodes.size() ||
          other->constants.size() != result.constants.size()) {
        return false;
      }
    }
    for (size_t i = 0; i < result.nodes.size(); ++i) {
      std::vector<const Node*> nodes;
      for (const Graph* graph : graphs) nodes.push_back(&graph->nodes[i]);
      if (!unify_node(nodes, result.nodes[i])) return false;
    }
    return unify_ports(graphs, &Graph::inputs, result) &&
           unify_ports(graphs, &Graph::outputs, result);
  }

  bool unify_node(const std::vector<const Node*>& nodes, Node& result) {
    for (const Node* other : nodes) {
      if (other->op != result.op || other->inputs != result.inputs ||
          other->outputs != result.outputs ||
          other->attributes.size() != result.attributes.size()) {
        return false;
      }
    }
    for (auto& [key, value] : result.attributes) {
      std::vector<const Graph*> bodies;
      for (const Node* other : nodes) {
        const auto found = other->attributes.find(key);
        if (found == other->attributes.end()) return false;
        const auto* body = std::get_if<std::shared_ptr<Graph>>(&found->second);
        if (body != nullptr) {
          bodies.push_back(body->get());
        } else if (found->second != value) {
          return false;
        }
      }
      if (bodies.empty()) continue;
      const auto unified = std::make_shared<Graph>(*bodies[0]);
      if (!unify_graph(bodies, *unified)) return false;
      value = unified;
    }
    return true;
  }

  bool unify_ports(const std::vector<const Graph*>& graphs, std::vector<Port> Graph::*ports,
                   Graph& result) {
    for (size_t i = 0; i < (result.*ports).size(); ++i) {
      Port& port = (result.*ports)[i];
      port.symbols.resize(port.shape.size());
      for (size_t axis = 0; axis < port.shape.size(); ++axis) {
        std::vector<int64_t> values;
        for (const Graph* graph : graphs) {
          if ((graph->*ports).size() != (result.*ports).size()) return false;
          const Port& other = (graph->*ports)[i];
          if (other.name != port.name || other.shape.size() != port.shape.size()) return false;
          values.push_back(other.shape[axis]);
        }
        const auto formula = fit(values);
        if (!formula) return false;
        if (!is_fixed(*formula)) port.symbols[axis] = spelled(*formula);
      }
    }
    return true;
  }

  // An input axis for each symbol.
  bool find_sizes() {
    for (const std::string& symbol : symbols_) {
      bool is_found = false;
      for (const Port& input : result_.inputs) {
        const auto at = std::ranges::find(input.symbols, symbol);
        if (at == input.symbols.end()) continue;
        const int64_t axis = at - input.symbols.begin();
        const std::string name = concat("size of ", symbol);
        first_.push_back({"Shape", {input.name}, {name}, {{"start", axis}, {"end", axis + 1}}});
        is_found = true;
        break;
      }
      if (!is_found) return false;
    }
    return true;
  }

  bool unify_constant(size_t k) {
    Constant& constant = result_.constants[k];
    bool is_equal = true;
    for (const Graph& model : models_) {
      const Constant& other = model.constants[k];
      if (other.name != constant.name || other.shape != constant.shape) return false;
      is_equal = is_equal && other.data == constant.data;
    }
    if (is_equal) return true;
    if (constant.dtype != DType::I64 || !constant.weight.empty()) return false;
    std::vector<Formula> formulas;
    for (int64_t i = 0; i < graph::element_count(constant.shape); ++i) {
      std::vector<int64_t> values;
      for (const Graph& model : models_) {
        const SharedBytes& data = model.constants[k].data;
        values.push_back(graph::load(DType::I64, {data.data(), data.size()}, i).i);
      }
      auto formula = fit(values);
      if (!formula) return false;
      formulas.push_back(*std::move(formula));
    }
    if (constant.shape.size() > 1) return false;
    if (!infer_size(constant, formulas)) compute(constant, formulas);
    return true;
  }

  // A shape with one unknown size: -1.
  bool infer_size(Constant& constant, const std::vector<Formula>& formulas) {
    const auto is_other = [](const Formula& formula) { return !is_fixed(formula); };
    if (std::ranges::count_if(formulas, is_other) != 1 || !is_shape(result_, constant.name)) {
      return false;
    }
    std::vector<int64_t> sizes;
    for (const Formula& formula : formulas) {
      if (formula[0] == 0 && is_fixed(formula)) return false;
      sizes.push_back(is_other(formula) ? -1 : formula[0]);
    }
    const auto bytes = std::as_bytes(std::span(sizes));
    constant.data = SharedBytes(bytes.begin(), bytes.end());
    return true;
  }

  // Whether the constant is what Reshape nodes want and nothing else.
  static bool is_shape(const Graph& graph, const std::string& name) {
    return std::ranges::all_of(graph.nodes, [&](const Node& node) {
      for (const auto& [key, value] : node.attributes) {
        const auto* body = std::get_if<std::shared_ptr<Graph>>(&value);
        if (body != nullptr && !is_shape(**body, name)) return false;
      }
      return node.op == "Reshape" || std::ranges::find(node.inputs, name) == node.inputs.end();
    });
  }

  std::string numbers(const std::string& name, const std::vector<int64_t>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    added_.push_back({name,
                      DType::I64,
                      {static_cast<int64_t>(values.size())},
                      SharedBytes(bytes.begin(), bytes.end())});
    return name;
  }

  // The constant becomes what nodes compute from the sizes.
  void compute(Constant& constant, const std::vector<Formula>& formulas) {
    const bool is_scalar = constant.shape.empty();
    std::string sum;
    for (size_t subset = 0; subset < formulas[0].size(); ++subset) {
      std::vector<int64_t> factors;
      for (const Formula& formula : formulas) factors.push_back(formula[subset]);
      if (std::ranges::all_of(factors, [](int64_t each) { return each == 0; })) continue;
      const std::string stem = concat(constant.name, "/", subset);
      std::string term = numbers(stem, factors);
      for (size_t symbol = 0; symbol < symbols_.size(); ++symbol) {
        if ((subset >> symbol & 1) == 0) continue;
        const std::string product = concat(stem, " by ", symbols_[symbol]);
        first_.push_back({"Mul", {term, concat("size of ", symbols_[symbol])}, {product}, {}});
        term = product;
      }
      const std::string next = concat(stem, " sum");
      if (!sum.empty()) first_.push_back({"Add", {sum, term}, {next}, {}});
      sum = sum.empty() ? term : next;
    }
    if (is_scalar) {
      first_.push_back({"Squeeze", {sum}, {constant.name}, {}});
    } else {
      first_.push_back({"Identity", {sum}, {constant.name}, {}});
    }
    computed_.insert(constant.name);
  }

  Graph finished() {
    std::erase_if(result_.constants,
                  [&](const Constant& each) { return computed_.contains(each.name); });
    result_.constants.insert(result_.constants.end(), added_.begin(), added_.end());
    result_.nodes.insert(result_.nodes.begin(), first_.begin(), first_.end());
    return std::move(result_);
  }

  const std::vector<Graph>& models_;
  const std::vector<std::vector<int64_t>>& sizes_;
  const std::vector<std::string>& symbols_;
  Graph result_;
  std::vector<Node> first_;
  std::vector<Constant> added_;
  std::set<std::string> computed_;
};

}  // namespace

std::optional<Graph> with_symbols(const std::vector<Graph>& models,
                                  const std::vector<std::vector<int64_t>>& sizes,
                                  const std::vector<std::string>& symbols) {
  return Unifier(models, sizes, symbols).run();
}

}  // namespace lathe::onnx_export
