// The diagnosis tree: the questions a physician asks in order, and the way a run takes through them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "osler/diagnosis/report.h"

namespace osler {

/// One question, or, at the end of a way, one answer.
struct TreeNode {
  std::string_view id;
  std::string_view text;                   ///< the question; at a leaf, what to conclude and do first
  std::vector<std::string_view> findings;  ///< any of them, as a warning or worse, answers yes; empty at a leaf
  std::string_view yes;                    ///< ids of the nodes that follow; empty at a leaf
  std::string_view no;
  std::vector<std::string_view> causes;  ///< at a leaf: what to suspect, the likeliest first

  [[nodiscard]] bool leaf() const { return findings.empty(); }
};

/// The whole tree, the root first; parents come before their children.
[[nodiscard]] std::span<const TreeNode> diagnosis_tree();
[[nodiscard]] const TreeNode& tree_node(std::string_view id);

/// How a question was answered.
enum class Answer {
  yes,
  no,
  unknown,  ///< none of its checks could run; the way goes on as with no
};
[[nodiscard]] std::string_view to_string(Answer answer);

/// One question on the way of a run.
struct TreeStep {
  const TreeNode* node = nullptr;
  Answer answer = Answer::no;
  std::string because;  ///< from which numbers
};

/// The way of a run, ending at a leaf (whose answer means nothing).
[[nodiscard]] std::vector<TreeStep> walk_tree(const Report& report);

}  // namespace osler
