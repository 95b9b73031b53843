//! What traces and figures know of a flow: when and in which span it began, and its state.

use selfsame_crypto::time::UnixTime;
use selfsame_traces::{TraceContext, present};
use serde::{Deserialize, Serialize};

/// The beginning of a flow, stored with its record.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct FlowOrigin {
    /// When it began.
    pub at: UnixTime,
    /// The span that it began with, if its trace is recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceContext>,
}

/// The state that a flow is in before a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FlowStage {
    /// The name of the state, such as `offered`.
    pub state: &'static str,
    /// Its beginning; `None` if a former release wrote the record.
    pub origin: Option<FlowOrigin>,
}

/// How a flow ended, for figures.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct FlowResult {
    /// What kind of flow it is, such as `presentation`.
    pub flow: &'static str,
    /// How it ended, such as `valid`.
    pub result: &'static str,
}

impl FlowResult {
    /// Counts it in the metrics.
    pub(super) fn count(self) {
        let Self { flow, result } = self;
        metrics::counter!("selfsame_flows_ended_total", "flow" => flow, "result" => result)
            .increment(1);
    }
}

impl FlowOrigin {
    /// A flow that begins now, with the present span.
    #[must_use]
    pub fn new(now: UnixTime) -> Self {
        Self {
            at: now,
            trace: present(),
        }
    }
}

impl FlowStage {
    /// Notes in the metrics how old the flow was when it left this state.
    pub(super) fn left(self, now: UnixTime) {
        if let Some(origin) = self.origin {
            let age = now.seconds_since(origin.at) as f64;
            metrics::histogram!("selfsame_flow_age_seconds", "state" => self.state).record(age);
        }
    }
}
