#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace starpo {

// Constraints of a string. Lengths count code points.
struct TextRule {
  std::string_view pattern = "";  // regular expression for the whole string; empty: any
  int min_length = 0;
  int max_length = -1;       // -1: none
  bool names_files = false;  // of an environment, whose digest is environments[].files_sha256
};

// Visits the keys of a structure. Each structure has one function describe(FieldVisitor&, Structure&), which both the
// reader and the schema printer visit, so they can't disagree.
class FieldVisitor {
 public:
  virtual ~FieldVisitor() = default;

  template <std::integral T>
  void integer(std::string_view name, T& value, std::int64_t minimum, std::int64_t maximum) {
    std::int64_t wide = value;
    visit_integer(name, wide, minimum, maximum);
    value = static_cast<T>(wide);
  }

  // Visits an enumeration with values 0, 1, ... in the order of `names`.
  template <class Enumeration>
    requires std::is_enum_v<Enumeration>
  void choice(std::string_view name, Enumeration& value, std::initializer_list<std::string_view> names) {
    int index = static_cast<int>(value);
    visit_choice(name, index, names);
    value = static_cast<Enumeration>(index);
  }

  void choice(std::string_view name, std::string& value, std::span<const std::string_view> names) {
    int index = 0;
    visit_choice(name, index, names);
    value = names[index];
  }

  template <class Structure>
  void section(std::string_view name, Structure& value) {
    open_section(name);
    describe(*this, value);
    close_section();
  }

  template <class Structure>
  void list(std::string_view name, std::vector<Structure>& values, int minimum, int maximum) {
    values.resize(open_list(name, minimum, maximum));
    for (std::size_t i = 0; i < values.size(); ++i) {
      open_element(i);
      describe(*this, values[i]);
      close_section();
    }
    close_list();
  }

  virtual void number(std::string_view name, double& value, double minimum, double maximum) = 0;
  virtual void boolean(std::string_view name, bool& value) = 0;
  virtual void text(std::string_view name, std::string& value, const TextRule& rule = {}) = 0;

  // Visits an object whose keys depend on another key: `fields` visits the keys, `json` receives the text.
  virtual void object(std::string_view name, std::string& json, const std::function<void(FieldVisitor&)>& fields) = 0;

  // Checks a rule across keys. `problem` returns a clause such as "must be a multiple of group_size", or an empty
  // string. The schema printer does not call it.
  virtual void check(std::string_view name, const std::function<std::string()>& problem) = 0;

 protected:
  virtual void visit_integer(std::string_view name, std::int64_t& value, std::int64_t minimum,
                             std::int64_t maximum) = 0;
  virtual void visit_choice(std::string_view name, int& index, std::span<const std::string_view> names) = 0;
  void visit_choice(std::string_view name, int& index, std::initializer_list<std::string_view> names) {
    visit_choice(name, index, std::span(names.begin(), names.size()));
  }
  virtual void open_section(std::string_view name) = 0;
  virtual void close_section() = 0;
  virtual std::size_t open_list(std::string_view name, int minimum, int maximum) = 0;  // returns the number of elements
  virtual void open_element(std::size_t index) = 0;
  virtual void close_list() = 0;
};

}  // namespace starpo
