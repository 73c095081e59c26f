// The record at the foot of a text report: figures, roles, what was not checked, marks, damage.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "osler/run/role.h"
#include "report/numbers.h"
#include "report/text_sections.h"
#include "report/words.h"
#include "run/mark_kind.h"

namespace osler::layout {
namespace {

constexpr int kLabelCells = 13;

void entry(Sheet& sheet, std::string_view label, const std::string& text, int most = 0, Ink ink = Ink::faint) {
  if (sheet.width() >= 60) {
    sheet.paragraph(sheet.painted(pad(label, kLabelCells), ink), text, most);
  } else {
    sheet.paragraph("", sheet.painted(label, ink) + "  " + text, most);
  }
}

/// Pieces with a dot between them, broken between pieces where they are short enough.
std::string dotted(const Sheet& sheet, std::vector<std::string> pieces) {
  for (std::string& piece : pieces) {
    if (columns(piece) <= sheet.width() / 2) piece = together(piece);
  }
  return join(pieces, fmt::format(" {} ", sheet.glyphs().dot));
}

void write_figures(Sheet& sheet, const Report& report) {
  if (report.metrics.empty()) return;
  std::vector<std::string> figures;
  for (const auto& [name, value] : report.metrics) {
    figures.push_back(fmt::format("{} {}", sheet.text(name), short_number(value)));
  }
  entry(sheet, "Figures", dotted(sheet, figures));
}

/// The run's figures beside those of healthy runs, one line each.
void write_measures(Sheet& sheet, const Report& report) {
  bool first = true;
  for (const Measured& measured : report.measures) {
    entry(sheet, first ? "Measures" : "", sheet.text(in_words(measured)));
    first = false;
  }
  if (!first && !report.reference.empty())
    entry(sheet, "", sheet.text("healthy runs are those of " + report.reference));
}

/// "train-loss = train/loss"
std::string role_text(const Sheet& sheet, std::string_view role, const std::vector<std::string>& names,
                      const Detail& detail) {
  const std::size_t most = shown(detail.everything ? 0 : names.size() > 2 ? 1 : 2, names.size());
  std::vector<std::string> some;
  for (std::size_t i = 0; i < most; ++i) {
    some.push_back(clip_middle(clean(names[i], sheet.unicode()), 48, sheet.unicode()));
  }
  if (most < names.size()) some.push_back(fmt::format("{} more", names.size() - most));
  return fmt::format("{} = {}", role, join(some, ", "));
}

void write_roles(Sheet& sheet, const Report& report, const Detail& detail) {
  std::vector<std::string> roles;
  const Role last = detail.everything ? Role::other : Role::layer_activation;
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const std::string_view role = to_string(static_cast<Role>(i));
    const auto found = report.roles.find(std::string(role));
    const bool told_below = report.computed.contains(std::string(role));
    if (found != report.roles.end() && !found->second.empty() && !told_below) {
      roles.push_back(role_text(sheet, role, found->second, detail));
    }
  }
  for (const auto& [role, how] : report.computed) roles.push_back(fmt::format("{} = {}", role, sheet.text(how)));
  if (report.domain.domain != Domain::unknown) {
    roles.insert(roles.begin(), fmt::format("a training of the kind {}", to_string(report.domain.domain)));
  }
  if (roles.empty()) {
    entry(sheet, "Read as", "no series has a known role; name one with --role train-loss=NAME");
  } else if (detail.everything) {
    for (std::size_t i = 0; i < roles.size(); ++i) entry(sheet, i == 0 ? "Read as" : "", roles[i]);
  } else {
    entry(sheet, "Read as", dotted(sheet, roles), detail.groups > 3 ? 3 : 2);
  }
}

/// The checks that did not run, by reason, the most frequent reason first.
std::vector<std::pair<std::string, std::vector<std::string>>> by_reason(const Report& report) {
  std::map<std::string, std::vector<std::string>> grouped_checks;
  for (const NotRun& check : report.checks_not_run) grouped_checks[check.reason].push_back(check.finding);
  std::vector<std::pair<std::string, std::vector<std::string>>> groups(grouped_checks.begin(), grouped_checks.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  return groups;
}

void write_checks(Sheet& sheet, const Report& report, const Detail& detail) {
  if (!report.checks_ran.empty()) {
    const std::string ran = counted(report.checks_ran.size(), "condition");
    if (detail.everything) {
      entry(sheet, "Checked", sheet.text(fmt::format("{}: {}", ran, join(report.checks_ran, ", "))));
    } else if (report.findings.empty() && report.status == Status::healthy) {
      entry(sheet, "Checked", ran + ", none found");
    }
  }
  if (report.checks_not_run.empty()) return;
  const auto groups = by_reason(report);
  const std::size_t most = shown(detail.groups, groups.size());
  if (detail.everything) {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      entry(sheet, i == 0 ? "Not checked" : "",
            sheet.text(fmt::format("{}: {}", groups[i].first, join(groups[i].second, ", "))));
    }
    return;
  }
  std::vector<std::string> reasons;
  std::size_t rest = 0;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (i < most) {
      reasons.push_back(fmt::format("{} ({})", sheet.text(groups[i].first), groups[i].second.size()));
    } else {
      rest += groups[i].second.size();
    }
  }
  if (rest > 0) reasons.push_back(fmt::format("{} for other reasons", rest));
  entry(sheet, "Not checked",
        fmt::format("{} of {}: {}", report.checks_not_run.size(),
                    report.checks_not_run.size() + report.checks_ran.size(), join(reasons, "; ")),
        3);
}

