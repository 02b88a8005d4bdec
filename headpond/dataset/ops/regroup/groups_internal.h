// SPDX-License-Identifier: Apache-2.0
// Elements sorted into groups by a key, each of which is given when it is complete: for buckets and group_by_window.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "headpond/dataset/ops/regroup/held_input_internal.h"

namespace headpond::internal {

/// What an element is to its group.
struct Member {
  int64_t key = 0;   ///< Key of the group.
  int64_t size = 1;  ///< Not below 0.
};

/// Elements of one key, in the order in which they came.
struct Group {
  std::vector<Element> elements;
  std::vector<int64_t> tickets;
  int64_t longest = 0;  ///< The longest of the sizes.
  int64_t total = 0;    ///< Their sum.
};

/// The rules of an operator. Pure; any thread.
class GroupRules {
 public:
  virtual ~GroupRules() = default;
  /// Fails if `element` can be in no group.
  virtual Result<Member> member(const Element& element) const = 0;
  /// No error iff `element` can be in `group`, which may be empty.
  virtual Error check(const Member& member, const Group& group, const Element& element) const = 0;
  /// False: the group is complete without the element, which begins another one. REQUIRES: the group is not empty.
  virtual bool takes(const Member& member, const Group& group) const = 0;
  /// Whether a group is complete. REQUIRES: it is not empty.
  virtual bool is_full(int64_t key, const Group& group) const = 0;
};

/// Reads elements into groups. If more than `most` are held, the group with the oldest one counts as complete. At the
/// end of the input the other groups are given, from the lowest key on.
class Groups {
 public:
  /// `node` is named in errors. All but `rules` outlive this.
  Groups(const Node& node, const GroupRules& rules, const Binding& binding, Feed& feed, int64_t most);

  /// value: the group `key` is complete. It stays so, and is given again by the next call and after a restore, until it
  /// is removed. end: there is no group. Else as Iterator::next.
  Got next(Context& context, int64_t& key);
  /// REQUIRES: there is such a group.
  const Group& operator[](int64_t key) const { return groups_.at(key); }
  bool at_end() const { return ended_; }  ///< The input has ended: the groups that are given may not be full.
  void remove(int64_t key);
  void visit_state(StateVisitor& visitor) { input_.visit_state(visitor, most_ + 1); }

 private:
  Got add(Context& context, Element element, int64_t ticket);
  void put(const Member& member, Element element, int64_t ticket);

  const Node& node_;
  const GroupRules& rules_;
  const int64_t most_;
  HeldInput input_;
  std::map<int64_t, Group> groups_;    // None is empty.
  std::map<int64_t, int64_t> oldest_;  // The key of a group by its first ticket.
  int64_t size_ = 0;                   // Elements in all groups.
  std::optional<int64_t> complete_;
  // The element that its group did not take: it follows when that group is removed.
  struct Waiting {
    Member member;
    Element element;
    int64_t ticket;
  };
  std::optional<Waiting> waiting_;
  bool ended_ = false;
};

}  // namespace headpond::internal
