//! Writes what operators do into the audit trail, and logs it: every change, and every view of claims that people have
//! shown. Never claims, tokens, or ids that would allow taking something.

use std::future::Future;
use std::sync::Arc;

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::{Method, StatusCode};
use selfsame_app::Access;
use selfsame_audit::{Act, AuditResult};
use selfsame_endpoints::called;
use selfsame_operators::Authority;

use crate::error::{Handled, Problem};
use crate::peer::Peer;
use crate::server::Server;

/// Addresses that show claims which people have presented, or will get.
const CLAIMS: [&str; 13] = [
    "/api/export",
    "/api/organisations/{name}/export",
    "/organisation/export",
    "/api/verifier/requests",
    "/api/verifier/requests/{id}",
    "/verifier/view/{id}",
    "/verifier/view/{id}/result",
    "/api/issuer/applications",
    "/api/issuer/applications/{id}",
    "/issuer/applications/{id}/form",
    "/api/issuer/approvals/{id}",
    "/issuer/approvals/{id}",
    "/agent/proofs/{id}",
];
/// Addresses whose acts are written elsewhere: the registry's log has each transaction, the sign-out writes its own.
const NOT_HERE: [&str; 2] = ["/registry/transactions", "/operator/sign-out"];
/// Addresses that change the status of an issued credential.
const OF_CREDENTIALS: [&str; 2] = [
    "/api/issuer/credentials/{id}/status",
    "/issuer/issued/{credential}/status",
];
/// Forms that are drawn again with what was typed, and then change nothing.
const DRAWN_AGAIN: [&str; 8] = [
    "POST /issuer/issued",
    "POST /issuer/lists",
    "POST /agent/issue",
    "POST /agent/ask",
    "POST /types/new",
    "POST /types/edit/{id}",
    "POST /verifier/saved/new",
    "POST /verifier/saved/{name}",
];
/// The reason of a refusal because the store has no room.
const FULL: &str = "storage-full";
/// What the addresses begin with whose ids would allow taking something: a credential offer, an answer.
const TAKING: [&str; 4] = ["/api/issuer/", "/api/verifier/", "/issuer/", "/verifier/"];
/// What addresses of these begin with whose ids are public names.
const NAMED: [&str; 2] = ["/api/verifier/saved-requests/", "/verifier/saved/"];
/// Number of characters of such an id to write: enough to find it among others, too few to use it.
const SHOWN: usize = 8;

/// An act that is to be written into the audit trail.
pub struct Audited {
    server: Server,
    act: Act,
    /// The issued credential that it changes.
    credential: Option<String>,
}

impl Audited {
    /// The act of this request, if it is one to be written.
    pub fn of(server: &Server, authority: &Arc<Authority>, request: &Request) -> Option<Self> {
        let route = request.extensions().get::<MatchedPath>()?.as_str();
        let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
        if (is_reading && !CLAIMS.contains(&route)) || NOT_HERE.contains(&route) {
            return None;
        }
        let from = request.extensions().get::<Peer>();
        let act = Act {
            organisation: called::organisation(request.extensions()),
            actor: selfsame_app::audited(&authority.actor),
            act: format!("{} {route}", request.method()),
            object: object(route, request.uri().path()),
            detail: None,
            from: from.map(|peer| peer.address().to_string()),
        };
        let whole = parameter(route, request.uri().path());
        let credential = whole.filter(|_| OF_CREDENTIALS.contains(&route));
        Some(Self {
            server: server.clone(),
            act,
            credential: credential.map(str::to_owned),
        })
    }

    /// Carries out a request. Its first commit writes the entry too; without one, or after a failure, a later one does.
    pub async fn audited(mut self, request: impl Future<Output = Handled>) -> Handled {
        if let Some(id) = self.credential.take() {
            self.act.detail = self.named(&id).await;
        }
        let trail = self.server.app().trail();
        let (response, is_written) = trail.during(self.act.clone(), request).await?;
        let result = result(&response);
        if result == AuditResult::Done {
            self.log();
        }
        // A full store can't take an entry; the log has the refusal.
        let is_full = result == AuditResult::Refused(FULL.to_owned());
        let is_drawn = !is_written && DRAWN_AGAIN.contains(&self.act.act.as_str());
        if !is_full && !is_drawn && (!is_written || result != AuditResult::Done) {
            trail.write(self.act, result).await?;
        }
        response
    }

    /// Writes that the act was refused before it began.
    pub async fn refused(self, refusal: &Problem) {
        let result = AuditResult::Refused(refusal.reason().id().to_owned());
        if let Err(error) = self.server.app().trail().write(self.act, result).await {
            tracing::error!(%error, "a refusal can't be written into the audit trail");
        }
    }

    /// Which credential it is, in words.
    async fn named(&self, id: &str) -> Option<String> {
        let app = self.server.app();
        let roles = match self.act.organisation.is_main() {
            true => app.main().clone(),
            false => app
                .roles_of(&self.act.organisation, Access::Acting)
                .await
                .ok()?,
        };
        roles.issuer().ok()?.issued_name(id).await.ok()
    }

    fn log(&self) {
        let Act {
            organisation,
            actor,
            act,
            object,
            ..
        } = &self.act;
        let object = object.as_deref().unwrap_or_default();
        tracing::info!(%organisation, actor = actor.kind, act, object, "operator");
    }
}

/// What came of a request: an error response has its problem among its extensions.
fn result(response: &Handled) -> AuditResult {
    let refused = |problem: &Problem| AuditResult::Refused(problem.reason().id().to_owned());
    match response {
        Err(problem) => refused(problem),
        Ok(response) => of_status(response).map_or(AuditResult::Done, |status| {
            match response.extensions().get::<Problem>() {
                Some(problem) => refused(problem),
                None => AuditResult::Refused(status.as_str().to_owned()),
            }
        }),
    }
}

fn of_status(response: &Response) -> Option<StatusCode> {
    let status = response.status();
    (status.is_client_error() || status.is_server_error()).then_some(status)
}

/// The route's first parameter.
fn parameter<'a>(route: &str, path: &'a str) -> Option<&'a str> {
    let mut places = route.split('/').zip(path.split('/'));
    let (_, id) = places.find(|(pattern, _)| pattern.starts_with('{'))?;
    Some(id)
}

/// The route's first parameter, as far as it may be seen.
fn object(route: &str, path: &str) -> Option<String> {
    let id = parameter(route, path)?;
    let takes = TAKING.iter().any(|begin| route.starts_with(begin))
        && !NAMED.iter().any(|begin| route.starts_with(begin));
    let shown = if takes { SHOWN } else { id.len() };
    Some(id.chars().take(shown).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_shown_as_far_as_it_finds_and_no_further() {
        let route = "/api/issuer/credentials/{id}/status";
        let path = "/api/issuer/credentials/0123456789abcdef/status";
        assert_eq!(object(route, path).as_deref(), Some("01234567"));
        assert_eq!(object("/api/issuer/offers", "/api/issuer/offers"), None);
        let whole = object("/api/types/{id}", "/api/types/membership-card");
        assert_eq!(whole.as_deref(), Some("membership-card"));
        let route = "/api/verifier/saved-requests/{name}";
        let named = object(route, "/api/verifier/saved-requests/age-check-at-door");
        assert_eq!(named.as_deref(), Some("age-check-at-door"));
    }
}
