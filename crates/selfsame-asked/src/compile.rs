//! Makes the DCQL query of a saved request (OpenID4VP 1.0 §6).
//!
//! Each format of each alternative becomes a credential query, and each question a credential set whose options are the
//! alternatives. Without alternatives and optional questions no sets are needed: all credentials are then required.

use std::collections::{BTreeMap, BTreeSet};

use selfsame_credential::Format;
use selfsame_credential::single_use::HANDLE;
use selfsame_driver::{Error, Reason};
use selfsame_openid4vc::dcql::DcqlQuery;
use selfsame_types::asked::check::many;
use selfsame_types::asked::definition::{AskedAlternative, AskedQuestion, RequestDefinition};
use selfsame_types::project::dcql;
use selfsame_types::{CredentialType, TypeSet};
use serde_json::{Value, json};

/// Maximum number of questions; as many as a query has credential sets.
pub const QUESTIONS_MAX: usize = 32;
/// Maximum number of alternatives of a question.
pub const ALTERNATIVES_MAX: usize = 16;

/// What is made from a definition and the types of this moment. A request that is opened keeps it, whatever becomes of
/// the definition and of the types.
#[derive(Clone, Debug, PartialEq)]
pub struct CompiledRequest {
    /// The query.
    pub query: DcqlQuery,
    /// The issuers to accept a type from, by its `vct` or W3C type.
    pub issuers: BTreeMap<String, Vec<String>>,
}

/// Compiles a definition.
///
/// # Errors
/// All that is wrong with the query and with the types that the policy names.
pub fn compile(
    definition: &RequestDefinition,
    types: &TypeSet,
) -> Result<CompiledRequest, Vec<Reason>> {
    let query = match (&definition.dcql_query, definition.questions.as_slice()) {
        (Some(query), []) => parsed(query).map_err(|reason| vec![reason])?,
        (None, questions @ [_, ..]) => of_questions(questions, definition.spend, types)?,
        _ => {
            let ambiguous = Reason::new("saved-query-ambiguous");
            return Err(vec![ambiguous]);
        }
    };
    let issuers = issuers(definition, &query, types)?;
    Ok(CompiledRequest { query, issuers })
}

fn parsed(query: &Value) -> Result<DcqlQuery, Reason> {
    DcqlQuery::parse(query).map_err(|error| Reason::rule_broken(&error.to_string(), None))
}

fn of_questions(
    questions: &[AskedQuestion],
    spend: bool,
    types: &TypeSet,
) -> Result<DcqlQuery, Vec<Reason>> {
    let mut parts = QueryParts::new(types, spend);
    if questions.len() > QUESTIONS_MAX {
        parts.refusals.push(many("questions", QUESTIONS_MAX));
    }
    for (index, question) in questions.iter().take(QUESTIONS_MAX).enumerate() {
        parts.question(question, &format!("questions[{index}]"));
    }
    if !parts.refusals.is_empty() {
        return Err(parts.refusals);
    }
    let is_plain = |set: &Value| set["required"] == true && set["options"][1].is_null();
    let query = match parts.sets.iter().all(is_plain) {
        true => json!({"credentials": parts.credentials}),
        false => json!({"credentials": parts.credentials, "credential_sets": parts.sets}),
    };
    parsed(&query).map_err(|reason| vec![reason])
}

/// The parts of a query while it is made.
struct QueryParts<'a> {
    types: &'a TypeSet,
    spend: bool,
    ids: BTreeSet<String>,
    credentials: Vec<Value>,
    sets: Vec<Value>,
    refusals: Vec<Reason>,
}

impl<'a> QueryParts<'a> {
    fn new(types: &'a TypeSet, spend: bool) -> Self {
        Self {
            types,
            spend,
            ids: BTreeSet::new(),
            credentials: Vec::new(),
            sets: Vec::new(),
            refusals: Vec::new(),
        }
    }

    fn question(&mut self, question: &AskedQuestion, place: &str) {
        let alternatives = format!("{place}.alternatives");
        if question.alternatives.is_empty() {
            let none = Reason::new("saved-alternatives-none").with("place", &alternatives);
            self.refusals.push(none);
        }
        if question.alternatives.len() > ALTERNATIVES_MAX {
            self.refusals.push(many(&alternatives, ALTERNATIVES_MAX));
        }
        let mut options = Vec::new();
        for (index, one) in question
            .alternatives
            .iter()
            .take(ALTERNATIVES_MAX)
            .enumerate()
        {
            match self.alternative(one, &format!("{alternatives}[{index}]")) {
                Ok(ids) => options.extend(ids.into_iter().map(|id| json!([id]))),
                Err(reason) => self.refusals.push(reason),
            }
        }
        self.sets
            .push(json!({"options": options, "required": !question.optional}));
    }

