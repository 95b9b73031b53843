//! Charts as SVG, coloured by the page's style.

use super::axis::{AxisPlaces, ChartAxis};
use super::markup::Markup;
use crate::number::number;

const WIDTH: f64 = 460.0;
const HEIGHT: f64 = 270.0;
const LEFT: f64 = 52.0;
const RIGHT: f64 = 10.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 44.0;
/// The height of a name, of the dots of one series below it, and of the axis below all.
const NAME: f64 = 22.0;
const LANE: f64 = 13.0;
const FOOT: f64 = 34.0;
/// The height of a row of ratios.
const ROW: f64 = 46.0;

/// A chart with its words.
#[derive(Clone, Debug)]
pub struct DrawnChart {
    /// The caption.
    pub caption: String,
    /// Where the paper has it.
    pub source: String,
    /// What the horizontal axis is.
    pub x: String,
    /// What the vertical axis is.
    pub y: String,
    /// Whether the values are on a logarithmic axis.
    pub is_log: bool,
    /// Its lines or dots.
    pub series: Vec<DrawnSeries>,
}

/// A line, or the dots of one kind.
#[derive(Clone, Debug)]
pub struct DrawnSeries {
    /// Its name.
    pub name: String,
    /// Its look: 0 is the paper, 1 is ours, more are further ones.
    pub look: usize,
    /// Its points.
    pub points: Vec<DrawnPoint>,
}

/// A point.
#[derive(Clone, Debug)]
pub struct DrawnPoint {
    /// Its place on the horizontal axis, or the number of its name.
    pub x: f64,
    /// Its name, where the axis has names.
    pub name: String,
    /// Its value.
    pub y: f64,
}

/// How many looks the style has.
const LOOKS: usize = 8;

impl DrawnChart {
    /// Whether there is anything to draw.
    pub fn is_empty(&self) -> bool {
        self.series.iter().all(|series| series.points.is_empty())
    }

    /// Lines over numbers.
    pub fn lines(&self, out: &mut Markup) {
        self.figure(out, |out| self.line_drawing(out));
    }

    /// Names, each with dots on a common axis.
    pub fn dots(&self, out: &mut Markup) {
        self.figure(out, |out| self.dot_drawing(out));
    }

    fn figure(&self, out: &mut Markup, draw: impl Fn(&mut Markup)) {
        out.raw("<figure><figcaption>").prose(&self.caption);
        if !self.source.is_empty() {
            out.element(" <small>", &self.source, "</small>");
        }
        out.raw("</figcaption>");
        self.legend(out);
        draw(out);
        out.raw("</figure>");
    }

    fn legend(&self, out: &mut Markup) {
        out.raw("<ul class=legend>");
        let series = self.series.iter();
        for series in series.filter(|series| !series.points.is_empty()) {
            let look = series.look % LOOKS;
            out.shape(format_args!("<li class=s{look}><span></span>"));
            out.text(&series.name).raw("</li>");
        }
        out.raw("</ul>");
    }

    fn points(&self) -> impl Iterator<Item = &DrawnPoint> + Clone {
        self.series.iter().flat_map(|series| &series.points)
    }

