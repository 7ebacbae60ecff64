#include "lathe/export/onnx/symbols.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <span>

#include "lathe/base/text.h"
#include "lathe/export/onnx/writer.h"
#include "lathe/graph/elements.h"

namespace lathe::onnx_export {

namespace {

// floor((symbol + add) / by).
struct Atom {
  size_t symbol = 0;
  int64_t add = 0, by = 1;

  auto operator<=>(const Atom&) const = default;
  int64_t value(const std::vector<int64_t>& sizes) const { return (sizes[symbol] + add) / by; }
};

// Products of atoms, no more than one per symbol, with their nonzero coefficients.
using Monomial = std::vector<Atom>;
using Polynomial = std::map<Monomial, int64_t>;

bool is_fixed(const Polynomial& polynomial) {
  return polynomial.empty() || (polynomial.size() == 1 && polynomial.begin()->first.empty());
}

int64_t constant_of(const Polynomial& polynomial) {
  const auto found = polynomial.find({});
  return found == polynomial.end() ? 0 : found->second;
}

// Divisors of sizes; sample_sizes covers all their remainders.
constexpr int64_t kDivisors[] = {2, 3, 4, 8};

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
  // The polynomial with these values at the sizes of the samples.
  const std::optional<Polynomial>& fit(const std::vector<int64_t>& values) {
    const auto [found, is_new] = fits_.try_emplace(values);
    if (is_new) {
      std::vector<Atom> atoms;
      for (size_t symbol = 0; symbol < symbols_.size(); ++symbol) atoms.push_back({symbol});
      found->second = fit_with(atoms, values);
      if (!found->second) found->second = fit_divided(atoms, 0, values);
    }
    return found->second;
  }

  // Tries all quotients of the symbols, from this one on, that the values depend on.
  std::optional<Polynomial> fit_divided(std::vector<Atom>& atoms, size_t symbol,
                                        const std::vector<int64_t>& values) const {
    if (symbol == symbols_.size()) return fit_with(atoms, values);
    if (auto polynomial = fit_divided(atoms, symbol + 1, values)) return polynomial;
    bool depends = false;
    for (size_t corner = 0; corner < size_t{1} << symbols_.size(); ++corner) {
      depends = depends || values[corner] != values[corner ^ size_t{1} << symbol];
    }
    for (const int64_t by : kDivisors) {
      for (int64_t add = by; depends && add-- > 0;) {
        atoms[symbol] = {symbol, add, by};
        if (auto polynomial = fit_divided(atoms, symbol + 1, values)) return polynomial;
      }
    }
    atoms[symbol] = {symbol};
    return std::nullopt;
  }

  std::optional<Polynomial> fit_with(const std::vector<Atom>& atoms,
                                     const std::vector<int64_t>& values) const {
    const size_t corners = size_t{1} << symbols_.size();
    std::vector<int64_t> factors(values.begin(),
                                 values.begin() + static_cast<std::ptrdiff_t>(corners));
    for (size_t symbol = 0; symbol < symbols_.size(); ++symbol) {
      const size_t bit = size_t{1} << symbol;
      const int64_t low = atoms[symbol].value(sizes_[0]), high = atoms[symbol].value(sizes_[bit]);
      for (size_t corner = 0; corner < corners; ++corner) {
        if ((corner & bit) != 0) continue;
        const int64_t rise = factors[corner | bit] - factors[corner];
        if (high == low || rise % (high - low) != 0) return std::nullopt;
        factors[corner | bit] = rise / (high - low);
        factors[corner] -= factors[corner | bit] * low;
      }
    }
    Polynomial polynomial;
    for (size_t subset = 0; subset < corners; ++subset) {
      Monomial product;
      for (const Atom& atom : atoms) {
        if ((subset >> atom.symbol & 1) != 0) product.push_back(atom);
      }
      if (factors[subset] != 0) polynomial[product] = factors[subset];
    }
    for (size_t sample = corners; sample < sizes_.size(); ++sample) {
      if (value_of(polynomial, sizes_[sample]) != values[sample]) return std::nullopt;
    }
    return polynomial;
  }

  static int64_t value_of(const Polynomial& polynomial, const std::vector<int64_t>& sizes) {
    int64_t sum = 0;
    for (const auto& [product, factor] : polynomial) {
      int64_t term = factor;
      for (const Atom& atom : product) term *= atom.value(sizes);
      sum += term;
    }
    return sum;
  }

  // "n", "n+1", "floor((n+1)/2)".
  std::string printed(const Atom& atom) const {
    std::string text = symbols_[atom.symbol];
    if (atom.add != 0) text = concat('(', text, '+', atom.add, ')');
    return atom.by == 1 ? text : concat("floor(", text, '/', atom.by, ')');
  }