    /// Adds a credential query for each format; returns their ids.
    fn alternative(&mut self, one: &AskedAlternative, place: &str) -> Result<Vec<String>, Reason> {
        let at = |name: &str| format!("{place}.{name}");
        let found = self.types.find(&one.type_id).map_err(|error| {
            Reason::new("saved-type")
                .with("place", &at("type"))
                .because(error.reason)
        })?;
        let formats: BTreeSet<Format> = one.formats.iter().copied().collect();
        if formats.len() < one.formats.len() {
            return Err(Reason::new("type-value-twice").with("place", &at("formats")));
        }
        let usual = [found.usual_format()];
        let formats = match one.formats.as_slice() {
            [] => usual.as_slice(),
            named => named,
        };
        let mut ids = Vec::new();
        for format in formats {
            if !found.is_issued_as(*format) || format.describe().is_for_machines {
                return Err(Reason::new("saved-format")
                    .with("place", &at("formats"))
                    .with("format", format)
                    .with("type", &found.id));
            }
            let claims = claims_of(one, found, *format, self.spend)
                .map_err(|claim| wrong_claim(&claim, &found.id, &at("claims")))?;
            let internal = |error: Error| error.reason;
            let mut made = dcql(found, *format, &claims).map_err(internal)?;
            let mut credential = made["credentials"][0].take();
            let id = self.fresh_id(&found.id);
            credential["id"] = json!(id);
            self.credentials.push(credential);
            ids.push(id);
        }
        Ok(ids)
    }

    /// An id that says which type is meant (OpenID4VP 1.0 §6.1: letters, digits, `_` and `-`).
    fn fresh_id(&mut self, type_id: &str) -> String {
        let first = type_id.replace('-', "_");
        let further = (2_u32..).map(|number| format!("{first}_{number}"));
        let mut ids = std::iter::once(first.clone()).chain(further);
        let id = ids.find(|id| !self.ids.contains(id)).unwrap_or_default();
        self.ids.insert(id.clone());
        id
    }
}

/// The claims to ask for, or one that cannot be asked for. To be used up, a single-use credential shows its handle.
fn claims_of(
    one: &AskedAlternative,
    of: &CredentialType,
    format: Format,
    spend: bool,
) -> Result<Vec<Vec<String>>, Vec<String>> {
    let typical = || of.typical_request().claims;
    let mut claims = one.claims.clone().unwrap_or_else(typical);
    if let Some(unknown) = claims.iter().find(|path| !of.may_be_asked(format, path)) {
        return Err(unknown.clone());
    }
    let handle = vec![HANDLE.to_owned()];
    if spend && !claims.contains(&handle) && of.may_be_asked(format, &handle) {
        claims.push(handle);
    }
    Ok(claims)
}

fn wrong_claim(claim: &[String], of: &str, place: &str) -> Reason {
    Reason::new("saved-claim")
        .with("place", place)
        .with("claim", &claim.join("."))
        .with("type", of)
}

/// The policy's issuers by the types of the query. A type that is not asked for is refused: its entry would protect
/// nothing.
fn issuers(
    definition: &RequestDefinition,
    query: &DcqlQuery,
    types: &TypeSet,
) -> Result<BTreeMap<String, Vec<String>>, Vec<Reason>> {
    let asked = query.type_names();
    let mut by_type: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut refusals = Vec::new();
    for (name, issuers) in &definition.policy.trusted_issuers {
        let mut meant = vec![name.clone()];
        if let Some(known) = types.newest(name) {
            meant.extend(known.query_names());
        }
        meant.retain(|name| asked.contains(name.as_str()));
        if meant.is_empty() {
            let place = format!("policy.trusted_issuers.{name}");
            refusals.push(Reason::new("saved-issuers-type").with("place", &place));
        }
        for name in meant {
            by_type.entry(name).or_default().extend_from_slice(issuers);
        }
    }
    match refusals.is_empty() {
        true => Ok(by_type),
        false => Err(refusals),
    }
}
