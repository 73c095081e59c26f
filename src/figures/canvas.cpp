// Canvas on Cairo's surfaces for PNG, SVG and PDF.
#include "figures/canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "report/layout.h"
#include "report/utf8.h"

namespace osler::figure {
namespace {

// Debian's libcairo2 brings this family with it, by way of fontconfig; elsewhere fontconfig finds the nearest.
constexpr const char* kFamily = "DejaVu Sans";
constexpr const char* kEllipsis = "…";
// Longer words than this never fit a figure; measuring them would only cost time.
constexpr std::size_t kLongestText = 2000;

struct ContextCloser {
  void operator()(cairo_t* context) const { cairo_destroy(context); }
};
struct SurfaceCloser {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
};

cairo_status_t collect(void* bytes, const unsigned char* data, unsigned int length) {
  // An exception must not pass through Cairo's C code.
  try {
    static_cast<std::string*>(bytes)->append(reinterpret_cast<const char*>(data), length);
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
  return CAIRO_STATUS_SUCCESS;
}

std::string shown(std::string_view words) {
  return layout::clean(words.substr(0, kLongestText), true);
}

/// The beginning or end of a text in whole code points.
std::vector<std::string_view> code_points(std::string_view text) {
  std::vector<std::string_view> points;
  while (!text.empty()) {
    const std::size_t bytes = layout::decode(text).bytes;
    points.push_back(text.substr(0, bytes));
    text.remove_prefix(bytes);
  }
  return points;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

struct Canvas::Page {
  FigureType type = FigureType::png;
  double width = 0;
  double height = 0;
  std::string title;
  std::string description;
  std::string bytes;  // filled by the surface as it is written; must stay where it is
  std::unique_ptr<cairo_surface_t, SurfaceCloser> surface;
  std::unique_ptr<cairo_t, ContextCloser> context;

  void colour(Colour ink) { cairo_set_source_rgba(context.get(), ink.red, ink.green, ink.blue, ink.opacity); }

  void pen(const Pen& pen) {
    colour(pen.colour);
    cairo_set_line_width(context.get(), pen.width);
    cairo_set_line_join(context.get(), CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_cap(context.get(), pen.dash == Pen::Dash::dotted ? CAIRO_LINE_CAP_ROUND : CAIRO_LINE_CAP_BUTT);
    const double dashes[] = {pen.dash == Pen::Dash::dotted ? 0.1 : 5.0, pen.dash == Pen::Dash::dotted ? 3.5 : 3.5};
    cairo_set_dash(context.get(), dashes, pen.dash == Pen::Dash::none ? 0 : 2, 0);
  }

  void type_face(const Type& face) {
    cairo_select_font_face(context.get(), kFamily, CAIRO_FONT_SLANT_NORMAL,
                           face.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(context.get(), face.size);
  }

  double advance(const std::string& clean_words, const Type& face) {
    type_face(face);
    cairo_text_extents_t extents;
    cairo_text_extents(context.get(), clean_words.c_str(), &extents);
    return extents.x_advance;
  }

  void trace(const Box& box, double radius) {
    cairo_t* c = context.get();
    if (radius <= 0) {
      cairo_rectangle(c, box.x, box.y, box.width, box.height);
      return;
    }
    constexpr double kQuarter = std::numbers::pi / 2;
    radius = std::min({radius, box.width / 2, box.height / 2});
    cairo_new_sub_path(c);
    cairo_arc(c, box.right() - radius, box.y + radius, radius, -kQuarter, 0);
    cairo_arc(c, box.right() - radius, box.bottom() - radius, radius, 0, kQuarter);
    cairo_arc(c, box.x + radius, box.bottom() - radius, radius, kQuarter, 2 * kQuarter);
    cairo_arc(c, box.x + radius, box.y + radius, radius, 2 * kQuarter, 3 * kQuarter);
    cairo_close_path(c);
  }

  void trace(std::span<const Place> places) {
    for (std::size_t i = 0; i < places.size(); ++i) {
      (i == 0 ? cairo_move_to : cairo_line_to)(context.get(), places[i].x, places[i].y);
    }
  }
};

Canvas::Canvas(std::unique_ptr<Page> page) : page_(std::move(page)) {}
Canvas::Canvas(Canvas&&) noexcept = default;
Canvas& Canvas::operator=(Canvas&&) noexcept = default;
Canvas::~Canvas() = default;

Result<Canvas> Canvas::open(FigureType type, double width, double height, double scale) {
  auto page = std::make_unique<Page>();
  page->type = type;
  page->width = width;
  page->height = height;
  switch (type) {
    case FigureType::png:
      page->surface.reset(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(std::lround(width * scale)),
                                                     static_cast<int>(std::lround(height * scale))));
      break;
    case FigureType::svg:
      page->surface.reset(cairo_svg_surface_create_for_stream(collect, &page->bytes, width, height));
      cairo_svg_surface_set_document_unit(page->surface.get(), CAIRO_SVG_UNIT_PX);
      break;
    case FigureType::pdf:
      page->surface.reset(cairo_pdf_surface_create_for_stream(collect, &page->bytes, width, height));
      break;
  }
  page->context.reset(cairo_create(page->surface.get()));
  const cairo_status_t status = cairo_status(page->context.get());
  if (status != CAIRO_STATUS_SUCCESS) {
    return Error{ErrorCode::internal, cairo_status_to_string(status), "cannot open a page to draw on"};
  }
  if (type == FigureType::png) cairo_scale(page->context.get(), scale, scale);
  // Unhinted, so that words are as wide in every format and at every scale.
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_set_font_options(page->context.get(), options);
  cairo_font_options_destroy(options);
  return Canvas(std::move(page));
}

void Canvas::fill(const Box& box, Colour colour, double radius) {
  page_->colour(colour);
  page_->trace(box, radius);
  cairo_fill(page_->context.get());
}

void Canvas::outline(const Box& box, const Pen& pen, double radius) {
  page_->pen(pen);
  page_->trace(box, radius);
  cairo_stroke(page_->context.get());
}

void Canvas::line(Place from, Place to, const Pen& pen) {
  const Place ends[] = {from, to};
  path(ends, pen);
}

void Canvas::path(std::span<const Place> places, const Pen& pen) {
  if (places.size() < 2) return;
  page_->pen(pen);
  page_->trace(places);
  cairo_stroke(page_->context.get());
}

void Canvas::polygon(std::span<const Place> places, Colour colour) {
  if (places.size() < 3) return;
  page_->colour(colour);
  page_->trace(places);
  cairo_close_path(page_->context.get());
  cairo_fill(page_->context.get());
}

void Canvas::disc(Place centre, double radius, Colour colour) {
  page_->colour(colour);
  cairo_new_sub_path(page_->context.get());
  cairo_arc(page_->context.get(), centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  cairo_fill(page_->context.get());
}

void Canvas::ring(Place centre, double radius, const Pen& pen) {
  page_->pen(pen);
  cairo_new_sub_path(page_->context.get());
  cairo_arc(page_->context.get(), centre.x, centre.y, radius, 0, 2 * std::numbers::pi);
  cairo_stroke(page_->context.get());
}

void Canvas::cross(Place centre, double radius, const Pen& pen) {
  line({centre.x - radius, centre.y - radius}, {centre.x + radius, centre.y + radius}, pen);
  line({centre.x - radius, centre.y + radius}, {centre.x + radius, centre.y - radius}, pen);
}

void Canvas::clip(const Box& box) {
  cairo_save(page_->context.get());
  page_->trace(box, 0);
  cairo_clip(page_->context.get());
}

void Canvas::unclip() {
  cairo_restore(page_->context.get());
}

void Canvas::text(std::string_view words, Place at, const Type& type, Align align) {
  const std::string clean_words = shown(words);
  const double width = page_->advance(clean_words, type);
  const double left = align == Align::left ? at.x : align == Align::right ? at.x - width : at.x - width / 2;
  page_->colour(type.colour);
  cairo_move_to(page_->context.get(), left, at.y);
  cairo_show_text(page_->context.get(), clean_words.c_str());
  cairo_new_path(page_->context.get());
}

double Canvas::width_of(std::string_view words, const Type& type) {
  return page_->advance(shown(words), type);
}

std::string Canvas::fitted(std::string_view words, double width, const Type& type) {
  std::string clean_words = shown(words);
  const bool whole = clean_words.size() >= words.size() || words.size() <= kLongestText;
  if (whole && page_->advance(clean_words, type) <= width) return clean_words;
  const std::vector<std::string_view> points = code_points(clean_words);
  const auto shortened = [&points](std::size_t kept) {
    std::string text;
    for (std::size_t i = 0; i < (kept + 1) / 2; ++i) text += points[i];
    text += kEllipsis;
    for (std::size_t i = points.size() - kept / 2; i < points.size(); ++i) text += points[i];
    return text;
  };
  std::size_t fits = 0;
  std::size_t too_many = points.size();
  while (fits + 1 < too_many) {
    const std::size_t middle = (fits + too_many) / 2;
    (page_->advance(shortened(middle), type) <= width ? fits : too_many) = middle;
  }
  return shortened(fits);
}

std::vector<std::string> Canvas::wrapped(std::string_view words, double width, const Type& type, int most) {
  const std::string clean_words = shown(words);
  std::vector<std::string> lines;
  std::string_view rest = clean_words;
  std::string line;
  const auto full = [&] { return most > 0 && static_cast<int>(lines.size()) + 1 == most; };
  while (!rest.empty()) {
    const std::size_t space = rest.find(' ');
    const std::string_view word = rest.substr(0, space);
    const std::string longer = line.empty() ? std::string(word) : line + " " + std::string(word);
    if (line.empty() || page_->advance(longer, type) <= width) {
      line = longer;
    } else if (full()) {
      line += kEllipsis;
      break;
    } else {
      lines.push_back(fitted(line, width, type));
      line = word;
    }
    rest = space == std::string_view::npos ? std::string_view() : rest.substr(space + 1);
  }
  if (!line.empty()) lines.push_back(fitted(line, width, type));
  return lines;
}

double Canvas::width() const {
  return page_->width;
}

double Canvas::height() const {
  return page_->height;
}

void Canvas::next_page() {
  cairo_show_page(page_->context.get());
}

void Canvas::describe(std::string_view title, std::string_view description) {
  page_->title = shown(title);
  page_->description = shown(description);
}

Result<std::string> Canvas::finish() && {
  Page& page = *page_;
  const cairo_status_t drawn = cairo_status(page.context.get());
  page.context.reset();
  cairo_status_t written = drawn;
  if (drawn == CAIRO_STATUS_SUCCESS && page.type == FigureType::png) {
    written = cairo_surface_write_to_png_stream(page.surface.get(), collect, &page.bytes);
  }
  cairo_surface_finish(page.surface.get());
  if (written == CAIRO_STATUS_SUCCESS) written = cairo_surface_status(page.surface.get());
  if (written != CAIRO_STATUS_SUCCESS) {
    return Error{ErrorCode::internal, cairo_status_to_string(written), "cannot draw the figure"};
  }
  if (page.type == FigureType::svg && !page.title.empty()) {
    const std::size_t root = page.bytes.find("<svg");
    const std::size_t behind = root == std::string::npos ? root : page.bytes.find('>', root);
    if (behind != std::string::npos) {
      page.bytes.insert(behind + 1, fmt::format("\n<title>{}</title>\n<desc>{}</desc>", escaped(page.title),
                                                escaped(page.description)));
    }
  }
  return std::move(page.bytes);
}

}  // namespace osler::figure
