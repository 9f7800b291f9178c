#pragma once

#include <memory>
#include <string>
#include <vector>

#include "env/webshop/webshop.h"

// A catalogue of three products, written by hand.
inline std::vector<starpo::Product> shop_products() {
  starpo::Product mug;
  mug.asin = "B0MUG00001";
  mug.title = "Rosmere Red Ceramic Mug";
  mug.description = "A mug for tea.";
  mug.bullets = {"Dishwasher safe", "", " ", "\n"};
  mug.category = "garden";
  mug.query = "mugs";
  mug.product_category = "Home › Kitchen › Mugs";
  mug.prices = {12.5};
  mug.options = {{"size", {"small", "x-large"}}, {"color", {"red", "navy blue", "1/2 tan"}}};
  mug.attributes = {"dishwasher safe", "hand made"};
  mug.instruction = "Find me dishwasher safe mugs";
  mug.instruction_attributes = {"dishwasher safe"};
  mug.human_instructions = {{"..i need a mug.", {"hand made"}, {"navy"}}, {"no attributes", {}, {}}};

  starpo::Product cup = mug;
  cup.asin = "B0CUP00001";
  cup.title = "Northbay Ceramic Cup";
  cup.query = "cups";
  cup.product_category = "Home › Kitchen › Cups";
  cup.description = "";
  cup.bullets = {"For coffee"};
  cup.prices = {900, 995};
  cup.options = {};
  cup.attributes = {"DUMMY_ATTR"};
  cup.instruction.reset();
  cup.human_instructions = {};

  starpo::Product tent;
  tent.asin = "B0TENT0001";
  tent.title = "Fjordlin Tent";
  tent.description = "Sleeps two.";
  tent.bullets = {"Waterproof"};
  tent.category = "outdoor";
  tent.query = "tents";
  tent.product_category = "Sports › Camping";
  tent.prices = {100};
  tent.options = {{"model", {"description", "buy now", "search", "next >", "attributes", "two"}}};
  tent.attributes = {"water proof"};
  tent.instruction = "Find me a tent";
  tent.instruction_attributes = {"water proof"};
  return {mug, cup, tent};
}

// The goals of a catalogue; without an argument those of shop_products().
inline std::shared_ptr<const starpo::GoalList> shop_goals(
    const std::vector<starpo::Product>& products = shop_products(), bool human_goals = false) {
  return std::make_shared<const starpo::GoalList>(std::make_shared<const starpo::Catalogue>(products), human_goals, 7);
}

// Returns the number of the first goal whose instruction contains a text.
inline std::uint64_t goal_with(const starpo::GoalList& goals, const std::string& text) {
  for (std::uint64_t i = 0; i < goals.size(); ++i)
    if (goals.goal(i).instruction.find(text) != std::string::npos) return i;
  throw std::logic_error("no goal contains " + text);
}
