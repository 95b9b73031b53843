//! The section of a paper: its question, its set-up, its tables and figures, its limits.

use crate::number::number;
use crate::paper::{ChartKind, PaperChart, PaperSeries, SeriesOwner};
use crate::part::{BenchPart, Measured, PartChart, PartLine};
use crate::study::{JudgedPaper, StandingCounts};

use super::chart::{DrawnChart, DrawnPoint, DrawnSeries};
use super::markup::Markup;
use super::table;

/// The whole section.
pub fn paper(judged: &JudgedPaper<'_>, out: &mut Markup) {
    let paper = judged.paper;
    out.raw("<section aria-labelledby=\"").text(&paper.id);
    out.raw("\"><h2 id=\"").text(&paper.id).raw("\">");
    out.text(&paper.short).raw("</h2><p class=cite>");
    out.text(&paper.authors).raw(", <cite>").text(&paper.title);
    out.raw("</cite>, ").prose(&paper.published).raw(".</p>");
    out.raw("<p class=lead>").prose(&paper.question).raw("</p>");
    summary(judged, out);
    out.raw("<h3>Set-up</h3><div class=two><div><h4>The paper</h4>");
    list(&paper.setup, out);
    out.raw("</div><div><h4>Here</h4>");
    list(&paper.ours, out);
    out.raw("</div></div>");
    questions(judged, out);
    out.raw("<h3>Tables</h3>");
    for one in &judged.tables {
        table::table(one, judged.part.is_some(), out);
    }
    charts(judged, out);
    limits(judged, out);
    out.raw("</section>");
}

/// What the comparison gave, in a sentence.
fn summary(judged: &JudgedPaper<'_>, out: &mut Markup) {
    let counts = StandingCounts::of(&judged.comparisons);
    out.raw("<p>");
    if judged.part.is_none() {
        out.raw("<strong>Not measured in this run.</strong> ");
        out.prose(judged.missing.unwrap_or("Its load test was not asked for."));
        out.raw("</p>");
        return;
    }
    let text = format!(
        "{} of the paper’s numbers were compared: {} ahead, {} level, {} behind.",
        counts.judged(),
        counts.ahead,
        counts.level,
        counts.behind
    );
    out.text(&text);
    let text = match counts.not_measured {
        0 => String::new(),
        count => format!(" {count} were not measured in this run."),
    };
    out.text(&text).raw("</p>");
}

fn list(lines: &[String], out: &mut Markup) {
    out.raw("<ul>");
    for line in lines {
        out.raw("<li>").prose(line).raw("</li>");
    }
    out.raw("</ul>");
}

/// The paper's questions with our answers, in which figures are filled in.
fn questions(judged: &JudgedPaper<'_>, out: &mut Markup) {
    let Some(questions) = &judged.paper.questions else {
        return;
    };
    out.raw("<div class=scroll tabindex=0 role=region aria-label=\"")
        .text(&questions.caption)
        .raw("\"><table class=words><caption><span>");
    out.text(&questions.caption);
    out.raw("</span></caption><thead><tr><th scope=col>Dimension</th><th scope=col>Question</th><th scope=col>Answer here</th></tr></thead><tbody>");
    for row in &questions.rows {
        out.element("<tr><th scope=row>", &row.dimension, "</th>");
        out.element("<td data-of=\"Question\">", &row.question, "</td>");
        out.raw("<td data-of=\"Here\">");
        out.prose(&filled(&row.answer, judged.part))
            .raw("</td></tr>");
    }
    out.raw("</tbody></table></div>");
}

/// A text whose expressions in braces are replaced by what was measured.
fn filled(text: &str, part: Option<&BenchPart>) -> String {
    let mut whole = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (expression, after) = after.split_once('}').unwrap_or((after, ""));
        let value = part.and_then(|part| part.value(expression, Measured::Own));
        whole.push_str(before);
        whole.push_str(&value.map_or_else(|| "(not measured)".to_owned(), number));
        rest = after;
    }
    whole.push_str(rest);
    whole
}

fn charts(judged: &JudgedPaper<'_>, out: &mut Markup) {
    if judged.paper.charts.is_empty() {
        return;
    }
    out.raw("<h3>Figures</h3><div class=charts>");
    for chart in &judged.paper.charts {
        match chart.kind {
            ChartKind::Recorded => recorded(chart, judged.part, out),
            ChartKind::Lines | ChartKind::Dots => drawn(chart, judged.part, out),
        }
    }
    out.raw("</div>");
}

/// The paper's points and ours on common axes.
fn drawn(chart: &PaperChart, part: Option<&BenchPart>, out: &mut Markup) {
    let looks = looks(&chart.series);
    let series = chart.series.iter().zip(looks);
    let series: Vec<DrawnSeries> = series.map(|(one, look)| points(one, look, part)).collect();
    let is_ours = |place: usize| {
        chart
            .series
            .get(place)
            .is_some_and(|one| one.whose == SeriesOwner::Ours)
    };
    let mut source = chart.source.clone();
    let has_ours = series
        .iter()
        .enumerate()
        .any(|(place, one)| is_ours(place) && !one.points.is_empty());
    if !has_ours {
        source.push_str(" Ours was not measured.");
    }
    let drawing = DrawnChart {
        caption: chart.caption.clone(),
        source,
        x: chart.x.clone(),
        y: chart.y.clone(),
        is_log: chart.log,
        series,
    };
    if drawing.is_empty() {
        return;
    }
    match chart.kind {
        ChartKind::Dots => drawing.dots(out),
        ChartKind::Lines | ChartKind::Recorded => drawing.lines(out),
    }
}

