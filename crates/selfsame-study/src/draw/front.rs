//! What stands before and after the papers: the labels, where we are behind, all at a glance, what ran, how to read it.

use selfsame_bench::statistics::Sample;

use crate::judge::{ComparisonStanding, PaperComparison};
use crate::number::{number, printed, times};
use crate::study::{JudgedPaper, StandingCounts, Study, StudyPart};

use super::beyond;
use super::chart::{StripRow, strip};
use super::markup::Markup;

/// Title, labels and the list of sections.
pub fn header(study: &Study, papers: &[JudgedPaper<'_>], out: &mut Markup) {
    let head = &study.head;
    out.raw("<header><h1>Five published studies, measured again with Selfsame</h1><p class=lead>");
    out.raw(
        "Each study’s own tables and figures, with the paper’s numbers and those of this machine side by side.</p>",
    );
    out.raw("<dl class=labels>");
    label(out, "Drawn", &head.drawn);
    let machines = study.machines();
    let described = machines.iter().map(|machine| {
        let gb = machine.memory_mb as f64 / 1024.0;
        format!(
            "{}, {} cores, {} GB, Linux {}",
            machine.processor,
            machine.cores,
            number(gb),
            machine.kernel
        )
    });
    let described: Vec<String> = described.collect();
    let described = match described.is_empty() {
        true => "nothing was measured".to_owned(),
        false => described.join("; then "),
    };
    label(out, "Machine", &described);
    label(out, "Program", &format!("Selfsame {}", head.version));
    label(out, "Commit", head.commit.as_deref().unwrap_or("not known"));
    label(out, "Run", how_long(study));
    out.raw("</dl>");
    warnings(study, out);
    out.raw("<nav aria-label=\"Sections\"><ul>");
    for paper in papers {
        link(out, &paper.paper.id, &paper.paper.short);
    }
    if beyond::is_there(study) {
        link(out, "beyond", "What none of them measured");
    }
    link(out, "method", "How to read this");
    out.raw("</ul></nav></header>");
}

fn label(out: &mut Markup, name: &str, value: &str) {
    out.element("<div><dt>", name, "</dt>");
    out.element("<dd>", value, "</dd></div>");
}

fn link(out: &mut Markup, anchor: &str, name: &str) {
    out.raw("<li><a href=\"#").text(anchor).raw("\">");
    out.text(name).raw("</a></li>");
}

/// Whether the parts are short runs, whole ones, or some of each.
fn how_long(study: &Study) -> &'static str {
    let mut parts = study.measured().map(|part| part.quick);
    let Some(first) = parts.next() else {
        return "nothing ran";
    };
    match (first, parts.all(|quick| quick == first)) {
        (true, true) => "short (--quick): fewer repetitions, shorter times",
        (false, true) => "whole",
        (_, false) => "some parts short (--quick), some whole",
    }
}

/// What a reader must know before any number.
fn warnings(study: &Study, out: &mut Markup) {
    if study.head.is_development_build {
        warning(
            out,
            "A development build.",
            "The program was built without optimisation. These numbers show that the report works; they say nothing about speed.",
        );
    }
    if study.machines().len() > 1 {
        warning(
            out,
            "Several machines.",
            "The parts were measured on different machines, so do not compare one part with another.",
        );
    }
    let others = study.other_commits();
    if !others.is_empty() {
        let text = format!(
            "Some parts were measured by other builds: {}.",
            others.join(", ")
        );
        warning(out, "Several builds.", &text);
    }
}

fn warning(out: &mut Markup, title: &str, text: &str) {
    out.element("<p class=warning role=note><strong>", title, "</strong> ");
    out.text(text).raw("</p>");
}