    fn line_drawing(&self, out: &mut Markup) {
        let up = AxisPlaces {
            from: HEIGHT - BOTTOM,
            to: TOP,
        };
        let across = AxisPlaces {
            from: LEFT,
            to: WIDTH - RIGHT,
        };
        let values = self.points().map(|point| point.y);
        let y = match self.is_log {
            true => ChartAxis::log(values, up),
            false => ChartAxis::linear(values, up),
        };
        let places = self.points().map(|point| point.x);
        let least = places.clone().fold(f64::INFINITY, f64::min);
        let most = places.fold(0.0, f64::max);
        let least = if least > most * 0.5 { least } else { 0.0 };
        let x = ChartAxis::between(least, most, across);
        self.open(out, HEIGHT);
        for tick in y.ticks() {
            let at = y.at(tick);
            out.shape(format_args!(
                "<line class=grid x1={LEFT} x2={} y1={at:.1} y2={at:.1} />\
                 <text x={} y={:.1} text-anchor=end>",
                WIDTH - RIGHT,
                LEFT - 6.0,
                at + 4.0
            ));
            out.text(&ChartAxis::label(tick)).raw("</text>");
        }
        for tick in x.ticks() {
            let at = x.at(tick);
            out.shape(format_args!(
                "<text x={at:.1} y={:.1} text-anchor=middle>",
                HEIGHT - BOTTOM + 17.0
            ));
            out.text(&ChartAxis::label(tick)).raw("</text>");
        }
        out.shape(format_args!(
            "<text class=name x={:.1} y={:.1} text-anchor=end>",
            WIDTH - RIGHT,
            HEIGHT - 8.0
        ));
        out.text(&self.x).raw("</text><text class=name x=0 y=11>");
        out.text(&self.y).raw("</text>");
        for series in &self.series {
            drawn_line(series, &x, &y, out);
        }
        out.raw("</svg>");
    }

    fn dot_drawing(&self, out: &mut Markup) {
        let mut names: Vec<&str> = Vec::new();
        for point in self.points() {
            if !names.contains(&point.name.as_str()) {
                names.push(&point.name);
            }
        }
        let across = AxisPlaces {
            from: 8.0,
            to: WIDTH - 30.0,
        };
        let values = self.points().map(|point| point.y);
        let x = match self.is_log {
            true => ChartAxis::log(values, across),
            false => ChartAxis::linear(values, across),
        };
        let row = NAME + LANE * self.series.len() as f64 + 4.0;
        let bottom = names.len() as f64 * row + 4.0;
        self.open(out, bottom + FOOT);
        for tick in x.ticks() {
            let at = x.at(tick);
            out.shape(format_args!(
                "<line class=grid x1={at:.1} x2={at:.1} y1=4 y2={bottom} />\
                 <text x={at:.1} y={:.1} text-anchor=middle>",
                bottom + 15.0
            ));
            out.text(&ChartAxis::label(tick)).raw("</text>");
        }
        out.shape(format_args!(
            "<text class=name x={:.1} y={:.1} text-anchor=end>",
            WIDTH - 2.0,
            bottom + 30.0
        ));
        out.text(&self.y).raw("</text>");
        for (place, name) in names.iter().enumerate() {
            let top = place as f64 * row;
            out.shape(format_args!("<text class=row x=8 y={:.1}>", top + 17.0));
            out.text(name).raw("</text>");
            for (number, series) in self.series.iter().enumerate() {
                let points = series.points.iter().filter(|point| point.name == *name);
                for point in points {
                    let lane = top + NAME + LANE * number as f64 + 10.0;
                    drawn_dot(series.look, x.at(point.y), lane, out);
                    out.text(&number_of(point.y)).raw("</text>");
                }
            }
        }
        out.raw("</svg>");
    }

    fn open(&self, out: &mut Markup, height: f64) {
        out.shape(format_args!(
            "<svg viewBox=\"0 0 {WIDTH} {height}\" role=img aria-label=\""
        ));
        out.text(&self.caption).raw(". ").text(&self.spoken());
        out.raw("\">");
    }

    /// The chart in words: where each line begins and ends, or each dot.
    fn spoken(&self) -> String {
        let series = self.series.iter();
        let series = series.filter(|series| !series.points.is_empty());
        let told = series.map(|series| match &series.points[..] {
            points if points.iter().all(|point| !point.name.is_empty()) => {
                let each = points
                    .iter()
                    .map(|point| format!("{} {}", point.name, number_of(point.y)));
                format!(
                    "{}: {} ({})",
                    series.name,
                    each.collect::<Vec<_>>().join(", "),
                    self.y
                )
            }
            [first, .., last] => format!(
                "{}: from {} to {} ({})",
                series.name,
                number_of(first.y),
                number_of(last.y),
                self.y
            ),
            [only] => format!("{}: {} ({})", series.name, number_of(only.y), self.y),
            [] => String::new(),
        });
        told.collect::<Vec<_>>().join("; ")
    }
}

