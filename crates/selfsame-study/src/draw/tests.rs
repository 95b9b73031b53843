//! The page of recorded runs, as a reader and a browser see it.

use std::collections::BTreeSet;

use super::page;
use crate::part::BenchPart;
use crate::run::{PartRecord, StudyPlan, tools};
use crate::study::{Study, StudyHead, StudyPart};
use crate::{ComparisonStanding, PARTS};

/// Short runs of development builds, recorded to have something to draw. They say nothing about speed.
const RECORDED: [(&str, &str); 7] = [
    ("oid4vc", include_str!("../../fixtures/oid4vc.json")),
    ("aries", include_str!("../../fixtures/aries.json")),
    ("wallet", ""),
    ("signin", include_str!("../../fixtures/signin.json")),
    ("tls", include_str!("../../fixtures/tls.json")),
    ("registry", include_str!("../../fixtures/registry.json")),
    ("life", include_str!("../../fixtures/life.json")),
];

fn head() -> StudyHead {
    StudyHead {
        drawn: "2026-11-30T12:00:00Z".to_owned(),
        version: "0.1.0".to_owned(),
        commit: Some("0123456789ab".to_owned()),
        is_development_build: false,
        quick: true,
        tools: tools(&StudyPlan::default()),
    }
}

fn recorded(name: &str) -> Option<BenchPart> {
    let found = RECORDED.iter().find(|(one, _)| *one == name)?;
    let text = Some(found.1).filter(|text| !text.is_empty())?;
    Some(BenchPart::read(text).unwrap())
}

fn part(name: &str, report: Option<BenchPart>) -> StudyPart {
    StudyPart {
        name: name.to_owned(),
        missing: report
            .is_none()
            .then(|| "<It & its figures> are missing.".to_owned()),
        record: report.map(|report| PartRecord {
            commit: Some("0123456789ab".to_owned()),
            began: "2026-11-30T11:00:00Z".to_owned(),
            seconds: 61.4,
            left_out: None,
            report,
        }),
    }
}

/// A study of the recorded runs; `change` may change each before.
fn study(change: impl Fn(&mut BenchPart)) -> Study {
    let parts = PARTS.map(|name| {
        let mut report = recorded(name);
        report.iter_mut().for_each(&change);
        part(name, report)
    });
    Study::new(head(), parts.into()).unwrap()
}

fn nothing() -> Study {
    let parts = PARTS.map(|name| part(name, None));
    Study::new(head(), parts.into()).unwrap()
}

#[test]
fn the_report_has_the_tables_and_figures_of_each_paper() {
    let page = page(&study(|_| ()));
    for heading in [
        "Table II. Evaluation criteria",
        "Table III. Number of threads versus response time",
        "Fig. 7. Immunization",
        "Fig. 8. CPU of the busiest agent",
        "Fig. 9. Cost of revocation",
        "Fig. 3. Latency by DID method",
        "Fig. 4. CPU and memory over time",
        "Fig. 6. Response time by users",
        "Fig. 7. Response time by users with did:cheqd",
        "Scenario 1. Loading claims via Permitify",
        "Scenario 2. Loading the wallet directly",
        "100 requests a second with a fixed second of delay",
        "Time chart of the 90th percentile",
        "Table II. Unilaterally authenticated TLS 1.3 handshake size",
        "Table III. Average time to verify a single signature",
        "Table IV. Average handshake latency at server side",
        "Table V. Average hybrid handshake latency",
        "Fig. 4. Unilateral handshakes",
        "Fig. 5. Mutual handshakes",
        "One credential over its life",
        "A model, not a measurement",
        "A drill: each process is killed",
        "A registry that proves its answers",
    ] {
        assert!(page.contains(heading), "{heading}");
    }
}

#[test]
fn the_papers_numbers_stand_beside_those_of_the_run() {
    let page = page(&study(|_| ()));
    let measured = recorded("aries").unwrap();
    let mean = measured
        .figure("mean_ms_120_14_verifier_validates")
        .unwrap();
    let at = page.rfind("14 – Verifier validates proof").unwrap();
    let row = &page[at..at + 4_000];
    assert!(
        row.contains("866 <span class=range>(142–2,367)</span>"),
        "{row}"
    );
    let ours = crate::number::number(mean.value.unwrap());
    assert!(row.contains(&format!("<td>{ours} ")), "{ours}: {row}");
}

#[test]
fn another_library_has_a_line_if_it_took_part() {
    let page = page(&study(|_| ()));
    assert!(page.contains("<th scope=row class=whose>rustls</th>"));
    assert!(!page.contains("<th scope=row class=whose>OpenSSL</th>"));
}

#[test]
fn parts_that_are_missing_are_said_and_escaped() {
    let page = page(&nothing());
    assert!(page.contains("Nothing could be compared"));
    let missing = "&lt;It &amp; its figures&gt; are missing.";
    // In the list of parts, and in the section of each paper.
    assert!(page.matches(missing).count() >= PARTS.len() + 5);
    assert!(page.contains("Ours was not measured."));
    assert!(page.contains("<code>cargo xtask cometbft</code> builds it."));
    assert!(!page.contains("What none of them measured"));
    checked(&page);
}

