// Small questions about shapes, affine maps and constants.
#include "lathe/graph/graph.h"

#include <algorithm>

#include "lathe/base/check.h"
#include "lathe/graph/elements.h"

namespace lathe::graph {

namespace {

constexpr std::string_view kKinds[] = {
#define LATHE_NODE(name_, text_, operands_) text_,
#include "lathe/graph/nodes.def"
};

}  // namespace

std::string_view text(Kind kind) { return kKinds[static_cast<int>(kind)]; }

std::optional<Kind> kind_of(std::string_view text) {
  const auto* found = std::find(std::begin(kKinds), std::end(kKinds), text);
  if (found == std::end(kKinds)) return std::nullopt;
  return static_cast<Kind>(found - std::begin(kKinds));
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  for (int64_t size : shape) count *= size;
  return count;
}

int64_t Affine::at(const std::vector<int64_t>& index) const {
  int64_t sum = offset;
  for (size_t d = 0; d < coefficients.size(); ++d) sum += coefficients[d] * index[d];
  return sum;
}

int Affine::single_dimension() const {
  int single = -1;
  for (size_t d = 0; d < coefficients.size(); ++d) {
    if (coefficients[d] == 0) continue;
    if (coefficients[d] != 1 || single >= 0) return -1;
    single = static_cast<int>(d);
  }
  return offset == 0 ? single : -1;
}

AffineMap AffineMap::project(int rank, const std::vector<int>& dimensions) {
  AffineMap map;
  for (int dimension : dimensions) {
    Affine axis{std::vector<int64_t>(rank, 0), 0};
    axis.coefficients[dimension] = 1;
    map.axes.push_back(std::move(axis));
  }
  return map;
}

bool AffineMap::is_projection() const {
  std::vector<int> seen;
  for (const Affine& axis : axes) {
    const int dimension = axis.single_dimension();
    if (dimension < 0 || std::find(seen.begin(), seen.end(), dimension) != seen.end()) return false;
    seen.push_back(dimension);
  }
  return true;
}

bool always_inside(const AffineMap& map, const std::vector<int64_t>& extents, const Shape& shape) {
  if (std::find(extents.begin(), extents.end(), 0) != extents.end()) return true;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    const Affine& affine = map.axes[axis];
    int64_t lowest = affine.offset, highest = affine.offset;
    for (size_t d = 0; d < extents.size(); ++d) {
      const int64_t reach = affine.coefficients[d] * (extents[d] - 1);
      (reach < 0 ? lowest : highest) += reach;
    }
    if (lowest < 0 || highest >= shape[axis]) return false;
  }
  return true;
}

AffineMap compose(const AffineMap& outer, const AffineMap& inner, int rank) {
  AffineMap result;
  for (const Affine& axis : outer.axes) {
    Affine sum{std::vector<int64_t>(rank, 0), axis.offset};
    for (size_t k = 0; k < axis.coefficients.size(); ++k) {
      sum.offset += axis.coefficients[k] * inner.axes[k].offset;
      for (int d = 0; d < rank; ++d) {
        sum.coefficients[d] += axis.coefficients[k] * inner.axes[k].coefficients[d];
      }
    }
    result.axes.push_back(std::move(sum));
  }
  return result;
}

void join_part(Graph& graph, size_t first, const Part& part) {
  for (size_t id = first; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].part.name.empty()) graph.nodes[id].part = part;
  }
}

std::vector<Value> inputs_of(const Graph& graph) {
  std::vector<Value> inputs;
  for (size_t id = 0; id < graph.nodes.size(); ++id) {
    if (graph.nodes[id].kind == Kind::Input) inputs.push_back({static_cast<int32_t>(id)});
  }
  return inputs;
}

bool is_splat(const Node& node) {
  return node.kind == Kind::Constant &&
         node.data.size() == static_cast<size_t>(scalar::size_of(node.dtype));
}

scalar::Number splat_value(const Node& node) {
  LATHE_CHECK(is_splat(node));
  return load(node.dtype, node.data, 0);
}

scalar::Number load(DType dtype, std::span<const std::byte> data, int64_t index) {
  return scalar::load_element(dtype, data.data() + index * scalar::size_of(dtype));
}

void store(std::span<std::byte> data, int64_t index, const scalar::Number& number) {
  scalar::store_element(data.data() + index * scalar::size_of(number.dtype), number);
}

std::vector<std::byte> bytes_of(const scalar::Number& number) {
  std::vector<std::byte> data(scalar::size_of(number.dtype));
  store(data, 0, number);
  return data;
}

Odometer::Odometer(std::vector<int64_t> extents)
    : extents_(std::move(extents)), index_(extents_.size(), 0) {
  inside_ = std::find(extents_.begin(), extents_.end(), 0) == extents_.end();
}

void Odometer::next() {
  for (size_t d = extents_.size(); d-- > 0;) {
    if (++index_[d] < extents_[d]) return;
    index_[d] = 0;
  }
  inside_ = false;
}

}  // namespace lathe::graph
