//! The library's quads as ours, checked.

use std::collections::HashMap;

use oxilangtag::LanguageTag;
use oxrdf::{BlankNode, GraphName, NamedNode, NamedOrBlankNode, Term as OxTerm};
use selfsame_crypto::json;

use super::document::types_prefix;
use crate::contexts::UNDEFINED;
use crate::rdf::{Dataset, RdfLiteral, RdfLiteralKind, RdfQuad, RdfTerm};
use crate::{IntegrityError, LIMITS, jcs};

pub(super) const TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
const STRING: &str = "http://www.w3.org/2001/XMLSchema#string";
const JSON: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#JSON";

/// What was made so far.
#[derive(Default)]
pub(super) struct MadeDataset {
    quads: Vec<RdfQuad>,
    numbers: HashMap<String, u32>,
    /// Statements about types that were added to the document.
    joined: usize,
}

impl MadeDataset {
    pub fn len(&self) -> usize {
        self.quads.len()
    }

    pub fn add(&mut self, quad: oxrdf::Quad) -> Result<(), IntegrityError> {
        if is_joined(&quad) {
            self.joined = self.joined.saturating_add(1);
            return Ok(());
        }
        let predicate = defined(quad.predicate)?;
        let graph = match quad.graph_name {
            GraphName::DefaultGraph => None,
            GraphName::NamedNode(name) => Some(RdfTerm::Iri(iri(name, "@id")?)),
            GraphName::BlankNode(node) => Some(self.blank(&node)),
        };
        let subject = match quad.subject {
            NamedOrBlankNode::NamedNode(name) => RdfTerm::Iri(iri(name, "@id")?),
            NamedOrBlankNode::BlankNode(node) => self.blank(&node),
        };
        let object = match quad.object {
            OxTerm::NamedNode(name) if predicate == TYPE => RdfTerm::Iri(defined(name)?),
            OxTerm::NamedNode(name) => RdfTerm::Iri(iri(name, &predicate)?),
            OxTerm::BlankNode(node) => self.blank(&node),
            OxTerm::Literal(one) => RdfTerm::Literal(literal(one)?),
            #[allow(
                unreachable_patterns,
                reason = "with RDF 1.2 there are terms that are triples"
            )]
            _ => return Err(super::not_json_ld()),
        };
        self.quads.push(RdfQuad {
            subject,
            predicate,
            object,
            graph,
        });
        Ok(())
    }

    /// The set of what was made, without the statements that were added, of which there are `joined`.
    pub fn dataset(self, joined: usize) -> Result<Dataset, IntegrityError> {
        if self.joined != joined {
            return Err(super::not_json_ld());
        }
        if self.quads.is_empty() {
            return Err(IntegrityError::DataLoss("@context".to_owned()));
        }
        let blanks = u32::try_from(self.numbers.len());
        let blanks = blanks.map_err(|_| IntegrityError::TooMany("blank nodes"))?;
        Ok(Dataset::new(self.quads, blanks))
    }

    fn blank(&mut self, node: &BlankNode) -> RdfTerm {
        let next = u32::try_from(self.numbers.len()).unwrap_or(u32::MAX);
        let number = self.numbers.entry(node.as_str().to_owned());
        RdfTerm::Blank(*number.or_insert(next))
    }
}

fn is_joined(quad: &oxrdf::Quad) -> bool {
    let OxTerm::NamedNode(name) = &quad.object else {
        return false;
    };
    quad.predicate.as_str() == TYPE && name.as_str().starts_with(&types_prefix())
}

/// The IRI of a term or a type, if a context defines it. Otherwise the error has its name.
fn defined(name: NamedNode) -> Result<String, IntegrityError> {
    let text = name.into_string();
    if is_whole(&text) {
        return Ok(text);
    }
    let term = text.strip_prefix(UNDEFINED).unwrap_or(&text);
    let term = term.strip_prefix("term/").or(term.strip_prefix("base/"));
    Err(IntegrityError::DataLoss(term.unwrap_or(&text).to_owned()))
}

/// The IRI that a member has as its value. The error has the name of the member alone: the value may be a claim's.
fn iri(name: NamedNode, member: &str) -> Result<String, IntegrityError> {
    let text = name.into_string();
    match is_whole(&text) {
        true => Ok(text),
        false => Err(IntegrityError::DataLoss(member.to_owned())),
    }
}

/// Whether an IRI is absolute and well-formed, and no undefined term's.
fn is_whole(text: &str) -> bool {
    !text.starts_with(UNDEFINED) && NamedNode::new(text).is_ok()
}

fn literal(literal: oxrdf::Literal) -> Result<RdfLiteral, IntegrityError> {
    if let Some(language) = literal.language() {
        if LanguageTag::parse(language).is_err() {
            return Err(IntegrityError::DataLoss("@language".to_owned()));
        }
        return Ok(RdfLiteral {
            text: literal.value().to_owned(),
            // Their case has no meaning, and most signers write them so (JSON-LD 1.1 API §5.1.2, step 13.4.7).
            kind: RdfLiteralKind::Tagged(language.to_ascii_lowercase()),
        });
    }
    let kind = literal.datatype().into_owned();
    let text = literal.value().to_owned();
    Ok(match iri(kind, "@type")? {
        kind if kind == STRING => RdfLiteral {
            text,
            kind: RdfLiteralKind::Plain,
        },
        kind => RdfLiteral {
            // The library sorts names by code points, and the form of JSON literals sorts them by UTF-16.
            text: if kind == JSON {
                canonical(&text)?
            } else {
                text
            },
            kind: RdfLiteralKind::Typed(kind),
        },
    })
}

fn canonical(text: &str) -> Result<String, IntegrityError> {
    let value = json::parse(text.as_bytes(), &LIMITS)?;
    String::from_utf8(jcs::to_bytes(&value)?).map_err(|_| super::not_json_ld())
}
