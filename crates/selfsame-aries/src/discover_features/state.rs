//! The record of a question.

use serde::{Deserialize, Serialize};

use crate::dialogue::Dialogue;

use super::messages::{Feature, FeatureQuery};

/// A question, asked or answered.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct DiscoveryRecord {
    /// Its state.
    pub state: DiscoveryState,
    /// Its thread.
    pub dialogue: Dialogue,
    /// What was asked.
    pub queries: Vec<FeatureQuery>,
    /// What was answered.
    pub disclosures: Vec<Feature>,
}

/// Where a question stands.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum DiscoveryState {
    /// We asked, and wait for the answer.
    #[serde(rename = "query-sent/1")]
    QuerySent,
    /// It is answered.
    #[serde(rename = "done/1")]
    Done,
}
