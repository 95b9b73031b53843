//! The form that registers a DID, on networks where anyone may register.

use axum::extract::{FromRef as _, State};
use http::HeaderMap;
use selfsame_app::newcomer::InForce;
use selfsame_crypto::encoding::base58_encode;
use selfsame_endpoints::Instance;
use selfsame_endpoints::von_network::register::{Enrolled, Registration};
use selfsame_pages::registry::register::{
    AgreementShown, MadeRegistration, RegisterPage, TypedRegistration,
};

use crate::error::{Handled, Problem};
use crate::extract::Form;
use crate::server::Server;
use crate::ui::correction::refused;
use crate::ui::{self, Frame};

/// The form.
pub async fn page(State(server): State<Server>, frame: Frame) -> Handled {
    ui::html(&empty(&server, frame)?)
}

/// Registers the DID, and shows the result.
pub async fn register(
    State(server): State<Server>,
    headers: HeaderMap,
    frame: Frame,
    form: Form,
) -> Handled {
    let instance = Instance::from_ref(&server);
    let page = empty(&server, frame)?;
    match Registration::of_form(&form)
        .carried_out(&instance, &headers)
        .await
    {
        Ok(made) => ui::html(&page.made(shown(&made))),
        Err(problem) => again(page, &form, &problem),
    }
}

fn empty(server: &Server, frame: Frame) -> Handled<RegisterPage> {
    let agreement = server.app().agreement_in_force()?;
    let agreement = agreement.map(|InForce { version, digest }| AgreementShown { version, digest });
    let open = server.open_registration();
    Ok(RegisterPage::of(frame, open, agreement))
}

fn shown(made: &Enrolled) -> MadeRegistration {
    let (key, registered) = (base58_encode(made.key.bytes()), &made.registered);
    MadeRegistration::of(registered.did.to_string(), key, registered.existed)
}

/// The form again, with what was typed and the error.
fn again(page: RegisterPage, form: &Form, problem: &Problem) -> Handled {
    let typed = |name| form.one(name).unwrap_or_default().to_owned();
    let typed = TypedRegistration {
        did: typed("did"),
        verkey: typed("verkey"),
        no_role: form.one("role").is_none(),
    };
    let page = ui::html(&page.refused(typed, problem.told()))?;
    Ok(refused(problem, page))
}
