//! Datasets of RDF as they are put into canonical form, and their lines (N-Quads, RDF Dataset Canonicalization §A).

use std::fmt::Write as _;

/// A node that is not named. Numbers are dense: 0, 1, 2, …
pub(crate) type Blank = u32;

/// A part of a quad. IRIs are absolute.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum RdfTerm {
    Iri(String),
    Blank(Blank),
    Literal(RdfLiteral),
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct RdfLiteral {
    pub text: String,
    pub kind: RdfLiteralKind,
}

#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum RdfLiteralKind {
    /// `xsd:string`.
    Plain,
    Typed(String),
    Tagged(String),
}

/// A statement in a graph; `None` is the default graph.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct RdfQuad {
    pub subject: RdfTerm,
    pub predicate: String,
    pub object: RdfTerm,
    pub graph: Option<RdfTerm>,
}

/// A set of quads.
#[derive(Clone, Debug)]
pub(crate) struct Dataset {
    pub quads: Vec<RdfQuad>,
    /// The number of nodes that are not named.
    pub blanks: u32,
}

impl Dataset {
    /// The set of these quads, whose blank nodes have the numbers below `blanks`.
    pub fn new(quads: Vec<RdfQuad>, blanks: u32) -> Self {
        let mut quads = quads;
        quads.sort_unstable();
        quads.dedup();
        Self { quads, blanks }
    }
}

impl RdfQuad {
    /// The parts that can be a blank node, each with the name of its place (RDF Dataset Canonicalization §4.8.3).
    pub fn places(&self) -> [(Option<&RdfTerm>, &'static str); 3] {
        [
            (Some(&self.subject), "s"),
            (Some(&self.object), "o"),
            (self.graph.as_ref(), "g"),
        ]
    }

    /// The line of the quad, in which `named` names the blank nodes.
    pub fn write(&self, line: &mut String, named: &mut dyn FnMut(Blank, &mut String)) {
        write_term(&self.subject, line, named);
        line.push_str(" <");
        line.push_str(&self.predicate);
        line.push_str("> ");
        write_term(&self.object, line, named);
        if let Some(graph) = &self.graph {
            line.push(' ');
            write_term(graph, line, named);
        }
        line.push_str(" .\n");
    }
}

impl RdfTerm {
    pub fn blank(&self) -> Option<Blank> {
        match self {
            Self::Blank(number) => Some(*number),
            Self::Iri(_) | Self::Literal(_) => None,
        }
    }
}

fn write_term(term: &RdfTerm, line: &mut String, named: &mut dyn FnMut(Blank, &mut String)) {
    match term {
        RdfTerm::Iri(iri) => write_iri(iri, line),
        RdfTerm::Blank(number) => {
            line.push_str("_:");
            named(*number, line);
        }
        RdfTerm::Literal(literal) => {
            line.push('"');
            escape(&literal.text, line);
            line.push('"');
            match &literal.kind {
                RdfLiteralKind::Plain => {}
                RdfLiteralKind::Typed(iri) => {
                    line.push_str("^^");
                    write_iri(iri, line);
                }
                RdfLiteralKind::Tagged(language) => {
                    line.push('@');
                    line.push_str(language);
                }
            }
        }
    }
}

fn write_iri(iri: &str, line: &mut String) {
    line.push('<');
    line.push_str(iri);
    line.push('>');
}

/// The escapes of canonical N-Quads: these and no others.
fn escape(text: &str, line: &mut String) {
    for one in text.chars() {
        match one {
            '\u{8}' => line.push_str("\\b"),
            '\t' => line.push_str("\\t"),
            '\n' => line.push_str("\\n"),
            '\u{c}' => line.push_str("\\f"),
            '\r' => line.push_str("\\r"),
            '"' => line.push_str("\\\""),
            '\\' => line.push_str("\\\\"),
            '\0'..='\u{1f}' | '\u{7f}' => {
                // Writing to a string cannot fail.
                let _ = write!(line, "\\u{:04X}", u32::from(one));
            }
            other => line.push(other),
        }
    }
}