/// The numbers that are worse than a paper's: they come first.
pub fn behind(study: &Study, papers: &[JudgedPaper<'_>], out: &mut Markup) {
    out.raw("<section aria-labelledby=behind><h2 id=behind class=first>Where Selfsame is not ahead</h2>");
    let is_behind = |one: &&PaperComparison| one.standing == ComparisonStanding::Behind;
    let count = papers
        .iter()
        .flat_map(|paper| &paper.comparisons)
        .filter(is_behind)
        .count();
    let all = counts(papers);
    match (all.judged(), count) {
        (0, _) => {
            out.raw("<p>Nothing could be compared: no load test of a paper was measured.</p>");
        }
        (judged, 0) => {
            out.raw("<p>Of ").text(&judged.to_string());
            out.raw(" numbers that were compared, none is worse than the paper’s.</p>");
        }
        (judged, _) => {
            out.raw("<p>Of ").text(&judged.to_string());
            out.raw(" numbers that were compared, ")
                .text(&count.to_string());
            out.raw(" are worse than the paper’s:</p>");
            behind_table(papers, out);
        }
    }
    if all.not_measured > 0 {
        out.raw("<p>").text(&all.not_measured.to_string());
        out.raw(" numbers of the papers were not measured in this run: ");
        out.text(&why_not_measured(study)).raw("</p>");
    }
    out.raw("</section>");
}

fn why_not_measured(study: &Study) -> String {
    let absent = study.parts.iter().filter(|part| part.record.is_none());
    let absent: Vec<&str> = absent.map(|part| part.name.as_str()).collect();
    let is_short = study.measured().any(|part| part.quick);
    let mut reasons = Vec::new();
    if !absent.is_empty() {
        reasons.push(format!("no figures of {}", absent.join(", ")));
    }
    if is_short {
        reasons.push("a short run leaves some rounds out".to_owned());
    }
    if reasons.is_empty() {
        reasons.push("what they need is not on this machine".to_owned());
    }
    format!("{}. They are marked below.", reasons.join("; "))
}

fn behind_table(papers: &[JudgedPaper<'_>], out: &mut Markup) {
    out.raw("<div class=scroll tabindex=0 role=region aria-label=\"Numbers worse than the paper’s\"><table class=\"words behind-list\">");
    out.raw("<caption><span>Numbers that are worse than the paper’s</span></caption><thead><tr>");
    out.raw("<th scope=col class=l>Study and table</th><th scope=col class=l>Row</th><th scope=col class=l>Column</th>");
    out.raw("<th scope=col>Paper</th><th scope=col>Selfsame</th><th scope=col>Times better</th></tr></thead><tbody>");
    for paper in papers {
        let all = paper.comparisons.iter();
        for one in all.filter(|one| one.standing == ComparisonStanding::Behind) {
            let place = format!("{}, {}", paper.paper.short, one.table);
            out.raw("<tr><th scope=row><a href=\"#")
                .text(&paper.paper.id)
                .raw("\">");
            out.text(&place).raw("</a></th>");
            out.element("<td data-of=Row>", &one.row, "</td>");
            out.element("<td data-of=Column>", &one.column, "</td>");
            let unit = |value: String| format!("{value} {}", one.unit).trim().to_owned();
            out.element("<td data-of=Paper>", &unit(printed(one.theirs)), "</td>");
            let ours = one.ours.map(number).unwrap_or_default();
            out.element("<td data-of=Selfsame>", &unit(ours), "</td>");
            let ratio = one.ratio.map_or_else(|| "–".to_owned(), times);
            out.element(
                "<td class=behind data-of=\"Times better\">",
                &ratio,
                "</td></tr>",
            );
        }
    }
    out.raw("</tbody></table></div>");
}

fn counts(papers: &[JudgedPaper<'_>]) -> StandingCounts {
    let all = papers.iter().flat_map(|paper| paper.comparisons.clone());
    StandingCounts::of(&all.collect::<Vec<_>>())
}

/// All papers in one table and one drawing.
pub fn glance(papers: &[JudgedPaper<'_>], out: &mut Markup) {
    out.raw("<section aria-labelledby=glance><h2 id=glance class=first>At a glance</h2><div class=glance>");
    out.raw("<div class=scroll tabindex=0 role=region aria-label=\"All studies at a glance\"><table><caption><span>Numbers of each paper, compared with ours</span></caption><thead><tr>");
    for title in ["Compared", "Ahead", "Level", "Behind", "Not measured"] {
        if title == "Compared" {
            out.raw("<th scope=col class=l>Study</th>");
        }
        out.element("<th scope=col>", title, "</th>");
    }
    out.raw("<th scope=col>Median</th></tr></thead><tbody>");
    let mut rows = Vec::new();
    for paper in papers {
        let counts = StandingCounts::of(&paper.comparisons);
        let ratios = paper.comparisons.iter().filter_map(|one| one.ratio);
        let ratios: Sample = ratios.collect();
        out.raw("<tr><th scope=row><a href=\"#")
            .text(&paper.paper.id)
            .raw("\">");
        out.text(&paper.paper.short).raw("</a></th>");
        let each = [
            counts.judged(),
            counts.ahead,
            counts.level,
            counts.behind,
            counts.not_measured,
        ];
        for count in each {
            out.element("<td>", &count.to_string(), "</td>");
        }
        let middle = match ratios.is_empty() {
            true => "–".to_owned(),
            false => times(ratios.median()),
        };
        out.element("<td>", &middle, "</td></tr>");
        if !ratios.is_empty() {
            rows.push(StripRow {
                name: paper.paper.short.clone(),
                ratios: ratios.values().to_vec(),
            });
        }
    }
    out.raw("</tbody></table></div>");
    if !rows.is_empty() {
        out.raw("<figure><figcaption>How many times better each number is <small>one dot for each number; left of 1× it is worse</small></figcaption>");
        strip(&rows, out);
        out.raw("</figure>");
    }
    out.raw("</div></section>");
}

/// What ran, and what did not.
pub fn parts(study: &Study, out: &mut Markup) {
    out.raw("<section aria-labelledby=ran><h2 id=ran class=first>What was run</h2>");
    out.raw("<div class=scroll tabindex=0 role=region aria-label=\"What was run\"><table class=words><caption><span>The load tests of this study</span></caption><thead><tr><th scope=col>Load test</th><th scope=col>Result</th><th scope=col>Own limits met</th><th scope=col>Begun</th><th scope=col>Took</th></tr></thead><tbody>");
    for part in &study.parts {
        part_row(part, out);
    }
    out.raw("</tbody></table></div>");
    let absent: Vec<_> = study.head.tools.iter().filter(|tool| !tool.found).collect();
    if !absent.is_empty() {
        out.raw("<p>Not on this machine, so left out:</p><ul>");
        for tool in absent {
            out.element("<li><strong>", &tool.name, "</strong>: ");
            out.prose(&tool.gives).raw(". ");
            out.prose(&tool.get).raw(".</li>");
        }
        out.raw("</ul>");
    }
    out.raw("</section>");
}

fn part_row(part: &StudyPart, out: &mut Markup) {
    out.element("<tr><th scope=row><code>", &part.name, "</code></th>");
    let missing = part.missing.as_deref().unwrap_or_default();
    let Some(record) = &part.record else {
        out.raw("<td data-of=\"Result\"><strong>not measured</strong>: ");
        out.prose(missing)
            .raw("</td><td data-of=\"Own limits met\">–</td><td data-of=\"Begun\">–</td><td data-of=\"Took\">–</td></tr>");
        return;
    };
    out.raw("<td data-of=\"Result\">");
    out.text(&record.report.figures.len().to_string())
        .raw(" figures");
    if record.report.quick {
        out.raw(", a short run");
    }
    if !missing.is_empty() {
        out.raw(". ").prose(missing);
    }
    let bars = || record.report.figures.iter().filter_map(|one| one.holds);
    let met = bars().filter(|holds| *holds).count();
    let limits = match bars().count() {
        0 => "none set".to_owned(),
        all => format!("{met} of {all}"),
    };
    out.element("</td><td data-of=\"Own limits met\">", &limits, "</td>");
    out.element("<td data-of=\"Begun\">", &record.began, "</td>");
    let took = format!("{} s", number(record.seconds.round()));
    out.element("<td data-of=\"Took\">", &took, "</td></tr>");
}

/// How to read the numbers.
pub fn method(study: &Study, out: &mut Markup) {
    out.raw("<section aria-labelledby=method><h2 id=method>How to read this</h2><ul>");
    for line in METHOD {
        out.raw("<li>").prose(line).raw("</li>");
    }
    out.raw("</ul>");
    out.raw("<details><summary>Every figure that was measured</summary>");
    for part in study.measured() {
        out.raw("<div class=scroll tabindex=0 role=region aria-label=\"Figures of ")
            .text(&part.bench)
            .raw("\"><table><caption><span><code>selfsame bench ");
        out.text(&part.bench);
        out.raw("</code></span></caption><thead><tr><th scope=col class=l>Figure</th><th scope=col>Value</th><th scope=col>Spread</th><th scope=col class=l>Unit</th><th scope=col class=l>Remark</th></tr></thead><tbody>");
        for figure in &part.figures {
            out.element("<tr><th scope=row><code>", &figure.name, "</code></th>");
            let optional = |value: Option<f64>| value.map(number).unwrap_or_default();
            out.element("<td>", &optional(figure.value), "</td>");
            out.element("<td>", &optional(figure.spread), "</td>");
            out.element("<td class=l>", &figure.unit, "</td>");
            let missed = if figure.holds == Some(false) {
                "misses its limit. "
            } else {
                ""
            };
            let note = format!("{missed}{}", figure.note.as_deref().unwrap_or_default());
            out.element("<td class=l>", &note, "</td></tr>");
        }
        out.raw("</tbody></table></div>");
    }
    out.raw("</details></section>");
}

const METHOD: [&str; 6] = [
    "Below each number of a paper stands ours. “5×” means five times better: a fifth of the time or the memory, or five times the rate. Numbers that say nothing about better or worse are shown without it.",
    "The papers’ machines are older or smaller than most of today’s, and some measured across a network. Compare the shape of a table, ratios within a column, errors and limits before you compare milliseconds.",
    "Server and load share this machine, over loopback, and every acknowledged write is on the disk. Where a paper had its load on a machine of its own, ours takes part of the same cores.",
    "A number that was not measured is a dash, and counts as not measured. Nothing is filled in from another run.",
    "Points of a figure are those that the paper prints as numbers in its text or tables; none was read off a drawing.",
    "A short run (`--quick`) has fewer repetitions and shorter times. Numbers that depend on the length of the run are not judged then.",
];

/// The end.
pub fn footer(study: &Study, out: &mut Markup) {
    out.raw("<footer><p>Made by <code>selfsame study</code>, version ");
    out.text(&study.head.version);
    out.raw(". The numbers are in the JSON and CSV files beside this one; <code>docs/study.md</code> says how to make your own.</p></footer>");
}
