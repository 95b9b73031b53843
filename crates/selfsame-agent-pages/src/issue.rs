//! Issuing a credential on a connection: the choice of the definition, its attributes, and what is about to be offered.

use askama::Template;

use crate::{PageBase, WrongEntry};

/// A credential definition to choose.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DefinitionChoice {
    /// Its identifier.
    pub id: String,
    /// The name and the version of its schema.
    pub name: String,
    /// What tells it from others of its schema.
    pub tag: String,
    /// Whether its credentials can be revoked.
    pub is_revocable: bool,
}

/// The choice of a credential definition, or the attributes of one.
#[derive(Template)]
#[template(path = "issue.html")]
pub struct IssueContent {
    /// What all pages have.
    pub base: PageBase,
    /// The connection's identifier.
    pub connection_id: String,
    /// What the peer is called.
    pub peer: String,
    /// The definitions to choose from.
    pub definitions: Vec<DefinitionChoice>,
    /// The one that is chosen.
    pub chosen: Option<IssueForm>,
}

/// The form of a credential.
#[derive(Clone, Debug, Default)]
pub struct IssueForm {
    /// The definition.
    pub definition: String,
    /// The name and the version of its schema.
    pub name: String,
    /// The attributes.
    pub fields: Vec<AttributeField>,
    /// Whether the agent adds a handle, by which the credential can be used once.
    pub has_handle: bool,
    /// A text for the holder.
    pub comment: String,
    /// What is wrong.
    pub wrong: WrongEntry,
    /// Whether it is shown as it is about to be offered.
    pub is_preview: bool,
}

/// An attribute of a credential.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AttributeField {
    /// The name of its field.
    pub field: String,
    /// Its own name.
    pub name: String,
    /// Its value.
    pub value: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PageRights;

    fn content(chosen: Option<IssueForm>) -> String {
        let content = IssueContent {
            base: PageBase {
                here: "/o/clinic".to_owned(),
                form: "token".to_owned(),
                rights: PageRights::ALL,
            },
            connection_id: "c1".to_owned(),
            peer: "Lake & Co".to_owned(),
            definitions: vec![DefinitionChoice {
                id: "did:x:1/definition".to_owned(),
                name: "prescription 1.0".to_owned(),
                tag: "default".to_owned(),
                is_revocable: true,
            }],
            chosen,
        };
        content.render().unwrap()
    }

    fn form() -> IssueForm {
        IssueForm {
            definition: "did:x:1/definition".to_owned(),
            name: "prescription 1.0".to_owned(),
            fields: vec![AttributeField {
                field: "value-0".to_owned(),
                name: "drug".to_owned(),
                value: "<Amoxicillin>".to_owned(),
            }],
            ..IssueForm::default()
        }
    }

    #[test]
    fn a_definition_is_chosen_first() {
        let page = content(None);
        assert!(
            page.contains("definition=did%3Ax%3A1%2Fdefinition"),
            "{page}"
        );
        assert!(page.contains("Lake &#38; Co") && page.contains("can be revoked"));
        assert!(!page.contains("<form"), "{page}");
    }

    #[test]
    fn an_attribute_that_is_wrong_says_so_beside_its_field_and_keeps_what_was_typed() {
        let wrong = WrongEntry::of("value-0", "write a value", None);
        let page = content(Some(IssueForm { wrong, ..form() }));
        assert!(page.contains("value-0-problem") && page.contains("Write a value."));
        assert!(page.contains("&#60;Amoxicillin&#62;"), "{page}");
        assert!(page.contains("Look at it first"), "{page}");
    }

    #[test]
    fn what_is_about_to_be_offered_is_shown_and_can_be_changed() {
        let is_preview = true;
        let page = content(Some(IssueForm {
            is_preview,
            ..form()
        }));
        assert!(page.contains("Offer it") && page.contains("Change it"));
        assert!(page.contains("type=\"hidden\" name=\"value-0\""), "{page}");
        assert!(!page.contains("<Amoxicillin>"), "{page}");
    }
}
