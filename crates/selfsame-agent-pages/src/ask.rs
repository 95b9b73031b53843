//! Asking for a proof on a connection: the choice of a definition, of what is to be shown, or a request that is pasted.

use askama::Template;

use crate::issue::DefinitionChoice;
use crate::{PageBase, WrongEntry};

/// The relations of a predicate, as AnonCreds writes them, and in words.
pub const RELATIONS: [(&str, &str); 4] = [
    (">=", "at least"),
    (">", "more than"),
    ("<=", "at most"),
    ("<", "less than"),
];

/// The choice of what a proof is about, or of what it shows.
#[derive(Template)]
#[template(path = "ask.html")]
pub struct AskContent {
    /// What all pages have.
    pub base: PageBase,
    /// The connection's identifier.
    pub connection_id: String,
    /// What the peer is called.
    pub peer: String,
    /// The agent's own definitions.
    pub definitions: Vec<DefinitionChoice>,
    /// The definition that is chosen.
    pub chosen: Option<AskForm>,
    /// The identifier that was typed.
    pub typed: String,
    /// The request that was pasted.
    pub pasted: String,
    /// What is wrong with one of them.
    pub wrong: WrongEntry,
}

/// The form of a request by a definition.
#[derive(Clone, Debug, Default)]
pub struct AskForm {
    /// The definition.
    pub definition: String,
    /// The name and the version of its schema.
    pub name: String,
    /// Its attributes, and which are to be shown.
    pub attributes: Vec<AskedAttribute>,
    /// Whether its credentials can be revoked.
    pub is_revocable: bool,
    /// Whether a revoked one is refused.
    pub unrevoked: bool,
    /// What the proof is for, in words.
    pub purpose: String,
    /// The attribute of the predicate, its relation and its number, as they were typed.
    pub predicate: TypedPredicate,
    /// What is wrong.
    pub wrong: WrongEntry,
}

/// An attribute of a definition.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AskedAttribute {
    /// Its name.
    pub name: String,
    /// Whether it is to be shown.
    pub is_asked: bool,
}

/// A predicate as it was typed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TypedPredicate {
    /// The attribute; empty without a predicate.
    pub attribute: String,
    /// The relation.
    pub relation: String,
    /// The number.
    pub number: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageRights;

    fn content(chosen: Option<AskForm>, wrong: WrongEntry) -> String {
        let content = AskContent {
            base: PageBase {
                form: "token".to_owned(),
                rights: PageRights::ALL,
                ..PageBase::default()
            },
            connection_id: "c1".to_owned(),
            peer: "Lake".to_owned(),
            definitions: Vec::new(),
            chosen,
            typed: String::new(),
            pasted: "{\"name\": \"<x>\"}".to_owned(),
            wrong,
        };
        content.render().unwrap()
    }

    #[test]
    fn another_issuers_definition_and_a_request_can_be_pasted() {
        let wrong = WrongEntry::of("request", "this asks for nothing", None);
        let page = content(None, wrong);
        assert!(page.contains("request-problem") && page.contains("This asks for nothing."));
        assert!(
            page.contains("&#60;x&#62;") && !page.contains("<x>"),
            "{page}"
        );
        assert!(page.contains("name=\"definition\""), "{page}");
    }

    #[test]
    fn what_is_to_be_shown_and_proven_keeps_its_choice() {
        let attribute = |name: &str, is_asked| AskedAttribute {
            name: name.to_owned(),
            is_asked,
        };
        let form = AskForm {
            name: "prescription 1.0".to_owned(),
            attributes: vec![attribute("drug", true), attribute("age", false)],
            is_revocable: true,
            unrevoked: true,
            predicate: TypedPredicate {
                attribute: "age".to_owned(),
                relation: ">=".to_owned(),
                number: "many".to_owned(),
            },
            wrong: WrongEntry::of("number", "write a whole number", None),
            ..AskForm::default()
        };
        let page = content(Some(form), WrongEntry::default());
        assert!(page.contains("value=\"drug\" checked"), "{page}");
        assert!(page.contains("value=\"age\" selected") && page.contains("value=\"many\""));
        assert!(page.contains("number-problem") && page.contains("Write a whole number."));
        assert!(
            page.contains("name=\"unrevoked\" value=\"true\" checked"),
            "{page}"
        );
    }
}