#[test]
fn a_number_worse_than_the_papers_comes_first() {
    let is_changed = "mean_ms_20_01_issuer_invitation";
    let worse = study(|report| {
        for figure in &mut report.figures {
            if figure.name == is_changed {
                figure.value = Some(5_200.0);
            }
        }
    });
    let behind = worse.comparisons().into_iter();
    let mut behind = behind.filter(|one| one.standing == ComparisonStanding::Behind);
    assert!(behind.any(|one| one.row == "01 – Issuer invitation" && one.ratio == Some(0.01)));
    let page = page(&worse);
    let list = page.find("behind-list\"><caption>").unwrap();
    assert!(list < page.find("id=glance").unwrap());
    let end = list + page[list..].find("</table>").unwrap();
    let list = &page[list..end];
    assert!(
        list.contains(
            "<td data-of=Row>01 – Issuer invitation</td><td data-of=Column>20 threads</td>"
        )
    );
    assert!(
        list.contains("<td data-of=Paper>52 ms</td><td data-of=Selfsame>5,200 ms</td>"),
        "{list}"
    );
}

#[test]
fn a_development_build_and_a_second_machine_are_said_before_any_number() {
    let mut other = study(|report| {
        if report.bench == "tls" {
            report.machine.processor = "Another".to_owned();
        }
    });
    other.head.is_development_build = true;
    let page = page(&other);
    let numbers = page.find("<main>").unwrap();
    assert!(page.find("A development build.").unwrap() < numbers);
    assert!(page.find("Several machines.").unwrap() < numbers);
}

#[test]
fn the_page_is_sound_html() {
    let noted = study(|report| {
        for figure in &mut report.figures {
            figure.note = Some("<script>alert('x')</script> & more".to_owned());
        }
    });
    checked(&page(&noted));
}

#[test]
fn the_numbers_are_json_and_csv_too() {
    let study = study(|_| ());
    let json: serde_json::Value = serde_json::from_str(&study.json().unwrap()).unwrap();
    let count = study.comparisons().len();
    assert_eq!(json["comparisons"].as_array().unwrap().len(), count);
    assert_eq!(json["parts"][0]["name"], "oid4vc");
    let lines = study
        .csv()
        .lines()
        .filter(|line| line.starts_with("comparison,"))
        .count();
    assert_eq!(lines, count);
}

/// A tag with its attributes.
struct Tag<'a> {
    name: &'a str,
    rest: &'a str,
}

/// What a validator would say of this page, and that nothing comes from elsewhere.
fn checked(page: &str) {
    let (tags, text) = taken_apart(page);
    for wrong in ["script", "img", "link", "iframe", "object"] {
        assert!(tags.iter().all(|tag| tag.name != wrong), "{wrong}");
    }
    assert!(!page.contains("url(") && !page.contains("@import"));
    let mut words = tags.iter().flat_map(|tag| tag.rest.split(' '));
    assert!(
        words.all(|word| !(word.starts_with("on") && word.contains('='))),
        "a handler"
    );
    for bare in text.split('&').skip(1) {
        let entity = bare.split(';').next().unwrap();
        assert!(
            ["amp", "lt", "gt", "quot", "#39"].contains(&entity),
            "&{entity}"
        );
    }
    nested(&tags);
    let levels: Vec<u8> = tags.iter().filter_map(level).collect();
    assert_eq!(levels.iter().filter(|level| **level == 1).count(), 1);
    for pair in levels.windows(2) {
        assert!(
            pair[1] <= pair[0] + 1,
            "a heading of level {} after {}",
            pair[1],
            pair[0]
        );
    }
    let count = |name: &str| tags.iter().filter(|tag| tag.name == name).count();
    assert_eq!(count("table"), count("caption"));
    assert_eq!(count("figure"), count("figcaption"));
    for tag in &tags {
        let is_named = tag.rest.contains("aria-label=");
        match tag.name {
            "th" => assert!(tag.rest.contains("scope="), "<th {}>", tag.rest),
            "svg" => assert!(tag.rest.contains("role=img") && is_named),
            _ if tag.rest.contains("role=region") => assert!(is_named, "<div {}>", tag.rest),
            _ => {}
        }
    }
    let ids: Vec<&str> = tags
        .iter()
        .filter_map(|tag| attribute(tag.rest, "id="))
        .collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "{ids:?}");
    for href in tags.iter().filter_map(|tag| attribute(tag.rest, "href=")) {
        assert!(unique.contains(href.trim_start_matches('#')), "{href}");
    }
}

/// The tags of a page, closing ones with their slash, and the text between them.
fn taken_apart(page: &str) -> (Vec<Tag<'_>>, String) {
    let (mut tags, mut text) = (Vec::new(), String::new());
    let body = page.split("</style>").nth(1).unwrap();
    for piece in body.split('<').skip(1) {
        let (tag, after) = piece.split_once('>').unwrap();
        let (name, rest) = tag.split_once(' ').unwrap_or((tag, ""));
        tags.push(Tag { name, rest });
        assert!(!after.contains('>'), "{after}");
        text.push_str(after);
    }
    (tags, text)
}

/// Each tag is closed by its own, in their order.
fn nested(tags: &[Tag<'_>]) {
    let mut open = vec!["html", "head"];
    for tag in tags {
        let is_empty = tag.rest.ends_with('/') || tag.name == "wbr";
        match tag.name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if !is_empty => open.push(tag.name),
            None => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

fn level(tag: &Tag<'_>) -> Option<u8> {
    match tag.name {
        "h1" => Some(1),
        "h2" => Some(2),
        "h3" => Some(3),
        "h4" => Some(4),
        _ => None,
    }
}

fn attribute<'a>(rest: &'a str, name: &str) -> Option<&'a str> {
    let (before, value) = rest.split_once(name)?;
    let is_whole = before.is_empty() || before.ends_with(' ');
    let value = value.trim_start_matches('"');
    let end = value.find(['"', ' ']).unwrap_or(value.len());
    value.get(..end).filter(|_| is_whole)
}
