//! Problem reports: 1.0 of RFC 0035 and those of protocols of their own, 2.0 of DIDComm v2.1 ("Problem Reports"). There
//! the thread in which the problem occurred is the parent.

use selfsame_aries::notification::ProblemReport;
use selfsame_didcomm::Message;
use selfsame_didcomm::message::{MessageType, Semver};
use serde_json::{Map, Value, json};

use super::{NamedVersion, TwoForms};

const NAME: &str = "problem-report";
const V2: NamedVersion = NamedVersion::new("report-problem", Semver::new(2, 0));
/// The code of a report that names none.
const UNNAMED: &str = "e.p";
/// Codes of the RFCs that mean something to all protocols, and those of DIDComm v2.1 ("Problem Codes").
const CODES: [[&str; 2]; 3] = [
    ["message-not-understood", "e.m.msg.unsupported"],
    ["version-not-supported", "e.m.msg.version-not-supported"],
    ["message-parse-failure", "e.m.msg.malformed"],
];
/// Values that are put into a text, at most.
const VALUES_MAX: usize = 16;

/// The protocol in the table.
pub(super) const FORM: TwoForms = TwoForms {
    rfc: NamedVersion::new("report-problem", Semver::new(1, 0)),
    v2: V2,
    renamed: &[],
    write: |message| {
        write(message);
        Ok(())
    },
    read: |message| {
        read(message);
        Ok(())
    },
};

/// Writes a report of whatever protocol.
pub(super) fn write(message: &mut Message) {
    let report = ProblemReport::read(message);
    message.kind = V2.named(NAME);
    let thread = &mut message.thread;
    thread.pthid = thread.thid.take().or(thread.pthid.take());
    let mut body = Map::new();
    let code = report.code.as_deref().map_or(UNNAMED.to_owned(), v2_code);
    body.insert("code".to_owned(), json!(code));
    if let Some(explain) = report.explain {
        body.insert("comment".to_owned(), json!(explain));
    }
    message.body = body;
    message.attachments.clear();
}

/// Reads a report of whatever protocol.
pub(super) fn read(message: &mut Message) {
    let text = |name: &str| message.body.get(name).and_then(Value::as_str);
    let explain = text("comment").map(|comment| filled(comment, message.body.get("args")));
    let report = ProblemReport {
        code: text("code").map(rfc_code).filter(|code| code != UNNAMED),
        explain,
    };
    message.kind = MessageType::new("report-problem", Semver::new(1, 0), NAME);
    message.body = Map::new();
    message.attachments.clear();
    report.write(message);
}

/// A code of v2 has a sorter, a scope and descriptors in lower-case words.
fn v2_code(code: &str) -> String {
    let known = CODES.iter().find(|[rfc, _]| *rfc == code);
    if let Some([_, v2]) = known {
        return (*v2).to_owned();
    }
    if code.starts_with("e.") || code.starts_with("w.") {
        return code.to_owned();
    }
    let word = |c: char| match c.is_ascii_alphanumeric() || c == '.' {
        true => c.to_ascii_lowercase(),
        false => '-',
    };
    let words: String = code.chars().map(word).collect();
    format!("e.p.{words}")
}

/// What an error of the protocol is called is the code of the RFC, however often its scope is repeated, so that a code
/// that was written once more is read as the same one; other codes stay.
fn rfc_code(code: &str) -> String {
    let code = code.trim_start_matches("e.p.");
    let known = CODES.iter().find(|[_, v2]| *v2 == code);
    known.map_or(code, |[rfc, _]| rfc).to_owned()
}

/// The text with its values in place of `{1}`, `{2}` and so on.
fn filled(comment: &str, args: Option<&Value>) -> String {
    let args = args.and_then(Value::as_array);
    let args = args.into_iter().flatten().take(VALUES_MAX).enumerate();
    args.fold(comment.to_owned(), |text, (at, value)| {
        let value = value.as_str().map_or(value.to_string(), str::to_owned);
        text.replace(&format!("{{{}}}", at.saturating_add(1)), &value)
    })
}
