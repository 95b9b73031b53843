//! The interface of the mock identity system: people, one-time passwords, authentications, claims.

use axum::response::Response;
use selfsame_driver::clock::Clock;
use selfsame_http::extract::{Path, Raw};
use selfsame_identity::mock::wire::{
    KycAuthRequest, KycExchangeRequest, KycExchanged, SendOtpRequest,
};
use selfsame_identity::mock::{MockFault, MockIdentities};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::envelope;

/// The mock identity system whose address was called. The server extracts it.
#[derive(Clone)]
pub struct MockDoor {
    /// The system.
    pub mock: MockIdentities,
    /// The clock of the envelopes.
    pub clock: Clock,
}

/// What `POST` and `PUT /identity` answer.
#[derive(Serialize)]
struct IdentityStatus {
    status: &'static str,
}

/// The relying party and its client, in the path of a call.
type Partner = Path<(String, String)>;

/// Adds a person.
pub async fn create(door: MockDoor, Raw(body): Raw) -> Response {
    let created = match door.enveloped(&body) {
        Ok(members) => door.mock.create(members).await.map_err(code),
        Err(code) => Err(code),
    };
    door.status(created, "mock identity data created successfully")
}

/// Changes members of a person.
pub async fn update(door: MockDoor, Raw(body): Raw) -> Response {
    let updated = match door.enveloped(&body) {
        Ok(members) => door.mock.update(members).await.map_err(code),
        Err(code) => Err(code),
    };
    door.status(updated, "mock Identity data updated successfully")
}

/// Shows a person.
pub async fn show(door: MockDoor, Path(individual_id): Path<String>) -> Response {
    let person = door.mock.person(&individual_id).await.map_err(code);
    door.answer(
        person
            .as_ref()
            .map(|person| person.members())
            .map_err(|code| *code),
    )
}

/// Pretends to send a one-time password.
pub async fn send_otp(door: MockDoor, _partner: Partner, Raw(body): Raw) -> Response {
    let receipt = match envelope::bare::<SendOtpRequest>(&body) {
        Ok(order) => door.mock.send_otp(&order).await.map_err(code),
        Err(code) => Err(code),
    };
    door.answer(receipt)
}

/// Authenticates a person.
pub async fn kyc_auth(door: MockDoor, Path((party, _)): Partner, Raw(body): Raw) -> Response {
    let proven = match envelope::bare::<KycAuthRequest>(&body) {
        Ok(request) => door.mock.kyc_auth(&party, &request).await.map_err(code),
        Err(code) => Err(code),
    };
    door.answer(proven)
}

/// Gives the claims of a person who was authenticated.
pub async fn kyc_exchange(door: MockDoor, Path((_, client)): Partner, Raw(body): Raw) -> Response {
    let signed = match envelope::bare::<KycExchangeRequest>(&body) {
        Ok(request) => door
            .mock
            .kyc_exchange(&client, &request, None)
            .await
            .map_err(code),
        Err(code) => Err(code),
    };
    let exchanged = signed.map(|signed| KycExchanged {
        kyc: signed.expose().to_owned(),
    });
    door.answer(exchanged)
}

impl MockDoor {
    fn enveloped(&self, body: &[u8]) -> Result<Map<String, Value>, &'static str> {
        envelope::request(body, self.clock.now())
    }

    fn status(&self, done: Result<(), &'static str>, status: &'static str) -> Response {
        self.answer(done.map(|()| IdentityStatus { status }))
    }

    fn answer<T: Serialize>(&self, answer: Result<T, &str>) -> Response {
        envelope::mock_answer(answer, self.clock.now())
    }
}

fn code(fault: MockFault) -> &'static str {
    if let MockFault::Failed(error) = &fault {
        tracing::warn!(reason = %error, "the mock identity system failed");
    }
    fault.code()
}

#[cfg(test)]
mod tests;
