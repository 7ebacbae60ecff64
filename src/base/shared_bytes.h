// Immutable bytes with shared ownership: copying them copies a pointer.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace lathe {

class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(std::vector<std::byte> bytes);
  explicit SharedBytes(std::span<const std::byte> copied);
  template <std::contiguous_iterator Bytes>
  SharedBytes(Bytes first, Bytes last) : SharedBytes(std::span<const std::byte>(first, last)) {}
  SharedBytes(std::shared_ptr<const std::byte> data, size_t size)
      : data_(std::move(data)), size_(size) {}

  // A slice, which shares ownership of all of the bytes.
  SharedBytes part(const std::byte* from, size_t size) const {
    return {std::shared_ptr<const std::byte>(data_, from), size};
  }

  const std::byte* data() const { return data_.get(); }
  size_t size() const { return size_; }
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size_; }
  const std::byte& operator[](size_t at) const { return data()[at]; }

  bool operator==(const SharedBytes& other) const;

 private:
  std::shared_ptr<const std::byte> data_;
  size_t size_ = 0;
};

}  // namespace lathe