fn drawn_line(series: &DrawnSeries, x: &ChartAxis, y: &ChartAxis, out: &mut Markup) {
    let look = series.look % LOOKS;
    out.shape(format_args!("<polyline class=s{look} points=\""));
    for point in &series.points {
        out.shape(format_args!("{:.1},{:.1} ", x.at(point.x), y.at(point.y)));
    }
    out.raw("\"/>");
    // Dots where there are few points, so that what was measured shows.
    if series.points.len() <= 12 {
        for point in &series.points {
            out.shape(format_args!(
                "<circle class=s{look} cx={:.1} cy={:.1} r=3.5 />",
                x.at(point.x),
                y.at(point.y)
            ));
        }
    }
}

/// A dot, and the beginning of the text beside it.
fn drawn_dot(look: usize, x: f64, y: f64, out: &mut Markup) {
    let look = look % LOOKS;
    // What is far to the right has its number on the left.
    let (at, anchor) = match x > WIDTH - 80.0 {
        true => (x - 8.0, "end"),
        false => (x + 8.0, "start"),
    };
    out.shape(format_args!(
        "<circle class=s{look} cx={x:.1} cy={:.1} r=4.5 /><text class=value x={at:.1} y={y:.1} text-anchor={anchor}>",
        y - 4.0
    ));
}

fn number_of(value: f64) -> String {
    number(value)
}

/// A drawing of ratios: one row for each study, a dot for each comparison.
pub fn strip(rows: &[StripRow], out: &mut Markup) {
    let ratios = rows.iter().flat_map(|row| row.ratios.iter().copied());
    let across = AxisPlaces {
        from: 12.0,
        to: WIDTH - 12.0,
    };
    let x = ChartAxis::log(ratios.chain([0.1, 10.0]), across);
    let bottom = rows.len() as f64 * ROW + 8.0;
    let height = bottom + 32.0;
    out.shape(format_args!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" role=img aria-label=\""
    ));
    out.text("How many times better each number is than the paper's, by study. The table beside it has the counts.");
    out.raw("\">");
    for tick in x.ticks() {
        let at = x.at(tick);
        let class = if (tick - 1.0).abs() < 1e-9 {
            "even"
        } else {
            "grid"
        };
        out.shape(format_args!(
            "<line class={class} x1={at:.1} x2={at:.1} y1=2 y2={bottom} />\
             <text x={at:.1} y={:.1} text-anchor=middle>",
            bottom + 15.0
        ));
        out.text(&format!("{}×", ChartAxis::label(tick)))
            .raw("</text>");
    }
    out.shape(format_args!(
        "<text class=name x={:.1} y={:.1} text-anchor=end>times better than the paper</text>",
        WIDTH - 12.0,
        bottom + 30.0
    ));
    for (place, row) in rows.iter().enumerate() {
        let top = place as f64 * ROW;
        out.shape(format_args!("<text class=row x=12 y={:.1}>", top + 15.0));
        out.text(&row.name).raw("</text>");
        for (number, ratio) in row.ratios.iter().enumerate() {
            let class = if *ratio < 1.0 { "behind" } else { "ahead" };
            let lane = top + 24.0 + (number % 4) as f64 * 5.0;
            out.shape(format_args!(
                "<circle class={class} cx={:.1} cy={lane:.1} r=3 />",
                x.at(*ratio)
            ));
        }
    }
    out.raw("</svg>");
}

/// The ratios of a study.
#[derive(Clone, Debug)]
pub struct StripRow {
    /// What the report calls it.
    pub name: String,
    /// How many times better each number is.
    pub ratios: Vec<f64>,
}