void write_marks(Sheet& sheet, const Report& report, const Detail& detail) {
  if (report.marks.empty()) return;
  // Restarts can be many; what is said only once must not drown in them.
  std::vector<Mark> sorted = report.marks;
  std::stable_partition(sorted.begin(), sorted.end(),
                        [](const Mark& mark) { return mark.kind != Mark::Kind::restart; });
  std::vector<std::string> marks;
  const std::size_t most = shown(detail.groups, sorted.size());
  for (std::size_t i = 0; i < most; ++i) {
    const Mark& mark = sorted[i];
    const std::string text = mark.text.empty() ? "" : ": " + mark.text;
    marks.push_back(sheet.text(fmt::format("{} at step {}{}", to_string(mark.kind), grouped(mark.step), text)));
  }
  if (most < report.marks.size()) marks.push_back(fmt::format("{} more", report.marks.size() - most));
  entry(sheet, "Marks", dotted(sheet, marks), detail.everything ? 0 : 2);
}

/// Some damage is nowhere in particular: points that came too late, more series than are kept.
bool has_place(const Damage& damage) {
  return damage.line > 0 || damage.offset > 0 || damage.lost_bytes > 0;
}

void write_damage(Sheet& sheet, const Report& report, const Detail& detail) {
  const DamageReport& damage = report.damage;
  if (damage.empty()) return;
  const bool placed = std::any_of(damage.items().begin(), damage.items().end(), has_place);
  std::string summary =
      placed ? counted(damage.total(), "place") + " could not be read" : "not everything could be used";
  if (damage.lost_bytes() > 0) summary += fmt::format(", {} lost", byte_count(damage.lost_bytes()));
  entry(sheet, "Damaged", summary, 0, Ink::warning);
  const std::size_t most = shown(std::min(detail.groups, 2), damage.items().size());
  for (std::size_t i = 0; i < most; ++i) {
    const Damage& item = damage.items()[i];
    const std::string where = item.line > 0     ? fmt::format("{}:{}", item.source, item.line)
                              : has_place(item) ? fmt::format("{}, byte {}", item.source, grouped(item.offset))
                                                : item.source;
    entry(sheet, "", sheet.text(fmt::format("{}: {}", where, item.what)), detail.prose_lines);
  }
  if (detail.everything && damage.total() > damage.items().size()) {
    entry(sheet, "", fmt::format("and {} more", grouped(damage.total() - damage.items().size())));
  }
}

}  // namespace

void write_record(Sheet& sheet, const Report& report, const Detail& detail) {
  sheet.blank();
  if (report.prognosis) entry(sheet, "Prognosis", sheet.text(report.prognosis->text));
  if (report.status == Status::healthy || detail.everything) write_figures(sheet, report);
  if (detail.everything) write_measures(sheet, report);
  write_roles(sheet, report, detail);
  write_marks(sheet, report, detail);
  write_checks(sheet, report, detail);
  write_damage(sheet, report, detail);
}

}  // namespace osler::layout
