#include <concepts>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "lathe/base/depth.h"
#include "lathe/base/text.h"
#include "lathe/graph/binary.h"
#include "lathe/graph/transfer.h"
#include "lathe/graph/verify.h"

namespace lathe::graph {

namespace {

template <class Enumeration>
constexpr int64_t kValues = 0;
template <>
constexpr int64_t kValues<Op> = scalar::kOpCount;
template <>
constexpr int64_t kValues<DType> = std::size(scalar::kDTypes);
template <>
constexpr int64_t kValues<Kind> = 0
#define LATHE_NODE(...) +1
#include "lathe/graph/nodes.def"
    ;

class Reader {
 public:
  Reader(std::span<const uint8_t> bytes, std::span<const SharedBytes> constants)
      : bytes_(bytes), constants_(constants) {}

  // Whether the bytes were those of a graph, and nothing is left of them.
  bool done() const { return ok_ && bytes_.empty(); }

  template <class T>
  void operator()(T& x) {
    if constexpr (std::is_enum_v<T>) {
      x = static_cast<T>(number(0, kValues<T> - 1));
    } else if constexpr (std::integral<T>) {
      x = static_cast<T>(number(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    } else if constexpr (requires { x.size(); }) {
      // A claimed length is not trusted: a list grows only as elements are read.
      const int64_t count = number(0, std::numeric_limits<int32_t>::max());
      for (int64_t k = 0; ok_ && k < count; ++k) {
        x.push_back({});
        (*this)(x.back());
      }
    } else {
      transfer(*this, x);
    }
  }
  void data(Node& node) {
    if (node.kind != Kind::Constant) return;
    const int64_t last = static_cast<int64_t>(constants_.size()) - 1;
    const auto at = static_cast<size_t>(number(0, last));
    if (ok_) node.data = constants_[at];
  }

  void body(Node& node) {
    if (node.kind != Kind::Loop) return;
    Graph body;
    ok_ = ok_ && ++depth_ <= kMaxDepth;
    if (ok_) (*this)(body);
    --depth_;
    node.body = std::make_shared<const Graph>(std::move(body));
  }

 private:
  // A number of this range; outside of it these bytes are none of a graph.
  int64_t number(int64_t lowest, int64_t highest) {
    const int64_t value = number();
    ok_ = ok_ && lowest <= value && value <= highest;
    return ok_ ? value : 0;
  }

  int64_t number() {
    uint64_t value = 0;
    for (int shift = 0; !bytes_.empty() && shift < 70; shift += 7) {
      const uint8_t byte = bytes_.front();
      bytes_ = bytes_.subspan(1);
      if (shift < 64) value |= static_cast<uint64_t>(byte & 127) << shift;
      if (byte >= 128) continue;
      if (byte >= 64 && shift < 57) value |= ~uint64_t{0} << (shift + 7);
      return static_cast<int64_t>(value);
    }
    ok_ = false;
    return 0;
  }

  std::span<const uint8_t> bytes_;
  std::span<const SharedBytes> constants_;
  bool ok_ = true;
  int depth_ = 0;
};

}  // namespace

Result<Graph> decode(std::span<const uint8_t> bytes, std::span<const SharedBytes> constants) {
  Reader reader(bytes, constants);
  Graph graph;
  reader(graph);
  if (!reader.done()) return fail("graph: these bytes are none");
  if (const Status sound = verify(graph); !sound) {
    return fail(concat("graph: these bytes are none that is sound: ", sound.error().message));
  }
  return graph;
}

}  // namespace lathe::graph
