//! States, findings and errors in words.

use selfsame_agent_view::connection::ConnectionView;
use selfsame_agent_view::seen::{ExchangeSight, SeenExchange};
use selfsame_catalogue::when;

/// A state in words, and the class of its badge.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct StateWords {
    /// The class, after `is-`.
    pub class: &'static str,
    /// The words.
    pub words: &'static str,
}

const fn words(class: &'static str, words: &'static str) -> StateWords {
    StateWords { class, words }
}

/// The state of a connection, by its name in RFC 0023.
pub fn of_connection(state: &str) -> StateWords {
    match state {
        "invitation-sent" => words("waiting", "invited, no answer yet"),
        "invitation-received" => words("waiting", "invitation received"),
        "request-sent" => words("waiting", "asked to connect"),
        "request-received" => words("waiting", "wants to connect"),
        "response-sent" => words("connected", "answered"),
        "response-received" => words("connected", "accepted"),
        "completed" => words("connected", "connected"),
        _ => words("ended", "ended"),
    }
}

/// The state of an issuing or a proof, by its name in version 2.0.
pub fn of_exchange(state: &str) -> StateWords {
    match state {
        "proposal-sent" => words("waiting", "proposed"),
        "proposal-received" => words("waiting", "proposal received"),
        "offer-sent" => words("waiting", "offered"),
        "offer-received" => words("waiting", "offer received"),
        "request-sent" => words("waiting", "requested"),
        "request-received" => words("waiting", "request received"),
        "credential-issued" => words("waiting", "issued, not confirmed yet"),
        "credential-received" => words("waiting", "credential received"),
        "presentation-sent" => words("waiting", "presented"),
        "presentation-received" => words("waiting", "presentation received"),
        "done" => words("done", "done"),
        "credential-revoked" => words("revoked", "revoked"),
        _ => words("ended", "ended early"),
    }
}

/// The state of an invitation of out-of-band, by its name in RFC 0434.
pub fn of_invitation(state: &str) -> StateWords {
    match state {
        "await-response" => words("waiting", "waiting for an answer"),
        "prepare-response" => words("waiting", "not answered yet"),
        "reuse-accepted" => words("done", "led to a connection that existed"),
        "reuse-not-accepted" => words("ended", "reuse refused"),
        "done" => words("done", "used"),
        _ => words("waiting", "open"),
    }
}

/// A role in words.
pub fn of_role(role: &str) -> &str {
    match role {
        "issuer" => "Issuer",
        "holder" => "Holder",
        "prover" => "Prover",
        "verifier" => "Verifier",
        other => other,
    }
}

/// What a peer is called: the controller's name, else how it calls itself.
pub fn name(view: &ConnectionView) -> &str {
    let named = view.alias.as_deref().or(view.their_label.as_deref());
    named
        .filter(|name| !name.trim().is_empty())
        .unwrap_or("A peer without a name")
}

/// What comes next in an exchange, and who has to do it; `None` if it is over.
pub fn next(sight: &ExchangeSight) -> Option<&'static str> {
    Some(match sight.state {
        "proposal-sent" | "offer-sent" | "request-sent" | "presentation-sent" => {
            "The peer has to answer."
        }
        "credential-issued" => "The holder has to confirm that the credential came.",
        "proposal-received" => "Answer the proposal by the admin API.",
        "offer-received" => {
            "Request the credential by the admin API, or let the agent do it: auto_respond_credential_offer."
        }
        "request-received" if sight.role == "prover" => {
            "Choose credentials and present them by the admin API, or let the agent do it: auto_respond_presentation_request."
        }
        "request-received" => {
            "Issue the credential by the admin API, or let the agent do it: auto_respond_credential_request."
        }
        "credential-received" => {
            "Store the credential by the admin API, or let the agent do it: auto_store_credential."
        }
        "presentation-received" => {
            "Verify the presentation by the admin API, or let the agent do it: auto_verify_presentation."
        }
        _ => return None,
    })
}

