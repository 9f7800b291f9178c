#pragma once

#include <array>
#include <span>
#include <string_view>

namespace starpo {

// The words of the synthetic catalogue.

using Words = std::span<const std::string_view>;

struct SyntheticOption {
  std::string_view name;
  Words values;
};

struct SyntheticType {
  std::string_view noun;      // of the title, such as "running shoes"
  std::string_view query;     // search that finds the type
  std::string_view category;  // fashion, beauty, garden, grocery or electronics
  std::string_view path;      // product_category
  Words attributes;
  std::span<const SyntheticOption> options;
  int lowest_price, highest_price;  // dollars
};

std::span<const SyntheticType> synthetic_types();
Words synthetic_brands();
Words synthetic_styles();

}  // namespace starpo
