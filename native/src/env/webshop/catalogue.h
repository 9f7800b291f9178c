#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "env/webshop/product.h"
#include "env/webshop/search_index.h"

namespace starpo {

// Products with their search index. Immutable, so episodes and threads share it.
class Catalogue {
 public:
  // name: a folder (see read_catalogue_folder), or synthetic:N:SEED. Returns the same object for the same arguments
  // while it is in use. Errors: catalogue_missing, catalogue_ambiguous, catalogue_invalid.
  static std::shared_ptr<const Catalogue> open(const std::string& name, bool human_goals);

  // Builds a catalogue in memory.
  explicit Catalogue(const std::vector<Product>& products);

  std::size_t size() const { return ends_.size(); }
  Product product(std::size_t index) const;  // in the order of the file

  // Returns products, best first, for a search as WebShop interprets it: at most 50 of a text search, or all products
  // of an exact query (`<q> text`) or category (`<c> word`).
  std::vector<std::uint32_t> search(std::string_view keywords) const;

  std::size_t products_with_nouns() const { return products_with_nouns_; }  // listed in a file

  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

 private:
  class Builder;
  explicit Catalogue(Builder&&);

  template <class Matches>
  std::vector<std::uint32_t> select(Matches matches) const;

  std::string products_;              // packed
  std::vector<std::uint64_t> ends_;   // [products] in products_
  std::vector<std::uint32_t> order_;  // [documents of the index] products, by asin
  std::string index_bytes_;
  std::unique_ptr<SearchIndex> index_;
  std::size_t products_with_nouns_ = 0;
};

}  // namespace starpo