/// Why an exchange ended early or does not go on, in words.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trouble {
    /// Who stopped it, and what that means.
    pub sentence: &'static str,
    /// What was said of it.
    pub detail: String,
}

/// What went wrong in an exchange.
pub fn trouble(seen: &SeenExchange) -> Option<Trouble> {
    let error = seen.sight.error.as_ref()?;
    let report = seen.wire.iter().rfind(|one| one.name == "problem-report");
    let (code, text) = error.split_once(": ").unwrap_or((error, ""));
    let sentence = match (report.map(|one| one.is_ours), code) {
        (Some(true), "rejected") => "This agent did not accept the presentation.",
        (Some(true), _) => "This agent ended the exchange.",
        (Some(false), "rejected") => "The peer did not accept the presentation.",
        (Some(false), "issuance-abandoned") => "The peer gave up the issuing.",
        (Some(false), "abandoned") => "The peer gave up the proof.",
        (Some(false), _) => "The peer reported a problem.",
        (None, _) => "The exchange does not go on by itself.",
    };
    let is_known = ["rejected", "issuance-abandoned", "abandoned"].contains(&code);
    let detail = match is_known && !text.is_empty() {
        true => text.to_owned(),
        false if is_known => String::new(),
        false => error.clone(),
    };
    Some(Trouble { sentence, detail })
}

/// A finding of a verification as a sentence. The codes are those of ACA-Py's admin API.
pub fn finding(message: &str) -> String {
    let (code, detail) = message.split_once("::").unwrap_or((message, ""));
    match code {
        "RMV_RFNT_NRI" => format!(
            "The request wants a proof that “{detail}” is not revoked, but this credential cannot be revoked."
        ),
        "RMV_GLB_NRI" => {
            "The request wants a proof that nothing is revoked, but none of the credentials can be revoked.".to_owned()
        }
        "TS_OUT_NRI" => format!(
            "The proof that “{detail}” is not revoked is of a time outside the requested interval."
        ),
        "UNRVL_ATTR" => format!("“{detail}” was not shown."),
        "VALUE_ERROR" => {
            format!("The presentation differs from the request, or from what the issuer signed: {detail}.")
        }
        "VERIFY_ERROR" => match detail.split_once(": ") {
            Some(("single_use", how)) => format!("The credential was {how}."),
            Some(("definition", how)) => format!("The credential definition {how}."),
            _ => format!("The proof does not hold: {detail}."),
        },
        _ => message.to_owned(),
    }
}

/// A time with its seconds, from RFC 3339: several messages come within a minute.
pub fn moment(time: &str) -> String {
    match time.get(11..19) {
        Some(moment) => format!("{}, {moment} UTC", when::day(time)),
        None => time.to_owned(),
    }
}

/// A number of bytes.
pub fn size(bytes: usize) -> String {
    match bytes {
        few if few < 1_000 => format!("{few} B"),
        more => format!("{}.{} kB", more / 1_000, more % 1_000 / 100),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_become_sentences_and_unknown_ones_stay() {
        assert_eq!(finding("UNRVL_ATTR::lot"), "“lot” was not shown.");
        let failed = finding("VERIFY_ERROR::non_revocation: the credential is revoked");
        assert_eq!(
            failed,
            "The proof does not hold: non_revocation: the credential is revoked."
        );
        let used =
            finding("VERIFY_ERROR::single_use: used up at 2026-11-21T09:30:00Z by did:example:1");
        assert_eq!(
            used,
            "The credential was used up at 2026-11-21T09:30:00Z by did:example:1."
        );
        assert_eq!(finding("something new"), "something new");
    }

    #[test]
    fn sizes_are_short_and_times_have_seconds() {
        assert_eq!(size(812), "812 B");
        assert_eq!(size(5_249), "5.2 kB");
        assert_eq!(moment("2026-11-21T09:30:05Z"), "21 Nov 2026, 09:30:05 UTC");
        assert_eq!(moment("soon"), "soon");
    }
}
