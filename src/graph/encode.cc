#include <concepts>
#include <string>
#include <type_traits>

#include "lathe/base/leb128.h"
#include "lathe/graph/binary.h"
#include "lathe/graph/transfer.h"

namespace lathe::graph {

namespace {

class Writer {
 public:
  template <class T>
  void operator()(T& x) {
    if constexpr (std::is_enum_v<T> || std::integral<T>) {
      append_sleb128(encoded_.bytes, static_cast<int64_t>(x));
    } else if constexpr (requires { x.size(); }) {
      (*this)(static_cast<int64_t>(x.size()));
      for (auto& each : x) (*this)(each);
    } else {
      transfer(*this, x);
    }
  }
  void operator()(int64_t&& x) { append_sleb128(encoded_.bytes, x); }

  void data(Node& node) {
    if (node.kind != Kind::Constant) return;
    auto& constants = encoded_.constants;
    size_t at = 0;
    while (at < constants.size() &&
           (constants[at].data() != node.data.data() || constants[at].size() != node.data.size())) {
      ++at;
    }
    if (at == constants.size()) constants.push_back(node.data);
    (*this)(static_cast<int64_t>(at));
  }

  void body(Node& node) {
    if (node.kind != Kind::Loop) return;
    Graph body = *node.body;
    (*this)(body);
  }

  Encoded encoded_;
};

}  // namespace

Encoded encode(const Graph& graph) {
  Writer writer;
  Graph copy = graph;
  writer(copy);
  return std::move(writer.encoded_);
}

}  // namespace lathe::graph
