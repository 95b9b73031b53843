//! A saved request as the fields of a form that people change: its texts, its questions as rows, or its DCQL query.

use selfsame_asked::compile::{ALTERNATIVES_MAX, QUESTIONS_MAX, compile};
use selfsame_asked::definition::{
    AskedAlternative, AskedQuestion, RequestDefinition, RequestPolicy,
};
use selfsame_asked::file::read_query;
use selfsame_credential::Format;
use selfsame_driver::{Error, Reason};
use selfsame_types::TypeSet;
use selfsame_types::editor::SentFields;
use serde_json::to_string_pretty;

/// The form of a saved request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RequestForm {
    /// The name.
    pub name: String,
    /// The title.
    pub title: String,
    /// What it is for.
    pub purpose: String,
    /// Whether people can open it.
    pub enabled: bool,
    /// Whether the result returns to the browser that asks.
    pub same_device: bool,
    /// Whether a single-use credential is used up.
    pub spend: bool,
    /// The origins of pages that embed it, one a line.
    pub origins: String,
    /// Maximum age of a status list, in seconds; empty for the configured one.
    pub max_status_age: String,
    /// The issuers to accept a type from: a type and an issuer a line.
    pub issuers: String,
    /// The DCQL query, if it is written instead of questions.
    pub dcql: Option<String>,
    /// The questions.
    pub questions: Vec<QuestionRow>,
}

/// A question of the form.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct QuestionRow {
    /// What the names of its fields begin with.
    pub key: String,
    /// Whether the person may leave it unanswered.
    pub optional: bool,
    /// Its alternatives.
    pub alternatives: Vec<AlternativeRow>,
}

/// An alternative of a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlternativeRow {
    /// What the names of its fields begin with.
    pub key: String,
    /// The id of the type that is chosen.
    pub type_id: String,
    /// The id of the type whose claims the form has shown.
    pub shown: String,
    /// The formats that are chosen.
    pub formats: Vec<Format>,
    /// The claims that are chosen.
    pub claims: Vec<Vec<String>>,
}

impl RequestForm {
    /// The form of a new request: one question with one alternative.
    #[must_use]
    pub fn new(types: &TypeSet) -> Self {
        let mut form = Self {
            enabled: true,
            ..Self::default()
        };
        form.press("add", types);
        form
    }

    /// The form of a definition.
    #[must_use]
    pub fn of(definition: &RequestDefinition, types: &TypeSet) -> Self {
        let query = definition.dcql_query.as_ref();
        let policy = &definition.policy;
        let issuers = policy.trusted_issuers.iter().flat_map(|(of, issuers)| {
            let line = move |issuer: &String| format!("{of} {issuer}");
            issuers.iter().map(line)
        });
        let mut form = Self {
            name: definition.name.clone(),
            title: definition.title.clone(),
            purpose: definition.purpose.clone(),
            enabled: definition.enabled,
            same_device: definition.same_device,
            spend: definition.spend,
            origins: definition.origins.join("\n"),
            max_status_age: policy
                .max_status_age
                .map_or_else(String::new, |age| age.to_string()),
            issuers: issuers.collect::<Vec<_>>().join("\n"),
            dcql: query.map(|query| to_string_pretty(query).unwrap_or_default()),
            questions: Vec::new(),
        };
        for question in &definition.questions {
            form.add_question(question, types);
        }
        form
    }

    /// The form as it was sent.
    #[must_use]
    pub fn read(sent: &dyn SentFields, types: &TypeSet) -> Self {
        let text = |name: &str| sent.one(name).unwrap_or_default().to_owned();
        let is_set = |name: &str| sent.one(name) == Some("true");
        let is_written = sent.one("mode") == Some("dcql");
        let keys = sent.all("question").iter().take(QUESTIONS_MAX + 1);
        let mut form = Self {
            name: text("name"),
            title: text("title"),
            purpose: text("purpose"),
            enabled: is_set("enabled"),
            same_device: is_set("same_device"),
            spend: is_set("spend"),
            origins: text("origins"),
            max_status_age: text("max_status_age"),
            issuers: text("issuers"),
            dcql: is_written.then(|| text("dcql")),
            questions: keys.map(|key| question(sent, key)).collect(),
        };
        form.settle(types);
        form
    }

    /// Does what a button says: `add`, `add.KEY`, `remove.KEY`, `dcql` or `questions`.
    pub fn press(&mut self, button: &str, types: &TypeSet) {
        let (what, key) = button.split_once('.').unwrap_or((button, ""));
        let fresh = self.fresh_key();
        let first = types.issued().next().map(|one| one.id.clone());
        let alternative = |key: u32| AlternativeRow {
            key: key.to_string(),
            type_id: first.clone().unwrap_or_default(),
            ..AlternativeRow::default()
        };
        match what {
            "add" if key.is_empty() => self.questions.push(QuestionRow {
                key: fresh.to_string(),
                optional: false,
                alternatives: vec![alternative(fresh.saturating_add(1))],
            }),
            "add" => {
                let mut questions = self.questions.iter_mut();
                if let Some(question) = questions.find(|question| question.key == key) {
                    question.alternatives.push(alternative(fresh));
                }
            }
            "remove" => self.remove(key),
            "dcql" => self.dcql = Some(self.written(types)),
            "questions" => self.dcql = None,
            _ => {}
        }
        if self.dcql.is_none() && self.questions.is_empty() {
            self.press("add", types);
        }
        self.settle(types);
    }