  // "batch", "2*batch+1".
  std::string printed(const Polynomial& polynomial) const {
    std::string text;
    for (auto at = polynomial.rbegin(); at != polynomial.rend(); ++at) {
      const auto& [product, factor] = *at;
      std::string term = factor == 1 && !product.empty() ? "" : concat(factor);
      for (const Atom& atom : product) append(term, term.empty() ? "" : "*", printed(atom));
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
    const bool all_same_upper = std::ranges::all_of(nodes, &Node::same_upper);
    bool pads_differ = false;
    for (auto& [key, value] : result.attributes) {
      std::vector<const Graph*> bodies;
      for (const Node* other : nodes) {
        const auto found = other->attributes.find(key);
        if (found == other->attributes.end()) return false;
        const auto* body = std::get_if<std::shared_ptr<Graph>>(&found->second);
        if (body != nullptr) {
          bodies.push_back(body->get());
        } else if (found->second != value) {
          if (key != "pads" || !all_same_upper) return false;
          pads_differ = true;
        }
      }
      if (bodies.empty()) continue;
      const auto unified = std::make_shared<Graph>(*bodies[0]);
      if (!unify_graph(bodies, *unified)) return false;
      value = unified;
    }
    if (pads_differ) {
      result.attributes.erase("pads");
      result.attributes["auto_pad"] = std::string("SAME_UPPER");
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
        const auto& polynomial = fit(values);
        if (!polynomial) {
          // No polynomial fits: equal sizes share one name.
          port.symbols[axis] =
              unknown_.try_emplace(values, concat(port.name, '_', axis)).first->second;
        } else if (!is_fixed(*polynomial)) {
          port.symbols[axis] = printed(*polynomial);
        }
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
    std::vector<Polynomial> polynomials;
    for (int64_t i = 0; i < graph::element_count(constant.shape); ++i) {
      std::vector<int64_t> values;
      for (const Graph& model : models_) {
        const SharedBytes& data = model.constants[k].data;
        values.push_back(graph::load(DType::I64, {data.data(), data.size()}, i).i);
      }
      const auto& polynomial = fit(values);
      if (!polynomial) return false;
      polynomials.push_back(*polynomial);
    }
    if (constant.shape.size() > 1) return false;
    if (!infer_size(constant, polynomials)) compute(constant, polynomials);
    return true;
  }

  // A shape with one unknown size: -1.
  bool infer_size(Constant& constant, const std::vector<Polynomial>& polynomials) {
    const auto is_other = [](const Polynomial& polynomial) { return !is_fixed(polynomial); };
    if (std::ranges::count_if(polynomials, is_other) != 1 || !is_shape(result_, constant.name)) {
      return false;
    }
    std::vector<int64_t> sizes;
    for (const Polynomial& polynomial : polynomials) {
      if (constant_of(polynomial) == 0 && is_fixed(polynomial)) return false;
      sizes.push_back(is_other(polynomial) ? -1 : constant_of(polynomial));
    }
    const auto bytes = std::as_bytes(std::span(sizes));
    constant.data = SharedBytes(bytes.begin(), bytes.end());
    return true;
  }

  // Whether the constant is only used as the shape of Reshape nodes.
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

  // What an atom is computed as, once.
  std::string value_name(const Atom& atom) {
    std::string name = concat("size of ", symbols_[atom.symbol]);
    if (atom.by == 1) return name;
    const std::string result = concat("size of ", printed(atom)), sum = concat(result, " by 1");
    if (!divided_.insert(result).second) return result;
    first_.push_back({"Add", {name, numbers(concat(result, " add"), {atom.add})}, {sum}, {}});
    first_.push_back({"Div", {sum, numbers(concat(result, " by"), {atom.by})}, {result}, {}});
    return result;
  }

  // The constant becomes what nodes compute from the sizes.
  void compute(Constant& constant, const std::vector<Polynomial>& polynomials) {
    std::map<Monomial, std::vector<int64_t>> products;
    for (size_t i = 0; i < polynomials.size(); ++i) {
      for (const auto& [product, factor] : polynomials[i]) {
        auto& factors = products[product];
        factors.resize(polynomials.size());
        factors[i] = factor;
      }
    }
    std::string sum;
    for (const auto& [product, factors] : products) {
      const std::string stem =
          concat(constant.name, '/', std::distance(products.begin(), products.find(product)));
      std::string term = numbers(stem, factors);
      for (const Atom& atom : product) {
        const std::string next = concat(stem, " by ", printed(atom));
        first_.push_back({"Mul", {term, value_name(atom)}, {next}, {}});
        term = next;
      }
      const std::string next = concat(stem, " sum");
      if (!sum.empty()) first_.push_back({"Add", {sum, term}, {next}, {}});
      sum = sum.empty() ? term : next;
    }
    first_.push_back({constant.shape.empty() ? "Squeeze" : "Identity", {sum}, {constant.name}, {}});
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
  std::set<std::string> computed_, divided_;
  std::map<std::vector<int64_t>, std::optional<Polynomial>> fits_;  // by the values at the samples
  std::map<std::vector<int64_t>, std::string> unknown_;  // names of sizes that no polynomial fits
};

}  // namespace

std::optional<Graph> with_symbols(const std::vector<Graph>& models,
                                  const std::vector<std::vector<int64_t>>& sizes,
                                  const std::vector<std::string>& symbols) {
  return Unifier(models, sizes, symbols).run();
}

}  // namespace lathe::onnx_export
