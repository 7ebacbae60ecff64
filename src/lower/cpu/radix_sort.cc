#include "lathe/lower/segments.h"
#include "lathe/lower/sort_space.h"

namespace lathe::lower::cpu {

using loop::Affine;
using loop::BufferRef;
using loop::DType;
using loop::ExprId;
using loop::LoopKind;
using loop::Op;
using loop::Stmt;
using loop::VarId;

namespace {

constexpr int kKeyBits = 32;
// Shorter rows are not worth the time to clear and add up the counts of large digits.
constexpr int64_t kLong = 256;

class RadixSorter {
 public:
  explicit RadixSorter(SortSpace& space)
      : space_(space),
        exprs_(space.exprs()),
        kernel_(space.kernel()),
        bits_(space.length() >= kLong ? 8 : 4),
        passes_(kKeyBits / bits_) {
    for (Items& each : items_) {
      each = {space.add_scratch("keys", space.length()),
              space.add_scratch("places", space.length())};
    }
    counts_ = space.add_scratch("counts", passes_ * buckets());
    key_ = kernel_.add_register("key", DType::I32, 1);
    slot_ = kernel_.add_register("slot", DType::I32, 1);
    sums_ = kernel_.add_register("sums", DType::I32, passes_);
  }

  void run() {
    std::vector<Stmt> body;
    body.push_back(clear());
    body.push_back(count_digits());
    append(body, add_up());
    for (int pass = 0; pass < passes_; ++pass) body.push_back(move(pass));
    kernel_.body = space_.around(std::move(body), /*outlined=*/true);
  }

 private:
  // What the passes reorder: from the first to the second and back.
  struct Items {
    BufferRef keys, indices;
  };

  int64_t buckets() const { return int64_t{1} << bits_; }

  ExprId number(int64_t value) {
    return exprs_.constant(loop::Number::of(static_cast<int32_t>(value)));
  }
  ExprId load_register(BufferRef buffer, int64_t at = 0) {
    return exprs_.load(buffer, DType::I32, at);
  }

  Stmt looped(VarId var, std::vector<Stmt> body) {
    return loop::for_loop(var, LoopKind::Serial, std::move(body));
  }

  Affine count_address(const Affine& at) const {
    return space_.scratch_address(at, passes_ * buckets());
  }

  // The digit of the current key, as an index into the counts of the pass.
  ExprId digit(int pass) {
    const ExprId shifted =
        exprs_.apply(Op::ShiftRight, {load_register(key_), number(pass * bits_)});
    return exprs_.apply(Op::BitAnd, {shifted, number(buckets() - 1)});
  }
  ExprId count(int pass) {
    return exprs_.load(counts_, DType::I32, count_address(pass * buckets()), {}, digit(pass),
                       {1, buckets()});
  }
  Stmt store_count(int pass, ExprId value) {
    return loop::store(counts_, count_address(pass * buckets()), digit(pass), {1, buckets()},
                       value);
  }
  ExprId plus_one(ExprId value) { return exprs_.apply(Op::Add, {value, number(1)}); }

  Stmt clear() {
    const VarId at = kernel_.add_var("at", passes_ * buckets());
    return looped(at, {loop::store(counts_, count_address(Affine::variable(at)), number(0))});
  }

  Stmt count_digits() {
    const VarId i = kernel_.add_var("i", space_.length());
    const Affine at = Affine::variable(i);
    // Digits are unsigned.
    const ExprId key =
        exprs_.apply(Op::BitXor, {space_.key(space_.element(at)), number(INT32_MIN)});
    std::vector<Stmt> body;
    body.push_back(loop::store(key_, 0, key));
    body.push_back(loop::store(items_[0].keys, address(at), load_register(key_)));
    for (int pass = 0; pass < passes_; ++pass) {
      body.push_back(store_count(pass, plus_one(count(pass))));
    }
    return looped(i, std::move(body));
  }

  // Converts the counts of each digit to the slot of its first item (exclusive prefix sum).
  std::vector<Stmt> add_up() {
    const VarId bucket = kernel_.add_var("bucket", buckets());
    std::vector<Stmt> body, step;
    for (int pass = 0; pass < passes_; ++pass) {
      const Affine at = count_address(Affine::variable(bucket) + pass * buckets());
      const ExprId sum = load_register(sums_, pass);
      body.push_back(loop::store(sums_, pass, number(0)));
      step.push_back(loop::store(slot_, 0, exprs_.load(counts_, DType::I32, at)));
      step.push_back(loop::store(counts_, at, sum));
      step.push_back(loop::store(sums_, pass, exprs_.apply(Op::Add, {sum, load_register(slot_)})));
    }
    body.push_back(looped(bucket, std::move(step)));
    return body;
  }

  // Items in the order of this digit (stable). The last pass stores the
  // requested indices.
  Stmt move(int pass) {
    const auto& [from, to] = std::pair(items_[pass % 2], items_[(pass + 1) % 2]);
    const VarId i = kernel_.add_var("i", space_.length());
    const Affine at = Affine::variable(i);
    const ExprId source_index =
        pass == 0 ? exprs_.index(at) : exprs_.load(from.indices, DType::I32, address(at));
    std::vector<Stmt> body;
    body.push_back(loop::store(key_, 0, exprs_.load(from.keys, DType::I32, address(at))));
    body.push_back(loop::store(slot_, 0, count(pass)));
    body.push_back(store_count(pass, plus_one(load_register(slot_))));
    if (pass + 1 < passes_) {
      body.push_back(store_item(to.keys, load_register(key_)));
      body.push_back(store_item(to.indices, source_index));
    } else if (space_.count() == space_.length()) {
      body.push_back(space_.store_at(load_register(slot_), source_index));
    } else {
      const ExprId requested = exprs_.apply(Op::Lt, {load_register(slot_), number(space_.count())});
      body.push_back(loop::when(requested, {space_.store_at(load_register(slot_), source_index)}));
    }
    return looped(i, std::move(body));
  }

  Affine address(const Affine& at) const { return space_.scratch_address(at, space_.length()); }

  Stmt store_item(BufferRef buffer, ExprId value) {
    return loop::store(buffer, address(0), load_register(slot_), {1, space_.length()}, value);
  }

  SortSpace& space_;
  loop::ExprBuilder& exprs_;
  loop::Kernel& kernel_;
  const int bits_, passes_;
  Items items_[2];
  BufferRef counts_, key_, slot_, sums_;
};

}  // namespace

void radix_sort(SortSpace& space) { RadixSorter(space).run(); }

}  // namespace lathe::lower::cpu
