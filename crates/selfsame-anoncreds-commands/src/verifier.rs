//! The verifier's step, and the table of its verdict.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use selfsame_anoncreds::format::{
    Interval, Message, Presentation, PresentationRequest, RevocationStatusList,
};
use selfsame_anoncreds::verdict::{AnoncredsVerdict, AnswerKind, Answered};
use selfsame_anoncreds::verifier::Encoding;
use selfsame_anoncreds_roles::PublishedObjects;
use selfsame_anoncreds_roles::verifier::{Leniency, Remedy, verify};
use selfsame_crypto::time::UnixTime;
use selfsame_terminal::exit::{Answer, End, Failure};
use selfsame_terminal::output::{self, RuleLine, rule_lines};

use crate::failure::failed;
use crate::files;

/// Published objects of issuers, each under its identifier.
#[derive(Args)]
pub struct Published {
    /// A schema; may be repeated.
    #[arg(long, value_name = "ID=FILE", value_parser = files::identified)]
    schema: Vec<(String, PathBuf)>,
    /// The sequence number of a schema on an Indy ledger, if a definition names its schema by it; may be repeated.
    #[arg(long, value_name = "ID=NUMBER", value_parser = files::numbered)]
    schema_number: Vec<(String, u64)>,
    /// A credential definition; may be repeated.
    #[arg(long, value_name = "ID=FILE", value_parser = files::identified)]
    cred_def: Vec<(String, PathBuf)>,
    /// A revocation registry; may be repeated.
    #[arg(long, value_name = "ID=FILE", value_parser = files::identified)]
    rev_reg: Vec<(String, PathBuf)>,
    /// A status list, which names its registry; may be repeated.
    #[arg(long, value_name = "FILE")]
    status_list: Vec<PathBuf>,
}

/// Verify a presentation.
#[derive(Args)]
#[command(
    after_help = "Example: selfsame anoncreds verify --request question.json --schema ID=schema.json --cred-def ID=cred-def.json < presentation.json
Exit code 1 if it is invalid."
)]
pub struct Verify {
    /// The presentation's file; default: standard input.
    #[arg(long, value_name = "FILE")]
    presentation: Option<PathBuf>,
    /// The file of the request that it answers.
    #[arg(long, value_name = "FILE")]
    request: PathBuf,
    #[command(flatten)]
    published: Published,
    /// A status list that was the newest when an interval begins; accepted although it is older. May be repeated.
    #[arg(long, value_name = "FILE")]
    in_force: Vec<PathBuf>,
    /// Do not compare revealed texts with the signed numbers, for issuers with their own encoding.
    #[arg(long)]
    any_encoding: bool,
    /// Print one JSON object instead of text.
    #[arg(long)]
    json: bool,
}

impl Published {
    /// Reads all of them.
    pub fn read(&self) -> Result<PublishedObjects, Failure> {
        let mut definitions = BTreeMap::new();
        for (id, file) in &self.cred_def {
            let prepared = files::prepared(file)?;
            definitions.insert(id.clone(), prepared);
        }
        Ok(PublishedObjects {
            schemas: all(&self.schema)?,
            schema_numbers: self.schema_number.iter().cloned().collect(),
            definitions,
            registries: all(&self.rev_reg)?,
            lists: read_all(&self.status_list)?,
        })
    }
}

fn read_all<M: Message>(files: &[PathBuf]) -> Result<Vec<M>, Failure> {
    files.iter().map(|file| files::read(file)).collect()
}

fn all<M: Message>(named: &[(String, PathBuf)]) -> Result<BTreeMap<String, M>, Failure> {
    let each = named
        .iter()
        .map(|(id, file)| Ok((id.clone(), files::read(file)?)));
    each.collect()
}

impl Verify {
    /// Verifies.
    pub fn run(self) -> End {
        let request: PresentationRequest = files::read(&self.request)?;
        let published = self.published.read()?;
        let in_force: Vec<RevocationStatusList> = read_all(&self.in_force)?;
        let presentation: Presentation = files::read_or_pipe(self.presentation.as_ref())?;
        let encoding = if self.any_encoding {
            Encoding::OfTheIssuer
        } else {
            Encoding::Recommended
        };
        let leniency = Leniency { in_force, encoding };
        let judged = verify(&presentation, &request, published, leniency).map_err(failed)?;
        output::either(self.json, &judged.presentation, table);
        for remedy in judged.remedies {
            output::complain(words(remedy));
        }
        Ok(if judged.presentation.verdict.is_valid() {
            Answer::Yes
        } else {
            Answer::No
        })
    }
}

/// What the verifier can do.
fn words(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::MoreObjects => {
            "hint: add the missing files: --schema ID=FILE --cred-def ID=FILE --rev-reg ID=FILE --status-list FILE"
        }
        Remedy::ListInForce => {
            "hint: to accept a list that was in force when the interval begins, although it is older: --in-force FILE"
        }
        Remedy::SchemaNumber => {
            "hint: a definition names its schema by a number; name the schema with that number: --schema-number ID=NUMBER"
        }
    }
}

/// The verdict as a table: each rule, then what is proven about which credential, and for what time.
fn table(judged: &AnoncredsVerdict) -> Vec<String> {
    let verdict = &judged.verdict;
    let mut lines = vec![verdict.outcome.as_str().to_uppercase()];
    let rules = verdict.rules.iter();
    lines.extend(rule_lines(rules.map(|rule| RuleLine {
        name: &rule.name,
        passed: rule.passed,
        detail: &rule.detail,
        paragraph: &rule.paragraph,
    })));
    let referent = width(judged.answers.iter().map(|answer| answer.referent.as_str()));
    for answer in &judged.answers {
        lines.push(format!(
            "  {:referent$}  {}",
            answer.referent,
            answer_line(answer)
        ));
    }
    lines
}

/// An attribute: what is known of it, from which issuer, in which state of which registry, and for what time.
fn answer_line(answer: &Answered) -> String {
    let attributes = answer.attributes.join(", ");
    let what = match answer.answer {
        AnswerKind::Revealed => format!("{attributes} revealed"),
        AnswerKind::Unrevealed => format!("{attributes} not revealed"),
        AnswerKind::SelfAttested => format!("{attributes} attested only by the holder"),
        AnswerKind::Predicate { comparison, bound } => {
            format!("{attributes} {} {bound}", comparison.as_str())
        }
    };
    let Some(source) = &answer.credential else {
        return what;
    };
    let mut line = format!(
        "{what}; by {} under {}",
        source.issuer_id, source.cred_def_id
    );
    match &source.not_revoked {
        None => line.push_str("; non-revocation not requested"),
        Some(state) => {
            let as_of = UnixTime(state.as_of).rfc3339();
            line.push_str(&format!(
                "; not revoked in {} as of {as_of}",
                state.rev_reg_id
            ));
            if let Some(interval) = &state.interval {
                line.push_str(&format!(", requested for {}", span(interval)));
            }
        }
    }
    line
}

/// An interval; an end that was not requested is open.
fn span(interval: &Interval) -> String {
    let end = |end: Option<u64>| end.map_or("any time".to_owned(), |end| UnixTime(end).rfc3339());
    format!("{} to {}", end(interval.from), end(interval.to))
}

fn width<'a>(texts: impl Iterator<Item = &'a str>) -> usize {
    texts.map(|text| text.chars().count()).max().unwrap_or(0)
}
