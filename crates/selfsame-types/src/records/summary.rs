//! A type as its organisation sees it.

use selfsame_driver::{Reason, Reasons};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::anoncreds_objects::AnonCredsObjects;
use crate::model::{CredentialType, TypeDefinition, TypeState};

/// A type in its organisation's list.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TypeSummary {
    /// Its id.
    pub id: String,
    /// Its title in English, or else in its first language.
    pub title: String,
    /// The state of its newest version: `draft` if none was published yet.
    pub state: TypeState,
    /// Its newest published version.
    pub version: Option<u32>,
    /// The SD-JWT VC type of that version.
    pub vct: Option<String>,
    /// Whether it comes with the program.
    pub sample: bool,
    /// Whether it has a draft that is not published yet.
    pub has_draft: bool,
    /// Its newest published version, or else its draft; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<TypeDefinition>,
    /// Its draft, if it has a published version too; absent in lists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<TypeDefinition>,
    /// What its newest version has in the registry for AnonCreds; absent in lists, and without that format.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anoncreds: Option<AnonCredsObjects>,
    /// What should be better.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<String>)]
    pub advice: Vec<Reason>,
}

impl Reasons for TypeSummary {
    fn reasons(&mut self) -> Vec<&mut Reason> {
        let failed = self.anoncreds.as_mut();
        let failed = failed.and_then(|objects| objects.reason.as_mut());
        self.advice.iter_mut().chain(failed).collect()
    }
}

impl TypeSummary {
    pub(super) fn of_draft(draft: TypeDefinition) -> Self {
        Self {
            id: draft.id.clone(),
            title: draft.name().to_owned(),
            state: TypeState::Draft,
            version: None,
            vct: None,
            sample: false,
            has_draft: true,
            definition: None,
            draft: Some(draft),
            anoncreds: None,
            advice: Vec::new(),
        }
    }

    pub(super) fn of(one: &CredentialType) -> Self {
        Self {
            id: one.id.clone(),
            title: one.name().to_owned(),
            state: one.state,
            version: Some(one.version),
            vct: Some(one.vct.clone()),
            sample: one.is_sample,
            has_draft: false,
            definition: None,
            draft: None,
            anoncreds: None,
            advice: Vec::new(),
        }
    }
}