    /// What the form describes.
    ///
    /// # Errors
    /// A field whose text cannot be read.
    pub fn definition(&self) -> Result<RequestDefinition, Reason> {
        let reason = |error: Error| error.reason;
        let age = Some(self.max_status_age.trim()).filter(|age| !age.is_empty());
        let age = age.map(str::parse).transpose();
        let mut policy = RequestPolicy {
            max_status_age: age.map_err(|_| Reason::new("status-age-malformed"))?,
            ..RequestPolicy::default()
        };
        for line in lines(&self.issuers) {
            let (of, issuer) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let issuers = policy.trusted_issuers.entry(of.to_owned()).or_default();
            issuers.extend(Some(issuer.trim().to_owned()).filter(|issuer| !issuer.is_empty()));
        }
        let query = self.dcql.as_deref().map(read_query).transpose();
        let dcql_query = query.map_err(reason)?;
        let questions = match dcql_query {
            Some(_) => Vec::new(),
            None => self.questions.iter().map(QuestionRow::question).collect(),
        };
        Ok(RequestDefinition {
            name: self.name.clone(),
            title: self.title.clone(),
            purpose: self.purpose.clone(),
            enabled: self.enabled,
            same_device: self.same_device,
            spend: self.spend,
            origins: lines(&self.origins).map(str::to_owned).collect(),
            policy,
            questions,
            dcql_query,
        })
    }

    /// The questions as a DCQL query to go on with; an empty text if they cannot be compiled.
    fn written(&self, types: &TypeSet) -> String {
        let compiled = self.definition().ok();
        let compiled = compiled.and_then(|definition| compile(&definition, types).ok());
        let text = compiled.and_then(|compiled| to_string_pretty(&compiled.query).ok());
        text.unwrap_or_default()
    }

    fn add_question(&mut self, question: &AskedQuestion, types: &TypeSet) {
        let key = self.fresh_key();
        let keys = (0_u32..).map(|number| key.saturating_add(1).saturating_add(number));
        let alternatives = question.alternatives.iter().zip(keys);
        self.questions.push(QuestionRow {
            key: key.to_string(),
            optional: question.optional,
            alternatives: alternatives
                .map(|(one, key)| AlternativeRow::of(one, key, types))
                .collect(),
        });
    }

    fn remove(&mut self, key: &str) {
        self.questions.retain(|question| question.key != key);
        for question in &mut self.questions {
            question.alternatives.retain(|one| one.key != key);
        }
        self.questions
            .retain(|question| !question.alternatives.is_empty());
    }

    /// Chooses what is typical for a type that was not shown before.
    fn settle(&mut self, types: &TypeSet) {
        let rows = self.questions.iter_mut();
        for one in rows.flat_map(|question| &mut question.alternatives) {
            if one.shown == one.type_id {
                continue;
            }
            one.shown.clone_from(&one.type_id);
            one.formats = vec![Format::DEFAULT];
            let found = types.newest(&one.type_id);
            one.claims = found.map_or_else(Vec::new, |found| found.typical_request().claims);
        }
    }

    /// The key of the next new row.
    fn fresh_key(&self) -> u32 {
        let keys = self.questions.iter().flat_map(|question| {
            let alternatives = question.alternatives.iter().map(|one| &one.key);
            std::iter::once(&question.key).chain(alternatives)
        });
        let most = keys.filter_map(|key| key.parse::<u32>().ok()).max();
        most.map_or(0, |most| most.saturating_add(1))
    }
}

impl QuestionRow {
    fn question(&self) -> AskedQuestion {
        let alternatives = self.alternatives.iter().map(|one| AskedAlternative {
            type_id: one.type_id.clone(),
            formats: one.formats.clone(),
            claims: Some(one.claims.clone()),
        });
        AskedQuestion {
            optional: self.optional,
            alternatives: alternatives.collect(),
        }
    }
}

impl AlternativeRow {
    fn of(one: &AskedAlternative, key: u32, types: &TypeSet) -> Self {
        let typical = || {
            let found = types.newest(&one.type_id);
            found.map_or_else(Vec::new, |found| found.typical_request().claims)
        };
        Self {
            key: key.to_string(),
            type_id: one.type_id.clone(),
            shown: one.type_id.clone(),
            formats: match one.formats.as_slice() {
                [] => vec![Format::DEFAULT],
                named => named.to_vec(),
            },
            claims: one.claims.clone().unwrap_or_else(typical),
        }
    }
}

fn question(sent: &dyn SentFields, key: &str) -> QuestionRow {
    let rows = sent.all(&format!("{key}.row")).iter();
    QuestionRow {
        key: key.to_owned(),
        optional: sent.one(&format!("{key}.optional")) == Some("true"),
        alternatives: rows
            .take(ALTERNATIVES_MAX + 1)
            .map(|key| alternative(sent, key))
            .collect(),
    }
}

fn alternative(sent: &dyn SentFields, key: &str) -> AlternativeRow {
    let named = |name: &str| format!("{key}.{name}");
    let text = |name: &str| sent.one(&named(name)).unwrap_or_default().to_owned();
    let chosen = sent.all(&named("format"));
    // The page lists those first that were chosen, in their order.
    let formats = chosen.iter().filter_map(|name| name.parse().ok());
    let claims = sent.all(&named("claim")).iter();
    AlternativeRow {
        key: key.to_owned(),
        type_id: text("type"),
        shown: text("shown"),
        formats: formats.collect(),
        claims: claims
            .map(|path| path.split('/').map(str::to_owned).collect())
            .collect(),
    }
}

/// The lines of a text that say something.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().map(str::trim).filter(|line| !line.is_empty())
}

#[cfg(test)]
mod tests;
