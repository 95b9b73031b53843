//! What an issuer publishes of a type, so that wallets find the path to it across issuers.

use serde::{Deserialize, Serialize};

use crate::model::Prerequisites;

/// What a credential needs, in public.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PathDocument {
    /// Its SD-JWT VC type.
    pub vct: String,
    /// What people call it.
    pub title: String,
    /// The name of its issuer for people.
    pub issuer_name: String,
    /// The sets of names of needed credentials of which one must be proven as a whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<Vec<String>>,
    /// The needed credentials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<NeededType>,
}

/// A needed credential, in public.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct NeededType {
    /// Its name within the document.
    pub name: String,
    /// What people call it.
    pub title: String,
    /// Its SD-JWT VC types, of which it must have one.
    pub vct_values: Vec<String>,
    /// The address where people get it, and where a program gets such a document of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub get_at: Option<String>,
}

impl PathDocument {
    /// The needed credentials of a declaration whose types are named by `vct_values`.
    #[must_use]
    pub fn needs_of(declared: &Prerequisites) -> Vec<NeededType> {
        let needs = declared.needs.iter().map(|need| NeededType {
            name: need.name.clone(),
            title: need.title.clone().unwrap_or_else(|| need.name.clone()),
            vct_values: need.vct_values.clone(),
            get_at: need.get_at.clone(),
        });
        needs.collect()
    }

    /// The sets of needed credentials of which one must be proven. A name that stands for nothing is left out.
    #[must_use]
    pub fn sets(&self) -> Vec<Vec<&NeededType>> {
        if self.needs.is_empty() {
            return Vec::new();
        }
        if self.options.is_empty() {
            return vec![self.needs.iter().collect()];
        }
        let named = |name: &String| self.needs.iter().find(|need| need.name == *name);
        let set = |set: &Vec<String>| set.iter().filter_map(named).collect();
        self.options.iter().map(set).collect()
    }
}
