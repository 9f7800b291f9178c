#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "env/webshop/product.h"

namespace starpo {

using WriteBytes = std::function<void(std::string_view)>;

// Writes the products of a catalogue. Its bytes are the file that ProductStore reads.
class ProductStoreWriter {
 public:
  explicit ProductStoreWriter(WriteBytes write) : write_(std::move(write)) {}

  void add(const Product&);
  void finish();

 private:
  void flush();

  WriteBytes write_;
  std::string buffer_;
  std::vector<std::uint64_t> ends_;
  std::vector<std::string> asins_;
  std::uint64_t size_ = 0, products_with_nouns_ = 0;
};

// Products in the order of their file. Reads the bytes in place, so that they can be a mapped file; they must outlive
// it.
class ProductStore {
 public:
  // Errors: index_invalid.
  explicit ProductStore(std::string_view bytes);

  std::size_t size() const { return ends_.size(); }
  Product product(std::size_t index) const;                                 // errors: index_invalid
  std::span<const std::uint32_t> by_asin() const { return by_asin_; }       // products in the order of their asins
  std::size_t products_with_nouns() const { return products_with_nouns_; }  // listed in a file

 private:
  std::string_view products_;
  std::span<const std::uint64_t> ends_;
  std::span<const std::uint32_t> by_asin_;
  std::size_t products_with_nouns_;
};

}  // namespace starpo
