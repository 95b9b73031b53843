//! The report as a page: figures with their bars, and charts as SVG; light and dark, without external resources.

use std::fmt::Write;

use serde::Serialize;

use crate::report::{Bar, FigureTable, Report};

/// A line chart.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// The title, with the unit.
    pub title: String,
    /// The label of the horizontal axis.
    pub x: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// One line of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 240.0;
const LEFT: f64 = 56.0;
const BOTTOM: f64 = 36.0;
const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1c2330;--soft:#5d6777;--line:#d8dde6;--paper:#fff;--good:#18794e;--bad:#c0392b;--a:#3b6fe0;--b:#e0803b;--c:#2a9d8f}
@media(prefers-color-scheme:dark){:root{--ink:#e8ecf3;--soft:#9aa5b5;--line:#333b48;--paper:#12161d;--good:#4cc38a;--bad:#ff7b72;--a:#7aa2ff;--b:#ffb077;--c:#63d3c4}}
body{font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:60rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.6rem;margin-bottom:0}p{color:var(--soft)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.35rem .6rem;border-bottom:1px solid var(--line);text-align:right}th:first-child,td:first-child,td:last-child{text-align:left}h2{font-size:1.1rem;margin-top:2rem}
.yes{color:var(--good)}.no{color:var(--bad);font-weight:600}td small{color:var(--soft)}
figure{margin:2rem 0}figcaption{font-weight:600}svg{width:100%;height:auto}
svg text{fill:var(--soft);font:12px system-ui,sans-serif}svg .axis{stroke:var(--line)}
.l0{stroke:var(--a)}.l1{stroke:var(--b)}.l2{stroke:var(--c)}polyline{fill:none;stroke-width:2}";

/// The report and its charts as an HTML page.
#[must_use]
pub fn page(report: &Report, charts: &[Chart]) -> String {
    let mut html = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>\
         <title>{0} bench</title><style>{STYLE}</style><h1>{0}</h1><p>{1}{2}</p>",
        escaped(report.bench),
        escaped(&report.machine.to_string()),
        if report.quick { " · short run" } else { "" },
    );
    html.push_str("<table><tr><th>figure<th>value<th>spread<th>unit<th>bar<th>study<th>");
    for figure in &report.figures {
        let bar = match figure.bar {
            Some(Bar::AtMost(most)) => format!("≤ {most}"),
            Some(Bar::AtLeast(least)) => format!("≥ {least}"),
            None => String::new(),
        };
        let (class, mark) = match figure.holds {
            Some(true) => ("yes", "✓"),
            Some(false) => ("no", "✗"),
            None => ("", ""),
        };
        let optional =
            |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        let _ = write!(
            html,
            "<tr><td>{}<td class='{class}'>{} {mark}<td>{}<td>{}<td>{bar}<td>{}<td><small>{}</small>",
            escaped(&figure.name),
            figure.value,
            optional(figure.spread),
            figure.unit,
            optional(figure.study),
            escaped(figure.note.as_deref().unwrap_or("")),
        );
    }
    html.push_str("</table>");
    for chart in charts {
        html.push_str(&drawn(chart));
    }
    for table in &report.tables {
        html.push_str(&written(table));
    }
    html
}

/// The report and its charts as JSON, for programs that draw them.
///
/// # Errors
/// If they can't be written as JSON.
pub fn json(report: &Report, charts: &[Chart]) -> std::io::Result<String> {
    #[derive(Serialize)]
    struct ChartedReport<'a> {
        #[serde(flatten)]
        report: &'a Report,
        charts: &'a [Chart],
    }
    Ok(serde_json::to_string(&ChartedReport { report, charts })?)
}

fn written(table: &FigureTable) -> String {
    let titles = table.columns.iter().map(|title| escaped(title));
    let mut html = format!("<h2>{}</h2><table><tr><th>", escaped(&table.title));
    for title in titles {
        let _ = write!(html, "<th>{title}");
    }
    for row in &table.rows {
        let _ = write!(html, "<tr><td>{}", escaped(&row.name));
        for text in row.texts() {
            let _ = write!(html, "<td>{text}");
        }
    }
    html.push_str("</table>");
    html
}

fn drawn(chart: &Chart) -> String {
    let points = || chart.lines.iter().flat_map(|line| &line.points);
    let right = points().map(|point| point.0).fold(1.0, f64::max);
    let top = points().map(|point| point.1).fold(0.0, f64::max).max(1e-9) * 1.1;
    let x = |value: f64| LEFT + value / right * (WIDTH - LEFT - 8.0);
    let y = |value: f64| (HEIGHT - BOTTOM) - value / top * (HEIGHT - BOTTOM - 8.0);
    let mut svg = format!(
        "<figure><figcaption>{}</figcaption><svg viewBox='0 0 {WIDTH} {HEIGHT}' role=img aria-label='{0}'>",
        escaped(&chart.title)
    );
    for step in 0..=4 {
        let value = top / 4.0 * f64::from(step);
        let _ = write!(
            svg,
            "<line class=axis x1='{LEFT}' x2='{WIDTH}' y1='{0:.1}' y2='{0:.1}'/><text x='{1}' y='{2:.1}' text-anchor=end>{value:.1}</text>",
            y(value),
            LEFT - 6.0,
            y(value) + 4.0,
        );
        let across = right / 4.0 * f64::from(step);
        let _ = write!(
            svg,
            "<text x='{:.1}' y='{}' text-anchor=middle>{across:.0}</text>",
            x(across),
            HEIGHT - 18.0
        );
    }
    let _ = write!(
        svg,
        "<text x='{WIDTH}' y='{}' text-anchor=end>{}</text>",
        HEIGHT - 4.0,
        escaped(&chart.x)
    );
    for (number, line) in chart.lines.iter().enumerate() {
        let path: Vec<String> = line
            .points
            .iter()
            .map(|point| format!("{:.1},{:.1}", x(point.0), y(point.1)))
            .collect();
        let class = number % 3;
        let _ = write!(
            svg,
            "<polyline class=l{class} points='{}'/><line class=l{class} stroke-width=3 x1='{1}' x2='{2}' y1='14' y2='14'/><text x='{3}' y='18'>{4}</text>",
            path.join(" "),
            LEFT + 8.0 + 100.0 * number as f64,
            LEFT + 28.0 + 100.0 * number as f64,
            LEFT + 34.0 + 100.0 * number as f64,
            escaped(&line.name),
        );
    }
    svg.push_str("</svg></figure>");
    svg
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('\'', "&#39;")
        .replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::BenchMachine;
    use crate::report::Figure;

    #[test]
    fn a_page_shows_each_figure_and_escapes_what_a_server_said() {
        let report = Report {
            bench: "oid4vc",
            machine: BenchMachine::this(),
            quick: true,
            figures: vec![
                Figure::new("ready_ms", 12.0, "ms")
                    .bar(Bar::AtMost(1.0))
                    .note("<script>"),
            ],
            tables: vec![FigureTable::new("<script>", &["mean"])],
        };
        let chart = Chart {
            title: "t".to_owned(),
            x: "s".to_owned(),
            lines: vec![Line {
                name: "a".to_owned(),
                points: vec![(0.0, 1.0), (1.0, 2.0)],
            }],
        };
        let json = json(&report, std::slice::from_ref(&chart)).unwrap();
        assert!(json.contains(r#""points":[[0.0,1.0],[1.0,2.0]]"#), "{json}");
        let page = page(&report, &[chart]);
        assert!(page.contains("ready_ms") && page.contains("✗") && page.contains("<polyline"));
        assert!(!page.contains("<script"));
    }
}
