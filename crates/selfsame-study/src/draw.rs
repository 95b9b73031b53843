//! The report as one HTML file: inline style and drawings, no scripts, nothing from elsewhere.

mod axis;
mod beyond;
mod chart;
mod front;
mod markup;
mod section;
mod table;
#[cfg(test)]
mod tests;

use std::path::Path;

use crate::StudyError;
use crate::study::Study;
use markup::Markup;

const STYLE: &str = include_str!("draw/style.css");

/// Writes the report as a page at this place, and the numbers beside it as JSON and CSV.
///
/// # Errors
/// If a file can't be written.
pub fn write_report(study: &Study, out: &Path) -> Result<(), StudyError> {
    let files = [
        (out.to_owned(), page(study)),
        (out.with_extension("json"), study.json()?),
        (out.with_extension("csv"), study.csv()),
    ];
    for (file, text) in files {
        std::fs::write(&file, text).map_err(|why| StudyError::Machine {
            what: file.display().to_string(),
            why,
        })?;
    }
    Ok(())
}

/// The report as one HTML file, without scripts and without anything from elsewhere.
fn page(study: &Study) -> String {
    let papers = study.judged();
    let mut out = Markup::default();
    out.raw(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <title>Five published studies, measured again with Selfsame</title><style>",
    );
    out.raw(STYLE);
    out.raw("</style></head><body>");
    front::header(study, &papers, &mut out);
    out.raw("<main>");
    front::behind(study, &papers, &mut out);
    front::glance(&papers, &mut out);
    front::parts(study, &mut out);
    for paper in &papers {
        section::paper(paper, &mut out);
    }
    beyond::section(study, &mut out);
    front::method(study, &mut out);
    out.raw("</main>");
    front::footer(study, &mut out);
    out.raw("</body></html>\n");
    out.done()
}