/// The look of each series: those of a paper differ from ours.
fn looks(series: &[PaperSeries]) -> Vec<usize> {
    let (mut papers, mut ours) = ([0, 4, 5].into_iter(), [1, 2, 3].into_iter());
    let looks = series.iter().map(|one| match one.whose {
        SeriesOwner::Paper => papers.next(),
        SeriesOwner::Ours => ours.next(),
    });
    looks.map(Option::unwrap_or_default).collect()
}

fn points(series: &PaperSeries, look: usize, part: Option<&BenchPart>) -> DrawnSeries {
    let scale = series.scale.unwrap_or(1.0);
    let at = series.at.iter().enumerate();
    let points = at.filter_map(|(number, at)| {
        let y = match series.whose {
            SeriesOwner::Paper => series.theirs.get(number).copied()?,
            SeriesOwner::Ours => {
                let expression = series.ours.at(number, Some(at))?;
                part?.value(&expression, Measured::Own)? * scale
            }
        };
        let x = at.parse::<f64>();
        Some(DrawnPoint {
            name: if x.is_ok() { String::new() } else { at.clone() },
            x: x.unwrap_or(number as f64),
            y: Some(y).filter(|y| y.is_finite())?,
        })
    });
    DrawnSeries {
        name: series.name.clone(),
        look,
        points: points.collect(),
    }
}

/// How many lines of a recorded chart can be told apart.
const MOST_LINES: usize = 7;

/// The lines that end highest, in the order of the chart.
fn highest(chart: &PartChart) -> Vec<&PartLine> {
    let end = |line: &PartLine| line.points.last().map_or(0.0, |point| point.1);
    let mut ends: Vec<f64> = chart.lines.iter().map(end).collect();
    ends.sort_by(|one, other| other.total_cmp(one));
    let least = ends
        .get(MOST_LINES - 1)
        .copied()
        .unwrap_or(f64::NEG_INFINITY);
    let lines = chart.lines.iter().filter(|line| end(line) >= least);
    lines.take(MOST_LINES).collect()
}

/// The charts that the load test drew itself.
fn recorded(chart: &PaperChart, part: Option<&BenchPart>, out: &mut Markup) {
    let found = chart.recorded.iter();
    let found: Vec<&PartChart> = found
        .filter_map(|title| part.and_then(|part| part.chart(title)))
        .collect();
    if found.is_empty() {
        out.raw("<figure><figcaption>").prose(&chart.caption);
        out.element(" <small>", &chart.source, "</small></figcaption>");
        out.raw("<p class=none>Not measured in this run.</p></figure>");
        return;
    }
    for one in found {
        let lines = highest(one).into_iter().enumerate();
        let series = lines.map(|(place, line)| DrawnSeries {
            name: line.name.replace('_', " "),
            look: place + 1,
            points: line
                .points
                .iter()
                .map(|point| DrawnPoint {
                    x: point.0,
                    name: String::new(),
                    y: point.1,
                })
                .collect(),
        });
        let drawing = DrawnChart {
            caption: format!("{} {}", chart.caption, one.title),
            source: match one.lines.len() {
                ..=MOST_LINES => chart.source.clone(),
                all => format!(
                    "{} The {MOST_LINES} of {all} lines that end highest.",
                    chart.source
                ),
            },
            x: one.x.clone(),
            y: chart.y.clone(),
            is_log: chart.log,
            series: series.collect(),
        };
        drawing.lines(out);
    }
}

/// What the paper says it leaves open, and what is done about it here.
fn limits(judged: &JudgedPaper<'_>, out: &mut Markup) {
    out.raw("<h3>What the paper leaves open</h3><div class=scroll tabindex=0 role=region aria-label=\"What the paper leaves open\"><table class=words><caption><span>Its stated limits and future work, and what is done about them here</span></caption><thead><tr><th scope=col>The paper says</th><th scope=col>Where</th><th scope=col>Here</th><th scope=col>Shown by the test</th></tr></thead><tbody>");
    for limit in &judged.paper.limits {
        out.raw("<tr><th scope=row>")
            .prose(&limit.stated)
            .raw("</th>");
        out.element("<td data-of=\"Where\">", &limit.place, "</td>");
        out.raw("<td data-of=\"Here\">")
            .prose(&limit.answer)
            .raw("</td><td class=tests data-of=\"Test\">");
        for (place, test) in limit.tests.iter().enumerate() {
            if place > 0 {
                out.raw(", ");
            }
            out.raw("<code>");
            // A long name may break after any of its words.
            for (number, word) in test.split('_').enumerate() {
                if number > 0 {
                    out.raw("_<wbr>");
                }
                out.text(word);
            }
            out.raw("</code>");
        }
        out.raw("</td></tr>");
    }
    out.raw("</tbody></table></div>");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::part::tests::part;

    #[test]
    fn figures_in_an_answer_are_filled_in_or_said_to_be_missing() {
        let part = part("aries", &[("cores_ratio", 1.7)]);
        let text = "Two cores give {cores_ratio} times, three {gone}.";
        let expected = "Two cores give 1.7 times, three (not measured).";
        assert_eq!(filled(text, Some(&part)), expected);
        assert!(filled(text, None).contains("(not measured) times"));
    }
}
