//! What a span can say. The set is closed: a value is of our code, a route's template, a host or a number, so that no
//! claim, identifier or secret can become one.

/// One statement about a span.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Attribute {
    /// The HTTP method: `http.request.method`.
    Method(&'static str),
    /// The template of the route, such as `/offers/{id}`, never the path: `http.route`.
    Route(String),
    /// The HTTP status: `http.response.status_code`.
    Status(u16),
    /// The host that is called, without its port, path or query: `server.address`.
    Host(String),
    /// The kind of the records that are read: `selfsame.record.kind`.
    RecordKind(String),
    /// The number of writes in a commit: `selfsame.commit.writes`.
    Writes(usize),
    /// The machine that takes a step: `selfsame.machine`.
    Machine(&'static str),
    /// How often a call was put off before: `selfsame.outbox.attempts`.
    Attempts(u32),
    /// How many things a step wants fetched or signed: `selfsame.gather.needs`.
    Needs(usize),
}

/// A value of OTLP.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AttributeValue<'a> {
    Text(&'a str),
    Number(u64),
}

impl Attribute {
    /// Its name by OpenTelemetry's semantic conventions, or one of our own.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Method(_) => "http.request.method",
            Self::Route(_) => "http.route",
            Self::Status(_) => "http.response.status_code",
            Self::Host(_) => "server.address",
            Self::RecordKind(_) => "selfsame.record.kind",
            Self::Writes(_) => "selfsame.commit.writes",
            Self::Machine(_) => "selfsame.machine",
            Self::Attempts(_) => "selfsame.outbox.attempts",
            Self::Needs(_) => "selfsame.gather.needs",
        }
    }

    pub(crate) fn value(&self) -> AttributeValue<'_> {
        match self {
            Self::Method(text) | Self::Machine(text) => AttributeValue::Text(text),
            Self::Route(text) | Self::Host(text) | Self::RecordKind(text) => {
                AttributeValue::Text(text)
            }
            Self::Status(status) => AttributeValue::Number(u64::from(*status)),
            Self::Attempts(number) => AttributeValue::Number(u64::from(*number)),
            Self::Writes(number) | Self::Needs(number) => AttributeValue::Number(*number as u64),
        }
    }
}
